"""`judge.report.differences`: tables that fit the terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from judge.comparing.change import change
from judge.measures.pool import Bounded
from judge.report.differences import change_table, wrapped
from judge.scoring import Mean


@pytest.mark.parametrize("title", ["nDCG@10", "ContextPrecision@10", "binary_nDCG@1000"])
@pytest.mark.parametrize("by_mock", [False, True])
@pytest.mark.parametrize("rows", [2, 123_456])
def test_no_table_is_wider_than_80_columns(title: str, by_mock: bool, rows: int) -> None:
    mean = Mean(0.25, 0.25, 0.75, rows)
    few = change([Bounded(-0.5, -0.5, 0.5)] * 2, [1.0] * 2, before=mean, after=mean)
    few = replace(few, rows=rows)
    slices = {"a slice of a long name": few, "漢字の長い名前の質問": few}
    lines = list(change_table(title, slices, few, marked=tuple(slices), by_mock=by_mock))
    assert max(map(cell_len, lines)) <= 80
    assert all(
        any(head in line for line in lines)
        for head in ("before", "95% (t, approximate)", "overall")
    )


def test_columns_stand_under_each_other_beside_wide_characters() -> None:
    mean = Mean(0.25, 0.25, 0.25, 2)
    few = change([Bounded(0.0, 0.0, 0.0)] * 2, [1.0] * 2, before=mean, after=mean)
    lines = list(change_table("", {"漢字": few, "plain": few}, few))
    assert len({cell_len(line) for line in lines}) == 1


def test_a_paragraph_of_wide_characters_keeps_to_80_columns() -> None:
    # Nine columns a word and one between: eight words make 79, nine would make 89.
    lines = wrapped("漢字漢字a " * 20)
    assert [cell_len(line) for line in lines] == [79, 79, 39]
