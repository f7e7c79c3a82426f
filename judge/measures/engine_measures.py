"""Measures of all queries at once, from the ranks of the judged documents alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judge.grades import GAINS
from judge.measures.engine_text import Flags, Ints
from judge.measures.names import Measure

Floats: TypeAlias = NDArray[np.float64]

_FEW_GRADES = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Judged documents of `n` queries, by query, then in the order of `ranks`.

    A run's: where it shows them. An ideal one: the qrels' own, best grade first.
    """

    n: int
    queries: Ints
    ranks: Ints
    grades: Ints

    def __getitem__(self, chosen: Ints | Flags) -> Judged:
        return Judged(self.n, self.queries[chosen], self.ranks[chosen], self.grades[chosen])

    def top(self, k: int | None) -> Judged:
        """Return those within the cutoff."""
        return self if k is None else self[np.flatnonzero(self.ranks <= k)]

    def relevant(self, rel: int, *, k: int | None = None) -> Judged:
        """Return those with a grade of at least `rel`, within the cutoff."""
        chosen = self.grades >= rel
        if k is not None:
            chosen &= self.ranks <= k
        return self[np.flatnonzero(chosen)]

    def total(self, weights: Floats | None = None) -> Floats:
        """Return the sum of weights, or the count, of each query."""
        found = np.bincount(self.queries, weights, minlength=self.n)
        return found.astype(np.float64)

    def places(self) -> Ints:
        """Return the place of each document among those of its query, from 1."""
        first = np.concatenate(([0], np.cumsum(np.bincount(self.queries, minlength=self.n))))
        places: Ints = np.arange(1, len(self.queries) + 1) - first[self.queries]
        return places


def in_order(n: int, queries: Ints, ranks: Ints, grades: Ints) -> Judged:
    """Return judged documents sorted by query and rank."""
    keys = (queries.astype(np.int64) << 32) | ranks
    if (keys[1:] >= keys[:-1]).all():  # as where runs and qrels name their queries in one order
        return Judged(n, queries, ranks, grades)
    order = np.argsort(keys, kind="stable")
    return Judged(n, queries[order], ranks[order], grades[order])


def ideal(n: int, queries: Ints, grades: Ints) -> Judged:
    """Return the relevant documents of the qrels ranked by grade."""
    relevant = np.flatnonzero(grades > 0)
    queries, grades = queries[relevant], grades[relevant]
    scale = int(grades.max(initial=0)) + 1
    keys = (queries + 1).astype(np.int64) * scale - grades
    if n * scale <= len(keys):  # few distinct ones: counted, they need no sorting
        counts = np.bincount(keys)
        keys = np.repeat(np.arange(len(counts)), counts)
    else:
        keys.sort()
    queries = keys // scale
    ranked = Judged(n, queries, keys, (queries + 1) * scale - keys)
    return replace(ranked, ranks=ranked.places())


class Asked(NamedTuple):
    """What a formula may look at: the run, its list lengths, the ideal run, the options.

    shown: judged documents of the run; run: the relevant ones among them, of grade 1 or more
    """

    shown: Judged
    run: Judged
    lengths: Ints
    ideal: Judged
    gain: str
    grade_max: int


def values(measure: Measure, asked: Asked) -> Floats:
    """Return one measure of every query; `golden` and `graded` say what each one is."""
    return _FORMULAS[measure.name](measure, asked)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return the quotient, 0 where there is nothing to divide by."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)


def _discounts(ranks: Ints) -> Floats:
    """Return 1 / log2(rank + 1), worked out once a rank where there are fewer of those."""
    deepest = int(ranks.max(initial=0))
    few = deepest < len(ranks)
    distinct = np.arange(1, deepest + 1) if few else ranks
    discounts: Floats = 1.0 / np.log2(distinct + 1.0)
    return discounts[ranks - 1] if few else discounts


