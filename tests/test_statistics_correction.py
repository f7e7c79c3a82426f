"""Corrected means: worked values, refusals, and that a label moves the number."""

from __future__ import annotations

import itertools
import math
import runpy

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from judge.statistics.correction import (
    difference_estimator,
    effective_n,
    inverse_probability,
    labels_needed,
    prediction_powered,
)

Z = 1.959964  # the worked PPI intervals are normal ones; ours use t with n - 1
HUMAN = (0.62, 0.40, 0.85, 0.30, 0.71, 0.55, 0.90, 0.48) + (None,) * 20
JUDGE = (
    *(0.70, 0.52, 0.88, 0.45, 0.75, 0.66, 0.93, 0.50),
    *(0.81, 0.47, 0.66, 0.92, 0.58, 0.39, 0.74, 0.69, 0.85, 0.50),
    *(0.77, 0.63, 0.95, 0.41, 0.72, 0.60, 0.88, 0.54, 0.67, 0.79),
)


def _normal_interval(correction):
    value = correction.estimate.value
    return value - Z * correction.se, value + Z * correction.se


def test_difference_estimator_on_a_fixed_set():
    found = difference_estimator(JUDGE, HUMAN)
    assert found.estimate.value == pytest.approx(0.604643, abs=5e-7)
    assert found.se == pytest.approx(0.014790, abs=5e-7)
    assert found.estimate.lo == pytest.approx(0.569670, abs=5e-7)
    assert found.estimate.hi == pytest.approx(0.639616, abs=5e-7)
    assert (found.labelled, found.units) == (8, 28)


def test_prediction_powered_with_the_best_weight():
    # ppi-python 0.2.3
    found = prediction_powered(JUDGE, HUMAN)
    assert found.judge_weight == pytest.approx(0.844251, abs=5e-7)
    assert found.estimate.value == pytest.approx(0.605260, abs=5e-7)
    assert _normal_interval(found) == pytest.approx((0.530574, 0.679947), abs=5e-7)


def test_prediction_powered_with_full_weight():
    found = prediction_powered(JUDGE, HUMAN, judge_weight=1.0)
    assert found.estimate.value == pytest.approx(0.606)
    assert _normal_interval(found) == pytest.approx((0.528746, 0.683254), abs=5e-7)


def test_weight_0_is_the_labels_alone():
    found = prediction_powered(JUDGE, HUMAN, judge_weight=0.0)
    assert found.estimate.value == pytest.approx(0.60125)
    # The outside interval [0.486425, 0.716075] is ppi-python's default for labels alone: 90%.
    reach = 1.644854 * found.se
    assert (0.60125 - reach, 0.60125 + reach) == pytest.approx((0.486425, 0.716075), abs=5e-7)
    assert found.estimate == found.human_only


def test_eight_labels_widen_the_interval_by_t():
    found = prediction_powered(JUDGE, HUMAN)
    assert found.estimate.hi - found.estimate.value == pytest.approx(2.364624 * found.se, rel=1e-6)


def test_judge_that_varies_against_people_gets_no_weight():
    human = [0.1, 0.2, 0.3, 0.4, 0.5, None, None, None]
    found = prediction_powered([1 - (h or 0.3) for h in human], human)
    assert found.judge_weight == 0.0
    assert found.estimate.value == pytest.approx(0.3)


def test_all_labelled_is_the_human_mean_exactly():
    human = [0.1, 0.5, 0.9, 0.2, 0.3]
    found = difference_estimator([0.4] * 5, human)
    assert found.estimate.value == found.estimate.lo == found.estimate.hi
    assert found.estimate.value == pytest.approx(0.4)  # (0.1 + 0.5 + 0.9 + 0.2 + 0.3) / 5


@pytest.mark.parametrize("estimator", [difference_estimator, prediction_powered])
@pytest.mark.parametrize("labels", [0, 1, 4])
def test_too_few_labels_are_refused_with_a_reason(estimator, labels):
    found = estimator(JUDGE, HUMAN[:labels] + (None,) * (28 - labels))
    assert found.estimate.value is None
    assert found.estimate.reason == f"{labels} labelled, at least 5 are needed"


def test_no_spread_gives_no_interval_of_width_0():
    human = [0.5, 0.6, 0.7, 0.8, 0.9, None]
    found = difference_estimator([0.5, 0.6, 0.7, 0.8, 0.9, 0.1], human)
    assert found.estimate.value == pytest.approx(0.6)  # nothing to correct: (3.5 + 0.1) / 6
    assert found.estimate.lo is None
    assert found.estimate.reason.startswith("no spread over 5 labelled")


