"""Corrected distributions and rates: worked values and refusals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from judge.grades import GAINS
from judge.statistics.prevalence import (
    LabelledChunks,
    expected_gains,
    post_stratified_shares,
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


def _chunks(queries=None):
    """Return the labelled chunks of the table above, each of a query of its own."""
    pairs = [
        (judge, human)
        for judge, row in enumerate(LABELLED)
        for human, count in enumerate(row)
        for _ in range(count)
    ]
    judge, human = np.array(pairs).T
    n = len(pairs)
    return LabelledChunks(
        np.arange(n) if queries is None else np.arange(n) % queries,
        judge,
        np.eye(4)[human],
        np.ones(n),
    )


def test_shares_are_those_of_the_worked_table():
    found = post_stratified_shares(_chunks(), SIZES)
    shares = [share for share, _, _ in found]
    assert shares == pytest.approx((0.593333, 0.208846, 0.122340, 0.075481), abs=5e-7)
    assert all(0.0 <= lo < share < hi <= 1.0 for share, lo, hi in found)


def test_interval_of_one_stratum_is_wilson_s():
    # statsmodels.stats.proportion.proportion_confint(30, 40, method="wilson") = (.598061, .858143)
    # at z = 1.959964; here t with 39 degrees of freedom and 1 - 40/1000000 unseen, so by hand.
    chunks = LabelledChunks(
        np.arange(40), np.zeros(40, int), np.eye(2)[[0] * 30 + [1] * 10], np.ones(40)
    )
    (share, lo, hi), _ = post_stratified_shares(chunks, (1_000_000, 0))
    z, n, p = 2.022691, 40.0, 0.75
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # Two shares that mirror each other spread a little over n queries more than over n chunks.
    assert share == pytest.approx(0.75)
    assert (lo, hi) == pytest.approx((middle - reach, middle + reach), abs=3e-3)


def test_grade_that_no_label_shows_is_not_claimed_to_be_absent():
    chunks = LabelledChunks(np.arange(15), np.zeros(15, int), np.eye(2)[[0] * 15], np.ones(15))
    _, (share, lo, hi) = post_stratified_shares(chunks, (500, 0))
    assert (share, lo) == (0.0, 0.0)
    assert 0.15 < hi < 0.30  # Clopper-Pearson's 0 of 15: [0, .2180]


def test_everything_labelled_leaves_no_doubt():
    chunks = LabelledChunks(
        np.arange(4), np.array([0, 0, 1, 1]), np.eye(2)[[0, 1, 1, 1]], np.ones(4)
    )
    assert post_stratified_shares(chunks, (2, 2)) == ((0.25, 0.25, 0.25), (0.75, 0.75, 0.75))


def test_labels_of_few_queries_say_less():
    # The labels that differ stand together: in four queries, not in 60.
    ordered = _chunks()
    clustered = replace(ordered, queries=np.arange(60) // 15)
    wide, narrow = (post_stratified_shares(c, SIZES)[0] for c in (clustered, ordered))
    assert wide[2] - wide[1] > narrow[2] - narrow[1]


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
