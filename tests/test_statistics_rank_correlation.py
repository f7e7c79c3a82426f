"""Rank correlations: worked values, frozen outside values, degenerate cases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worked_agreement import HUMAN, JUDGE

from judge.statistics import rank_correlation
from judge.statistics.rank_correlation import (
    kendall_tau_b,
    pearson,
    rank_biased_overlap,
    spearman,
    tau_ap,
)

FROZEN = json.loads((Path(__file__).parent / "reference" / "agreement.json").read_text())
BY_HUMAN = (0.71, 0.68, 0.66, 0.60, 0.55, 0.52)
BY_LLM = (0.74, 0.75, 0.70, 0.62, 0.63, 0.50)


@pytest.mark.parametrize(
    ("correlation", "expected"),
    [(kendall_tau_b, 0.733333), (spearman, 0.885714), (pearson, 0.931669)],
)
def test_six_systems(correlation, expected):
    assert correlation(BY_HUMAN, BY_LLM).value == pytest.approx(expected, abs=5e-7)


def test_tau_ap_of_six_systems():
    assert tau_ap(BY_LLM, BY_HUMAN).value == pytest.approx(0.5)


def test_tau_b_with_ties():
    assert kendall_tau_b((0.7, 0.7, 0.6, 0.5), (0.8, 0.7, 0.7, 0.4)).value == pytest.approx(0.8)


def test_grades_of_the_main_example():
    assert kendall_tau_b(HUMAN, JUDGE).value == pytest.approx(0.781615, abs=5e-7)
    assert spearman(HUMAN, JUDGE).value == pytest.approx(0.838185, abs=5e-7)


@pytest.mark.parametrize("case", FROZEN["paired_scores"])
@pytest.mark.parametrize("name", ["kendall_tau_b", "spearman", "pearson"])
def test_equals_scipy(case, name):
    found = getattr(rank_correlation, name)(case["x"], case["y"])
    assert found.value == pytest.approx(case["expected"][name], abs=1e-12)


def test_tau_ap_is_asymmetric():
    # R's ircor documents tauAP(x, y) = 0.3928571, its x being the truth; 0.2612875 reversed.
    x = (0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54)
    y = (0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84)
    assert tau_ap(y, x).value == pytest.approx(0.3928571, abs=5e-8)
    assert tau_ap(x, y).value == pytest.approx(0.2612875, abs=5e-8)


def test_rank_biased_overlap():
    overlap = rank_biased_overlap("abcdef", "bacedf", p=0.9)
    assert overlap.extrapolated == pytest.approx(0.881775, abs=5e-7)
    assert overlap.minimum == pytest.approx(0.606260, abs=5e-7)


def test_equal_orders_overlap_wholly():
    assert rank_biased_overlap("abc", "abc").extrapolated == pytest.approx(1.0)


@pytest.mark.parametrize("correlation", [kendall_tau_b, spearman, pearson, tau_ap])
@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ((1.0,), (2.0,), "undefined: n<2"),
        ((), (), "undefined: n<2"),
        ((1.0, 1.0, 1.0), (1.0, 2.0, 3.0), "undefined: constant"),
        ((1.0, 2.0, 3.0), (5.0, 5.0, 5.0), "undefined: constant"),
    ],
)
def test_degenerate_input_has_a_reason(correlation, x, y, reason):
    found = correlation(x, y)
    assert (found.value, found.reason) == (None, reason)


scores = st.lists(st.integers(0, 5), min_size=2, max_size=12).filter(lambda s: len(set(s)) > 1)


@given(scores)
def test_an_order_agrees_with_itself_and_not_with_its_reverse(values):
    for correlation in (kendall_tau_b, spearman, pearson):
        assert correlation(values, values).value == pytest.approx(1.0)
        assert correlation(values, [-v for v in values]).value == pytest.approx(-1.0)


@given(st.permutations("abcdef"), st.permutations("abcdef"), st.floats(0.1, 0.95))
def test_minimum_overlap_is_below_the_extrapolated(first, second, p):
    overlap = rank_biased_overlap(first, second, p=p)
    assert -1e-12 <= overlap.minimum <= overlap.extrapolated + 1e-12 <= 1 + 2e-12
