"""Fusion, decay and what a multiplier costs; figures from statistics.md 0 unless worked here."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import UsageError
from judge.retrieval.rrf import decay, fuse, lossless_multiplier, rank_cost

KS = (1, 2, 5, 10, 20, 40, 60, 100)
COSTS = {
    "0.95": (0, 0, 0, 0, 1, 2, 3, 5),
    "0.90": (0, 0, 0, 1, 2, 4, 6, 11),
    "0.87": (0, 0, 0, 1, 3, 6, 9, 15),
    "0.80": (0, 0, 1, 2, 5, 10, 15, 25),
    "0.50": (1, 2, 5, 10, 20, 40, 60, 100),
    "0.84": (0, 0, 1, 2, 3, 7, 11, 19),
}
COSTS_TIES_LOSE = {"0.50": (2, 3, 6, 11, 21, 41, 61, 101), "0.84": (0, 0, 1, 2, 4, 7, 11, 19)}

ks = st.fractions(min_value=0, max_value=200, max_denominator=20)
multipliers = st.fractions(min_value=Fraction(1, 50), max_value=1, max_denominator=300)


@pytest.mark.parametrize(("multiplier", "costs"), COSTS.items())
def test_cost_is_that_of_the_table(multiplier: str, costs: tuple[int, ...]) -> None:
    assert tuple(rank_cost(Fraction(multiplier), rrf_k=Fraction(k)) for k in KS) == costs


@pytest.mark.parametrize(("multiplier", "costs"), COSTS_TIES_LOSE.items())
def test_cost_where_ties_lose_is_that_of_the_table(multiplier: str, costs: tuple[int, ...]) -> None:
    got = tuple(rank_cost(Fraction(multiplier), rrf_k=Fraction(k), ties_lose=True) for k in KS)
    assert got == costs


def test_exact_tie_costs_one_more_where_ties_lose() -> None:
    m, k = Fraction(61, 70), Fraction(60)  # 61/m - 60 = 10: the item at rank 10 ties
    assert rank_cost(m, rrf_k=k) == 8
    assert rank_cost(m, rrf_k=k, ties_lose=True) == 9


def test_item_falls_no_lower_than_the_end_of_the_list() -> None:
    m = Fraction("0.87")
    assert rank_cost(m, rrf_k=Fraction(60), length=10) == 9
    assert rank_cost(m, rrf_k=Fraction(60), length=4) == 3
    assert rank_cost(m, rrf_k=Fraction(60), length=1) == 0


@pytest.mark.parametrize(("k", "least"), [(60, 0.983871), (20, 0.954545), (5, 0.857143)])
def test_lossless_multiplier(k: int, least: float) -> None:
    m = lossless_multiplier(Fraction(k))
    assert float(m) == pytest.approx(least, abs=5e-7)
    assert rank_cost(m, rrf_k=Fraction(k)) == 0
    assert rank_cost(m, rrf_k=Fraction(k), ties_lose=True) == 1
    assert rank_cost(m - Fraction(1, 10**9), rrf_k=Fraction(k)) == 1


@pytest.mark.slow
@given(k=ks, m=multipliers, length=st.integers(1, 60), ties_lose=st.booleans())
def test_cost_equals_a_count_by_hand(
    k: Fraction, m: Fraction, length: int, ties_lose: bool
) -> None:
    mine = m / (k + 1)
    others = [1 / (k + rank) for rank in range(2, length + 1)]
    above = sum(other > mine or (ties_lose and other == mine) for other in others)
    assert rank_cost(m, rrf_k=k, ties_lose=ties_lose, length=length) == above


def test_decay_of_six_days_at_thirty() -> None:
    m = decay(Fraction(6), half_life_days=Fraction(30))
    assert float(m) == pytest.approx(0.8705505633, abs=5e-11)
    assert [rank_cost(m, rrf_k=Fraction(k)) for k in (60, 20, 5)] == [9, 3, 0]


def test_decay_after_whole_half_lives_is_exact() -> None:
    assert decay(Fraction(90), half_life_days=Fraction(30)) == Fraction(1, 8)
    assert decay(Fraction(0), half_life_days=Fraction(30)) == 1


def test_fused_score_is_the_sum_over_channels() -> None:
    # b: 1/62 + 1/61; a: 1/61; c: 1/62
    fused = fuse([["a", "b"], ["b", "c"]], rrf_k=60)
    assert fused == {"a": 1 / 61, "b": pytest.approx(1 / 62 + 1 / 61), "c": 1 / 62}


@pytest.mark.parametrize(
    ("multiplier", "k", "length"),
    [("0", 60, None), ("1.1", 60, None), ("0.5", -1, None), ("0.5", 1, 0)],
)
def test_senseless_numbers_are_refused(multiplier: str, k: int, length: int | None) -> None:
    with pytest.raises(UsageError):
        rank_cost(Fraction(multiplier), rrf_k=Fraction(k), length=length)


@pytest.mark.parametrize(("age", "half_life"), [(-1, 30), (1, 0), (10**9, 1)])
def test_senseless_decays_are_refused(age: int, half_life: int) -> None:
    with pytest.raises(UsageError):
        decay(Fraction(age), half_life_days=Fraction(half_life))
