"""Panels: the median, and what a missing vote leaves open."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judging.exchange import Verdict
from judge.judging.panel import combine, lower_median


def vote(grade: int | None, status: str = "failed") -> Verdict:
    if grade is None:
        return Verdict("q", "d", status, None, 0, 3, reason="lost", model="m")
    return Verdict("q", "d", "graded", grade, grade, grade, model="m", cost_usd=0.01, attempts=1)


@pytest.mark.parametrize(
    ("grades", "lo", "hi"),
    [
        ((2, 2, None), 2, 2),  # whatever the third had said
        ((1, 3, None), 1, 3),
        ((0, 1, None), 0, 1),
        ((2, None), 0, 2),  # the lower of two: the missing one may be below
        ((None, None, None), 0, 3),
        ((1, 2), 1, 1),  # lower on even ties
        ((1, 2, 2, 3), 2, 2),
        ((0, 3, 3), 3, 3),
    ],
)
def test_the_interval_is_the_median_with_missing_votes_at_both_ends(
    grades: tuple[int | None, ...], lo: int, hi: int
) -> None:
    verdict = combine([vote(grade) for grade in grades], grade_max=3)
    assert (verdict.lo, verdict.hi) == (lo, hi)
    assert verdict.grade == (lo if lo == hi else None)
    assert verdict.status == ("graded" if lo == hi else "failed")


@given(st.lists(st.none() | st.integers(0, 3), min_size=1, max_size=5))
def test_no_missing_vote_could_leave_the_interval(grades: list[int | None]) -> None:
    verdict = combine([vote(grade) for grade in grades], grade_max=3)
    choices = [range(4) if grade is None else [grade] for grade in grades]
    medians = {lower_median(completion) for completion in product(*choices)}
    assert (verdict.lo, verdict.hi) == (min(medians), max(medians))


def test_disagreement_and_missing_votes_are_recorded() -> None:
    verdict = combine([vote(1), vote(3), vote(None)], grade_max=3)
    assert verdict.flags == ("the panel disagrees",)
    assert verdict.reason == "1 of 3 votes missing (m: lost)"
    assert [v.grade for v in verdict.votes] == [1, 3, None]
    assert combine([vote(1), vote(1)], grade_max=3).flags == ()


def test_a_panel_that_refuses_has_refused() -> None:
    both = [vote(None, "refused"), vote(None, "refused")]
    assert combine(both, grade_max=3).status == "refused"


def test_costs_add_up_and_unknown_stays_unknown() -> None:
    assert combine([vote(1), vote(2)], grade_max=3).cost_usd == pytest.approx(0.02)
    unknown = Verdict("q", "d", "graded", 1, 1, 1, cost_usd=None)
    assert combine([vote(1), unknown], grade_max=3).cost_usd is None
