"""What turning one knob does, slice by slice: every value judged by the same evidence.

The first value is the one that all others are compared with, row by row. The line to
distrust is the overall one: it can look calm while a slice pays for everybody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from judge.cascade import Grading
from judge.comparing.change import t_interval
from judge.evidence.pool import QueryPool
from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.scoring import Mean, mean, score_rows
from judge.statistics.estimate import Estimate
from judge.statistics.signs import ALPHA, holm, sign_flip_in_every
from judge.statistics.weights import weighted_mean

COLLAPSE = 0.1
"""A slice that loses so much, and twice what overall loses, is one that overall hides."""


@dataclass(frozen=True, slots=True)
class Line:
    """One measure over the rows of one slice, or of all slices, at every value.

    slice: None for overall
    best: place of the value with the highest mean; of equal ones the first
    changes: by value, the mean difference from the first one, paired by row, with the 95%
        interval by Student's t where there is one (`t_interval`)
    p_behind: by value, that of the sign-flip test against the best one, by Holm over all
        values and lines of the sweep
    """

    measure: Measure
    slice: str | None
    means: tuple[Mean, ...]
    best: int
    changes: tuple[Estimate, ...]
    p_behind: tuple[float, ...]

    @property
    def moves(self) -> bool:
        """Tell whether any value's mean differs from the first one's."""
        return any(self.change(at) for at in range(len(self.means)))

    def as_good(self) -> tuple[int, ...]:
        """Return the places of the values that the test does not set apart from the best."""
        return tuple(at for at, p in enumerate(self.p_behind) if at != self.best and p > ALPHA)

    def change(self, at: int) -> float:
        """Return how far the mean moves from the first value to another."""
        return self.means[at].value - self.means[0].value


@dataclass(frozen=True, slots=True)
class Hidden:
    """A slice that loses at some values what the overall line does not show.

    at: the place of the value where it loses most; also: those of the others, in order
    """

    overall: Line
    line: Line
    at: int
    also: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Sweep:
    """A knob's values and what each does to every slice; lines go measure by measure.

    empty: by value, the rows that came back empty or were lacking; they count as 0
    backend: the judge that graded what was open, if one was asked
    is_mock: some grade comes from the mock
    """

    knob: str
    values: tuple[str, ...]
    lines: tuple[Line, ...]
    empty: tuple[tuple[str, ...], ...]
    backend: str | None = None
    is_mock: bool = False

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Return the measures, in the order asked."""
        return tuple(dict.fromkeys(line.measure for line in self.lines))

    def by_mock(self, measure: Measure) -> bool:
        """Tell whether a measure rests on the mock judge: word overlap, not a judgment."""
        return measure.family == "graded" and self.is_mock

    def of(self, measure: Measure) -> tuple[Line, ...]:
        """Return one measure's lines, overall last."""
        return tuple(line for line in self.lines if line.measure == measure)

    def hidden(self) -> tuple[Hidden, ...]:
        """Return each slice that overall hides, measure by measure."""
        found = []
        for measure in self.measures:
            *slices, overall = self.of(measure)
            for line in slices:
                places = [at for at in range(len(self.values)) if _hides(overall, line, at)]
                if places:
                    at = min(places, key=line.change)
                    also = tuple(place for place in places if place != at)
                    found.append(Hidden(overall, line, at, also))
        return tuple(found)

    def payers(self, measure: Measure) -> tuple[Line, ...]:
        """Return the slices that are lower at the best overall value than at the first."""
        *slices, overall = self.of(measure)
        return tuple(line for line in slices if line.change(overall.best) < 0)


def _hides(overall: Line, line: Line, at: int) -> bool:
    lost = -line.change(at)
    return lost >= COLLAPSE and lost >= 2 * -overall.change(at)


def read_sweep(grading: Grading, *, knob: str, values: Sequence[str]) -> Sweep:
    """Return the sweep of a grading whose runs are one system at each value of a knob."""
    assert len(values) == len(grading.runs) > 0, "a sweep has one run a value"
    settings = grading.settings
    by_run = [
        score_rows(grading.pools, settings.measures, run=run, scale=settings.scale)
        for run in range(len(values))
    ]
    scored = [_Row(pool, scores) for pool, *scores in zip(grading.pools, *by_run, strict=True)]
    slices = dict.fromkeys(row.slice for row in scored if row.slice is not None)
    lines = [
        line
        for measure in settings.measures
        for slice in (*slices, None)
        if (line := _line(measure, slice, scored)) is not None
    ]
    empty = tuple(tuple(_empty_rows(grading.pools, run)) for run in range(len(values)))
    return Sweep(
        knob, tuple(values), tuple(_adjusted(lines)), empty, grading.backend, grading.by_mock
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """One query's scores at every value."""

    pool: QueryPool
    scores: Sequence[Mapping[Measure, Bounded]]

    @property
    def slice(self) -> str | None:
        return self.pool.query.slice


def _line(measure: Measure, slice: str | None, rows: Iterable[_Row]) -> Line | None:
    having = [
        row
        for row in rows
        if slice in (None, row.slice) and all(measure in scores for scores in row.scores)
    ]
    if not having:
        return None
    weights = [row.pool.query.weight for row in having]
    columns = list(
        zip(*([scores[measure] for scores in row.scores] for row in having), strict=True)
    )
    means = tuple(mean(column, weights) for column in columns)
    best = max(range(len(means)), key=lambda at: (means[at].value, -at))
    return Line(
        measure,
        slice,
        means,
        best,
        changes=tuple(_change(columns[0], column, weights) for column in columns),
        p_behind=tuple(_p_behind(columns[best], column, weights) for column in columns),
    )


def _adjusted(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield lines with p values for all their values at once: each is a look of its own."""
    looks = [(line, at) for line in lines for at in range(len(line.p_behind)) if at != line.best]
    adjusted = iter(holm([line.p_behind[at] for line, at in looks]))
    for line in lines:
        found = (1.0 if at == line.best else next(adjusted) for at in range(len(line.p_behind)))
        yield replace(line, p_behind=tuple(found))


def _change(
    first: Sequence[Bounded], other: Sequence[Bounded], weights: Sequence[float]
) -> Estimate:
    """Return the weighted mean of the rows' differences, with its interval."""
    rows = [b.value - a.value for a, b in zip(first, other, strict=True)]
    value = weighted_mean(rows, weights)
    n_open = sum(a.is_open or b.is_open for a, b in zip(first, other, strict=True))
    if n_open:
        return Estimate(value, reason=f"grades of {n_open} rows are open")
    if not any(rows):
        return Estimate(value, reason="no row moves")
    interval = t_interval([Bounded(row, row, row) for row in rows], weights)
    if interval is None:
        return Estimate(value, reason="too few or alike")
    return Estimate(value, *interval)


def _p_behind(best: Sequence[Bounded], other: Sequence[Bounded], weights: Sequence[float]) -> float:
    """Return the p of the sign-flip test, in every completion; the two may be open apart."""
    rows = [(b.lo - a.hi, b.hi - a.lo) for a, b in zip(best, other, strict=True)]
    return sign_flip_in_every(rows, weights=weights).p


def _empty_rows(pools: Iterable[QueryPool], run: int) -> Iterator[str]:
    for pool in pools:
        row = pool.query.rows[run]
        failed = row is not None and row.error is not None
        if not pool.query.is_answerless and not failed and (row is None or not row.results):
            yield pool.query.key
