"""Corrected means: worked values, refusals, and that a label moves the number."""

from __future__ import annotations

import math
import runpy
import statistics

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from judge.statistics.correction import (
    difference_estimator,
    effective_n,
    labels_needed,
    prediction_powered,
)

HUMAN = (0.62, 0.40, 0.85, 0.30, 0.71, 0.55, 0.90, 0.48) + (None,) * 20
JUDGE = (
    *(0.70, 0.52, 0.88, 0.45, 0.75, 0.66, 0.93, 0.50),
    *(0.81, 0.47, 0.66, 0.92, 0.58, 0.39, 0.74, 0.69, 0.85, 0.50),
    *(0.77, 0.63, 0.95, 0.41, 0.72, 0.60, 0.88, 0.54, 0.67, 0.79),
)


def test_difference_estimator_on_a_fixed_set():
    found = difference_estimator(JUDGE, HUMAN)
    assert found.estimate.value == pytest.approx(0.604643, abs=5e-7)
    assert found.se == pytest.approx(0.014790, abs=5e-7)
    assert found.estimate.lo == pytest.approx(0.569670, abs=5e-7)
    assert found.estimate.hi == pytest.approx(0.639616, abs=5e-7)
    assert (found.labelled, found.units) == (8, 28)


def test_each_unit_gets_the_weight_that_the_others_choose():
    # python -c, with y, f the eight and r the twenty above: for each i
    #   l_i = clip(np.cov(y[-i], f[-i])[0, 1] / ((1 + 7/20) np.var(f[-i] + r, ddof=1)), 0, 1)
    # c = y - l (f - mean(r)); mean(l), mean(c), hypot(mean(l) sd(r) / 20^.5, sd(c) / 8^.5)
    # ppi-python's own, one lambda .844251 for all chosen by the same eight: .605260, se .038106.
    found = prediction_powered(JUDGE, HUMAN)
    y, f, r = np.array(HUMAN[:8]), np.array(JUDGE[:8]), np.array(JUDGE[8:])
    weights = []
    for i in range(8):
        yi, fi = np.delete(y, i), np.delete(f, i)
        best = np.cov(yi, fi)[0, 1] / ((1 + 7 / 20) * np.concatenate([fi, r]).var(ddof=1))
        weights.append(min(1.0, max(0.0, best)))
    unit = y - np.array(weights) * (f - r.mean())
    se = math.hypot(np.mean(weights) * r.std(ddof=1) / 20**0.5, unit.std(ddof=1) / 8**0.5)
    assert found.judge_weight == pytest.approx(np.mean(weights))
    assert found.estimate.value == pytest.approx(unit.mean())
    assert found.se == pytest.approx(se)


def test_prediction_powered_with_full_weight():
    # ppi-python 0.2.3: .606 [.528746, .683254], with n below its moments: se .039415. With n - 1:
    # hypot(sd(r) / 20^.5, sd(y - f) / 8^.5), sd by statistics.stdev.
    found = prediction_powered(JUDGE, HUMAN, judge_weight=1.0)
    assert found.estimate.value == pytest.approx(0.606)
    rectified = [h - j for h, j in zip(HUMAN[:8], JUDGE[:8], strict=True)]
    se = math.hypot(
        statistics.stdev(JUDGE[8:]) / math.sqrt(20), statistics.stdev(rectified) / math.sqrt(8)
    )
    assert found.se == pytest.approx(se)
    assert found.se > 0.039415


def test_order_of_the_units_does_not_matter():
    order = [*range(27, -1, -1)]
    turned = prediction_powered([JUDGE[i] for i in order], [HUMAN[i] for i in order])
    assert turned.estimate.value == pytest.approx(prediction_powered(JUDGE, HUMAN).estimate.value)


def test_weight_0_is_the_labels_alone():
    found = prediction_powered(JUDGE, HUMAN, judge_weight=0.0)
    assert found.estimate.value == pytest.approx(0.60125)
    # ppi-python's [0.486425, 0.716075] for labels alone is 90% and has n below its variance.
    reach = 1.644854 * found.se * math.sqrt(7 / 8)
    assert (0.60125 - reach, 0.60125 + reach) == pytest.approx((0.486425, 0.716075), abs=5e-7)
    assert found.estimate == found.human_only


def test_eight_labels_widen_the_interval_by_t():
    judge, human = _about_zero(JUDGE, HUMAN)
    found = prediction_powered(judge, human)
    assert found.estimate.hi - found.estimate.value == pytest.approx(2.364624 * found.se, rel=1e-6)


def _about_zero(judge, human):
    """Return the values less .6, as a difference of two runs has them: on both sides of 0."""
    return [j - 0.6 for j in judge], [None if h is None else h - 0.6 for h in human]


