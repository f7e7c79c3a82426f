"""`judge.statistics.signs`: the worked values of statistics.md E and H, and every completion."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.statistics.signs import holm, sign_flip, sign_flip_in_every

# Differences B - A of the worked example.
EXAMPLE = [0.06, -0.01, 0.08, 0.04, 0.0, 0.09, -0.03, 0.06, 0.06, 0.03]


def test_worked_example_of_the_sign_flip_test() -> None:
    found = sign_flip(EXAMPLE)
    assert found.p == 28 / 1024
    assert found.p_greater == 14 / 1024
    assert found.exact


@pytest.mark.parametrize(("n", "smallest"), [(5, 0.0625), (6, 0.03125), (8, 0.0078125)])
def test_smallest_p_that_few_queries_can_give(n: int, smallest: float) -> None:
    found = sign_flip([0.1 * (i + 1) for i in range(n)])
    assert found.smallest == found.p == smallest


def test_zeros_change_no_p() -> None:
    assert sign_flip([0.1, 0.2, 0.3, 0.0, 0.0]).p == sign_flip([0.1, 0.2, 0.3]).p


def test_float_ties_count_as_ties() -> None:
    # 0.1 + 0.2 != 0.3 in floats: the flips of equal size must all count. Of the 8 sign
    # patterns of (.1, .2, .3) the sums are ±.6, ±.4, ±.2, 0, 0: |sum| >= .6 in two.
    assert sign_flip([0.1, 0.2, 0.3]).p == 2 / 8
    # (.1, .2, -.3): observed 0, every pattern is as extreme.
    assert sign_flip([0.1, 0.2, -0.3]).p == 1.0


def test_many_queries_are_sampled_and_never_give_zero() -> None:
    strong = sign_flip([0.1] * 40)
    assert not strong.exact
    assert strong.p == 1 / 10_001
    assert sign_flip(EXAMPLE * 2, seed=3) == sign_flip(EXAMPLE * 2, seed=3)
    # Twice the example: t = 4.4; by the normal law p is near 3e-4.
    assert 0.0 < sign_flip(EXAMPLE * 2).p < 0.003


def test_sampled_p_is_near_the_exact_one() -> None:
    # 17 differences, one more than are tried exactly: all 2^17 patterns by hand.
    differences = [0.05 * ((-1) ** i) + 0.003 * i for i in range(1, 18)]
    sums = np.array([0.0])
    for difference in differences:
        sums = np.concatenate([sums + difference, sums - difference])
    exact = float(np.mean(np.abs(sums) >= abs(math.fsum(differences)) - 1e-9))
    found = sign_flip(differences)
    assert not found.exact
    # Five standard errors of 10,000 draws.
    assert abs(found.p - exact) < 5 * math.sqrt(exact * (1 - exact) / 10_000) + 1e-4


def test_holm_worked_example() -> None:
    assert holm([0.004, 0.030, 0.020, 0.300, 0.012]) == pytest.approx(
        [0.02, 0.06, 0.06, 0.3, 0.048]
    )
    assert holm([]) == []


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=12))
def test_turning_all_signs_keeps_the_two_sided_p(differences: list[float]) -> None:
    assert sign_flip(differences).p == pytest.approx(sign_flip([-d for d in differences]).p)


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 3)), min_size=1, max_size=5))
def test_no_completion_has_a_larger_p(ends: list[tuple[int, int]]) -> None:
    rows = [(lo / 8, (lo + width) / 8) for lo, width in ends]
    found = sign_flip_in_every(rows)
    every = [
        sign_flip([value / 8 for value in values])
        for values in itertools.product(*(range(lo, lo + width + 1) for lo, width in ends))
    ]
    assert found.p_greater == max(one.p_greater for one in every)
    assert found.p_less == max(one.p_less for one in every)
    assert max(one.p for one in every) <= found.p
    assert found.smallest <= min(one.smallest for one in every)


def test_many_open_rows_are_sampled() -> None:
    # Twenty rows that rise by .1 or more: no flip but the sample's own reaches their mean.
    found = sign_flip_in_every([(0.1, 0.3)] * 20)
    assert (found.exact, found.p) == (False, 2 / 10_001)
