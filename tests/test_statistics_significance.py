"""`judge.statistics.significance`: the worked values of statistics.md E, and scipy's."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.statistics.significance import (
    detectable,
    effect_size,
    moments,
    queries_to_detect,
)

# Differences B - A of the worked example.
EXAMPLE = [0.06, -0.01, 0.08, 0.04, 0.0, 0.09, -0.03, 0.06, 0.06, 0.03]


def test_worked_example() -> None:
    found = moments(EXAMPLE)
    assert found.mean == pytest.approx(0.038)
    assert found.sd == pytest.approx(0.039944, abs=5e-7)
    assert found.se == pytest.approx(0.012632, abs=5e-7)
    # Hedges' g: dz 0.951322 times 1 - 3/(4*9 - 1).
    assert effect_size(found) == pytest.approx(0.869780, abs=5e-7)


def test_identical_runs_have_no_effect_size() -> None:
    assert effect_size(moments([0.0] * 10)) is None


def test_one_query_tells_nothing_about_others() -> None:
    found = moments([0.3])
    assert (found.mean, found.se, effect_size(found)) == (0.3, None, None)


@pytest.mark.parametrize(
    ("sd", "n", "expected"),
    [
        (0.10, 50, 0.039620),
        (0.10, 100, 0.028016),
        (0.10, 200, 0.019810),
        (0.10, 500, 0.012529),
        (0.15, 50, 0.059431),
        (0.15, 200, 0.029715),
    ],
)
def test_minimum_detectable_effect(sd: float, n: int, expected: float) -> None:
    assert detectable(sd / math.sqrt(n)) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(
    ("sd", "expected"),
    [(0.10, (199, 90, 34)), (0.15, (444, 199, 73)), (0.20, (787, 351, 128))],
)
def test_queries_that_a_difference_needs(sd: float, expected: tuple[int, ...]) -> None:
    assert tuple(queries_to_detect(d, sd=sd) for d in (0.02, 0.03, 0.05)) == expected


def test_weights_worked_by_hand() -> None:
    # Shares 1/2, 1/4, 1/4 of 0, .1, .3: mean .1; Σp² = 3/8.
    # Σp(d-m)² = .5*.01 + 0 + .25*.04 = .015; variance .015/(5/8) = .024; se² = .024*3/8 = .009.
    found = moments([0.0, 0.1, 0.3], weights=[2, 1, 1])
    assert found.mean == pytest.approx(0.1)
    assert found.sd == pytest.approx(math.sqrt(0.024))
    assert found.se == pytest.approx(math.sqrt(0.009))
    assert found.df == pytest.approx(8 / 3 - 1)


@given(
    st.lists(st.floats(-1, 1), min_size=2, max_size=30),
    st.floats(0.1, 10),
)
def test_equal_weights_change_nothing(differences: list[float], weight: float) -> None:
    weighted = moments(differences, weights=[weight] * len(differences))
    plain = moments(differences)
    assert weighted.mean == pytest.approx(plain.mean, abs=1e-12)
    assert weighted.se == pytest.approx(plain.se, abs=1e-12)
    assert weighted.df == pytest.approx(plain.df)