@pytest.mark.parametrize(("labelled", "printed"), [(5, False), (29, False), (30, True)])
def test_mean_of_one_run_over_traffic_takes_thirty_labels(labelled, printed):
    # Means near 1 hold in 88-92% of draws of 5 to 25, in 93.5% of 30: docs/statistics.md.
    generator = np.random.default_rng(0)
    people = generator.beta(4, 0.6, 100)
    judge = np.clip(people + generator.normal(0, 0.15, 100), 0, 1).tolist()
    human = [*people[:labelled].tolist(), *[None] * (100 - labelled)]
    strata = ["s", "t"] * 50
    for found in (
        prediction_powered(judge, human),
        difference_estimator(judge, human, strata=strata, of_traffic=True),
    ):
        assert found.estimate.value is not None
        assert (found.estimate.lo is not None) is (found.human_only.lo is not None) is printed
        if not printed:
            assert found.estimate.reason == (
                f"CI n/a: {labelled} labelled, traffic whose values all lie on one side of 0"
                " takes 30"
            )
    # A fixed set has no traffic to answer for; a difference lies on both sides of 0.
    assert difference_estimator(judge, human).estimate.lo is not None
    assert prediction_powered(*_about_zero(judge, human)).estimate.lo is not None


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


def test_few_units_that_differ_give_no_interval():
    # Twelve labelled, the judge right in ten: two rows decide, and few draws meet them.
    human = [0.5] * 10 + [0.9, 0.1] + [None] * 8
    found = difference_estimator([0.5] * 20, human)
    assert found.estimate.value == pytest.approx(0.5)
    assert found.estimate.lo is None
    assert found.estimate.reason.startswith("only 2 of 12 labelled differ from the rest")


@pytest.mark.parametrize(
    ("labelled", "differ", "printed"),
    [
        (5, 3, False), (5, 5, True), (6, 4, False), (6, 6, True), (8, 6, True),
        (10, 7, False), (10, 8, True),  # 3/4 of 10 is 7.5
        (15, 11, False), (15, 12, True),  # 3/4 of 15 is 11.25
        (100, 29, False), (100, 30, True),
    ],
)  # fmt: skip
def test_most_of_the_labelled_must_differ(labelled, differ, printed):
    human = [0.5] * (labelled - differ) + [0.1 + 0.01 * i for i in range(differ)]
    found = difference_estimator([0.5] * 200, [*human, *[None] * (200 - labelled)])
    # .1, .11, ... .39 are not .5, so that as many differ as are said to.
    assert (found.estimate.lo is not None) is printed


def test_traffic_adds_the_spread_of_the_units_themselves():
    fixed, traffic = (difference_estimator(JUDGE, HUMAN, of_traffic=t) for t in (False, True))
    assert traffic.estimate.value == fixed.estimate.value
    spread = statistics.variance(HUMAN[:8]) / 28
    assert traffic.se == pytest.approx(math.sqrt(0.014790199**2 + spread))


def test_effective_n_of_weights():
    # The sample above: weights 4 4 2 1 1; 12^2 / 38.
    assert effective_n([4, 4, 2, 1, 1]) == pytest.approx(3.789474, abs=5e-7)
    assert effective_n([]) == 0.0
    # Equal weights are as many as they are, however large or small: w * w is inf or 0 there.
    assert effective_n([1e308] * 4) == pytest.approx(4.0)
    assert effective_n([5e-324] * 3) == pytest.approx(3.0)


@pytest.mark.parametrize("estimator", [difference_estimator, prediction_powered])
def test_labels_alone_have_no_interval_where_fewer_than_six_are_not_zero(estimator):
    # Five differences, all unlike: no sign-flip test of five reaches .05 (2/2^5 = .0625).
    few = [0.1, 0.2, 0.3, 0.4, 0.5]
    judge = [*[0.0] * 19, -0.1]  # on both sides of 0, as differences are
    five = estimator(judge, [*few, 0.0, *[None] * 14]).human_only
    assert five.value == pytest.approx(0.25)  # 1.5 / 6
    assert (five.lo, five.hi) == (None, None)
    assert five.reason == "only 5 of 6 labelled are not 0: no interval to build on it"
    six = estimator(judge, [*few, 0.6, *[None] * 14]).human_only
    assert six.lo is not None and six.lo < 0.35 < six.hi  # 2.1 / 6


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
    # One run finds something in few queries: judge and people differ in 11 of 43, and it says so.
    found = [line for line in found if not math.isnan(line.covered)]
    covered = sorted(line.covered for line in found)
    assert len(covered) == 36
    assert 0.93 <= covered[18] <= 0.97
    assert sum(share >= 0.92 for share in covered) >= 34
    assert all(line.width < line.width_alone for line in found)
