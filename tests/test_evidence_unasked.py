"""Goldens that no row asks: which row they may have meant."""

from __future__ import annotations

import pytest

from judge.evidence.unasked import nearest, unasked_notice

ROWS = ["How do I mute a call?", "Who may delete a vault?", "Was kostet ein zweiter Tresor?", "q17"]


@pytest.mark.parametrize(
    ("golden", "row"),
    [
        ("how do i MUTE a call", ROWS[0]),
        ("Who may delete a vualt?", ROWS[1]),
        ("Was kostet ein zweiter  tresor", ROWS[2]),
        ("Q17", ROWS[3]),
        ("Which disks does the Heron take?", None),
        ("", None),
    ],
)
def test_the_nearest_row_is_found_by_letters(golden: str, row: str | None) -> None:
    assert nearest(golden, ROWS) == row


def test_two_are_named_and_the_rest_counted() -> None:
    found = unasked_notice(["Q17", "Heron", "x", "y"], ROWS, n_runs=1)
    assert (found.count, found.text) == (
        4,
        "4 goldens ask what no row of the run asks and count as empty lists:"
        ' "Q17" (the closest row: "q17"), "Heron" and 2 more',
    )
