"""Draws of units to label: allocation, probabilities, reproducibility."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.statistics.sampling import (
    allocate,
    inclusion_probabilities,
    neyman,
    poisson_draw,
    stratified,
)

SIZES, SPREADS = (600, 200, 120, 80), (0.3, 0.6, 0.8, 0.5)


def _variance(sizes, spreads, counts):
    return sum((n * s) ** 2 / m for n, s, m in zip(sizes, spreads, counts, strict=True))


def test_neyman_allocation():
    found = neyman(SIZES, SPREADS, n=100)
    assert found == pytest.approx((41.284404, 27.522936, 22.018349, 9.174312), abs=5e-7)
    proportional = [size / 10 for size in SIZES]
    ratio = _variance(SIZES, SPREADS, found) / _variance(SIZES, SPREADS, proportional)
    assert ratio == pytest.approx(0.853214, abs=5e-7)


def test_whole_allocation_is_neyman_rounded():
    assert allocate(SIZES, SPREADS, n=100) == (41, 28, 22, 9)


strata = st.lists(
    st.tuples(st.integers(1, 6), st.sampled_from([0.1, 0.5, 1.0])), min_size=1, max_size=3
)


@given(strata, st.integers(3, 12))
def test_allocation_is_the_best_of_all(units, n):
    sizes, spreads = zip(*units, strict=True)
    n = min(n, sum(sizes))
    found = allocate(sizes, spreads, n=n, floor=1)
    assert sum(found) == n
    every = [c for c in itertools.product(*(range(1, s + 1) for s in sizes)) if sum(c) == n]
    if every:
        best = min(_variance(sizes, spreads, c) for c in every)
        assert _variance(sizes, spreads, found) == pytest.approx(best)


def test_floor_comes_before_variance_and_no_stratum_gives_more_than_it_has():
    assert allocate((1000, 10, 2), (1.0, 0.01, 0.01), n=20, floor=4) == (14, 4, 2)


def test_too_few_for_the_floors_are_dealt_out_evenly():
    assert sorted(allocate((9, 9, 9), (1.0, 1.0, 1.0), n=7, floor=5)) == [2, 2, 3]


def test_more_than_there_is_takes_everything():
    assert allocate((2, 3), (1.0, 1.0), n=99) == (2, 3)


def test_stratified_draw_says_with_what_probability():
    units = ["a"] * 10 + ["b"] * 5
    drawn = stratified(units, n=6, floor=3, seed=1)
    by_stratum = {s: [i for i in drawn if units[i] == s] for s in "ab"}
    assert {s: len(i) for s, i in by_stratum.items()} == {"a": 3, "b": 3}
    assert {drawn[i] for i in by_stratum["a"]} == {0.3}
    assert {drawn[i] for i in by_stratum["b"]} == {0.6}
    assert stratified(units, n=6, floor=3, seed=1) == drawn
    assert stratified(units, n=6, floor=3, seed=2) != drawn


def test_active_probabilities():
    # 4 labels over use 0 0 1 3: even 1 each is cut to .2 * 1; active 0, 0, 1, min(1, 3).
    assert inclusion_probabilities([0, 0, 1, 3], budget=4) == pytest.approx((0.2, 0.2, 1, 1))
    # 2 labels: .8 * (0, 0, .5, min(1, 1.5)) + .2 * .5
    assert inclusion_probabilities([0, 0, 1, 3], budget=2) == pytest.approx((0.1, 0.1, 0.5, 0.9))


def test_nothing_useful_is_spread_evenly():
    assert inclusion_probabilities([0, 0, 0, 0], budget=2) == (0.5,) * 4
    assert inclusion_probabilities([], budget=2) == ()


@given(st.lists(st.floats(0, 10), min_size=1, max_size=20), st.floats(0.5, 20))
def test_every_unit_has_a_chance(usefulness, budget):
    assert all(0 < p <= 1 + 1e-12 for p in inclusion_probabilities(usefulness, budget=budget))


def test_poisson_draw_takes_the_certain_and_repeats_by_seed():
    assert poisson_draw([1.0, 0.0, 1.0]) == (0, 2)
    assert poisson_draw([0.5] * 50, seed=3) == poisson_draw([0.5] * 50, seed=3)
