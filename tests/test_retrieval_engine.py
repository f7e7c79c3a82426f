"""The reference engine: fusion, decay, chunks in the list, and a published system's tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judge.cascade import Settings, grade_runs
from judge.errors import UsageError
from judge.formats import read_goldens
from judge.measures.names import parse_measure
from judge.retrieval.corpus import Item, read_items
from judge.retrieval.engine import Engine
from judge.retrieval.knobs import Knobs
from judge.run import Row
from judge.running.asked import read_asked
from judge.sweep import Sweep, read_sweep

FOX = (
    Item("doc", "The fox lives in a den. " + "Nothing else is said here. " * 60 + "A fox."),
    Item("new", "the fox sleeps", "memory", 0),
    Item("old", "the fox sleeps", "memory", 30),
)


def ids(knobs: Knobs, query: str = "the fox sleeps") -> list[str]:
    return [result.id for result in Engine(FOX).index(knobs).search(query, knobs=knobs)]


def test_documents_are_cut_and_memories_are_not() -> None:
    assert set(ids(Knobs())) == {"doc#chunk-1", "doc#chunk-2", "new", "old"}
    assert set(ids(Knobs(chunk_size=0))) == {"doc", "new", "old"}


def test_fused_score_is_halved_at_the_half_life() -> None:
    knobs = Knobs(recency_half_life_days=30)
    results = Engine(FOX).index(knobs).search("the fox sleeps", knobs=knobs)
    scores = {result.id: result.score for result in results}
    # Both are first-rate in both channels: new at rank 1, old at rank 2 (corpus order).
    assert scores["new"] == pytest.approx(2 / 61)
    assert scores["old"] == pytest.approx(2 / 62 / 2)


def test_documents_never_decay() -> None:
    item = Item("doc", "the fox sleeps", "document", 3000)
    knobs = Knobs(recency_half_life_days=1)
    (result,) = Engine([item]).index(knobs).search("fox", knobs=knobs)
    assert result.score == pytest.approx(2 / 61)


def test_one_channel_keeps_its_order() -> None:
    knobs = Knobs(retriever="bm25")
    results = Engine(FOX).index(knobs).search("fox sleeps", knobs=knobs)
    assert [result.score for result in results] == [
        pytest.approx(1 / (60 + rank)) for rank in range(1, len(results) + 1)
    ]


def test_floor_empties_lists_of_vectors_alone() -> None:
    assert ids(Knobs(retriever="hashed", min_similarity=0.99), "sleeping") == []
    assert ids(Knobs(min_similarity=0.99), "fox")  # the lexical channel has no floor


def test_result_names_its_document_and_its_kind() -> None:
    items = [Item("page-3", "the fox", document_id="book")]
    (result,) = Engine(items).index(Knobs()).search("fox", knobs=Knobs())
    assert (result.id, result.document_id, result.metadata) == (
        "page-3",
        "book",
        {"kind": "document"},
    )


def test_run_keeps_the_queries_order_and_knows_the_corpus() -> None:
    run = Engine(FOX).run([Row("b", query="fox"), Row("a", query="")], knobs=Knobs())
    assert [row.key for row in run.rows] == ["b", "a"]
    assert run.rows[1].results != ()  # a blank query has no words, but every cosine is 0
    assert run.corpus_ids == {"doc", "new", "old"}
    assert run.name == "hybrid"


@pytest.mark.parametrize(
    "wrong",
    [
        {"retriever": "bm26"},
        {"vectors": "gpt"},
        {"rrf_k": -1},
        {"recency_half_life_days": -1},
        {"depth": 0},
        {"chunk_size": 100, "chunk_overlap": 100},
        {"rrf_k": float("nan")},
        {"rrf_k": float("inf")},
        {"min_similarity": float("nan")},
        {"min_similarity": float("inf")},
        {"recency_half_life_days": float("nan")},
    ],
)
def test_senseless_knobs_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Knobs(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("retriever", ["hybrid", "bm25", "hashed"])
def test_depth_beyond_every_integer_of_the_index_returns_all(retriever: str) -> None:
    assert len(ids(Knobs(retriever=retriever, depth=2**70), "fox")) == 4


def test_item_named_like_a_chunk_of_another_is_refused() -> None:
    items = (*FOX, Item("doc#chunk-2", "the fox"))
    with pytest.raises(UsageError, match="doc#chunk-2 belongs to a piece of doc and"):
        Engine(items).index(Knobs())
    assert len(Engine(items).index(Knobs(chunk_size=0)).chunks) == 4


def test_knobs_are_turned_by_text() -> None:
    knobs = Knobs().turned("min_similarity", "0.2").turned("depth", "5").turned("rrf_k", "20")
    assert knobs == Knobs(min_similarity=0.2, depth=5, rrf_k=20)
    assert knobs.turned("min_similarity", "off").min_similarity is None
    assert str(knobs) == "hybrid rrf_k=20 min_similarity=0.2 depth=5"
    with pytest.raises(UsageError, match="no knob 'speed'"):
        Knobs().turned("speed", "1")
    with pytest.raises(UsageError, match="depth=many"):
        Knobs().turned("depth", "many")


HALF_LIVES = ("0", "30", "90", "365", "1825", "7300")


def half_life_sweep(corpus: Path, goldens: Path) -> Sweep:
    asked = [one.row for one in read_asked(goldens).asked]
    engine = Engine(read_items(corpus).items)
    runs = [
        engine.run(asked, knobs=Knobs().turned("recency_half_life_days", days))
        for days in HALF_LIVES
    ]
    settings = Settings(measures=(parse_measure("RR"), parse_measure("R@10")))
    grading = grade_runs(runs, settings=settings, goldens=read_goldens(goldens).goldens)
    return read_sweep(grading, knob="recency_half_life_days", values=HALF_LIVES)


def line(sweep: Sweep, measure: str, slice: str) -> list[float]:
    """Return one slice's means, by value of the knob."""
    (found,) = [one for one in sweep.of(parse_measure(measure)) if one.slice == slice]
    return [mean.value for mean in found.means]


