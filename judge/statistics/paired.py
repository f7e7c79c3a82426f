"""The agreement of a judge with people, and of people among themselves, with intervals.

A chunk that several people graded counts once: each of them is paired with the judge
at an equal share. So the judge is measured against *a* person, as people are against each
other, not against an average that is steadier than any of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.statistics import agreement
from judge.statistics.bootstrap import (
    DRAWS,
    FEWEST_CLUSTERS,
    bootstrap_t,
    resample,
    zero_error_bound,
)
from judge.statistics.correction import effective_n
from judge.statistics.estimate import Estimate
from judge.statistics.prevalence import LabelledChunks, post_stratified_shares
from judge.statistics.weights import shares_of

Tables = NDArray[np.float64]

_WHOLE = 1.0 - 1e-12


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are drawn: queries with replacement (`bootstrap.resample`)."""

    draws: int = DRAWS
    seed: int = 0


RESAMPLING = Resampling()


@dataclass(frozen=True, slots=True)
class GradedUnit:
    """One chunk with the judge's grade and those of the people who graded it, at least one.

    weight: 1/pi where the chunk was drawn with probability pi
    """

    query_id: str
    judge: int
    humans: tuple[int, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two sources of grades compared over some queries.

    pairs: chunks compared, each once; effective_pairs: Kish's size where they were weighted
    confusion: weight of the pairs, humans in rows and the judge in columns
    precision, recall: per grade 0..G; None where it was never given
    """

    queries: int
    pairs: int
    effective_pairs: float
    confusion: tuple[tuple[float, ...], ...]
    coefficients: Mapping[str, Estimate]
    precision: tuple[float | None, ...]
    recall: tuple[float | None, ...]


def agreement_with_judge(
    units: Sequence[GradedUnit], *, grade_max: int, resampling: Resampling = RESAMPLING
) -> Agreement:
    """Compare the judge with each person who graded the same chunk."""
    tables = _tables(units, grade_max, _judge_table)
    return _measured(units, tables, tables, tables, resampling)


def agreement_with_a_person(
    units: Sequence[GradedUnit], *, grade_max: int, resampling: Resampling = RESAMPLING
) -> Agreement:
    """Compare the judge with a person as people are compared with each other.

    Kappa is taken over both orders of each pair, so that neither side has shares of its own: a
    judge whose grades lean gains by that in Cohen's kappa, which two people who stand for each
    other cannot (Scott 1955 against Cohen 1960).
    """
    tables = _tables(units, grade_max, _judge_table)
    both_orders = (tables + np.swapaxes(tables, 1, 2)) / 2.0
    return _measured(units, tables, both_orders, tables, resampling)


def agreement_among_people(
    units: Sequence[GradedUnit], *, grade_max: int, resampling: Resampling = RESAMPLING
) -> Agreement:
    """Compare people with each other over chunks that at least two graded, in all ordered pairs.

    Alpha is Krippendorff's for any number of raters, in which a chunk weighs by its raters.
    """
    # Halved, because the alpha of a table doubles it into a coincidence matrix.
    coincident = _tables(units, grade_max, _coincidence_table) / 2.0
    tables = _tables(units, grade_max, _people_table)
    return _measured(units, tables, tables, coincident, resampling)


def grade_shares(units: Sequence[GradedUnit], *, sizes: Sequence[int]) -> tuple[Estimate, ...]:
    """Return how often each human grade would occur, had people graded all the judge did.

    sizes: how many chunks the judge gave each grade 0..G. Post-stratified by the judge's grade
    (`prevalence.post_stratified_shares`).
    """
    labelled = {unit.judge for unit in units}
    bare = [g for g, size in enumerate(sizes) if size and g not in labelled]
    if bare or not units:
        reason = f"no label of judge grade {bare[0]}" if bare else "the judge graded nothing"
        return (Estimate(None, reason=reason),) * len(sizes)
    queries = {id: at for at, id in enumerate(dict.fromkeys(unit.query_id for unit in units))}
    chunks = LabelledChunks(
        queries=np.array([queries[unit.query_id] for unit in units]),
        judge=np.array([unit.judge for unit in units]),
        people=np.stack([_judge_table(unit, len(sizes) - 1)[:, unit.judge] for unit in units]),
        weights=np.array([unit.weight for unit in units]),
    )
    found = post_stratified_shares(chunks, sizes)
    if len(queries) < FEWEST_CLUSTERS:
        reason = few_queries(len(queries))
        return tuple(Estimate(share, reason=reason) for share, _, _ in found)
    return tuple(Estimate(share, lo, hi) for share, lo, hi in found)


def few_queries(queries: int, *, least: int = FEWEST_CLUSTERS) -> str:
    """Return why so few queries give no interval."""
    have = "1 query" if queries == 1 else f"{queries} queries"
    return f"CI n/a: {have}, at least {least} are needed"


def _judge_table(unit: GradedUnit, grade_max: int) -> Tables:
    n = len(unit.humans)
    return agreement.table(unit.humans, (unit.judge,) * n, grade_max=grade_max) / n


def _people_table(unit: GradedUnit, grade_max: int) -> Tables:
    return _coincidence_table(unit, grade_max) / len(unit.humans)


def _coincidence_table(unit: GradedUnit, grade_max: int) -> Tables:
    return agreement.coincidences([unit.humans], grade_max=grade_max)


def _tables(
    units: Sequence[GradedUnit], grade_max: int, table_of: Callable[[GradedUnit, int], Tables]
) -> Tables:
    """Return a table a query, (Q, q, q); weights are scaled to add up to the units."""
    queries = {id: at for at, id in enumerate(dict.fromkeys(unit.query_id for unit in units))}
    tables = np.zeros((len(queries), grade_max + 1, grade_max + 1))
    shares = shares_of(len(units), [unit.weight for unit in units])
    for unit, share in zip(units, shares, strict=True):
        tables[queries[unit.query_id]] += share * len(units) * table_of(unit, grade_max)
    return tables


def _measured(
    units: Sequence[GradedUnit],
    tables: Tables,
    kappa_tables: Tables,
    alpha_tables: Tables,
    resampling: Resampling,
) -> Agreement:
    """Measure tables by query; kappas and alphas from tables of their own."""
    counts = tables.sum(0)
    plain = _Sample(tables, resampling)
    own = {
        kind: plain if of_kind is tables else _Sample(of_kind, resampling)
        for kind, of_kind in (("kappa", kappa_tables), ("alpha", alpha_tables))
    }

    return Agreement(
        queries=len(tables),
        pairs=len(units),
        effective_pairs=effective_n([unit.weight for unit in units]),
        confusion=tuple(tuple(float(cell) for cell in row) for row in counts),
        coefficients={
            name: own.get(name.partition("_")[0], plain).estimate(name, coefficient)
            for name, coefficient in agreement.coefficients(len(counts) - 1).items()
        },
        precision=_defined(agreement.precision(counts)),
        recall=_defined(agreement.recall(counts)),
    )


def _defined(values: Tables) -> tuple[float | None, ...]:
    return tuple(None if math.isnan(value) else float(value) for value in values)


class _Sample:
    """The tables of some queries and of their resamples, asked for one coefficient at a time."""

    def __init__(self, tables: Tables, resampling: Resampling) -> None:
        self._tables = tables
        self._queries = len(tables)
        self._counts = tables.sum(0)
        self._drawn = None
        if self._queries >= FEWEST_CLUSTERS:
            self._drawn = resample(tables, draws=resampling.draws, seed=resampling.seed)

    def estimate(self, name: str, coefficient: agreement.Coefficient) -> Estimate:
        """Return a coefficient with its interval over queries, or the reason for its lack."""
        value = float(coefficient(self._counts))
        if math.isnan(value):
            return Estimate(None, reason=agreement.undefined(self._counts))
        if self._drawn is None:
            return Estimate(value, reason=few_queries(self._queries))
        if np.trace(self._counts) >= self._counts.sum() * _WHOLE:
            return self._perfect(name, value)
        found = bootstrap_t(
            coefficient, self._tables, self._drawn, at_most_1=name not in agreement.ERRORS
        )
        notes = [agreement.remark(name, self._counts)]
        if found is None:
            notes.append("CI n/a: too few queries make a difference")
            return Estimate(value, reason="; ".join(filter(None, notes)))
        if found.dropped:
            notes.append(f"{found.dropped} of {len(self._drawn.sums)} resamples undefined, dropped")
        lowest = 0.0 if name in agreement.SHARES else found.lo
        return Estimate(value, max(found.lo, lowest), found.hi, "; ".join(filter(None, notes)))

    def _perfect(self, name: str, value: float) -> Estimate:
        """Say what no disagreement at all allows to claim: no resample would show any."""
        rate = zero_error_bound(self._queries)
        reason = f"no disagreement in {self._queries} queries: at most {rate:.3f} have one (95%)"
        if name == "exact":
            return Estimate(value, 1.0 - rate, 1.0, reason)
        return Estimate(value, reason=reason)
