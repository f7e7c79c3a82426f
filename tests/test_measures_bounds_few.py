"""The plain walk over all gradings against the vectorised bounds and a worked example."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.measures.bounds_few import few_bounds, ways
from judge.measures.bounds_free import free_bounds
from judge.measures.bounds_ratio import rank_weights, reduce_row, scale_of
from judge.measures.pool import GradePool


def test_four_chunks_two_open() -> None:
    # statistics.md B: run c1 c2 c3 c4, c1 = 1, c3 = 0, k = 4, linear: [0.631251, 1]
    pool = GradePool(lo=(1, 0, 0, 0), hi=(1, 3, 0, 3))
    scale = scale_of(4, "linear", 3)
    ratio = reduce_row(rank_weights((0, 1, 2, 3), scale, size=4), pool, scale)
    assert ways(ratio) == 10
    assert few_bounds(ratio, scale) == pytest.approx((0.631251, 1.0), abs=5e-7)


@given(data=st.data(), gain=st.sampled_from(["linear", "exponential"]), k=st.integers(1, 6))
def test_few_bounds_equal_free_bounds(data: st.DataObject, gain: str, k: int) -> None:
    known = data.draw(st.lists(st.integers(0, 3), max_size=4))
    low, high = sorted(data.draw(st.tuples(st.integers(0, 3), st.integers(0, 3))))
    if low == high:
        low, high = 0, 3
    free = data.draw(st.integers(1, 4))
    pool = GradePool((*known, *[low] * free), (*known, *[high] * free))
    weights = data.draw(st.lists(st.floats(-1, 1), min_size=len(pool.lo), max_size=len(pool.lo)))
    scale = scale_of(k, gain, 3)
    ratio = reduce_row(weights, pool, scale)
    lows, highs = free_bounds([ratio], scale)
    assert few_bounds(ratio, scale) == pytest.approx((lows[0], highs[0]), abs=1e-9)
