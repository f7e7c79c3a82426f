"""What labelled units stand for, by the design as it came to be: worked by hand."""

from __future__ import annotations

import itertools
import runpy
from statistics import mean, variance

import numpy as np
import pytest
from conftest import ROOT

from judge.statistics.strata import LENT, ONE_SAMPLE, realised_design


def test_each_stratum_counts_by_its_size():
    # Six units of s, of which 2 are labelled (1, 3), four of t, of which 2 (10, 14):
    # .6 * 2 + .4 * 12; (.6^2 (1 - 2/6) 2 / 2 + .4^2 (1 - 2/4) 8 / 2).
    design = realised_design([0, 1, 6, 7], units=10, strata=["s"] * 6 + ["t"] * 4)
    values = np.array([1.0, 3.0, 10.0, 14.0])
    assert design.mean(values) == pytest.approx(6.0)
    assert design.variance(values) == pytest.approx(0.36 * (2 / 3) * 1 + 0.16 * 0.5 * 4)
    assert (design.degrees, design.notes, design.is_simple) == (2, (), False)


def test_stratum_with_one_label_is_lent_the_spread_of_the_others():
    # s has 1 and 3 (variance 2), t one label of four: (1 - 1/4) * 2.
    design = realised_design([0, 1, 6], units=10, strata=["s"] * 6 + ["t"] * 4)
    values = np.array([1.0, 3.0, 10.0])
    assert design.variance(values) == pytest.approx(0.36 * (2 / 3) * 1 + 0.16 * 0.75 * 2)
    assert design.notes == (LENT,)


def test_stratum_without_a_label_makes_it_one_sample():
    design = realised_design([0, 1], units=10, strata=["s"] * 6 + ["t"] * 4)
    assert design.notes == (ONE_SAMPLE,)
    assert design.mean(np.array([1.0, 3.0])) == 2.0
    assert design.variance(np.array([1.0, 3.0])) == pytest.approx(0.8 * 2 / 2)


def test_one_label_in_all_has_no_variance():
    assert realised_design([3], units=10).variance(np.array([1.0])) is None


def test_strata_labelled_wholly_leave_nothing_to_chance():
    design = realised_design([0, 1, 2], units=3, strata="sst")
    assert design.variance(np.array([1.0, 5.0, 9.0])) == 0.0


def test_planned_chances_count_against_each_other_only():
    # Weights 4 and 1 whatever the factor: (4 * 1 + 1 * 3) / 5.
    for factor in (1.0, 0.1):
        chances = [0.25 * factor, 1.0 * factor, 1.0, 1.0]
        design = realised_design([0, 1], units=4, chances=chances)
        assert design.mean(np.array([1.0, 3.0])) == pytest.approx(1.4)


def test_unbiased_with_an_unbiased_variance_over_all_stratified_samples():
    # Two of four and two of three, each sample alike likely: mean and variance exactly.
    values = {"s": (0.0, 1.0, 4.0, 7.0), "t": (2.0, 2.0, 8.0)}
    every, strata = [*values["s"], *values["t"]], "ssssttt"
    found, guessed = [], []
    for s in itertools.combinations(range(4), 2):
        for t in itertools.combinations(range(4, 7), 2):
            design = realised_design([*s, *t], units=7, strata=strata)
            labelled = np.array([every[i] for i in (*s, *t)])
            found.append(design.mean(labelled))
            guessed.append(design.variance(labelled))
    assert mean(found) == pytest.approx(mean(every))
    assert mean(guessed) == pytest.approx(mean((f - mean(every)) ** 2 for f in found))


@pytest.mark.slow
def test_stopping_early_widens_the_interval_and_keeps_its_promise():
    # The small form of scripts/check_corrections.py.
    check = runpy.run_path(str(ROOT / "scripts" / "check_corrections.py"))
    rows = check["POPULATIONS"]["a difference"](np.random.default_rng(0), 43)
    found = check["stopped_early"](*rows, draws=300, seed=1)
    covered = [np.nanmean(found[n][:, 0]) for n in (15, 10, 7, 5)]
    widths = [np.nanmedian(found[n][:, 1]) for n in (15, 10, 7, 5)]
    assert all(0.92 <= share <= 0.98 for share in covered)
    assert widths == sorted(widths)


def test_sample_variance_is_what_one_stratum_has():
    design = realised_design([0, 1, 2], units=9)
    values = (1.0, 2.0, 6.0)
    assert design.variance(np.array(values)) == pytest.approx((1 - 3 / 9) * variance(values) / 3)
