"""Corrected distributions and rates: worked values and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from judge.grades import GAINS
from judge.statistics.prevalence import (
    corrected_shares,
    expected_gains,
    post_stratify,
    rogan_gladen,
)

LABELLED = ((18, 2, 0, 0), (4, 9, 2, 0), (0, 3, 8, 2), (0, 0, 3, 9))
SIZES = (120, 40, 25, 15)


def test_post_stratification_by_judge_grade():
    found = post_stratify(LABELLED, SIZES)
    assert found.shares == pytest.approx((0.593333, 0.208846, 0.122340, 0.075481), abs=5e-7)
    assert found.expected == pytest.approx((0.1, 0.866667, 1.923077, 2.75), abs=5e-7)
    assert found.se == pytest.approx(0.048574, abs=5e-7)
    interval = (found.mean.value, found.mean.lo, found.mean.hi)
    assert interval == pytest.approx((0.679968, 0.584764, 0.775172), abs=5e-7)


def test_shares_of_a_stack_are_those_of_each_table():
    by_human = np.array(LABELLED, dtype=float).T
    stacked = corrected_shares(np.stack([by_human, by_human * 2]), SIZES)
    assert stacked[0] == pytest.approx((0.593333, 0.208846, 0.122340, 0.075481), abs=5e-7)
    assert stacked[1] == pytest.approx(stacked[0])


def test_shares_without_a_label_of_a_grade_that_occurs_are_unknown():
    table = np.array([[5.0, 0.0], [1.0, 0.0]])
    assert np.isnan(corrected_shares(table, [10, 4])).all()
    assert corrected_shares(table, [10, 0]) == pytest.approx((5 / 6, 1 / 6))


def test_expected_gain_is_not_the_gain_of_the_expected_grade():
    # Judge grade 3: 3 labels of 2 (gain 3) and 9 of 3 (gain 7): (9 + 63) / 12 = 6, while the
    # gain of the mean grade 2.75 is 2^2.75 - 1 = 5.73.
    gains = expected_gains(LABELLED, GAINS["exponential"])
    assert gains[3] == pytest.approx(6.0)
    assert expected_gains([[0, 0], [1, 1]], GAINS["linear"]) == (None, 0.5)


def test_judge_grade_without_a_label_is_refused():
    found = post_stratify([[5, 1], [0, 0]], [10, 4])
    assert found.shares is None
    assert found.mean.reason == "no label of judge grade 1"


def test_judge_grade_that_never_occurs_needs_no_label():
    assert post_stratify([[5, 5], [0, 0]], [20, 0]).shares == (0.5, 0.5)


def test_single_label_of_a_grade_gives_no_interval():
    found = post_stratify([[5, 1], [0, 1]], [10, 4])
    assert found.mean.lo is None
    assert found.mean.reason == "a judge grade has a single label: no interval"


def test_every_chunk_labelled_is_exact():
    found = post_stratify([[3, 1], [1, 3]], [4, 4])
    assert (found.mean.value, found.mean.lo, found.mean.hi) == (0.5, 0.5, 0.5)


def test_nothing_judged_is_refused():
    assert post_stratify([[0, 0], [0, 0]], [0, 0]).mean.reason == "the judge graded nothing"


def test_rogan_gladen():
    found = rogan_gladen((130, 200), sensitivity=(36, 40), specificity=(34, 40))
    interval = (found.value, found.lo, found.hi)
    assert interval == pytest.approx((0.666667, 0.536220, 0.797113), abs=5e-7)


@pytest.mark.parametrize("specificity", [(20, 40), (10, 40)])
def test_rogan_gladen_refuses_a_judge_no_better_than_chance(specificity):
    found = rogan_gladen((130, 200), sensitivity=(20, 40), specificity=specificity)
    assert found.value is None
    assert "no better than chance" in found.reason


def test_rogan_gladen_refuses_one_sided_labels():
    assert rogan_gladen((1, 2), sensitivity=(0, 0), specificity=(1, 1)).value is None


def test_rogan_gladen_stays_a_rate():
    # (0.05 + 0.9 - 1) / 0.8 < 0: clipped, the interval too.
    found = rogan_gladen((1, 20), sensitivity=(9, 10), specificity=(9, 10))
    assert (found.value, found.lo) == (0.0, 0.0)
