"""What `goldens check` finds, one fault at a time."""

from __future__ import annotations

from judge.retrieval.checking import Finding, check_goldens
from judge.retrieval.corpus import Item
from judge.retrieval.engine import Engine
from judge.run import Golden

ITEMS = (
    Item("fox", "The red fox SKU-1 hunts voles in the meadow before the sun is up"),
    Item("wolf", "Grey wolves follow the herds across the frozen river SKU-2 in winter"),
    Item("rate", "The freight rate for Harvest Moon Coffee is 1.90 euro per kilogram", "memory", 3),
    Item(
        "stale", "The freight rate for Harvest Moon Coffee is 1.40 euro per kilogram", "memory", 9
    ),
    Item("also", "SKU-2 is sold out"),
)


def kinds(*goldens: Golden) -> dict[str, Finding]:
    """Return findings by kind, without the size of slices, which no small case can have."""
    found = check_goldens(goldens, Engine(ITEMS))
    return {finding.kind: finding for finding in found if finding.kind != "small slice"}


def golden(query: str, *expected: str, id: str = "q1", complete: bool = False) -> Golden:
    return Golden(expected, query_id=id, query=query, slice="s", complete=complete)


def test_missing_id_is_an_error() -> None:
    finding = kinds(golden("what hunts at dawn", "fox", "gone"))["missing id"]
    assert finding.is_error
    assert "1 expected ids are not in the corpus: gone" in finding.text
    assert finding.rows == ("q1",)


def test_same_query_with_two_answers_is_an_error() -> None:
    found = kinds(golden("What hunts?", "fox"), golden("what  hunts?", "wolf", id="q2"))
    assert found["two answers"].rows == ("q1", "q2")
    again = kinds(golden("what hunts?", "fox"), golden("what hunts?", "fox", id="q2"))
    assert "two answers" not in again


def test_complete_row_whose_identifier_stands_elsewhere_is_an_error() -> None:
    assert (
        "'sku-2' also stands in also"
        in kinds(golden("SKU-2", "wolf", complete=True))["not complete"].text
    )
    assert "not complete" not in kinds(golden("SKU-1", "fox", complete=True))
    assert "not complete" not in kinds(golden("SKU-2", "wolf", "also", complete=True))
    assert "not complete" in kinds(golden("where is SKU-2", "wolf", complete=True))


def test_near_duplicate_of_the_answer_is_a_warning() -> None:
    finding = kinds(golden("what does coffee cost to ship", "rate"))["near duplicate"]
    assert not finding.is_error
    assert "q1 has stale" in finding.text
    assert "near duplicate" not in kinds(golden("what does coffee cost to ship", "rate", "stale"))


def test_query_copied_from_its_answer_is_a_warning() -> None:
    assert kinds(golden("hunts voles in the meadow", "fox"))["copied query"].rows == ("q1",)
    assert "copied query" not in kinds(golden("voles", "fox"))


def test_slice_under_ten_rows_is_a_warning() -> None:
    rows = [golden(f"voles {n}", "fox", id=f"q{n}") for n in range(10)]
    engine = Engine(ITEMS)
    assert "small slice" in {f.kind for f in check_goldens(rows[:9], engine)}
    assert "small slice" not in {f.kind for f in check_goldens(rows, engine)}


def test_row_that_no_retriever_can_miss_is_a_warning() -> None:
    finding = kinds(golden("red fox voles", "fox"), golden("herds?", "fox", id="q2"))[
        "never missed"
    ]
    assert finding.rows == ("q1",)
    assert "1 of 2 rows of the slice s" in finding.text


def test_errors_come_first_and_long_lists_of_rows_are_cut() -> None:
    rows = [golden("red fox voles", "fox", id=f"q{n}") for n in range(7)]
    found = check_goldens([*rows, golden("x", "gone", id="bad")], Engine(ITEMS))
    assert found[0].kind == "missing id"
    assert str(found[0]).startswith("error: ")
    never = next(finding for finding in found if finding.kind == "never missed")
    assert str(never).endswith("(q0, q1, q2, q3, q4, … 2 more)")


def test_a_quote_stands_for_every_item_that_holds_it() -> None:
    quoting = Golden((), query_id="q1", query="what hunts?", quotes=("hunts  VOLES", "nowhere"))
    found = kinds(quoting)
    assert found["stale quote"].is_error
    assert found["stale quote"].text == "1 quotes are in no text of the corpus: 'nowhere'"
    assert "missing id" not in found
    held = Golden((), query_id="q1", query="SKU-1", complete=True, quotes=("the red fox",))
    assert "not complete" not in kinds(held)  # SKU-1 stands in the fox alone, which it quotes
