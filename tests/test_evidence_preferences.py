"""Order constraints: the fixpoint, and what a contradiction takes back."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.evidence.preferences import Violation, constrain

FREE = (0, 3)
PREFERS_C = [("c", "a"), ("c", "b")]


@pytest.mark.parametrize(
    ("b", "c", "expected_c"),
    [((2, 2), FREE, (2, 3)), ((3, 3), FREE, (3, 3))],  # statistics.md A.5
)
def test_golden_raises_what_beats_it(b, c, expected_c):
    result = constrain({"a": FREE, "b": b, "c": c}, PREFERS_C)
    assert result.intervals["c"] == expected_c
    assert result.withdrawn == ()


def test_golden_against_log_withdraws_the_pair_and_keeps_the_rest():
    # statistics.md A.5: golden b=2, c=1 → conflict {b, c}; c >= a still holds, so a <= 1.
    result = constrain({"a": FREE, "b": (2, 2), "c": (1, 1)}, PREFERS_C)
    assert result.withdrawn == (("c", "b"),)
    assert result.violations == (Violation("c", "b", (1, 1), (2, 2)),)
    assert result.orders == (("c", "a"),)
    assert result.intervals == {"a": (0, 1), "b": (2, 2), "c": (1, 1)}


def test_bounds_travel_along_the_whole_chain():
    # a >= b >= c >= d with c in [2,3], b at most 2: b and c are 2, a at least 2, d at most 2.
    result = constrain(
        {"a": FREE, "b": (0, 2), "c": (2, 3), "d": FREE}, [("a", "b"), ("b", "c"), ("c", "d")]
    )
    assert result.intervals == {"a": (2, 3), "b": (2, 2), "c": (2, 2), "d": (0, 2)}


def test_every_pair_on_the_violated_path_is_withdrawn():
    # a=0 and d=3 contradict a >= b >= d and a >= c >= d; e >= a is on no violated path.
    pairs = [("a", "b"), ("b", "d"), ("a", "c"), ("c", "d"), ("e", "a")]
    result = constrain({"a": (0, 0), "b": FREE, "c": FREE, "d": (3, 3), "e": FREE}, pairs)
    assert result.orders == (("e", "a"),)
    assert len(result.withdrawn) == 4
    assert result.intervals["b"] == result.intervals["c"] == FREE


def test_path_may_lead_through_an_id_without_an_interval():
    result = constrain({"a": FREE, "c": (2, 2)}, [("a", "x"), ("x", "c")])
    assert result.intervals == {"a": (2, 3), "c": (2, 2)}
    assert result.orders == (("a", "c"),)


def test_cycle_is_withdrawn_and_the_rest_of_the_graph_stands():
    pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]
    result = constrain({"a": FREE, "b": FREE, "c": (0, 1), "d": FREE}, pairs)
    assert result.withdrawn == (("a", "b"), ("b", "c"), ("c", "a"))
    assert result.violations == ()
    assert result.intervals["d"] == (0, 1)


def test_pair_of_a_chunk_with_itself_says_nothing():
    result = constrain({"a": (1, 2)}, [("a", "a")])
    assert (result.intervals, result.orders, result.withdrawn) == ({"a": (1, 2)}, (), ())


def test_verdict_does_not_travel():
    result = constrain({"a": FREE, "b": FREE}, [("a", "b")], verdicts={"b": (2, 2)})
    assert result.intervals == {"a": FREE, "b": (2, 2)}
    assert result.orders == (("a", "b"),)


def test_verdict_against_an_order_withdraws_it_and_recomputes():
    # Golden b=2 raised a to [2,3]; the judge then says a=1: the order goes, a is 1.
    result = constrain({"a": FREE, "b": (2, 2)}, [("a", "b")], verdicts={"a": (1, 1)})
    assert result.withdrawn == (("a", "b"),)
    assert result.intervals == {"a": (1, 1), "b": (2, 2)}


def test_verdict_against_a_golden_leaves_the_golden():
    result = constrain({"a": (3, 3)}, [], verdicts={"a": (0, 0)})
    assert result.intervals == {"a": (3, 3)}


IDS = "abcde"
INTERVALS = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(lambda pair: tuple(sorted(pair)))
CASES = st.tuples(
    st.fixed_dictionaries(dict.fromkeys(IDS, INTERVALS)),
    st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(IDS)), max_size=10),
    st.dictionaries(st.sampled_from(IDS), st.integers(0, 3).map(lambda g: (g, g))),
)


@pytest.mark.slow
@given(CASES, st.randoms(use_true_random=False))
def test_order_of_input_changes_nothing(case, random):
    intervals, pairs, verdicts = case
    shuffled = random.sample(pairs, len(pairs))
    ids = random.sample(list(intervals), len(intervals))
    assert constrain(
        {id: intervals[id] for id in ids}, shuffled + shuffled[:2], verdicts=verdicts
    ) == constrain(intervals, pairs, verdicts=verdicts)


@given(CASES)
def test_intervals_equal_brute_force(case):
    intervals, pairs, _ = case
    result = constrain(intervals, pairs)
    completions = [
        dict(zip(intervals, grades, strict=True))
        for grades in itertools.product(*(range(lo, hi + 1) for lo, hi in intervals.values()))
    ]
    allowed = [g for g in completions if all(g[a] >= g[b] for a, b in result.orders)]
    assert allowed, "the orders that stand leave a completion"
    for id in IDS:
        grades = [g[id] for g in allowed]
        assert result.intervals[id] == (min(grades), max(grades))


@given(CASES)
def test_evidence_only_narrows_and_nothing_is_lost(case):
    intervals, pairs, verdicts = case
    result = constrain(intervals, pairs, verdicts=verdicts)
    for id, (lo, hi) in result.intervals.items():
        assert intervals[id][0] <= lo <= hi <= intervals[id][1]
    assert {p for p in pairs if p[0] != p[1]} == set(result.orders) | set(result.withdrawn)


@pytest.mark.slow
@given(CASES)
def test_a_second_time_changes_nothing(case):
    intervals, pairs, _ = case
    once = constrain(intervals, pairs)
    twice = constrain(once.intervals, once.orders)
    assert (twice.intervals, twice.orders, twice.withdrawn) == (once.intervals, once.orders, ())
