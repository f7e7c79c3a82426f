"""Exact bounds by enumeration: every grading of small pools, for every graded measure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.measures import bounds
from judge.measures.bounds_affine import err_contrast, precision_contrast
from judge.measures.graded import evaluate
from judge.measures.names import Measure
from judge.measures.pool import Bounded, GradePool, Ranking

Grades = tuple[int, ...]
SIZE, TOP = 5, 3


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Ranking], GradePool]:
    """Return two rankings of some of five chunks, open and known, with orders among them."""
    rankings = [
        tuple(draw(st.permutations(range(SIZE)))[: draw(st.integers(0, SIZE))]) for _ in range(2)
    ]
    ends = [
        draw(st.sampled_from([(0, 3), (0, 3), (0, 1), (1, 2), (2, 2), (0, 0)])) for _ in range(SIZE)
    ]
    pairs = draw(
        st.lists(st.sampled_from(list(itertools.combinations(range(SIZE), 2))), max_size=3)
    )
    orders = tuple(sorted(set(pairs)))
    whole = GradePool(*map(tuple, zip(*ends, strict=True)), orders, TOP)
    kept = gradings(whole)
    if not kept:
        return rankings, GradePool(whole.lo, whole.hi, (), TOP)
    # The intervals of a pool are consistent with its orders: what some grading reaches.
    columns = list(zip(*kept, strict=True))
    return rankings, GradePool(tuple(map(min, columns)), tuple(map(max, columns)), orders, TOP)


def gradings(pool: GradePool) -> list[Grades]:
    ranges = [range(lo, hi + 1) for lo, hi in zip(pool.lo, pool.hi, strict=True)]
    every = itertools.product(*ranges)
    return [g for g in every if all(g[a] >= g[b] for a, b in pool.orders)]


def ndcg(ranking: Ranking, grades: Grades) -> float:
    ideal = sum(g / math.log2(at + 2) for at, g in enumerate(sorted(grades, reverse=True)[:3]))
    gained = sum(grades[m] / math.log2(at + 2) for at, m in enumerate(ranking[:3]) if m is not None)
    return gained / ideal if ideal else 0.0


def err(ranking: Ranking, grades: Grades) -> float:
    # Chapelle et al. 2009: Σ 1/r · Π_{i<r} (1 - R_i) · R_r, R = (2^g - 1) / 2^3
    total, left = 0.0, 1.0
    for rank, member in enumerate(ranking[:3], 1):
        stop = 0.0 if member is None else (2 ** grades[member] - 1) / 2**TOP
        total += left * stop / rank
        left *= 1 - stop
    return total


def precision(ranking: Ranking, grades: Grades) -> float:
    return sum(grades[m] >= 2 for m in ranking[:3] if m is not None) / 3


FORMULAS = {"nDCG": ndcg, "ERR": err, "P": precision}
MEASURES = {"nDCG": Measure("nDCG", 3), "ERR": Measure("ERR", 3), "P": Measure("P", 3, rel=2)}


def bounded(name: str, rankings: Sequence[Ranking], pool: GradePool) -> Bounded:
    if len(rankings) == 1:
        return evaluate(MEASURES[name], rankings[0], pool)
    if name == "nDCG":
        return bounds.ndcg_difference(rankings[1], rankings[0], pool, k=3)
    if name == "ERR":
        return err_contrast(rankings, pool, coefficients=(-1.0, 1.0), k=3)
    return precision_contrast(rankings, pool, coefficients=(-1.0, 1.0), k=3, rel=2)


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("name", sorted(FORMULAS))
@given(case=cases())
@settings(max_examples=40, deadline=None)
def test_both_ends_are_those_of_every_grading(
    name: str, runs: int, case: tuple[list[Ranking], GradePool]
) -> None:
    rankings, pool = case[0][:runs], case[1]
    formula: Callable[[Ranking, Grades], float] = FORMULAS[name]
    signs = (1.0,) if runs == 1 else (-1.0, 1.0)
    reached = [
        sum(sign * formula(ranking, g) for sign, ranking in zip(signs, rankings, strict=True))
        for g in gradings(pool)
    ]
    found = bounded(name, rankings, pool)
    assert found.exact
    assert (found.lo, found.hi) == pytest.approx((min(reached), max(reached)), abs=1e-9)


def test_swapped_chunks_of_err_are_tried_together() -> None:
    # ab against ba, both open, k = 2: with stops x and y the difference is
    # (x + (1-x)y/2) - (y + (1-y)x/2) = (x - y)/2, so at most 7/8 / 2 = .4375 either way. Run by
    # run, each list between 0 and 7/8 + 1/8·7/8/2 = .9297, it was .9297.
    pool = GradePool((0, 0), (3, 3))
    found = err_contrast([(1, 0), (0, 1)], pool, coefficients=(-1.0, 1.0), k=2)
    assert found == Bounded(0.0, -0.4375, 0.4375)
    # a >= b leaves one side of it.
    ordered = GradePool((0, 0), (3, 3), ((0, 1),))
    found = err_contrast([(1, 0), (0, 1)], ordered, coefficients=(-1.0, 1.0), k=2)
    assert found == Bounded(0.0, 0.0, 0.4375)


def test_precision_keeps_an_order_through_a_chunk_outside_both_lists() -> None:
    # a >= m >= b: a alone against b alone is never behind.
    pool = GradePool((0, 0, 0), (3, 3, 3), ((0, 2), (2, 1)))
    found = precision_contrast([(1,), (0,)], pool, coefficients=(-1.0, 1.0), k=1, rel=2)
    assert found == Bounded(0.0, 0.0, 1.0)


def test_more_shared_chunks_than_can_be_tried_are_sound_and_say_so() -> None:
    pool = GradePool((0,) * 20, (3,) * 20)
    forward, backward = tuple(range(20)), tuple(reversed(range(20)))
    found = err_contrast([forward, backward], pool, coefficients=(-1.0, 1.0), k=None)
    assert not found.exact
    for grades in ((3, *[0] * 19), (*[0] * 19, 3)):
        difference = evaluate(MEASURES["ERR"], backward, GradePool(grades, grades)).value
        assert found.lo <= difference <= found.hi
