"""Goldens made from a corpus: deterministic, one passage a number, rarity as the engine counts."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from judge.errors import UsageError
from judge.formats import read_goldens
from judge.retrieval.corpus import Item
from judge.retrieval.engine import Engine
from judge.retrieval.knobs import Knobs
from judge.retrieval.making import CATEGORIES, Made, golden_lines, make_goldens
from judge.retrieval.vocabulary import Vocabulary

ITEMS = (
    Item("fox", "The red fox hunts voles near SKU-4711 in the meadow every single morning"),
    Item("wolf", "The grey wolf hunts hares near the frozen river every single evening"),
    Item("owl", "The owls hunted mice and voles near the old granary"),
)


def made(items: Sequence[Item] = ITEMS, **options: object) -> Made:
    return make_goldens(Engine(items).index(Knobs()).chunks, **options)  # type: ignore[arg-type]


def test_rarity_is_counted_in_stems_over_items() -> None:
    vocabulary = Vocabulary(ITEMS)
    assert vocabulary.holders("hunting") == {"fox", "wolf", "owl"}
    assert vocabulary.holders("vole") == {"fox", "owl"}
    assert vocabulary.holders("sku-4711") == {"fox"}
    assert vocabulary.holders_of_prefix("gr") == {"wolf", "owl"}


def test_single_words_come_before_identifiers_whose_parts_are_common() -> None:
    items = (Item("a", "part SKU-1 quartz"), Item("b", "part SKU-2"))
    assert Vocabulary(items).rarest("part SKU-1 quartz")[:2] == ["quartz", "sku-1"]


def test_exact_asks_for_a_term_that_stands_in_one_item_and_is_complete() -> None:
    goldens = made(categories=["exact"]).goldens
    assert len(goldens) == 3
    for golden in goldens:
        assert golden.complete
        assert Vocabulary(ITEMS).holders(golden.query or "") == set(golden.expected)


def test_passage_without_a_term_of_its_own_gives_no_exact_golden() -> None:
    result = made((Item("a", "red fox"), Item("b", "red fox den")), categories=["exact"])
    assert [golden.expected for golden in result.goldens] == [("b",)]
    assert result.passed_over == {"exact": 1}


def test_phrase_has_five_words_in_sequence_that_stand_in_one_item() -> None:
    for golden in made(categories=["phrase"]).goldens:
        (item,) = [item for item in ITEMS if item.id in golden.expected]
        text = " ".join(item.text.replace("-", " ").split())
        assert (golden.query or "") in text
        assert len((golden.query or "").split()) == 5
        assert not golden.complete


def test_prefix_begins_words_of_one_item() -> None:
    for golden in made(categories=["prefix"]).goldens:
        assert Vocabulary(ITEMS).holders_of_prefix(golden.query or "") == set(golden.expected)


def test_noisy_differs_from_every_phrase_of_the_text() -> None:
    for golden in made(categories=["noisy"]).goldens:
        assert all((golden.query or "") not in item.text for item in ITEMS)


def test_number_in_the_id_is_the_passage() -> None:
    by_id = {golden.query_id: golden.expected for golden in made().goldens}
    for id, expected in by_id.items():
        number = (id or "").rpartition("-")[2]
        same = {by_id[f"{name}-{number}"] for name in CATEGORIES if f"{name}-{number}" in by_id}
        assert same == {expected}


def test_same_seed_same_goldens_other_seed_others() -> None:
    assert made(seed=3) == made(seed=3)
    assert made(seed=3).goldens != made(seed=4).goldens


def test_fewer_rows_are_the_first_of_more() -> None:
    few, many = made(per_category=1).goldens, made(per_category=3).goldens
    assert set(few) <= set(many)


def test_category_asked_for_twice_is_made_once() -> None:
    assert made(categories=["exact", "exact"]).goldens == made(categories=["exact"]).goldens


def test_unknown_category_is_refused() -> None:
    with pytest.raises(UsageError, match="no category 'hard'"):
        made(categories=["hard"])


def test_written_goldens_are_read_back(tmp_path_factory: pytest.TempPathFactory) -> None:
    goldens = made().goldens
    path = tmp_path_factory.mktemp("goldens") / "g.jsonl"
    path.write_text("".join(f"{line}\n" for line in golden_lines(goldens)), encoding="utf-8")
    read = read_goldens(path)
    assert read.notices == ()
    assert [(g.query_id, g.query, g.expected, g.complete) for g in read.goldens] == [
        (g.query_id, g.query, g.expected, g.complete) for g in goldens
    ]
    assert json.loads(next(golden_lines(goldens)))["slice"] == "exact"
