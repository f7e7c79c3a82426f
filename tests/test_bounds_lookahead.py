"""`judge.measures.bounds_lookahead`: equal to the bounds after the grade is known."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.measures import bounds
from judge.measures.bounds_lookahead import lookahead
from judge.measures.bounds_ratio import scale_of
from judge.measures.pool import GradePool


@given(
    st.lists(st.integers(0, 3), max_size=4),
    st.integers(1, 6),
    st.sampled_from([(0, 3), (0, 2), (1, 3)]),
    st.sampled_from(["linear", "exponential"]),
    st.data(),
)
@settings(max_examples=50, deadline=None)
def test_equals_the_bounds_of_the_narrowed_pool(
    known: list[int], count: int, interval: tuple[int, int], gain: str, data: st.DataObject
) -> None:
    lo = (*known, *[interval[0]] * count)
    hi = (*known, *[interval[1]] * count)
    pool = GradePool(lo, hi)
    members = range(len(lo))
    a, b = (tuple(data.draw(st.permutations(members))) for _ in range(2))
    k = data.draw(st.integers(1, 6))
    weights = bounds.contrast_weights((a, b), pool, coefficients=(1, -1), k=k, gain=gain)
    table = lookahead(weights, pool, scale_of(k, gain, 3))
    for place in range(count):
        for grade in range(interval[0], interval[1] + 1):
            member = len(known) + place
            narrowed = GradePool(
                tuple(grade if m == member else v for m, v in enumerate(lo)),
                tuple(grade if m == member else v for m, v in enumerate(hi)),
            )
            expected = bounds.ndcg_difference(a, b, narrowed, k=k, gain=gain)
            assert tuple(table[place, grade]) == pytest.approx((expected.lo, expected.hi), abs=1e-9)
