"""The shipped golden set: what it must hold, and the lesson it is there to teach."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from conftest import ROOT
from test_retrieval_engine import half_life_sweep, line

from judge.formats import read_goldens
from judge.measures.names import parse_measure
from judge.retrieval.checking import check_goldens
from judge.retrieval.corpus import read_items
from judge.retrieval.engine import Engine
from judge.sweep import Sweep

CORPUS = ROOT / "goldens" / "corpus.jsonl"
GOLDENS = ROOT / "goldens" / "goldens.jsonl"


def test_every_expected_id_exists_in_the_corpus() -> None:
    known = {item.id for item in read_items(CORPUS).items}
    missing = {id for golden in read_goldens(GOLDENS).goldens for id in golden.expected} - known
    assert missing == set()


def test_corpus_and_goldens_have_their_size_and_slices() -> None:
    items = read_items(CORPUS).items
    goldens = read_goldens(GOLDENS).goldens
    slices = Counter(golden.slice for golden in goldens)
    assert len(items) >= 60
    assert len(goldens) >= 60
    assert set(slices) == {"exact_token", "exact_name", "entity", "freshness", "semantic"}
    assert min(slices.values()) >= 10


def test_memories_are_3_to_400_days_old_and_six_have_stale_twins() -> None:
    memories = {item.id: item for item in read_items(CORPUS).items if item.is_memory}
    ages = [item.age_days for item in memories.values()]
    stale = [id for id in memories if id.endswith("-stale")]
    assert (min(ages), max(ages)) == (3, 400)
    assert len(stale) == 6
    for id in stale:
        assert memories[id].age_days > memories[id.removesuffix("-stale")].age_days


def test_identifiers_of_exact_token_stand_in_one_item_alone() -> None:
    texts = [json.loads(text)["text"].lower() for text in CORPUS.read_text("utf-8").splitlines()]
    for golden in read_goldens(GOLDENS).goldens:
        if golden.slice == "exact_token":
            assert golden.complete
            assert sum((golden.query or "").lower() in text for text in texts) == 1


def test_check_finds_no_error() -> None:
    goldens = read_goldens(GOLDENS).goldens
    findings = check_goldens(goldens, Engine(read_items(CORPUS).items))
    assert [str(finding) for finding in findings if finding.is_error] == []


@pytest.fixture(scope="module")
def sweep() -> Sweep:
    return half_life_sweep(CORPUS, GOLDENS)


def test_every_long_half_life_makes_freshness_perfect_and_entity_pays(sweep: Sweep) -> None:
    freshness, entity = line(sweep, "RR", "freshness"), line(sweep, "RR", "entity")
    assert freshness[0] < 1.0
    assert freshness[4:] == [1.0, 1.0]
    assert all(value < entity[0] for value in entity[1:])
    assert line(sweep, "R@10", "entity")[1] < 0.2


def test_overall_line_hides_the_collapse_of_entity(sweep: Sweep) -> None:
    assert "entity" in {hidden.line.slice for hidden in sweep.hidden()}
    overall = sweep.of(parse_measure("RR"))[-1]
    assert abs(overall.change(5)) < 0.02
