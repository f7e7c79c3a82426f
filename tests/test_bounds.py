"""`judge.measures.bounds`: worked values of statistics.md B and B.4, and brute force."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.measures import bounds
from judge.measures.bounds_ordered import ordered_bounds
from judge.measures.bounds_ratio import rank_weights, reduce_row, scale_of
from judge.measures.pool import Bounded, GradePool, Ranking

# The worked example of section B, k=5: members c1..c6 and the golden g1 that no run found.
C1, C2, C3, C4, C5, C6, G1 = range(7)
RUN_A: Ranking = (C1, C2, C3, C4, C5)
RUN_B: Ranking = (C3, C1, C4, C2, C6)


def example(orders: tuple[tuple[int, int], ...] = ()) -> GradePool:
    return GradePool(lo=(2, 0, 1, 0, 0, 0, 3), hi=(2, 3, 1, 3, 0, 0, 3), orders=orders)


def interval(found: Bounded) -> tuple[float, float]:
    return found.lo, found.hi


@pytest.mark.parametrize(
    ("gain", "run", "expected"),
    [
        ("exponential", RUN_A, (0.372626, 0.658692)),
        ("exponential", RUN_B, (0.307980, 0.566876)),
        ("linear", RUN_A, (0.525005, 0.743989)),
        ("linear", RUN_B, (0.474995, 0.661418)),
    ],
)
def test_worked_example_of_one_run(gain: str, run: Ranking, expected: tuple[float, float]) -> None:
    found = bounds.ndcg(run, example(), k=5, gain=gain)
    assert interval(found) == pytest.approx(expected, abs=5e-7)
    assert found.exact
    assert found.value == pytest.approx(expected[0], abs=5e-7)  # the lowest completion is (0, 0)


@pytest.mark.parametrize(
    ("gain", "expected"),
    [("exponential", (0.009137, 0.150517)), ("linear", (0.004771, 0.132665))],
)
def test_worked_difference_is_settled_without_a_call(
    gain: str, expected: tuple[float, float]
) -> None:
    found = bounds.ndcg_difference(RUN_A, RUN_B, example(), k=5, gain=gain)
    assert interval(found) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(
    ("c2", "c4", "expected"),
    [
        (0, 0, 0.372626), (0, 1, 0.400131), (0, 2, 0.442744), (0, 3, 0.488098),
        (1, 0, 0.420517), (1, 1, 0.446764), (1, 2, 0.483747), (1, 3, 0.520289),
        (2, 0, 0.498250), (2, 1, 0.519474), (2, 2, 0.553761), (2, 3, 0.576040),
        (3, 0, 0.593122), (3, 1, 0.607774), (3, 2, 0.630921), (3, 3, 0.658692),
    ],
)  # fmt: skip
def test_worked_table_of_known_grades(c2: int, c4: int, expected: float) -> None:
    grades = (2, c2, 1, c4, 0, 0, 3)
    found = bounds.ndcg(RUN_A, GradePool(lo=grades, hi=grades), k=5, gain="exponential")
    assert found.value == pytest.approx(expected, abs=5e-7)
    assert not found.is_open


@pytest.mark.parametrize(("gain", "highest"), [("exponential", 0.519474), ("linear", 0.689631)])
def test_preferences_lower_the_maximum(gain: str, highest: float) -> None:
    # c1 >= c2 and c3 >= c4 with c1 = 2, c3 = 1: c2 in [0, 2], c4 in [0, 1].
    pool = GradePool(
        lo=(2, 0, 1, 0, 0, 0, 3), hi=(2, 2, 1, 1, 0, 0, 3), orders=((C1, C2), (C3, C4))
    )
    assert bounds.ndcg(RUN_A, pool, k=5, gain=gain).hi == pytest.approx(highest, abs=5e-7)


def test_an_order_between_open_chunks_narrows_a_difference() -> None:
    found = bounds.ndcg_difference(
        RUN_A, RUN_B, example(orders=((C2, C4),)), k=5, gain="exponential"
    )
    assert interval(found) == pytest.approx((0.064646, 0.150517), abs=5e-7)


@pytest.mark.parametrize(
    ("gain", "expected"), [("exponential", (0.526114, 1.0)), ("linear", (0.631251, 1.0))]
)
def test_not_monotone_all_zero_and_all_three_are_no_bounds(
    gain: str, expected: tuple[float, float]
) -> None:
    pool = GradePool(lo=(1, 0, 0, 0), hi=(1, 3, 0, 3))
    assert interval(bounds.ndcg((0, 1, 2, 3), pool, k=4, gain=gain)) == pytest.approx(
        expected, abs=5e-7
    )


@pytest.mark.parametrize(
    ("gain", "values"),
    [("exponential", (1, 1, 0.796708, 0.709810)), ("linear", (1, 1, 0.859719, 0.796708))],
)
def test_a_higher_grade_can_lower_the_measure(gain: str, values: tuple[float, ...]) -> None:
    for grade, expected in enumerate(values):
        pool = GradePool(lo=(1, grade), hi=(1, grade))
        assert bounds.ndcg((0, 1), pool, k=2, gain=gain).value == pytest.approx(expected, abs=5e-7)


FIVE: Ranking = (0, 1, 2, 3, 4)


def golden_at(rank: int, *, high: int = 3, orders: str = "") -> GradePool:
    """Return a pool of five with a golden of grade 3 at `rank`; orders as "23 34"."""
    lo, hi = [0] * 5, [high] * 5
    lo[rank - 1] = hi[rank - 1] = 3
    pairs = tuple((int(pair[0]) - 1, int(pair[1]) - 1) for pair in orders.split())
    return GradePool(lo=tuple(lo), hi=tuple(hi), orders=pairs)


@pytest.mark.parametrize("gain", ["linear", "exponential"])
@pytest.mark.parametrize(
    ("pool", "expected"),
    [
        (golden_at(1), (0.850345, 1.0)),
        (golden_at(1, orders="23 34 45"), (1.0, 1.0)),
        (golden_at(1, orders="32 24 45"), (0.919721, 1.0)),
        (golden_at(3, orders="12 24 45"), (0.5, 1.0)),
        (golden_at(2, high=0), (0.630930, 0.630930)),
    ],
)
def test_worked_values_with_orders(
    pool: GradePool, expected: tuple[float, float], gain: str
) -> None:
    found = bounds.ndcg(FIVE, pool, k=5, gain=gain)
    assert interval(found) == pytest.approx(expected, abs=5e-7)
    assert found.is_open == (expected[0] < expected[1])


@pytest.mark.parametrize(("high", "expected"), [(3, (0.624051, 1.0)), (2, (0.625665, 0.946488))])
def test_worked_values_under_intervals(high: int, expected: tuple[float, float]) -> None:
    found = bounds.ndcg(FIVE, golden_at(2, high=high), k=5)
    assert interval(found) == pytest.approx(expected, abs=5e-7)


def test_swap_of_ranks_two_and_three_is_settled_by_a_preference() -> None:
    # A golden of grade 3 at rank 1; the candidate shows member 2 before member 1.
    baseline, candidate = (0, 1, 2), (0, 2, 1)
    free = bounds.ndcg_difference(candidate, baseline, GradePool((0, 0, 0), (3, 3, 3)), k=3)
    assert interval(free) == pytest.approx((-0.13093, 0.13093), abs=5e-6)
    decided = GradePool((0, 0, 0), (3, 3, 3), orders=((2, 1),))
    found = bounds.ndcg_difference(candidate, baseline, decided, k=3)
    assert found.lo == 0.0
    assert found.hi == pytest.approx(0.13093, abs=5e-6)


def test_mean_adds_row_bounds() -> None:
    rows = [
        Bounded(0.009137, 0.009137, 0.150517),
        Bounded(-0.05, -0.05, 0.02),
        Bounded(0.03, 0.03, 0.03),
    ]
    assert interval(bounds.mean_bounds(rows)) == pytest.approx((-0.003621, 0.066839), abs=5e-7)


def test_weighted_mean() -> None:
    rows = [Bounded(0.0, 0.0, 1.0), Bounded(0.5, 0.5, 0.5)]
    found = bounds.mean_bounds(rows, weights=[1, 3])
    assert (found.value, found.lo, found.hi) == (0.375, 0.375, 0.625)


def test_identical_lists_differ_by_nothing_whatever_is_open() -> None:
    pool = GradePool((0,) * 4, (3,) * 4)
    found = bounds.ndcg_difference((0, 1, 2, 3), (0, 1, 2, 3), pool, k=3)
    assert (found.value, found.lo, found.hi, found.exact) == (0.0, 0.0, 0.0, True)


def test_an_open_row_without_any_relevant_chunk_reaches_zero() -> None:
    found = bounds.ndcg((0, 1), GradePool((0, 0), (3, 3)), k=10)
    assert (found.value, found.lo, found.hi) == (0.0, 0.0, 1.0)


def test_empty_list_gains_nothing() -> None:
    assert bounds.ndcg((), GradePool((0,), (3,)), k=10) == Bounded(0.0, 0.0, 0.0)
    assert bounds.ndcg((), GradePool((), ()), k=10) == Bounded(0.0, 0.0, 0.0)


def test_a_slot_that_gains_nothing_keeps_its_place() -> None:
    # 3/log2(3) against an ideal of 3.
    found = bounds.ndcg((None, 0), GradePool((3,), (3,)), k=10)
    assert found.value == pytest.approx(1 / math.log2(3))


def completions(pool: GradePool) -> Iterator[tuple[int, ...]]:
    ranges = [range(low, high + 1) for low, high in zip(pool.lo, pool.hi, strict=True)]
    for grades in itertools.product(*ranges):
        if all(grades[a] >= grades[b] for a, b in pool.orders):
            yield grades


def dcg(grades: list[int], *, k: int, gain: str) -> float:
    gains = [g if gain == "linear" else 2**g - 1 for g in grades]
    return sum(g / math.log2(r + 1) for r, g in enumerate(gains[:k], start=1))


def brute_ndcg(ranking: Ranking, grades: tuple[int, ...], *, k: int, gain: str) -> float:
    ideal = dcg(sorted(grades, reverse=True), k=k, gain=gain)
    listed = [0 if m is None else grades[m] for m in ranking]
    return dcg(listed, k=k, gain=gain) / ideal if ideal else 0.0


@st.composite
def pools(draw: st.DrawFn) -> GradePool:
    grade_max = draw(st.sampled_from([3, 3, 3, 1, 2, 4]))
    size = draw(st.integers(0, 6))
    free = draw(st.booleans())
    lo, hi = [], []
    for _ in range(size):
        low = 0 if free else draw(st.integers(0, grade_max))
        high = grade_max if free else draw(st.integers(low, grade_max))
        if draw(st.booleans()):
            low = high = draw(st.integers(low, high))
        lo.append(low)
        hi.append(high)
    order = draw(st.permutations(range(size)))
    chosen = st.sets(st.sampled_from(list(itertools.combinations(order, 2))), max_size=5)
    pairs = draw(chosen) if size > 1 and draw(st.booleans()) else set()
    for a, b in sorted(pairs, key=lambda pair: order.index(pair[1])):
        lo[a] = max(lo[a], lo[b])
    # Raise from the bottom of the order up, lower from the top down: a fixpoint.
    for b in reversed(order):
        for a, below in pairs:
            if below == b:
                lo[a] = max(lo[a], lo[b])
    for a in order:
        hi[a] = max(hi[a], lo[a])
        for above, b in pairs:
            if above == a:
                hi[b] = min(hi[b], hi[a])
    usable = [(a, b) for a, b in pairs]
    if any(low > high for low, high in zip(lo, hi, strict=True)):
        usable, lo = [], [min(low, high) for low, high in zip(lo, hi, strict=True)]
    return GradePool(tuple(lo), tuple(hi), tuple(usable), grade_max)


@st.composite
def rankings(draw: st.DrawFn, size: int) -> Ranking:
    order = draw(st.permutations(range(size)))
    listed: list[int | None] = list(order[: draw(st.integers(0, size))])
    for _ in range(draw(st.integers(0, 2))):
        listed.insert(draw(st.integers(0, len(listed))), None)
    return tuple(listed)


def check_against_brute_force(data: st.DataObject, k: int, gain: str) -> None:
    pool = data.draw(pools())
    a, b = data.draw(rankings(len(pool.lo))), data.draw(rankings(len(pool.lo)))
    one, two = [], []
    for grades in completions(pool):
        first, second = (brute_ndcg(r, grades, k=k, gain=gain) for r in (a, b))
        one.append(first)
        two.append(first - second)
    single = bounds.ndcg(a, pool, k=k, gain=gain)
    difference = bounds.ndcg_difference(a, b, pool, k=k, gain=gain)
    for found, values in ((single, one), (difference, two)):
        assert found.exact
        assert found.lo == pytest.approx(min(values), abs=1e-9)
        assert found.hi == pytest.approx(max(values), abs=1e-9)
        assert found.lo <= found.value <= found.hi
        # completions() counts up, so the first one is the lowest.
        assert found.value == pytest.approx(values[0], abs=1e-9)


random_rows = given(st.data(), st.integers(1, 7), st.sampled_from(["linear", "exponential"]))


@pytest.mark.slow
@random_rows
@settings(max_examples=100, deadline=None)
def test_bounds_equal_brute_force(data: st.DataObject, k: int, gain: str) -> None:
    check_against_brute_force(data, k, gain)


@pytest.mark.slow
@random_rows
@settings(max_examples=1000, deadline=None)
def test_bounds_equal_brute_force_on_a_thousand_rows(
    data: st.DataObject, k: int, gain: str
) -> None:
    check_against_brute_force(data, k, gain)


@given(st.data(), st.integers(1, 7), st.sampled_from(["linear", "exponential"]))
@settings(max_examples=60, deadline=None)
def test_free_rows_agree_with_the_ordered_way(data: st.DataObject, k: int, gain: str) -> None:
    size = data.draw(st.integers(1, 9))
    known = data.draw(st.lists(st.integers(0, 3), max_size=4))
    pool = GradePool(lo=(*known, *[0] * size), hi=(*known, *[3] * size))
    a, b = data.draw(rankings(len(pool.lo))), data.draw(rankings(len(pool.lo)))
    scale = scale_of(k, gain, 3)
    plus, minus = (rank_weights(r, scale, size=len(pool.lo)) for r in (a, b))
    ratio = reduce_row([p - m for p, m in zip(plus, minus, strict=True)], pool, scale)
    other = ordered_bounds(ratio, scale)
    assert ratio.is_free
    found = bounds.ndcg_difference(a, b, pool, k=k, gain=gain)
    assert interval(found) == pytest.approx((other.lo, other.hi), abs=1e-9)


def test_rows_of_one_batch_do_not_disturb_each_other() -> None:
    made = [golden_at(1), golden_at(2), golden_at(2, high=2), golden_at(1, orders="23 34 45")]
    together = bounds.ndcg_rows([FIVE] * 4, made, k=5)
    assert together == [bounds.ndcg(FIVE, pool, k=5) for pool in made]


@pytest.mark.slow
def test_a_row_too_large_is_bounded_soundly_and_says_so() -> None:
    # 16 chunks all above one chunk: 2^16 up-sets are too many, so some orders are dropped.
    size = 17
    pool = GradePool((0,) * size, (3,) * size, orders=tuple((a, 16) for a in range(16)))
    ranking = tuple(range(size))
    found = bounds.ndcg(ranking, pool, k=10)
    free = bounds.ndcg(ranking, GradePool(pool.lo, pool.hi), k=10)
    assert not found.exact
    assert free.lo <= found.lo <= found.value <= found.hi <= free.hi


def test_a_long_chain_stays_exact() -> None:
    # 30 chunks in the shown order: the list is its own ideal whatever the grades.
    size = 30
    chain = tuple((m, m + 1) for m in range(size - 1))
    pool = GradePool((3, *[0] * (size - 1)), (3,) * size, orders=chain)
    assert bounds.ndcg(tuple(range(size)), pool, k=10) == Bounded(1.0, 1.0, 1.0)


def test_a_grid_too_large_falls_back_to_the_hull() -> None:
    hi = tuple(3 if m % 2 else 2 for m in range(200))
    pool = GradePool((0,) * 200, hi)
    found = bounds.ndcg(tuple(range(200)), pool, k=100)
    assert not found.exact
    assert found.lo <= found.value <= found.hi


def test_lowest_completion_is_the_lower_ends() -> None:
    pool = GradePool((1, 0), (3, 2), orders=((0, 1),))
    assert bounds.lowest(pool) == (1, 0)


def test_a_cutoff_far_below_the_list_costs_nothing() -> None:
    pool = GradePool((3, 0, 0), (3, 3, 3))
    near, far = (bounds.ndcg((0, 1, 2), pool, k=k) for k in (3, 10**9))
    assert near == far
