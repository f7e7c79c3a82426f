"""Corrected means and differences over pools: labels move the number, refusals, weights."""

from __future__ import annotations

import math

import pytest

import judge
from judge.calibration.correcting import CHOSEN, correct
from judge.formats import Label
from judge.grades import Source
from judge.measures.names import parse_measure
from judge.run import Golden, KnownGrade, Result, Row, Run
from judge.scoring import Scale, score_rows

NDCG = parse_measure("nDCG@2")


def _pools(n, *, goldens=(), weights=None, judged=(3, 0)):
    """Return pools of n rows of chunks a and b, graded by the judge: nDCG@2 is 1 in all."""
    weights = weights or [1.0] * n
    rows = [
        Row(key=f"q{i}", query_id=f"q{i}", query=f"x{i}", weight=weights[i],
            results=(Result("a", text="t"), Result("b", text="t")))
        for i in range(n)
    ]  # fmt: skip
    known = [
        KnownGrade(id=id, lo=g, hi=g, query_id=f"q{i}", source=Source.JUDGE)
        for i in range(n)
        for id, g in zip("ab", judged, strict=True)
        if f"q{i}" not in {golden.query_id for golden in goldens}
    ]
    run = Run("r", tuple(rows), grades=tuple(known))
    return [row.pool for row in judge.grade(run, goldens=goldens, measures=["nDCG@2"]).rows]


def _ndcg(pools):
    return [scores.get(NDCG) for scores in score_rows(pools, [NDCG], scale=Scale("linear", 3))]


def _labels(rows, grade_of_b, **more):
    """Return labels of both chunks of each row: a is 0, b as given, so that nDCG@2 falls."""
    return [
        label
        for i in rows
        for label in (Label(f"q{i}", "a", 0, **more), Label(f"q{i}", "b", grade_of_b(i), **more))
    ]


SWAPPED = 1 / math.log2(3)  # nDCG@2 where only rank 2 is relevant


def test_labels_move_the_mean_by_what_they_say():
    # Of ten rows six are labelled; in three of those nothing is relevant (0), in three rank 2.
    labels = _labels(range(6), lambda i: 3 * (i % 2))
    found = correct(_ndcg, _pools(10), labels)
    assert found.judge_mean == 1.0
    assert found.estimate.value == pytest.approx(SWAPPED / 2)
    # The six values are 0 and SWAPPED: their spread is SWAPPED sqrt(0.3); t with 5 df 2.570582.
    reach = 2.570582 * SWAPPED * math.sqrt(0.3 / 6 * 0.4)
    assert found.estimate.hi - found.estimate.value == pytest.approx(reach, rel=1e-6)
    assert (found.labelled, found.units) == (6, 10)


def test_row_labelled_in_part_tells_nothing():
    labels = _labels(range(6), lambda i: 0)[1:]  # chunk a of row 0 is missing
    assert correct(_ndcg, _pools(10), labels).labelled == 5


def test_too_few_rows_give_a_reason():
    found = correct(_ndcg, _pools(10), _labels(range(4), lambda i: 0))
    assert found.estimate.value is None
    assert found.estimate.reason == "4 labelled, at least 5 are needed"


def test_rows_chosen_by_looking_are_refused():
    looked = _labels(range(6), lambda i: 0)
    drawn = [Label("q9", "a", 0, pi=0.5)]
    found = correct(_ndcg, _pools(10), [*looked, *drawn])
    assert found.estimate.value is None
    assert found.estimate.reason == CHOSEN


def test_rows_drawn_with_unequal_chances_are_weighted():
    labels = [*_labels(range(5), lambda i: 0, pi=0.5), *_labels([5, 6], lambda i: 0, pi=1.0)]
    found = correct(_ndcg, _pools(12), labels)
    assert found.method == "inverse probability"
    # 1 + (5 * 2 * (0 - 1) + 2 * (0 - 1)) / 12: the sample says that all twelve are 0.
    assert found.estimate.value == pytest.approx(0.0)


def test_weights_of_rows_count():
    # Weights 4 for a labelled row, 1 else; all labelled: (4 * 0 + 5 * SWAPPED) / 9.
    labels = _labels(range(6), lambda i: 0 if i == 0 else 3)
    found = correct(_ndcg, _pools(6, weights=[4.0, 1, 1, 1, 1, 1]), labels)
    assert found.estimate.value == pytest.approx(5 * SWAPPED / 9)
    assert found.estimate.lo == found.estimate.hi


def test_rows_that_goldens_settled_need_no_label_and_keep_their_score():
    goldens = [Golden(("a",), query_id=f"q{i}", complete=True) for i in range(4)]
    labels = _labels(range(4, 10), lambda i: 0)
    found = correct(_ndcg, _pools(10, goldens=goldens), labels)
    assert found.estimate.value == pytest.approx(0.4)  # four settled rows at 1, six at 0
    assert found.units == 6


def test_nothing_judged_is_exact_without_labels():
    goldens = [Golden(("a",), query_id=f"q{i}", complete=True) for i in range(6)]
    found = correct(_ndcg, _pools(6, goldens=goldens), [])
    assert (found.estimate.lo, found.estimate.hi) == (1.0, 1.0)


def test_traffic_is_corrected_by_prediction_powered_inference():
    labels = _labels(range(6), lambda i: 3 * (i % 2))
    assert correct(_ndcg, _pools(10), labels, sample=True).method == "ppi++"


def test_raters_who_disagree_count_by_their_lower_median():
    both = [
        *_labels(range(6), lambda i: 3, rater="ann"),
        *_labels(range(6), lambda i: 0, rater="b"),
    ]
    found = correct(_ndcg, _pools(6), both)
    assert found.estimate.value == pytest.approx(0.0)
