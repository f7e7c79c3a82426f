"""Scores of a pool and their means, by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.evidence.pool import PoolRules, QueryPool, build_pool
from judge.evidence.queries import join
from judge.evidence.units import Reply
from judge.measures.names import Measure, parse_measure
from judge.measures.pool import Bounded
from judge.run import Golden, KnownGrade, Result, Row, Run
from judge.scoring import Scale, are_settled, confidence, grade_pool, mean, means, score_rows

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


def test_confidence_takes_an_open_row_with_its_interval() -> None:
    # 1, 1 and [0, 1]: lowest at 1 1 0 | 0 1, mean .6, sd .547723, t4 2.776445: below 0; the
    # interval of three ones starts at .2447.
    known = [Bounded(1.0, 1.0, 1.0)] * 2
    assert confidence([*known, Bounded(0.0, 0.0, 1.0)], [1.0] * 3) == (0.0, 1.0)
    found = confidence([*known, Bounded(1.0, 1.0, 1.0)], [1.0] * 3)
    assert found == pytest.approx((0.2447, 1.0), abs=5e-5)


def test_one_row_says_nothing_about_others() -> None:
    assert confidence([Bounded(0.5, 0.5, 0.5)], [1.0]) is None


@pytest.mark.parametrize("weight", [1e308, 5e-324])
def test_weights_at_the_ends_of_a_double_weigh_alike(weight: float) -> None:
    # (.25 + .5) / 2, although 1e308 twice is no double and 5e-324 times .25 is 0
    found = mean([Bounded(0.25, 0.25, 0.25), Bounded(0.5, 0.5, 0.5)], [weight, weight])
    assert (found.value, found.lo, found.hi) == (0.375, 0.375, 0.375)


@st.composite
def pools(draw: st.DrawFn) -> tuple[QueryPool, QueryPool]:
    """Return a pool, and the same after one more reply."""
    ids = "abcdef"[: draw(st.integers(1, 6))]
    known = draw(st.dictionaries(st.sampled_from(ids), st.integers(0, 3), max_size=3))
    priors = [KnownGrade(id, grade, grade, "q") for id, grade in known.items()]
    pairs = draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=3))
    replies = {
        id: Reply(grade, grade)
        for id, grade in draw(
            st.dictionaries(st.sampled_from(ids), st.integers(0, 3), max_size=3)
        ).items()
    }
    before = pool(*ids, known=priors, preferences=pairs, replies=replies)
    asks = [ask for asks in before.asks for ask in asks]
    if asks:
        grade = draw(st.integers(0, 3))
        replies = {**replies, draw(st.sampled_from(asks)): Reply(grade, grade)}
    return before, pool(*ids, known=priors, preferences=pairs, replies=replies)


@pytest.mark.slow
@given(pools(), st.sampled_from(["linear", "exponential"]))
def test_one_more_reply_only_narrows_every_measure(
    both: tuple[QueryPool, QueryPool], gain: str
) -> None:
    measures = [parse_measure(name) for name in ("nDCG@3", "nDCG@10", "ERR@10", "P(rel=2)@5")]
    before, after = score_rows(list(both), measures, scale=Scale(gain, 3))
    for measure in measures:
        one, two = before[measure], after[measure]
        assert one.lo <= one.value <= one.hi and two.lo <= two.value <= two.hi
        if both[0].orders == both[1].orders:
            assert one.lo <= two.lo + 1e-9 and two.hi <= one.hi + 1e-9
        else:
            # Only a conflict withdraws an order, and it is on record.
            assert len(both[1].conflicts) > len(both[0].conflicts)


MEASURES = [parse_measure(name) for name in ("nDCG@2", "nDCG", "ERR@1", "P(rel=2)@2", "RR")]


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 3), st.integers(0, 3)), max_size=4),
    st.lists(st.sampled_from("abcd"), max_size=4, unique=True),
    st.lists(st.sampled_from(MEASURES), min_size=1, max_size=2, unique=True),
)
def test_settled_is_what_the_bounds_say(
    known: list[tuple[str, int, int]], ids: list[str], measures: list[Measure]
) -> None:
    grades = [KnownGrade(id, min(ends), max(ends), "q") for id, *ends in known]
    row = pool(*ids, known=grades)
    (scores,) = score_rows([row], [m for m in measures if m.family == "graded"], scale=LINEAR)
    moves = any(bounded.is_open for bounded in scores.values())
    assert are_settled([row], measures, scale=LINEAR) == [not moves]
