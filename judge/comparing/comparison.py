"""Is the candidate better than the baseline? Two runs over one pool, and what is not known.

Two kinds of doubt are kept apart throughout. Bounds [lo, hi] say what judging could still
change on these rows; the confidence interval says what other queries would. The verdict
"better" needs both to be past 0: the interval over queries, under every completion of
what is open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from judge.calibration.correcting import correct
from judge.cascade import Grading
from judge.contrast import Contrast
from judge.evidence.pool import QueryPool
from judge.formats.labels import Label
from judge.grades import WORD_OVERLAP, Source
from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.pricing import PriceTag
from judge.scoring import Mean, Scale, mean, means, score_rows
from judge.statistics.correction import Correction
from judge.statistics.noninferiority import lower_bound, upper_bound
from judge.statistics.significance import (
    ALPHA,
    PairedTest,
    SignFlip,
    holm,
    paired_test,
    shares_of,
    sign_flip,
)
from judge.stopping.confident import Finding
from judge.stopping.goals import mean_range

BASELINE, CANDIDATE = 0, 1
SOURCE_GAP = 0.10


class Verdict(StrEnum):
    """What a comparison comes to."""

    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no difference shown"
    UNDECIDED = "undecided"
    DID_NOT_RUN = "did not run"


@dataclass(frozen=True, slots=True)
class Change:
    """A weighted mean difference, candidate minus baseline, of one measure over some rows.

    difference: the mean with its bounds over open grades
    before, after: the two runs' means, with theirs
    test, flip: at the lowest completion of what is open
    ci: the 95% interval over queries that holds under every completion; None for one row
    p_holm: the t test's p adjusted for looking at every slice, where this is one
    """

    rows: int
    difference: Mean
    before: Mean
    after: Mean
    test: PairedTest
    flip: SignFlip
    ci: tuple[float, float] | None
    p_holm: float | None = None

    @property
    def sign(self) -> int | None:
        """Return the sign of the difference on these rows: 1, -1, 0, or None while open.

        1 where it cannot be negative ("at least as good" where lo is 0), -1 the other way.
        """
        lo, hi = self.difference.lo, self.difference.hi
        if lo == hi == 0.0:
            return 0
        if lo >= 0.0:
            return 1
        return -1 if hi <= 0.0 else None

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on these rows and queries like them."""
        if self.ci is not None and self.ci[0] > 0.0:
            return Verdict.BETTER
        if self.ci is not None and self.ci[1] < 0.0:
            return Verdict.WORSE
        return Verdict.UNDECIDED if self.sign is None else Verdict.NO_DIFFERENCE


@dataclass(frozen=True, slots=True)
class RowChange:
    """One query: its pool and the difference of each measure that is defined for it."""

    pool: QueryPool
    differences: Mapping[Measure, Bounded]

    def is_identical(self, depth: int | None) -> bool:
        """Tell whether both lists show the same chunks in the same order down to `depth`."""
        rows = self.pool.query.rows
        shown = [
            tuple(result.id for result in (row.results if row else ())[:depth]) for row in rows
        ]
        return shown[BASELINE] == shown[CANDIDATE]


