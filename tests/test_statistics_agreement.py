"""Agreement: the worked values, frozen outside values, degenerate cases, properties."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worked_agreement import HUMAN, JUDGE

from judge.statistics import agreement
from judge.statistics.agreement import coefficients, table

FROZEN = json.loads((Path(__file__).parent / "reference" / "agreement.json").read_text())

# The values below were computed outside, with sklearn, krippendorff and irrCAC.
WORKED = {
    "exact": 0.708333,
    "mae": 0.291667,
    "bias": 0.125,
    "kappa": 0.560209,
    "kappa_linear": 0.739130,
    "kappa_quadratic": 0.871951,
    "ac1": 0.625974,
    "ac2_linear": 0.800040,
    "ac2_quadratic": 0.910938,
    "alpha_nominal": 0.567674,
    "alpha_ordinal": 0.827796,
    "alpha_interval": 0.874187,
    "kappa_at_1": 0.668966,
    "kappa_at_2": 0.894737,
}


def test_confusion_has_the_human_in_rows():
    expected = [[10, 3, 0, 0], [1, 3, 1, 0], [0, 0, 2, 1], [0, 0, 1, 2]]
    assert table(HUMAN, JUDGE, grade_max=3).tolist() == expected


@pytest.mark.parametrize(("name", "expected"), WORKED.items())
def test_worked_example(name, expected):
    counts = table(HUMAN, JUDGE, grade_max=3)
    assert coefficients(3)[name](counts) == pytest.approx(expected, abs=5e-7)


def test_worked_precision_and_recall():
    counts = table(HUMAN, JUDGE, grade_max=3)
    assert agreement.precision(counts) == pytest.approx([0.909091, 0.5, 0.5, 0.666667], abs=5e-7)
    assert agreement.recall(counts) == pytest.approx([0.769231, 0.6, 0.666667, 0.666667], abs=5e-7)


@pytest.mark.parametrize("case", FROZEN["graded_pairs"])
def test_equals_sklearn_krippendorff_and_irrcac(case):
    counts = table(case["human"], case["judge"], grade_max=3)
    found = {name: float(coefficients(3)[name](counts)) for name in case["expected"]}
    assert found == pytest.approx(case["expected"], abs=1e-9)


def test_missing_data_of_three_raters():
    gap = None
    raters = (
        (0, 1, 2, 3, 3, 2, 1, gap, gap, 0),
        (0, 1, 2, 3, 2, 2, 1, 1, gap, 0),
        (gap, 1, 3, 3, 3, gap, 0, 1, 2, 1),
    )
    found = _alphas(raters)
    assert found["nominal"] == pytest.approx(0.568075, abs=5e-7)
    assert found["ordinal"] == pytest.approx(0.870193, abs=5e-7)
    assert found["interval"] == pytest.approx(0.863095, abs=5e-7)


@pytest.mark.parametrize("case", FROZEN["many_raters"])
def test_alpha_of_many_raters_equals_krippendorff(case):
    assert _alphas(case["raters"]) == pytest.approx(case["expected"], abs=1e-9)


def _alphas(raters):
    units = [[g for g in unit if g is not None] for unit in zip(*raters, strict=True)]
    matrix = agreement.coincidences(units, grade_max=3)
    levels = ("nominal", "ordinal", "interval")
    return {level: float(agreement.alpha(matrix, distance=level)) for level in levels}


def test_prevalence_paradox():
    # 92 (0,0), 4 (0,1), 3 (1,0), 1 (1,1): nearly all agree, kappa is low, AC1 is not.
    counts = np.array([[92.0, 4.0], [3.0, 1.0]])
    found = {name: float(coefficients(1)[name](counts)) for name in ("exact", "kappa", "ac1")}
    assert found == pytest.approx({"exact": 0.93, "kappa": 0.186047, "ac1": 0.923418}, abs=5e-7)


def test_weighted_agreement_by_inverse_probability():
    # Sample {1, 4, 6, 7, 8} of F = 0 0 0 0 1 1 2 3, Y = 0 0 0 1 1 1 2 3 with pi .25 x4, .5 .5 1 1.
    human, judge, pi = (0, 1, 1, 2, 3), (0, 0, 1, 2, 3), (0.25, 0.25, 0.5, 1, 1)
    plain = table(human, judge, grade_max=3)
    weighted = table(human, judge, grade_max=3, weights=[1 / p for p in pi])
    assert agreement.kappa(plain, power=2) == pytest.approx(0.918033, abs=5e-7)
    assert agreement.kappa(weighted, power=2) == pytest.approx(0.811024, abs=5e-7)


def test_no_pairs_has_a_reason():
    counts = table((), (), grade_max=3)
    assert np.isnan(agreement.exact(counts))
    assert agreement.undefined(counts) == "no human-judge pairs"


def test_one_and_the_same_grade_leaves_kappa_undefined_but_not_ac1():
    counts = table([2] * 7, [2] * 7, grade_max=3)
    assert np.isnan(agreement.kappa(counts))
    assert np.isnan(coefficients(3)["alpha_ordinal"](counts))
    assert agreement.undefined(counts) == "only grade 2 used; raw agreement 1.000 (n=7)"
    assert agreement.gwet(counts) == 1.0


def test_a_judge_with_one_grade_has_kappa_0_and_a_remark():
    counts = table([0, 1, 2, 3], [1, 1, 1, 1], grade_max=3)
    assert agreement.kappa(counts) == 0.0
    assert agreement.remark("kappa", counts) == "judge used a single grade"
    assert agreement.remark("kappa", counts.T) == "human used a single grade"
    assert agreement.remark("kappa_at_2", counts) == "judge stayed on one side of the cut"
    assert agreement.remark("kappa", table(HUMAN, JUDGE, grade_max=3)) == ""


def test_cut_with_everything_on_one_side_has_a_reason():
    counts = table([0, 1, 0, 1], [0, 1, 1, 1], grade_max=3)
    assert np.isnan(coefficients(3)["kappa_at_3"](counts))
    assert agreement.undefined(counts) == "every grade is on one side of the cut"


def test_grade_that_nobody_gave_has_no_precision():
    counts = table([0, 0, 1], [0, 0, 1], grade_max=2)
    assert agreement.precision(counts)[:2].tolist() == [1.0, 1.0]
    assert np.isnan(agreement.precision(counts)[2])


graded = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30)


@pytest.mark.slow
@given(graded)
def test_stack_gives_what_each_table_gives(pairs):
    first, second = table(*zip(*pairs, strict=True), grade_max=3), np.eye(4)
    for coefficient in coefficients(3).values():
        stacked = coefficient(np.stack([first, second]))
        alone = [coefficient(first), coefficient(second)]
        np.testing.assert_allclose(stacked, alone, atol=1e-12)


@given(graded)
def test_agreement_is_symmetric_and_bias_changes_sign(pairs):
    counts = table(*zip(*pairs, strict=True), grade_max=3)
    for name, coefficient in coefficients(3).items():
        sign = -1 if name == "bias" else 1
        np.testing.assert_allclose(coefficient(counts), sign * coefficient(counts.T), atol=1e-12)


@given(graded)
def test_no_coefficient_exceeds_1_and_exact_agreement_reaches_it(pairs):
    counts = table(*zip(*pairs, strict=True), grade_max=3)
    measured = {n: float(c(counts)) for n, c in coefficients(3).items() if n not in ("mae", "bias")}
    assert all(np.isnan(value) or value <= 1 + 1e-12 for value in measured.values())
    same = table(*zip(*[(h, h) for h, _ in pairs], strict=True), grade_max=3)
    for name in measured:
        perfect = float(coefficients(3)[name](same))
        assert np.isnan(perfect) or perfect == pytest.approx(1.0)
