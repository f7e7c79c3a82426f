"""The report of one run: what a grading amounts to, before any format is chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import TypeAlias

from judge.cascade import Grading
from judge.evidence.goldens import Miss, misses
from judge.evidence.pool import QueryPool
from judge.evidence.queries import Query
from judge.formats.labels import Label
from judge.grades import Conflict, Judgment, Source
from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.run import Run
from judge.scoring import Mean, confidence, means, score_rows, scores_of
from judge.statistics.plus_two import FEWEST_OF_A_PART

Span: TypeAlias = tuple[float, float]

COMPLETE = 0
INCOMPLETE = 3
UNAVAILABLE = 4


@dataclass(frozen=True, slots=True)
class RowReport:
    """One query's part of the report: its pool, its scores, what its golden missed.

    by_log: the scores that are narrower if the read log is right
    """

    pool: QueryPool
    scores: Mapping[Measure, Bounded]
    misses: tuple[Miss, ...] = ()
    by_log: Mapping[Measure, Bounded] = field(default_factory=dict)

    @property
    def query(self) -> Query:
        """Return the query that this row reports."""
        return self.pool.query

    @property
    def is_open(self) -> bool:
        """Tell whether a grade that is still open could move one of the row's measures."""
        return any(bounded.is_open for bounded in self.scores.values())


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the top K is graded, and by whom.

    rows: queries with a row in the run; slots: their places within the top K, repeats apart
    graded + open == slots; failed: those of the open ones that the judge could not grade
    """

    rows: int
    slots: int
    graded: int
    failed: int
    by_source: Mapping[str, int]
    open_by_reason: Mapping[str, int]

    @property
    def open(self) -> int:
        """Return the number of slots without a grade."""
        return self.slots - self.graded


@dataclass(frozen=True, slots=True)
class Answerless:
    """Questions without an answer: their lists should be empty; they are in no mean."""

    empty: int = 0
    non_empty: int = 0
    failed: int = 0

    @property
    def rows(self) -> int:
        """Return how many there are."""
        return self.empty + self.non_empty + self.failed


@dataclass(frozen=True, slots=True)
class ByLog:
    """The means that are narrower if the read log is right.

    condition: the words that stand beside each of them
    settles: no grade that is still open could then move a mean
    """

    condition: str
    overall: Mapping[Measure, Mean]
    slices: Mapping[str, Mapping[Measure, Mean]]
    settles: bool


@dataclass(frozen=True, slots=True)
class Report:
    """What `judge grade` found: means overall and by slice, rows, coverage, conflicts.

    Means are weighted and run over all rows that have the measure; a row that is open
    takes part with its interval. `confidence` has the 95% intervals over queries of the
    overall means, `slice_confidence` those of slices of five rows or more: what other queries
    would change, not what judging could. `n_graded` counts
    the members of all pools that have a grade. `failed_rows` are the keys of rows that failed to
    run, `empty_rows` of those that returned nothing or that the run lacks; each of these counts
    0. `held_out` are labels that took no part in the grading, so that the judge can be compared
    with them. All of it holds whether the read log is right or not; `by_log` is what more could
    be said if it is.
    """

    grading: Grading
    rows: tuple[RowReport, ...]
    overall: Mapping[Measure, Mean]
    slices: Mapping[str, Mapping[Measure, Mean]]
    confidence: Mapping[Measure, Span]
    slice_confidence: Mapping[str, Mapping[Measure, Span]]
    coverage: Coverage
    answerless: Answerless
    n_graded: int
    failed_rows: tuple[str, ...] = ()
    empty_rows: tuple[str, ...] = ()
    timing: Mapping[str, float] = field(default_factory=dict)
    held_out: tuple[Label, ...] = ()
    by_log: ByLog | None = None

    @property
    def run(self) -> Run:
        """Return the run that is reported."""
        return self.grading.runs[0]

    @property
    def ran(self) -> bool:
        """Tell whether any list of the run holds anything."""
        return not self.grading.did_not_run

    @property
    def by_mock(self) -> bool:
        """Tell whether grades come from the mock judge: word overlap, not a judgment."""
        return self.grading.by_mock

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Return all conflicts, in the order of the rows."""
        return self.grading.conflicts

    @property
    def misses(self) -> tuple[Miss, ...]:
        """Return every expected id that the run missed or ranked too low."""
        return tuple(miss for row in self.rows for miss in row.misses)

    @property
    def exit_code(self) -> int:
        """Return 0 when nothing asked is open, 3 when something is, 4 when the judge broke off.

        What is open only if the read log is wrong is not asked about any more: 0.
        """
        if self.grading.stopped is not None:
            return UNAVAILABLE
        settled = self.by_log is not None and self.by_log.settles
        is_open = not settled and any(mean.is_open for mean in self.overall.values())
        is_open = is_open or bool(self.failed_rows)
        return INCOMPLETE if is_open or not self.ran or not self.overall else COMPLETE

    @property
    def primary(self) -> Measure | None:
        """Return the measure that leads: nDCG@10 where it was asked, else the first."""
        asked = self.grading.settings.measures
        named = [m for m in asked if str(m) == "nDCG@10" and m in self.overall]
        return next(iter([*named, *self.overall]), None)


