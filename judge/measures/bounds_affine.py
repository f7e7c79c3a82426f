"""Bounds of a weighted sum of several lists' ERR or P over one pool, by trying what can matter.

Both measures are affine in each chunk's own part (its chance to satisfy, or whether it is
relevant) as long as all other grades stay. So a chunk that no order binds is best and worst at
an end of its interval, and at a known one where all lists that show it count the same way: only
chunks that lists of both signs show, and those bound to them by orders, have to be tried out
together. Where these are too many to try, the later ones are let free in each list by itself:
sound, wider, and said with `exact=False`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from judge.measures.bounds_ordered import closure
from judge.measures.bounds_ratio import without_rounding
from judge.measures.pool import Bounded, GradePool, Ranking

GRADINGS_MAX = 1 << 14
"""So many gradings of the chunks that matter are tried: 14 shared ones, more than any top 10."""

Floats = NDArray[np.float64]
Grades = NDArray[np.int64]
Order = tuple[int, int]
Formula = Callable[[Ranking, Grades], Floats]
"""A list's measure under each of many gradings, a line each."""


def err_contrast(
    rankings: Sequence[Ranking],
    pool: GradePool,
    *,
    coefficients: Sequence[float],
    k: int | None,
) -> Bounded:
    """Return Σ coefficient · ERR@k over the rankings with the range that open grades leave."""
    stops = np.exp2(np.arange(pool.grade_max + 1.0) - pool.grade_max) - np.exp2(-pool.grade_max)

    def err(ranking: Ranking, grades: Grades) -> Floats:
        total, unsatisfied = np.zeros(len(grades)), np.ones(len(grades))
        for rank, member in enumerate(ranking, start=1):
            if member is not None:
                stop = stops[grades[:, member]]
                total += unsatisfied * stop / rank
                unsatisfied *= 1.0 - stop
        return total

    return _contrast([ranking[:k] for ranking in rankings], pool, coefficients, err)


def precision_contrast(
    rankings: Sequence[Ranking],
    pool: GradePool,
    *,
    coefficients: Sequence[float],
    k: int,
    rel: int,
) -> Bounded:
    """Return Σ coefficient · P(rel)@k over the rankings with the range that open grades leave."""

    # Each chunk counts alone, by the sum over the lists that show it: a list of its own.
    weights: dict[int, float] = {}
    for ranking, coefficient in zip(rankings, coefficients, strict=True):
        for member in ranking[:k]:
            if member is not None:
                weights[member] = weights.get(member, 0.0) + coefficient / k

    def relevant(ranking: Ranking, grades: Grades) -> Floats:
        return np.asarray(grades[:, ranking[0]] >= rel, dtype=np.float64)

    alone = [(member,) for member in weights]
    return _contrast(alone, pool, [*map(without_rounding, weights.values())], relevant)


def _contrast(
    lists: Sequence[Ranking], pool: GradePool, coefficients: Sequence[float], formula: Formula
) -> Bounded:
    signs = _signs(lists, pool, coefficients)
    orders = _open_orders(signs, pool)
    tried, exact = _within_reach(_mattering(signs, orders), orders, pool)
    gradings = _gradings(tried, orders, pool)
    lows, highs = (_with_ends(ends, tried, gradings) for ends in (pool.lo, pool.hi))
    counted = list(zip(lists, coefficients, strict=True))

    def total(positive: Grades, negative: Grades) -> Floats:
        found = np.zeros(len(positive))
        for ranking, coefficient in counted:
            found += coefficient * formula(ranking, positive if coefficient > 0.0 else negative)
        return found

    lowest = np.array([pool.lo], dtype=np.int64)
    ends = (total(lowest, lowest)[0], total(lows, highs).min(), total(highs, lows).max())
    value, low, high = (without_rounding(float(end)) for end in ends)
    return Bounded(value, min(low, value), max(high, value), exact)


def _with_ends(ends: Sequence[int], tried: Sequence[int], gradings: Grades) -> Grades:
    """Return the gradings of the tried members with all others at these ends."""
    grades = np.tile(np.array(ends, dtype=np.int64), (len(gradings), 1))
    grades[:, tried] = gradings
    return grades


def _signs(
    lists: Sequence[Ranking], pool: GradePool, coefficients: Sequence[float]
) -> dict[int, set[bool]]:
    """Return, for each open chunk that is shown, which way its lists count; best ranks first."""
    places: list[tuple[int, int, bool]] = []
    for ranking, coefficient in zip(lists, coefficients, strict=True):
        places += [
            (rank, member, coefficient > 0.0)
            for rank, member in enumerate(ranking)
            if member is not None and coefficient and pool.lo[member] < pool.hi[member]
        ]
    signs: dict[int, set[bool]] = {}
    for _, member, sign in sorted(places):
        signs.setdefault(member, set()).add(sign)
    return signs


def _open_orders(shown: dict[int, set[bool]], pool: GradePool) -> list[Order]:
    """Return the orders among shown open chunks that their intervals do not hold already.

    A path through a chunk that no list shows binds its ends all the same.
    """
    if not pool.orders:
        return []
    above = closure(len(pool.lo), pool.orders)
    return [(a, b) for b in shown for a in above[b] if a in shown and pool.lo[a] < pool.hi[b]]


def _mattering(signs: dict[int, set[bool]], orders: Sequence[Order]) -> list[int]:
    """Return the chunks that have no best end of their own, best ranks first."""
    found = {member for member, both in signs.items() if len(both) == 2}
    found |= {member for order in orders for member in order if signs[order[0]] != signs[order[1]]}
    while more := {member for order in orders if found & {*order} for member in order} - found:
        found |= more
    return [member for member in signs if member in found]


def _within_reach(
    members: Sequence[int], orders: Sequence[Order], pool: GradePool
) -> tuple[list[int], bool]:
    """Return as many of the members, in order, as can be tried together; and whether all can."""
    kept: list[int] = []
    count = 1
    for member in members:
        count *= len(_choices(member, orders, pool))
        if count > GRADINGS_MAX:
            return kept, False
        kept.append(member)
    return kept, True


def _choices(member: int, orders: Sequence[Order], pool: GradePool) -> Sequence[int]:
    """Return the grades to try: both ends, or all where an order may hold it between them."""
    if any(member in order for order in orders):
        return range(pool.lo[member], pool.hi[member] + 1)
    return (pool.lo[member], pool.hi[member])


def _gradings(tried: Sequence[int], orders: Sequence[Order], pool: GradePool) -> Grades:
    """Return every grading of the tried members that keeps their orders, a line each."""
    choices = [_choices(member, orders, pool) for member in tried]
    ways = list(product(*choices))
    every = np.array(ways, dtype=np.int64).reshape(len(ways), len(tried))
    place = {member: at for at, member in enumerate(tried)}
    kept = np.ones(len(every), dtype=bool)
    for a, b in orders:
        if a in place and b in place:
            kept &= every[:, place[a]] >= every[:, place[b]]
    return every[kept]