@pytest.fixture(scope="module")
def published_sweep(data: Path) -> Sweep:
    return half_life_sweep(data / "soat" / "corpus.jsonl", data / "soat" / "golden_rows.jsonl")


@pytest.fixture(scope="module")
def published_rows(data: Path) -> list[list[float]]:
    """Return [half-life, freshness MRR, entity recall@10, entity MRR, overall MRR] rows."""
    tables = json.loads((data / "soat" / "published_tables.json").read_text("utf-8"))
    rows: list[list[float]] = tables["half_life_sweep"]["rows"]
    return rows


def test_entity_recall_is_as_published(
    published_sweep: Sweep, published_rows: list[list[float]]
) -> None:
    found = [round(value, 4) for value in line(published_sweep, "R@10", "entity")]
    assert found == [row[2] for row in published_rows]


def test_entity_mrr_is_as_published_within_half_a_hundredth(
    published_sweep: Sweep, published_rows: list[list[float]]
) -> None:
    found = line(published_sweep, "RR", "entity")
    assert found == pytest.approx([row[3] for row in published_rows], abs=0.005)


def test_exact_slices_stay_and_freshness_is_perfect_at_long_half_lives(
    published_sweep: Sweep,
) -> None:
    assert line(published_sweep, "RR", "exact_token") == [1.0] * 6
    assert [round(x, 4) for x in line(published_sweep, "RR", "exact_name")] == [0.9667] * 6
    assert line(published_sweep, "RR", "freshness")[4:] == [1.0, 1.0]


def test_sweep_says_that_overall_hides_what_entity_pays(published_sweep: Sweep) -> None:
    hidden = published_sweep.hidden()
    assert {(h.line.slice, published_sweep.values[h.at]) for h in hidden} == {("entity", "30")}
    payers = published_sweep.payers(parse_measure("RR"))
    assert [payer.slice for payer in payers] == ["entity"]