def build_report(grading: Grading, *, timing: Mapping[str, float] | None = None) -> Report:
    """Return the report of a grading of one run; runs are compared in `compare`, not here."""
    assert len(grading.runs) == 1, "a report is about one run"
    settings = grading.settings
    scores = score_rows(grading.pools, settings.measures, scale=settings.scale)
    narrower = _narrower(grading, scores)
    rows = [
        RowReport(pool, row, misses(pool.query, pool.expected, run=0, depth=settings.reach), more)
        for pool, row, more in zip(grading.pools, scores, narrower, strict=True)
    ]
    slices = _slices(rows)
    return Report(
        grading=grading,
        rows=tuple(rows),
        overall=_means(rows, settings.measures),
        slices={name: _means(part, settings.measures) for name, part in slices.items()},
        confidence=_confidence(rows, settings.measures),
        slice_confidence={
            name: _confidence(part, settings.measures, fewest=FEWEST_OF_A_PART)
            for name, part in slices.items()
        },
        coverage=_coverage(rows, settings.depth),
        answerless=_answerless(rows),
        failed_rows=tuple(
            row.query.key for row in rows if (only := row.query.rows[0]) and only.error
        ),
        empty_rows=tuple(
            row.query.key
            for row in rows
            if not row.query.is_answerless and (row.query.rows[0] is None or _is_empty(row.query))
        ),
        n_graded=sum(
            n
            for judgment, n in _counted(pool.judgments for pool in grading.pools)
            if not judgment.is_open
        ),
        timing=dict(timing or {}),
        by_log=_by_log(grading, rows),
    )


def _narrower(
    grading: Grading, scores: Sequence[Mapping[Measure, Bounded]]
) -> Sequence[Mapping[Measure, Bounded]]:
    """Return the scores of each row that are narrower if the log is right."""
    right = grading.if_log_is_right
    if right is None:
        return [{}] * len(scores)
    settings = grading.settings
    logged = score_rows(right.pools, settings.measures, scale=settings.scale)
    return [
        {m: score for m, score in row.items() if (score.lo, score.hi) != (bare[m].lo, bare[m].hi)}
        for row, bare in zip(logged, scores, strict=True)
    ]


def _by_log(grading: Grading, rows: Sequence[RowReport]) -> ByLog | None:
    if grading.log is None or not any(row.by_log for row in rows):
        return None
    right = [replace(row, scores={**row.scores, **row.by_log}) for row in rows]
    moved = dict.fromkeys(measure for row in rows for measure in row.by_log)
    overall = _means(right, grading.settings.measures)
    return ByLog(
        condition=grading.log.trust.condition,
        overall={measure: overall[measure] for measure in moved},
        slices={
            name: _means(of, moved)
            for name, of in _slices(right).items()
            if any(row.by_log for row in of)
        },
        settles=not any(mean.is_open for mean in overall.values()),
    )


def _means(rows: Iterable[RowReport], measures: Iterable[Measure]) -> Mapping[Measure, Mean]:
    return means(_weighted(rows), measures)


def _weighted(rows: Iterable[RowReport]) -> list[tuple[float, Mapping[Measure, Bounded]]]:
    return [(row.pool.query.weight, row.scores) for row in rows]


def _slices(rows: Iterable[RowReport]) -> Mapping[str, Sequence[RowReport]]:
    by_slice: dict[str, list[RowReport]] = {}
    for row in rows:
        if row.query.slice is not None:
            by_slice.setdefault(row.query.slice, []).append(row)
    return by_slice


def _confidence(
    rows: Sequence[RowReport], measures: Iterable[Measure], *, fewest: int = 2
) -> Mapping[Measure, Span]:
    found = {}
    for measure in measures:
        scores, weights = scores_of(_weighted(rows), measure)
        if len(scores) < fewest:
            continue
        interval = confidence(scores, weights)
        if interval is not None:
            found[measure] = interval
    return found


def _coverage(rows: Iterable[RowReport], depth: int | None) -> Coverage:
    tops: list[Sequence[Judgment]] = []
    n_rows = failed = 0
    for row in rows:
        n_rows += row.query.rows[0] is not None
        if row.query.is_answerless:
            continue
        pool = row.pool
        ranking = pool.rankings[0][:depth]
        if ranking == _in_order(len(ranking)):  # nearly all are
            tops.append(pool.judgments[: len(ranking)])
        else:
            tops.append([pool.judgments[m] for m in ranking if m is not None])
        if pool.failed:
            failed += sum(m is not None and pool.ids[m] in pool.failed for m in ranking)
    sources: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for judgment, n in _counted(tops):
        if judgment.is_open:
            reasons[judgment.reason] += n
        else:
            sources[str(judgment.source)] += n
    graded = sum(sources.values())
    return Coverage(
        rows=n_rows,
        slots=graded + sum(reasons.values()),
        graded=graded,
        failed=failed,
        by_source={str(source): sources[str(source)] for source in Source if sources[str(source)]},
        open_by_reason=dict(sorted(reasons.items())),
    )


def _counted(lists: Iterable[Sequence[Judgment]]) -> Iterator[tuple[Judgment, int]]:
    """Yield each judgment and how often it occurs, by which object it is.

    A million slots share few judgments: each is looked into once.
    """
    together = list(chain.from_iterable(lists))
    judgments = dict(zip(map(id, together), together, strict=True))
    return ((judgments[name], n) for name, n in Counter(map(id, together)).items())


@lru_cache(maxsize=256)
def _in_order(n: int) -> tuple[int | None, ...]:
    return tuple(range(n))


def _answerless(rows: Iterable[RowReport]) -> Answerless:
    asked = [row.query for row in rows if row.query.is_answerless]
    empty = sum(query.rows[0] is None or _is_empty(query) for query in asked)
    failed = sum(bool((row := query.rows[0]) and row.error) for query in asked)
    return Answerless(empty=empty, non_empty=len(asked) - empty - failed, failed=failed)


def _is_empty(query: Query) -> bool:
    row = query.rows[0]
    return row is not None and not row.results and row.error is None
