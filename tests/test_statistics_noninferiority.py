"""`judge.statistics.noninferiority`: worked bounds, and every corner by brute force."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from functools import lru_cache
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.statistics.noninferiority import BoundRange, Interval, lower_bound, upper_bound
from judge.statistics.significance import moments
from judge.statistics.student import t_quantile

t_factor = lru_cache(t_quantile)


def known(*differences: float) -> list[Interval]:
    return [(d, d) for d in differences]


def test_worked_example_passes() -> None:
    found = lower_bound(known(0.06, -0.01, 0.08, 0.04, 0.0, 0.09, -0.03, 0.06, 0.06, 0.03))
    assert found.lo == found.hi == pytest.approx(0.014845, abs=5e-7)


def test_worked_example_that_stays_undecided() -> None:
    rows = known(-0.02, 0.01, -0.03, 0.0, -0.01, 0.02, -0.04, 0.01, -0.02, 0.0)
    lower, upper = lower_bound(rows), upper_bound(rows)
    assert (lower.lo, upper.hi) == pytest.approx((-0.019201, 0.003201), abs=5e-7)


def test_one_row_has_no_bound() -> None:
    assert lower_bound(known(0.2)) == BoundRange(-math.inf, -math.inf)
    assert upper_bound(known(0.2)) == BoundRange(math.inf, math.inf)


def test_rows_alike_have_no_error() -> None:
    found = lower_bound(known(0.1, 0.1, 0.1))
    assert (found.lo, found.hi) == pytest.approx((0.1, 0.1))


@st.composite
def open_rows(draw: st.DrawFn) -> tuple[list[Interval], list[float] | None]:
    unit = st.integers(-20, 20).map(lambda n: n / 40)
    rows = draw(
        st.lists(st.tuples(unit, unit).map(lambda ab: (min(ab), max(ab))), min_size=2, max_size=7)
    )
    weights = draw(
        st.none()
        | st.lists(st.sampled_from([1.0, 2.0, 5.0]), min_size=len(rows), max_size=len(rows))
    )
    return rows, weights


@pytest.mark.slow
@given(open_rows(), st.sampled_from([0.05, 0.01, 0.6]), st.data())
@settings(max_examples=60, deadline=None)
def test_no_completion_leaves_the_range(
    case: tuple[list[Interval], list[float] | None], alpha: float, data: st.DataObject
) -> None:
    rows, weights = case

    def bound(differences: tuple[float, ...]) -> float:
        found = moments(differences, weights=weights)
        assert found.se is not None
        return found.mean - t_factor(1 - alpha, df=found.df) * found.se

    inner = tuple(data.draw(st.floats(lo, hi)) for lo, hi in rows)
    corners = [bound(corner) for corner in itertools.product(*rows)]
    found = lower_bound(rows, weights=weights, alpha=alpha)
    for value in (*corners, bound(inner)):
        assert found.lo - 1e-12 <= value <= found.hi + 1e-12
    upper = upper_bound([(-hi, -lo) for lo, hi in rows], weights=weights, alpha=alpha)
    assert (-upper.hi, -upper.lo) == pytest.approx((found.lo, found.hi), abs=1e-6)


@given(open_rows())
@settings(max_examples=20, deadline=None)
def test_largest_bound_is_reached(case: tuple[list[Interval], list[float] | None]) -> None:
    rows, weights = case
    found = lower_bound(rows, weights=weights)
    # The peak has every row at a common level, clipped: a fine grid of levels comes near it.
    levels = [-0.5 + step / 200 for step in range(201)]
    reached = -math.inf
    for level in levels:
        at = moments([min(max(level, lo), hi) for lo, hi in rows], weights=weights)
        assert at.se is not None
        reached = max(reached, at.mean - t_factor(0.95, df=at.df) * at.se)
    assert reached == pytest.approx(found.hi, abs=0.02)


def test_the_largest_bound_is_not_lost_between_corners_that_rounding_moves() -> None:
    # With two rows ending where a third stands, the completion below beats every corner.
    rows = [(-0.03, 0.07), (0.2, 0.3), (0.25, 0.65), (-0.28, 0.12), (-0.27, 0.13), (0.06, 0.06)]
    reached = lower_bound(known(0.07, 0.217879, 0.25, 0.12, 0.13, 0.06)).lo
    assert reached == pytest.approx(0.077640, abs=5e-7)
    assert reached <= lower_bound(rows).hi <= reached + 1e-5


def test_bounds_agree_with_a_fine_search(script: Callable[[str], ModuleType]) -> None:
    checker = script("check_t_bounds")
    drawn = random.Random(1)
    for _ in range(300):
        gap = checker.gaps(checker.draw_case(drawn))
        # The largest is exact; the smallest may lie lower, never higher.
        assert -1e-7 < gap.above < 1e-7
        assert gap.below > -1e-7
