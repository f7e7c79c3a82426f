"""Is the candidate better than the baseline? Two runs over one pool, and what is not known.

Two kinds of doubt are kept apart throughout. Bounds [lo, hi] say what judging could still
change on these rows; the sign-flip test says what other queries could. What may be said of
a difference under both is `change`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from judge.calibration.correcting import correct
from judge.cascade import Grading
from judge.comparing.change import Change, Verdict, change, claimed
from judge.contrast import Contrast
from judge.evidence.pool import QueryPool
from judge.formats.labels import Label
from judge.grades import Source
from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.pricing import PriceTag
from judge.scoring import Scale, means, score_rows
from judge.statistics.correction import Correction
from judge.stopping.confident import Finding

BASELINE, CANDIDATE = 0, 1
SOURCE_GAP = 0.10


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
class Comparison:
    """What `judge compare` found; the first measure is the one that decides.

    finding: what a sequential test found, where judging stopped by `--until confident`
    corrected: the primary difference by people's labels, where some were kept for that
    price: what judging the open chunks would cost, where no judge was named
    by_log: the same comparison if a trusted read log is right; nothing is concluded from it
    """

    grading: Grading
    rows: tuple[RowChange, ...]
    overall: Mapping[Measure, Change]
    slices: Mapping[str, Mapping[Measure, Change]]
    until: str = "all"
    finding: Finding | None = None
    corrected: Correction | None = None
    price: PriceTag | None = None
    by_log: Comparison | None = None

    @property
    def log_condition(self) -> str:
        """Return the words beside whatever rests on the read log."""
        return "" if self.grading.log is None else self.grading.log.trust.condition

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
    right = grading.if_log_is_right
    by_log = None if right is None else build_comparison(right, until=until)
    return Comparison(
        grading, rows, *claimed(overall, slices), until=until, finding=finding, by_log=by_log
    )


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
