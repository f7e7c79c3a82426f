"""A knob's values compared row by row; which slices the overall line hides."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from judge.cascade import Settings, grade_runs
from judge.measures.names import parse_measure
from judge.run import Golden, Result, Row, Run
from judge.sweep import Sweep, read_sweep

RR = parse_measure("RR")


def swept(
    ranks: Sequence[dict[str, int | None]],
    *,
    slices: dict[str, str],
    weights: dict[str, float] | None = None,
    measures: Sequence[str] = ("RR",),
) -> Sweep:
    """Return a sweep in which value n puts each row's answer at the rank of ranks[n]."""
    values = [str(n) for n in range(len(ranks))]
    runs = [
        Run(value, tuple(row(key, rank, slices[key]) for key, rank in at.items()))
        for value, at in zip(values, ranks, strict=True)
    ]
    goldens = [Golden(("answer",), query_id=key, weight=(weights or {}).get(key)) for key in slices]
    settings = Settings(measures=tuple(map(parse_measure, measures)))
    return read_sweep(
        grade_runs(runs, settings=settings, goldens=goldens), knob="knob", values=values
    )


def row(key: str, rank: int | None, slice: str) -> Row:
    if rank is None:
        return Row(key, query_id=key, slice=slice)
    others = [Result(f"other {n}") for n in range(1, rank)]
    return Row(key, query_id=key, slice=slice, results=(*others, Result("answer")))


TWO_SLICES = {f"a{n}": "a" for n in range(6)} | {f"b{n}": "b" for n in range(2)}


def ranks(a: int | None, b: int | None) -> dict[str, int | None]:
    return {key: a if slice == "a" else b for key, slice in TWO_SLICES.items()}


def test_lines_are_slices_in_order_then_overall() -> None:
    sweep = swept([ranks(1, 1), ranks(2, 4)], slices=TWO_SLICES)
    assert [line.slice for line in sweep.lines] == ["a", "b", None]
    assert [mean.value for mean in sweep.lines[0].means] == [1.0, 0.5]
    assert [mean.value for mean in sweep.lines[2].means] == [1.0, (6 * 0.5 + 2 * 0.25) / 8]
    assert [line.means[0].n for line in sweep.lines] == [6, 2, 8]


def test_best_of_equal_values_is_the_first() -> None:
    sweep = swept([ranks(2, 1), ranks(1, 1), ranks(1, 2)], slices=TWO_SLICES)
    assert [line.best for line in sweep.lines] == [1, 0, 1]


def test_weights_count_in_means_and_changes() -> None:
    sweep = swept(
        [{"a": 1, "b": 1}, {"a": 2, "b": 1}],
        slices={"a": "s", "b": "s"},
        weights={"a": 3.0, "b": 1.0},
    )
    assert sweep.lines[0].means[1].value == pytest.approx((3 * 0.5 + 1) / 4)
    assert sweep.lines[0].changes[1].value == pytest.approx(-3 / 8)


def test_slice_that_collapses_behind_a_calm_overall_line_is_hidden() -> None:
    sweep = swept([ranks(2, 1), ranks(1, 4)], slices=TWO_SLICES)
    # a gains .5 on six rows, b loses .75 on two: overall (6*.5 - 2*.75)/8 = +.1875
    (hidden,) = sweep.hidden()
    assert (hidden.line.slice, hidden.at) == ("b", 1)
    assert hidden.overall.change(1) == pytest.approx(0.1875)
    assert [line.slice for line in sweep.payers(RR)] == ["b"]


def test_loss_that_overall_shows_as_well_is_not_hidden() -> None:
    assert swept([ranks(1, 1), ranks(2, 2)], slices=TWO_SLICES).hidden() == ()


def test_small_loss_is_no_collapse() -> None:
    # b loses 1/10 - 1/11 < .1 while a gains
    assert swept([ranks(2, 10), ranks(1, 11)], slices=TWO_SLICES).hidden() == ()


def test_interval_of_a_change_covers_it_and_zero_only_if_the_rows_disagree() -> None:
    all_lose = swept([ranks(1, 1), ranks(2, 3)], slices=TWO_SLICES).lines[2].changes[1]
    assert all_lose.lo is not None and all_lose.hi is not None
    assert all_lose.lo <= (all_lose.value or 0.0) <= all_lose.hi < 0
    mixed = swept([ranks(2, 1), ranks(1, 2)], slices=TWO_SLICES).lines[2].changes[1]
    assert mixed.lo is not None and mixed.hi is not None
    assert mixed.lo < 0 < mixed.hi


def test_change_that_no_row_makes_has_no_interval() -> None:
    change = swept([ranks(1, 1), ranks(1, 1)], slices=TWO_SLICES).lines[2].changes[1]
    assert (change.value, change.lo, change.reason) == (0.0, None, "no row moves")


def test_value_that_noise_does_not_set_apart_is_as_good_as_the_best() -> None:
    sweep = swept([ranks(2, 1), ranks(1, 2), ranks(9, 9)], slices=TWO_SLICES)
    overall = sweep.lines[2]
    assert overall.best == 1
    assert overall.as_good() == (0,)


def test_open_grades_leave_a_change_without_an_interval() -> None:
    sweep = swept([ranks(1, 1), ranks(2, 1)], slices=TWO_SLICES, measures=("nDCG@10",))
    overall = sweep.lines[-1]
    assert overall.means[1].is_open
    assert overall.changes[1].lo is None
    assert overall.changes[1].reason == "grades of 6 rows are open"


def test_empty_lists_count_zero_and_are_named() -> None:
    sweep = swept([ranks(1, 1), ranks(1, None)], slices=TWO_SLICES)
    assert sweep.empty == ((), ("b0", "b1"))
    assert sweep.lines[1].means[1].value == 0.0
