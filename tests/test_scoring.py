"""Scores of a pool and their means, by hand."""

from __future__ import annotations

import math

import pytest

from judge.evidence.pool import PoolRules, QueryPool, Reply, build_pool
from judge.evidence.queries import join
from judge.measures.names import parse_measure
from judge.measures.pool import Bounded
from judge.run import Golden, KnownGrade, Result, Row, Run
from judge.scoring import Scale, are_settled, grade_pool, mean, means, score_rows

NDCG = parse_measure("nDCG@10")
RR = parse_measure("RR")
R5 = parse_measure("R@5")
LINEAR = Scale("linear", 3)


def pool(
    *ids: str, golden: Golden | None = None, error: str | None = None, **evidence: object
) -> QueryPool:
    results = tuple(Result(id, text="words") for id in ids)
    row = Row(key="q", query_id="q", results=results, error=error)
    goldens = [] if golden is None else [golden]
    (query,) = join([Run("run", (row,))], goldens).queries
    return build_pool(query, PoolRules("chunk", 10, 3), **evidence)  # type: ignore[arg-type]


def scored(pool: QueryPool) -> dict[str, Bounded]:
    (scores,) = score_rows([pool], [NDCG, RR, R5], scale=LINEAR)
    return {str(measure): bounded for measure, bounded in scores.items()}


def test_a_golden_at_rank_two_with_the_rest_open() -> None:
    scores = scored(pool("a", "b", golden=Golden(("b",), query_id="q")))
    # a = 0: 3/log2(3) over 3; a = 3: a perfect list
    low = 1 / math.log2(3)
    assert scores["nDCG@10"].value == pytest.approx(low)
    assert (scores["nDCG@10"].lo, scores["nDCG@10"].hi) == pytest.approx((low, 1.0))
    assert scores["RR"] == Bounded(0.5, 0.5, 0.5)
    assert scores["R@5"] == Bounded(1.0, 1.0, 1.0)


def test_a_complete_golden_settles_the_row() -> None:
    row = pool("a", "b", golden=Golden(("b",), query_id="q", complete=True))
    assert are_settled([row], [NDCG], scale=LINEAR) == [True]
    assert scored(row)["nDCG@10"].value == pytest.approx(1 / math.log2(3))


def test_open_chunks_that_cannot_move_the_measure_leave_the_row_settled() -> None:
    # [3, b] is in order whatever b is; [3, b, c] is not where c > b.
    known = [KnownGrade("a", 3, 3, "q")]
    rows = [pool("a", "b", known=known), pool("a", "b", "c", known=known)]
    assert are_settled(rows, [NDCG], scale=LINEAR) == [True, False]


def test_a_row_without_golden_has_no_golden_measure() -> None:
    assert set(scored(pool("a"))) == {"nDCG@10"}


def test_a_row_that_failed_could_be_anything() -> None:
    failed = pool(golden=Golden(("b",), query_id="q"), error="timeout")
    assert set(scored(failed).values()) == {Bounded(0.0, 0.0, 1.0)}
    assert len(scored(failed)) == 3


def test_an_empty_list_is_0() -> None:
    assert set(scored(pool(golden=Golden(("b",), query_id="q"))).values()) == {Bounded(0, 0, 0)}


def test_a_question_without_answer_has_no_measures() -> None:
    assert scored(pool("a", golden=Golden((), query_id="q", complete=True))) == {}


def test_value_takes_the_lowest_grades_that_orders_allow() -> None:
    # b is a golden (3) and c beats it, so c is 3 too; the judge's failure leaves a open.
    row = pool(
        "a",
        "b",
        "c",
        golden=Golden(("b",), query_id="q"),
        preferences=[("c", "b")],
        replies={"a": Reply(None, None, "timed out")},
    )
    grades = grade_pool(row, grade_max=3)
    assert (grades.lo, grades.hi) == ((0, 3, 3), (3, 3, 3))
    # (3/log2(3) + 3/2) / (3 + 3/log2(3))
    low = (1 / math.log2(3) + 0.5) / (1 + 1 / math.log2(3))
    assert scored(row)["nDCG@10"].value == pytest.approx(low)


def test_a_verdict_reaches_the_bounds_through_an_order() -> None:
    row = pool("a", "b", preferences=[("a", "b")], replies={"a": Reply(1, 1)})
    assert grade_pool(row, grade_max=3).hi == (1, 1)


def test_the_mean_is_weighted_and_its_bounds_add_up() -> None:
    # (2*0.5 + 1*0.2) / 3, (2*0.4 + 0.2) / 3, (2*0.9 + 0.2) / 3
    found = mean([Bounded(0.5, 0.4, 0.9), Bounded(0.2, 0.2, 0.2)], [2.0, 1.0])
    assert (found.value, found.lo, found.hi) == pytest.approx((0.4, 1 / 3, 2 / 3))
    assert found.n == 2


def test_each_measure_averages_over_the_rows_that_have_it() -> None:
    one, two = Bounded(1, 1, 1), Bounded(0, 0, 0)
    found = means([(1.0, {NDCG: one, RR: one}), (3.0, {NDCG: two})], [NDCG, RR, R5])
    assert {str(m): (v.value, v.n) for m, v in found.items()} == {
        "nDCG@10": (0.25, 2),
        "RR": (1.0, 1),
    }