@dataclass(frozen=True, slots=True)
class Moved:
    """A chunk whose rank differs between the lists; None: not in that list's top.

    below: where it stands in the list whose top it is not in, None if not there at all
    by_mock: its grade is the mock's
    """

    id: str
    before: int | None
    after: int | None
    lo: int
    hi: int
    below: int | None = None
    by_mock: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """What `judge compare` found; the first measure is the one that decides.

    finding: what a sequential test found, where judging stopped by `--until confident`
    corrected: the primary difference by people's labels, where some were kept for that
    price: what judging the open chunks would cost, where no judge was named
    """

    grading: Grading
    rows: tuple[RowChange, ...]
    overall: Mapping[Measure, Change]
    slices: Mapping[str, Mapping[Measure, Change]]
    until: str = "all"
    finding: Finding | None = None
    corrected: Correction | None = None
    price: PriceTag | None = None

    @property
    def primary(self) -> Measure | None:
        """Return the measure that decides, None where none is defined for any row."""
        return next(iter(self.overall), None)

    @property
    def verdict(self) -> Verdict:
        """Return the overall verdict on the primary measure."""
        if self.grading.did_not_run or self.primary is None:
            return Verdict.DID_NOT_RUN
        return self.overall[self.primary].verdict

    @property
    def exit_code(self) -> int:
        """Return 0 when decided (or found by the test asked for), 3 when not, 4 when broken off."""
        if self.grading.stopped is not None:
            return 4
        if self.verdict is Verdict.UNDECIDED and self.finding is not None:
            return 0
        return 3 if self.verdict in (Verdict.UNDECIDED, Verdict.DID_NOT_RUN) else 0

    @property
    def identical(self) -> int:
        """Return how many queries have the same list in both runs, as deep as measured."""
        depth = self.grading.settings.reach
        return sum(row.is_identical(depth) for row in self.rows)

    @property
    def open_chunks(self) -> tuple[int, int]:
        """Return how many chunks without a grade could matter, and how many can be judged."""
        waiting = sum(j.is_open for pool in self.open_pools for j in pool.judgments)
        return waiting, sum(len(asks) for pool in self.open_pools for asks in pool.asks)

    @property
    def primary_rows(self) -> tuple[tuple[Measure, RowChange], ...]:
        """Return the rows that have the primary measure, each with that measure."""
        primary = self.primary
        if primary is None:
            return ()
        return tuple((primary, row) for row in self.rows if primary in row.differences)

    @property
    def open_pools(self) -> tuple[QueryPool, ...]:
        """Return the pools of the rows whose difference is open in the primary measure."""
        return tuple(row.pool for m, row in self.primary_rows if row.differences[m].is_open)

    @property
    def unjudged(self) -> tuple[float, float]:
        """Return the share of each run's slots, as deep as the pool, that have no grade."""
        shares = [_source_shares(self.rows, run, self.grading.settings.depth) for run in (0, 1)]
        return shares[BASELINE].get(None, 0.0), shares[CANDIDATE].get(None, 0.0)

    @property
    def source_gaps(self) -> Mapping[Source | None, tuple[float, float]]:
        """Return the sources whose shares of the two runs differ by over ten points.

        Grades from different sources are not quite the same scale: such a gap can look like
        a change.
        """
        before, after = (
            _source_shares(self.rows, run, self.grading.settings.depth) for run in (0, 1)
        )
        gaps = {
            source: (before.get(source, 0.0), after.get(source, 0.0))
            for source in {**before, **after}
        }
        return {s: (b, a) for s, (b, a) in gaps.items() if abs(b - a) > SOURCE_GAP}

    def largest(self, *, wins: bool, count: int = 5) -> list[RowChange]:
        """Return the rows with the largest gains (or losses) of the primary measure."""
        moved = [
            (row.differences[primary].value, at, row)
            for at, (primary, row) in enumerate(self.primary_rows)
        ]
        moved = [item for item in moved if (item[0] > 0.0 if wins else item[0] < 0.0)]
        moved.sort(key=lambda item: (-item[0] if wins else item[0], item[1]))
        return [row for _, _, row in moved[:count]]


def build_comparison(
    grading: Grading, *, until: str = "all", finding: Finding | None = None
) -> Comparison:
    """Compare the two runs of a grading: rows, slices, overall."""
    pools = [pool for pool in grading.pools if not pool.query.is_answerless]
    by_measure = {
        measure: contrast_of(grading, measure).rows(pools) for measure in grading.settings.measures
    }
    rows = tuple(
        RowChange(
            pool,
            {m: row for m in by_measure if (row := by_measure[m][at]) is not None},
        )
        for at, pool in enumerate(pools)
    )
    by_slice: dict[str, list[int]] = {}
    for at, pool in enumerate(pools):
        if pool.query.slice is not None:
            by_slice.setdefault(pool.query.slice, []).append(at)
    scores = tuple(_scores(grading, pools, run) for run in (BASELINE, CANDIDATE))
    overall = _changes(rows, scores, range(len(rows)), grading)
    slices = {name: _changes(rows, scores, at, grading) for name, at in by_slice.items()}
    return Comparison(grading, rows, overall, _adjusted(slices), until, finding)


def corrected_by(
    comparison: Comparison, labels: Iterable[Label], *, sample: bool = False
) -> Comparison:
    """Return the comparison with its primary difference corrected by people's labels.

    labels: of chunks of whole rows, which took no part in the grading; sample: the queries are a
    random sample of traffic
    """
    if comparison.primary is None:
        return comparison
    contrast = contrast_of(comparison.grading, comparison.primary)
    pools = [row.pool for row in comparison.rows]
    return replace(comparison, corrected=correct(contrast.rows, pools, labels, sample=sample))


def contrast_of(grading: Grading, measure: Measure) -> Contrast:
    """Return candidate minus baseline of one measure."""
    settings = grading.settings
    return Contrast(measure, (-1.0, 1.0), Scale(settings.gain, settings.grade_max))