@given(
    st.lists(st.floats(0, 1), min_size=8, max_size=8),
    st.lists(st.floats(0, 1), min_size=5, max_size=5),
    st.floats(0.1, 0.5),
)
def test_labels_move_the_number_by_what_they_say(judge, human, shift):
    # Every label higher by d moves the corrected mean by exactly d, the judge unchanged.
    low = difference_estimator(judge, [*human, None, None, None]).estimate.value
    high = difference_estimator(judge, [*[h + shift for h in human], None, None, None])
    assert high.estimate.value - low == pytest.approx(shift)


# Eight chunks, each drawn on its own with its probability.
F = (0, 0, 0, 0, 1, 1, 2, 3)
Y = (0, 0, 0, 1, 1, 1, 2, 3)
PI = (0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 1.0, 1.0)


@pytest.mark.parametrize(
    ("judge", "variance"), [(F, 0.046875), ((0,) * 8, 0.078125)], ids=["difference", "HT"]
)
def test_unbiased_over_all_poisson_samples(judge, variance):
    mean = square = 0.0
    for drawn in itertools.product((False, True), repeat=6):
        taken = (*drawn, True, True)
        chance = math.prod(p if t else 1 - p for p, t in zip(PI, taken, strict=True))
        human = [y if t else None for y, t in zip(Y, taken, strict=True)]
        value = inverse_probability(judge, human, PI, fewest=0).estimate.value
        mean, square = mean + chance * value, square + chance * value**2
    assert mean == pytest.approx(1.0)  # the true mean of Y: 8 / 8
    assert square - mean**2 == pytest.approx(variance)


@pytest.mark.parametrize("judge", [F, (0,) * 8], ids=["difference", "HT"])
def test_one_weighted_sample(judge):
    human = [y if i in (1, 4, 6, 7, 8) else None for i, y in enumerate(Y, start=1)]
    assert inverse_probability(judge, human, PI).estimate.value == pytest.approx(1.375)


def test_variance_estimate_is_right_on_average():
    # The Poisson variance estimate is unbiased: its mean over all samples is the variance.
    mean = 0.0
    for drawn in itertools.product((False, True), repeat=6):
        taken = (*drawn, True, True)
        chance = math.prod(p if t else 1 - p for p, t in zip(PI, taken, strict=True))
        human = [y if t else None for y, t in zip(Y, taken, strict=True)]
        mean += chance * inverse_probability(F, human, PI, fewest=0).se ** 2
    assert mean == pytest.approx(0.046875)


def test_everything_drawn_by_chance_is_still_a_sample():
    # All eight drawn: sum Y/pi / 8 = (1/.25 + 1/.5 + 1/.5 + 2 + 3) / 8, not the mean 1.
    found = inverse_probability((0,) * 8, Y, PI)
    assert found.estimate.value == pytest.approx(13 / 8)
    assert found.estimate.lo < found.estimate.value
    certain = inverse_probability(F, Y, (1.0,) * 8)
    assert (certain.estimate.lo, certain.estimate.hi) == (1.0, 1.0)


def test_effective_n_of_weights():
    # The sample above: weights 4 4 2 1 1; 12^2 / 38.
    assert effective_n([4, 4, 2, 1, 1]) == pytest.approx(3.789474, abs=5e-7)
    assert effective_n([]) == 0.0


@pytest.mark.parametrize(
    ("spread", "counts"),
    [
        (0.05, (25, 11, 4)),
        (0.10, (97, 43, 16)),
        (0.15, (217, 97, 35)),
        (0.20, (385, 171, 62)),
    ],
)
def test_labels_needed_table(spread, counts):
    assert tuple(labels_needed(spread, half_width=h) for h in (0.02, 0.03, 0.05)) == counts


@pytest.mark.slow
def test_corrected_intervals_cover_the_truth_on_dl19(data):
    # NIST's grades as truth, GPT-4o's as the judge; 1,000 draws of 15 of 43 queries.
    from judge.calibration.rescoring import Scoring, score_runs, sources
    from judge.formats import read_labels, read_runs
    from judge.formats.verdicts import read_verdicts
    from judge.measures.names import parse_measure

    coverage = runpy.run_path(str(ROOT / "scripts" / "bench_correction.py"))["coverage"]
    folder = data / "dl19"
    verdicts = read_verdicts(folder / "llm_umbrela-gpt4o_dl19.qrels.gz")
    both = sources(verdicts.grades, read_labels(folder / "human_dl19.qrels.gz").labels)
    runs = list(read_runs(folder / "all37_top20.trecrun.gz").values())
    how = Scoring(parse_measure("nDCG@10"))
    judge, human = (score_runs(runs, side, how).tolist() for side in (both.judge, both.people))
    found = [
        coverage(run.name, judge[at], human[at], labelled=15, draws=1000, seed=0)
        for at, run in enumerate(runs)
    ]
    covered = sorted(line.covered for line in found)
    assert len(covered) == 37
    assert 0.93 <= covered[18] <= 0.97
    assert sum(share >= 0.92 for share in covered) >= 34
    assert all(line.width < line.width_alone for line in found)
