"""The isotonic curve against a worked example and its definition."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.statistics.isotonic import fit_isotonic

# Worked with sklearn's IsotonicRegression.
X = (0.1, 0.3, 0.4, 0.9, 1.2, 1.5, 2.0, 2.2, 2.7, 2.9)
Y = (0, 0, 1, 0, 1, 2, 1, 3, 2, 3)


def test_worked_example():
    curve = fit_isotonic(X, Y)
    assert curve.y == pytest.approx((0, 0, 0.5, 0.5, 1, 1.5, 1.5, 2.5, 2.5, 3))
    assert curve(1.0) == pytest.approx(0.666667, abs=5e-7)
    assert curve(2.5) == pytest.approx(2.5)


def test_flat_beyond_the_points():
    curve = fit_isotonic(X, Y)
    assert (curve(-1), curve(9)) == (0.0, 3.0)


def test_equal_x_share_their_mean():
    assert fit_isotonic([1, 1, 2], [0, 1, 3]).y == (0.5, 3.0)


def test_no_points_raise():
    with pytest.raises(ValueError, match="at least one point"):
        fit_isotonic([], [])


@given(st.lists(st.integers(0, 3), min_size=1, max_size=5))
def test_no_rising_curve_over_halves_fits_better(y):
    curve = fit_isotonic(range(len(y)), y).y
    assert list(curve) == sorted(curve)
    best = sum((a - b) ** 2 for a, b in zip(curve, y, strict=True))
    halves = [step / 2 for step in range(7)]
    for other in itertools.combinations_with_replacement(halves, len(y)):
        assert best <= sum((a - b) ** 2 for a, b in zip(other, y, strict=True)) + 1e-9
