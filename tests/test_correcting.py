"""Corrected means and differences over pools: labels move the number, refusals, weights."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import pytest

import judge
from judge.calibration.correcting import NOTHING_TO_CORRECT, correct
from judge.calibration.labelled import CHOSEN, UNKNOWN
from judge.formats import Label
from judge.grades import Source
from judge.measures.names import parse_measure
from judge.measures.pool import Bounded
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


# nDCG@2 of a list whose chunks people grade so: (a + b S) / (greater + lesser S), S = 1/log2(3).
SIX = {
    (0, 0): 0.0,
    (0, 3): SWAPPED,
    (1, 3): 0.796708,
    (1, 2): 0.859719,
    (2, 3): 0.913402,
    (3, 3): 1,
}


def _six_rows(**more):
    return [
        Label(f"q{i}", id, grade, **more)
        for i, grades in enumerate(SIX)
        for id, grade in zip("ab", grades, strict=True)
    ]


def test_labels_move_the_mean_by_what_they_say():
    found = correct(_ndcg, _pools(10), _six_rows(pi=0.6))
    assert found.judge_mean == 1.0
    mean = sum(SIX.values()) / 6
    assert found.estimate.value == pytest.approx(mean, abs=1e-6)
    # The judge says 1 everywhere, so the spread is that of the six; t with 5 df is 2.570582.
    reach = 2.570582 * math.sqrt(statistics.variance(SIX.values()) / 6 * 0.4)
    assert found.estimate.hi - found.estimate.value == pytest.approx(reach, abs=1e-5)
    assert (found.labelled, found.units, found.notes) == (6, 10, ())


def test_rows_of_which_nobody_says_that_they_were_drawn_carry_the_doubt():
    assert correct(_ndcg, _pools(10), _six_rows()).notes == (UNKNOWN,)
    assert correct(_ndcg, _pools(6), _six_rows()).notes == ()  # all labelled: nothing was drawn


def test_rows_picked_by_their_largest_loss_look_chosen():
    # 40 rows, of which the judge grades 34 at nDCG 1 and six at 0.63; those six were labelled.
    pools = [*_pools(6, judged=(0, 3)), *_pools(40)[6:]]
    found = correct(_ndcg, pools, _six_rows())
    assert found.estimate.value is None
    assert found.estimate.reason == (
        "the labelled rows look chosen, not drawn: by the judge they average +0.631,"
        " all rows +0.945"
    )
    assert correct(_ndcg, pools, _six_rows(pi=0.2)).estimate.value is not None


def test_labels_chosen_by_looking_do_not_complete_a_row():
    labels = [*_labels(range(6), lambda i: 0, pi=0.5), *_labels([7], lambda i: 0, chosen=True)]
    assert correct(_ndcg, _pools(10), labels).labelled == 6


def test_nothing_but_chosen_labels_corrects_nothing():
    found = correct(_ndcg, _pools(10), _labels(range(7), lambda i: 0, chosen=True))
    assert found.estimate.reason == CHOSEN


def test_chunk_that_people_graded_outside_the_pool_is_part_of_their_ideal():
    # The judge: a 1, b 0, nDCG 1. People: a 1, b 0, c 3, which no run returned: 1 / (3 + S).
    labels = [
        Label(f"q{i}", id, grade) for i in range(6) for id, grade in (("a", 1), ("b", 0), ("c", 3))
    ]
    found = correct(_ndcg, _pools(6, judged=(1, 0)), labels)
    assert (found.judge_mean, found.estimate.value) == pytest.approx((1.0, 1 / (3 + SWAPPED)))


def test_twelve_drawn_and_half_of_them_labelled_say_what_every_label_says():
    # Chances of three slices as rounding left them; six rows labelled, all with people's
    # difference -.369 against the judge's +.369. Whatever was planned, all labels say -.369.
    gain = 1 - SWAPPED
    slices, pis = ("s", "t", "u"), (0.28, 0.30, 0.40)
    pools = [
        replace(pool, query=replace(pool.query, slice=slices[i % 3]))
        for i, pool in enumerate(_pools(39, judged=(3, 0)))
    ]
    labels = [label for i in range(6) for label in _labels([i], lambda i: 3, pi=pis[i % 3])]

    def difference(rows):
        # Candidate a b minus baseline b a: nDCG@2 of the list minus that of its reverse.
        return [Bounded(d, d, d) for d in (_reversed_gain(row) for row in rows)]

    def _reversed_gain(pool):
        a, b = (judgment.lo for judgment in pool.judgments)
        return gain if a > b else -gain

    found = correct(difference, pools, labels)
    assert found.judge_mean == pytest.approx(gain)
    assert found.estimate.value == pytest.approx(-gain)
    assert found.estimate.reason == "no spread over 6 labelled: no interval to build on it"


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
    # Five rows at chance 1/2 found at 0, two at chance 1 at S: (5 * 2 * 0 + 2 * S) / 12.
    labels = [*_labels(range(5), lambda i: 0, pi=0.5), *_labels([5, 6], lambda i: 3, pi=1.0)]
    found = correct(_ndcg, _pools(12), labels)
    assert found.method == "stratified difference"
    assert found.estimate.value == pytest.approx(SWAPPED / 6)


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


def test_rows_that_nobody_labelled_are_no_agreement_though_no_judge_graded_them():
    goldens = [Golden(("a",), query_id=f"q{i}", complete=True) for i in range(6)]
    found = correct(_ndcg, _pools(6, goldens=goldens), [])
    assert (found.estimate.value, found.labelled) == (None, 0)
    assert found.estimate.reason == NOTHING_TO_CORRECT


def test_grades_of_a_file_are_corrected_as_a_judges_are():
    # An earlier judgments.jsonl says 3 and 0 of five rows; people saw one of them.
    file = [KnownGrade(id=id, lo=g, hi=g, query_id=f"q{i}") for i in range(5)
            for id, g in (("a", 3), ("b", 0))]  # fmt: skip
    rows = [replace(pool.query.rows[0], golden=None) for pool in _pools(5)]
    pools = [row.pool for row in judge.grade(Run("r", tuple(rows), grades=tuple(file))).rows]
    found = correct(_ndcg, pools, _labels([0], lambda i: 3))
    assert (found.labelled, found.units) == (1, 5)
    assert found.estimate.value is None


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
