"""Student's t against values from outside."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.statistics.student import t_quantile, t_tail

# python -c "from scipy.stats import t; print(t.sf(x, df))", scipy 1.12.0
SCIPY_TAILS = [
    (0.5, 1, 0.3524163823495668),
    (20.0, 1, 0.015902251256176374),
    (2.0, 4, 0.05805826175840775),
    (5.0, 7, 0.000782638976586412),
    (1.0, 14, 0.16714097169732867),
    (2.3646, 42, 0.011373386641901387),
    (2.0, 1000, 0.022885173246625833),
    (20.0, 12.5, 3.6208998825610953e-11),
]


@pytest.mark.parametrize(("t", "df", "expected"), SCIPY_TAILS)
def test_tail_equals_scipy(t, df, expected):
    assert t_tail(t, df=df) == pytest.approx(expected, rel=1e-12)


def test_tail_at_the_ends():
    assert t_tail(0.0, df=3) == pytest.approx(0.5)
    assert t_tail(math.inf, df=3) == 0.0
    assert t_tail(-math.inf, df=3) == 1.0


@pytest.mark.parametrize("p", [0.6, 0.9, 0.975, 0.999])
def test_quantiles_with_a_closed_form(p):
    # One degree of freedom is Cauchy; two have t = (2p-1) sqrt(2 / (4p(1-p))).
    assert t_quantile(p, df=1) == pytest.approx(math.tan(math.pi * (p - 0.5)), rel=1e-12)
    two = (2 * p - 1) * math.sqrt(2 / (4 * p * (1 - p)))
    assert t_quantile(p, df=2) == pytest.approx(two, rel=1e-12)


def test_quantile_that_intervals_of_eight_use():
    assert t_quantile(0.975, df=7) == pytest.approx(2.364624, abs=5e-7)


@given(st.floats(0.001, 0.999), st.integers(1, 500))
def test_quantile_inverts_the_tail(p, df):
    assert t_tail(t_quantile(p, df=df), df=df) == pytest.approx(1 - p, abs=1e-12)
