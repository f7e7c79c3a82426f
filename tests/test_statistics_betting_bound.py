"""`judge.statistics.betting_bound`: by hand, by published limits, and by drawn populations."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.statistics.betting_bound import lower_mean_bound, rows_to_show, shows_above


def wealth(differences: list[float], mean: float) -> float:
    """Return what ten gamblers have in the mean after betting row by row that more is paid."""
    fortunes = [1.0] * 10
    for difference in differences:
        for at in range(10):
            stake = (at + 1) / 10
            fortunes[at] *= 1.0 - stake + stake * (1.0 + difference) / (1.0 + mean)
    return sum(fortunes) / 10


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20), st.floats(-0.95, 0.95))
def test_shown_where_twenty_times_the_money_is_won(differences: list[float], mean: float) -> None:
    won = wealth(differences, mean)
    if abs(won - 20.0) > 1e-6:
        assert shows_above(differences, mean) == (won >= 20.0)


@pytest.mark.parametrize(
    ("rows", "about"), [(30, -0.126), (100, -0.041), (300, -0.014), (500, -0.0085), (1000, -0.0045)]
)
def test_rows_that_do_not_differ(rows: int, about: float) -> None:
    # statistics.md H, and the limit there: nobody can show more than 1 - .05^(1/n).
    found = lower_mean_bound([0.0] * rows)
    assert found == pytest.approx(about, rel=0.08)
    assert found < -(1.0 - 0.05 ** (1.0 / rows))


@pytest.mark.slow
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(
    differences: list[float], shuffle: random.Random
) -> None:
    other = differences.copy()
    shuffle.shuffle(other)
    assert lower_mean_bound(other) == pytest.approx(lower_mean_bound(differences), abs=1e-9)


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 0.5)), min_size=1, max_size=12))
def test_the_bound_rises_with_every_row(rows: list[tuple[float, float]]) -> None:
    low = lower_mean_bound([d for d, _ in rows])
    high = lower_mean_bound([min(d + more, 1.0) for d, more in rows])
    assert low <= high + 1e-9


def test_ends() -> None:
    assert lower_mean_bound([-1.0] * 50) == pytest.approx(-1.0)
    assert -1.0 <= lower_mean_bound([1.0]) < 0.0
    assert lower_mean_bound([1.0] * 1000) > 0.99


@pytest.mark.parametrize("weight", [1e308, 1.0, 5e-324])
def test_equal_weights_change_nothing(weight: float) -> None:
    rows = [0.1, -0.2, 0.3, 0.0]
    assert lower_mean_bound(rows, weights=[weight] * 4) == lower_mean_bound(rows)


def test_rows_needed_are_enough_and_no_fewer() -> None:
    # sum((1 + s * .01 / .99) ** n for s in .1, .2, … 1) / 10 is 19.86 at 422, 20.03 at 423.
    assert rows_to_show([0.0], -0.01) == 423
    assert not shows_above([0.0] * 422, -0.01)
    assert shows_above([0.0] * 423, -0.01)
    assert rows_to_show([0.2, -0.4], -0.05) is None


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", [20, 100, 300])
def test_a_bound_lies_above_the_truth_in_at_most_one_of_twenty(rows: int, weighted: bool) -> None:
    # R@10 lost in 5% of queries, and a mean of exactly that: the hypothesis at its edge.
    drawn = np.random.default_rng(rows)
    wrong, draws = 0, 2000
    for _ in range(draws):
        lost = drawn.random(rows) < 0.05
        weights = drawn.choice([1.0, 2.0, 5.0], rows) if weighted else np.ones(rows)
        wrong += shows_above(list(-1.0 * lost), -0.05, weights=list(weights))
    # Three standard errors of 5% in 2,000 draws.
    assert wrong / draws <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / draws)
