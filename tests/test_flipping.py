"""Grades that a verdict hangs on."""

from __future__ import annotations

import judge
from judge.comparing.flipping import flipping
from judge.evidence.pool import QueryPool
from judge.grades import Source
from judge.measures.names import parse_measure
from judge.measures.pool import Bounded
from judge.run import Golden, KnownGrade, Result, Row, Run


def _pools(grades, *, goldens=(), weights=(1.0, 1.0, 1.0)):
    """Return pools of one row a query; grades of its chunks a, b, … by the judge."""
    rows = [
        Row(key=f"q{i}", query_id=f"q{i}", weight=weights[i],
            results=tuple(Result(id, text="t") for id in "ab"))
        for i in range(len(grades))
    ]  # fmt: skip
    known = [
        KnownGrade(id=id, lo=g, hi=g, query_id=f"q{i}", source=Source.JUDGE)
        for i, given in enumerate(grades)
        for id, g in zip("ab", given, strict=True)
    ]
    report = judge.grade(Run("r", tuple(rows), grades=tuple(known)), goldens=goldens, k=2)
    return [row.pool for row in report.rows]


def _a_minus_b(pools: list[QueryPool]) -> list[Bounded]:
    """Return grade(a) - grade(b) of each row: easy to follow by hand."""
    values = [float(pool.judgments[0].lo - pool.judgments[1].lo) for pool in pools]
    return [Bounded(value, value, value) for value in values]


def test_fewest_grades_that_could_turn_the_mean_come_first():
    # Differences 3, 0, 0: mean 1. Each row can fall to -3 by two chunks: q0's a by 3 (to 0), q0's b
    # by 3 (to 3), q1's a by 0, b by 3. One chunk that takes 3 away turns a sum of 3 to 0.
    found = flipping(_a_minus_b, _pools([(3, 0), (0, 0), (0, 0)]))
    assert found == (("q0", "a"),)


def test_more_are_needed_where_the_mean_is_farther():
    # Differences 3, 3, 0: sum 6 falls by 3 + 3.
    assert len(flipping(_a_minus_b, _pools([(3, 0), (3, 0), (0, 0)]))) == 2


def test_weights_tell_which_grade_moves_most():
    found = flipping(_a_minus_b, _pools([(2, 0), (2, 0), (2, 0)], weights=(1.0, 5.0, 1.0)))
    assert found[0][0] == "q1"


def test_verdict_below_the_threshold_is_turned_upwards():
    found = flipping(_a_minus_b, _pools([(0, 3), (0, 0), (0, 0)]), threshold=0.0)
    assert found == (("q0", "a"),)


def test_what_no_grade_can_turn_has_no_such_chunks():
    assert flipping(_a_minus_b, _pools([(3, 0), (3, 0), (3, 0)]), threshold=-9.0) == ()


def test_grades_that_goldens_settled_are_not_the_judge_s():
    goldens = [Golden(("a",), query_id=f"q{i}", complete=True) for i in range(3)]
    pools = _pools([(3, 0), (3, 0), (3, 0)], goldens=goldens)
    assert flipping(_a_minus_b, pools) == ()


def test_measure_of_one_run_can_be_turned_too():
    from judge.scoring import Scale, score_rows

    ndcg = parse_measure("nDCG@2")

    def score(pools):
        return [row.get(ndcg) for row in score_rows(pools, [ndcg], scale=Scale("linear", 3))]

    # nDCG 1, 0, 0: mean 1/3; q1's first chunk at 1 or more lifts the mean to 2/3.
    assert flipping(score, _pools([(3, 0), (0, 0), (0, 0)]), threshold=0.5) == (("q1", "a"),)