def moved_chunks(row: RowChange, *, depth: int, count: int = 3) -> list[Moved]:
    """Return the chunks whose rank changed most for this row's lists, best known grade first."""
    pool = row.pool
    ranks: list[dict[int, int]] = [
        {m: rank for rank, m in enumerate(ranking[:depth], 1) if m is not None}
        for ranking in pool.rankings
    ]
    before, after = ranks[BASELINE], ranks[CANDIDATE]
    moved = [
        Moved(
            id=pool.ids[m],
            before=before.get(m),
            after=after.get(m),
            lo=pool.judgments[m].lo,
            hi=pool.judgments[m].hi,
            below=_place_below(pool, m, depth),
            by_mock=pool.judgments[m].reason == WORD_OVERLAP,
        )
        for m in dict.fromkeys((*after, *before))
        if before.get(m) != after.get(m)
    ]
    return sorted(moved, key=lambda chunk: (-chunk.lo, -_leap(chunk, depth)))[:count]


def _place_below(pool: QueryPool, member: int, depth: int) -> int | None:
    places = (ranking.index(member) + 1 for ranking in pool.rankings if member in ranking[depth:])
    return next(places, None)


def _leap(chunk: Moved, depth: int) -> float:
    before, after = chunk.before or depth + 1, chunk.after or depth + 1
    return abs(1.0 / before - 1.0 / after)


def _scores(grading: Grading, pools: Sequence[QueryPool], run: int) -> list[dict[Measure, Bounded]]:
    scale = Scale(grading.settings.gain, grading.settings.grade_max)
    return score_rows(pools, grading.settings.measures, run=run, scale=scale)


def _changes(
    rows: Sequence[RowChange],
    scores: Sequence[Sequence[Mapping[Measure, Bounded]]],
    at: Iterable[int],
    grading: Grading,
) -> dict[Measure, Change]:
    chosen = list(at)
    found = {}
    for measure in grading.settings.measures:
        having = [i for i in chosen if measure in rows[i].differences]
        if not having:
            continue
        weights = [rows[i].pool.query.weight for i in having]
        differences = [rows[i].differences[measure] for i in having]
        before, after = (
            means([(w, scores[run][i]) for w, i in zip(weights, having, strict=True)], [measure])
            for run in (BASELINE, CANDIDATE)
        )
        found[measure] = change(differences, weights, before=before[measure], after=after[measure])
    return found


def change(
    differences: Sequence[Bounded], weights: Sequence[float], *, before: Mean, after: Mean
) -> Change:
    """Return what rows' differences come to: mean, bounds, tests, interval."""
    values = [row.value for row in differences]
    intervals = [(row.lo, row.hi) for row in differences]
    lo, hi = mean_range(differences, shares_of(len(weights), weights))
    average = mean(differences, weights)
    test = paired_test(values, weights=weights)
    ci = None
    if test.p is not None:
        low = lower_bound(intervals, weights=weights, alpha=ALPHA / 2).lo
        high = upper_bound(intervals, weights=weights, alpha=ALPHA / 2).hi
        ci = (max(low, -1.0), min(high, 1.0))
    return Change(
        rows=len(differences),
        difference=Mean(min(max(average.value, lo), hi), lo, hi, len(differences)),
        before=before,
        after=after,
        test=test,
        flip=sign_flip(values, weights=weights),
        ci=ci,
    )


def _adjusted(
    slices: Mapping[str, Mapping[Measure, Change]],
) -> dict[str, dict[Measure, Change]]:
    """Return the slices with Holm's p over all slices, a measure at a time."""
    adjusted: dict[str, dict[Measure, Change]] = {name: dict(of) for name, of in slices.items()}
    for measure in dict.fromkeys(m for of in slices.values() for m in of):
        tested = [(n, of[measure].test.p) for n, of in slices.items() if measure in of]
        named = [(name, p) for name, p in tested if p is not None]
        for (name, _), p in zip(named, holm([p for _, p in named]), strict=True):
            adjusted[name][measure] = replace(adjusted[name][measure], p_holm=p)
    return adjusted


def _source_shares(
    rows: Sequence[RowChange], run: int, depth: int | None
) -> dict[Source | None, float]:
    """Return the share of a run's slots by the source of their grade; None: no grade."""
    counts: dict[Source | None, int] = {}
    for row in rows:
        for member in row.pool.rankings[run][:depth]:
            if member is not None:
                judgment = row.pool.judgments[member]
                source = None if judgment.is_open else judgment.source
                counts[source] = counts.get(source, 0) + 1
    total = sum(counts.values())
    return {source: count / total for source, count in counts.items()}