def _ndcg(measure: Measure, asked: Asked) -> Floats:
    def dcg(of: Judged) -> Floats:
        shown = of.relevant(1, k=measure.k)
        return shown.total(_gains(shown.grades, asked.gain) * _discounts(shown.ranks))

    return _ratio(dcg(asked.run), dcg(asked.ideal))


def _gains(grades: Ints, gain: str) -> Floats:
    """Return the gain of each grade, worked out once a grade."""
    top = int(grades.max(initial=0))  # may be near 2^31: no array is to be that long
    if top < _FEW_GRADES:
        distinct, which = np.arange(top + 1), grades
    else:
        distinct, which = np.unique(grades, return_inverse=True)
    gains: Floats = np.array([GAINS[gain](grade) for grade in distinct.tolist()])[which]
    return gains


def _err(measure: Measure, asked: Asked) -> Floats:
    shown = asked.run.relevant(1, k=measure.k)
    # (2^g - 1) / 2^G; apart these powers may be beyond every double.
    stops = np.exp2(shown.grades - float(asked.grade_max)) - np.exp2(-float(asked.grade_max))
    places = shown.places()
    total, unsatisfied = np.zeros(shown.n), np.ones(shown.n)
    # The j-th relevant document of every query at once, then the next.
    for place in range(1, int(places.max(initial=0)) + 1):
        at = places == place
        query = shown.queries[at]
        total[query] += unsatisfied[query] * stops[at] / shown.ranks[at]
        unsatisfied[query] *= 1.0 - stops[at]
    return total


def _precision(measure: Measure, asked: Asked) -> Floats:
    assert measure.k is not None, "P has a cutoff"
    return asked.run.relevant(measure.rel, k=measure.k).total() / measure.k


def _judged(measure: Measure, asked: Asked) -> Floats:
    assert measure.k is not None, "Judged has a cutoff"
    shown = np.minimum(asked.lengths, measure.k).astype(np.float64)
    return _ratio(asked.shown.top(measure.k).total(), shown)


def _hit(measure: Measure, asked: Asked) -> Floats:
    return np.minimum(asked.run.relevant(measure.rel, k=measure.k).total(), 1.0)


def _recall(measure: Measure, asked: Asked) -> Floats:
    found = asked.run.relevant(measure.rel, k=measure.k).total()
    return _ratio(found, asked.ideal.relevant(measure.rel).total())


def _reciprocal_rank(measure: Measure, asked: Asked) -> Floats:
    shown = asked.run.relevant(measure.rel, k=measure.k)
    first = shown[shown.places() == 1]
    return first.total(1.0 / first.ranks)


def _precisions(measure: Measure, asked: Asked) -> tuple[Judged, Floats]:
    shown = asked.run.relevant(measure.rel, k=measure.k)
    return shown, shown.total(shown.places() / shown.ranks)


def _context_precision(measure: Measure, asked: Asked) -> Floats:
    shown, precisions = _precisions(measure, asked)
    return _ratio(precisions, shown.total())


def _average_precision(measure: Measure, asked: Asked) -> Floats:
    _, precisions = _precisions(measure, asked)
    return _ratio(precisions, asked.ideal.relevant(measure.rel).total())


def _binary_ndcg(measure: Measure, asked: Asked) -> Floats:
    shown = asked.run.relevant(measure.rel, k=measure.k)
    best = asked.ideal.relevant(measure.rel, k=measure.k)
    return _ratio(shown.total(_discounts(shown.ranks)), best.total(_discounts(best.ranks)))


_FORMULAS: Mapping[str, Callable[[Measure, Asked], Floats]] = MappingProxyType(
    {
        "nDCG": _ndcg,
        "ERR": _err,
        "P": _precision,
        "Judged": _judged,
        "Hit": _hit,
        "R": _recall,
        "RR": _reciprocal_rank,
        "ContextPrecision": _context_precision,
        "AP": _average_precision,
        "binary_nDCG": _binary_ndcg,
    }
)
