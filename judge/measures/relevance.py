"""Measures of relevant or not, over a pool: relevant is a grade of at least `rel`."""

from __future__ import annotations

from collections.abc import Iterable

from judge.measures import golden
from judge.measures.names import Measure
from judge.measures.pool import Bounded, GradePool, Ranking

_NOTHING_RELEVANT = 0.0
# What turns out relevant within the cutoff only helps these, and below it only hurts.
_MONOTONE = frozenset({"Hit", "R", "RR"})


def evaluate(measure: Measure, ranking: Ranking, pool: GradePool) -> Bounded:
    """Return a golden measure with every chunk of grade >= rel in the place of an expected id.

    A pool without a relevant chunk is 0, as trec_eval. The bounds are exact unless the pool
    has orders (then sound): for a given number j of open chunks that turn out relevant the
    measure is highest when they are the j best placed and lowest when they are the j worst,
    because moving a relevant chunk up never costs anything. So j alone is tried.

    >>> pool = GradePool(lo=(0, 1), hi=(3, 1))         # first place open, second relevant
    >>> evaluate(Measure("RR"), (0, 1), pool)
    Bounded(value=0.5, lo=0.5, hi=1.0, exact=True)
    """
    rank_of = {member: rank for rank, member in enumerate(ranking, start=1) if member is not None}
    sure: list[int | None] = []
    unsure: list[int | None] = []
    for member, (lo, hi) in enumerate(zip(pool.lo, pool.hi, strict=True)):
        if hi >= measure.rel:
            (sure if lo >= measure.rel else unsure).append(rank_of.get(member))
    value = _value(measure, sure)
    if not unsure:
        return Bounded(value, value, value)
    unsure.sort(key=lambda rank: len(ranking) + 1 if rank is None else rank)
    counts: Iterable[int] = range(1, len(unsure) + 1)
    if measure.name in _MONOTONE:
        within = sum(rank is not None and rank <= (measure.k or rank) for rank in unsure)
        counts = {within, len(unsure) - within} - {0}
    lowest = (_value(measure, sure + unsure[-count:]) for count in counts)
    highest = (_value(measure, sure + unsure[:count]) for count in counts)
    return Bounded(value, min(value, *lowest), max(value, *highest), exact=not pool.orders)


def _value(measure: Measure, ranks: list[int | None]) -> float:
    return golden.evaluate(measure, ranks) if ranks else _NOTHING_RELEVANT
