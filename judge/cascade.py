"""The pipeline on one page: from runs to pools in which every grade has a source.

    runs ─► join with goldens ─► decide the unit ─► pools of known evidence ─► judge ─► pools

Known evidence (goldens, labels, earlier grades) narrows first. Rows whose measures are
still open then send their open chunks to the judge, as a selector asks. Every pool is built
anew from all its evidence, so the order of replies changes nothing. What read logs order is
evidence with an error: it makes a second set of pools, beside the ones that count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import attrgetter

from judge.auditing import LogTrust, LogUse
from judge.errors import BackendUnavailable
from judge.evidence.goldens import (
    check_any_expected_occurs,
    decide_unit,
    returned_nothing,
    stale_ids,
)
from judge.evidence.joining import PreferenceIndex
from judge.evidence.judged_rows import only_judged, ungraded_notice
from judge.evidence.known import GradeIndex
from judge.evidence.pool import PoolRules, QueryPool
from judge.evidence.queries import Query, join
from judge.evidence.rebuilding import Evidence
from judge.formats.opening import uncollected
from judge.grades import GRADE_MAX, WORD_OVERLAP, Conflict, Source
from judge.inquiry import inquire
from judge.judging.judge import CallCounts, Judge, Verdict
from judge.judging.selector import SelectAll, Selector
from judge.log_pools import LogPairs, LogReading
from judge.measures.names import Measure
from judge.preferred import Preferred, preferred
from judge.run import Golden, KnownGrade, KnownGrades, Notice, Run
from judge.scoring import Scale, are_settled
from judge.shadow import Shadow, compare, sample

_REASON = attrgetter("reason")


@dataclass(frozen=True, slots=True)
class Settings:
    """What is asked of a grading, and how grades become numbers."""

    measures: tuple[Measure, ...]
    gain: str = "linear"
    grade_max: int = GRADE_MAX

    @property
    def scale(self) -> Scale:
        """Return how grades become numbers."""
        return Scale(self.gain, self.grade_max)

    @property
    def depth(self) -> int | None:
        """Return K: the deepest graded cutoff asked, None for whole lists, 0 for none."""
        cutoffs = [measure.k for measure in self.measures if measure.family == "graded"]
        if None in cutoffs:
            return None
        return max((k for k in cutoffs if k is not None), default=0)

    @property
    def reach(self) -> int:
        """Return the deepest cutoff asked of any measure: below it an answer is misranked."""
        return max((measure.k for measure in self.measures if measure.k is not None), default=10)


@dataclass(frozen=True, slots=True)
class Grading:
    """Everything known after the pipeline: one pool a query, and how it came about.

    pools: by absolute evidence alone; whatever is concluded rests on these
    log: the same with the pairs of read logs, where these order anything
    did_not_run: names of runs that are empty in every row
    stopped: why the judge could not be used to the end, if so
    calls_saved: by source of known evidence, the chunks that no judge was asked about for it
    shadows: by source, how a sample of what it settled looks to the judge
    preferred: how the judge and the first run's rankings keep decided preferences
    by_mock: a grade comes from the mock: word overlap, now or in an earlier file
    """

    runs: tuple[Run, ...]
    settings: Settings
    unit: str
    pools: tuple[QueryPool, ...]
    verdicts: tuple[Verdict, ...] = ()
    calls: CallCounts = field(default_factory=CallCounts)
    cost_usd: float | None = 0.0
    backend: str | None = None
    prompt: str | None = None
    did_not_run: tuple[str, ...] = ()
    stopped: BackendUnavailable | None = None
    notices: tuple[Notice, ...] = ()
    calls_saved: Mapping[str, int] = field(default_factory=dict)
    shadows: tuple[Shadow, ...] = ()
    preferred: Preferred | None = None
    by_mock: bool = False
    log: LogReading | None = None

    @property
    def if_log_is_right(self) -> Grading | None:
        """Return the same grading with the log's pairs among what is known.

        None where the log has not earned it, or where nothing is open that it could narrow.
        What holds in this one alone is only said with `LogTrust.condition` beside it.
        """
        if self.log is None or not self.log.trust.is_trusted:
            return None
        both = zip(self.pools, self.log.pools, strict=True)
        if not any(bare is not logged and _is_open(bare) for bare, logged in both):
            return None
        return replace(self, pools=self.log.pools, log=None)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Return all conflicts in the order of the rows, those of withdrawn pairs among them."""
        pools = self.pools if self.log is None else self.log.pools
        return tuple(conflict for pool in pools for conflict in pool.conflicts)

    @property
    def log_conflicts(self) -> tuple[Conflict, ...]:
        """Return the conflicts of grades with pairs of a read log, which were withdrawn."""
        return tuple(c for c in self.conflicts if c.against.source is Source.PREFERENCE)


def grade_runs(
    runs: Sequence[Run],
    *,
    settings: Settings,
    goldens: Iterable[Golden] = (),
    known: Iterable[KnownGrade] = (),
    preferences: PreferenceIndex | None = None,
    judge: Judge | None = None,
    selector: Selector | None = None,
    shadow: float = 0.0,
    log: LogUse | None = None,
    judged_rows: bool = False,
) -> Grading:
    """Grade one or several runs over their union pool.

    known: labels and grades from files; those inside the runs are taken as well
    judge: asked about what known evidence leaves open; None leaves it open
    selector: which open chunks to ask about; all of them by default
    shadow: share of what needs no judge to show it all the same; changes no grade
    log: what preferences may do once they are checked; as in a run of one system by default
    judged_rows: leave out rows of which nothing is known, no golden and no grade

    Raises InputError where goldens and runs cannot be joined, no expected id occurs, or
    `judged_rows` leaves none.
    """
    joined = join(runs, goldens)
    corpus_ids = frozenset[str]().union(*(run.corpus_ids for run in runs))
    did_not_run = tuple(run.name for run in runs if returned_nothing(run.rows))
    if len(did_not_run) < len(runs):
        check_any_expected_occurs(joined.queries, corpus_ids)
    given = known if isinstance(known, Sequence) else tuple(known)
    grades = GradeIndex(KnownGrades(given, *(run.grades for run in runs)))
    if judged_rows:
        kept, of_rows = only_judged(joined.queries, grades)
        joined = replace(joined, queries=kept)
    else:
        counts = judge is None and settings.depth != 0  # golden measures leave such rows out
        of_rows = ungraded_notice(joined.queries, grades) if counts else ()
    unit = decide_unit(joined.queries, lambda query: [grade.id for grade in grades.of(query)])
    rules = PoolRules(unit, settings.depth, settings.grade_max)
    evidence = Evidence(joined.queries, rules, grades)
    with uncollected():
        pools = [evidence.pool(at, {}) for at in range(len(joined.queries))]
    pairs = LogPairs(evidence, preferences, pools, log or LogUse())
    verdicts: list[Verdict] = []
    shadows: tuple[Verdict, ...] = ()
    saved: dict[str, int] = {}
    stopped = None
    if judge is not None and not did_not_run:
        saved = _calls_saved(joined.queries, rules, grades, settings)
        asking = pairs.audited(selector or select_all(settings, preferences))
        verdicts, stopped = inquire(pools, evidence.pool, judge=judge, selector=asking)
        if stopped is None:
            saved |= pairs.saved(pools, select_all(settings))
        if shadow and stopped is None:
            shadows = tuple(judge.stream(sample(pools, share=shadow)))
    reading = pairs.reading(pools)
    by_mock = any(WORD_OVERLAP in map(_REASON, pool.judgments) for pool in pools)
    return Grading(
        runs=tuple(runs),
        settings=settings,
        unit=rules.unit,
        pools=tuple(pools),
        verdicts=tuple(verdicts),
        calls=judge.calls if judge is not None else CallCounts(),
        cost_usd=judge.cost_usd if judge is not None else 0.0,
        backend=judge.name if judge is not None else None,
        prompt=judge.prompt_name if judge is not None else None,
        did_not_run=did_not_run,
        stopped=stopped,
        notices=(
            *(notice for run in runs for notice in run.notices),
            *joined.notices,
            *of_rows,
            *grades.notices(joined.queries),
            *_stale(joined.queries, corpus_ids),
            *(preferences.notices(joined.queries, unit=unit) if preferences is not None else ()),
            *(_trust_notice(reading.trust, by_mock=by_mock) if reading is not None else ()),
            *(judge.notices if judge is not None else ()),
        ),
        calls_saved=saved,
        shadows=compare(pools, shadows) if shadows else (),
        preferred=preferred(
            pools, (*verdicts, *shadows), preferences, k=settings.depth or settings.reach
        ),
        by_mock=by_mock,
        log=reading,
    )


def select_all(settings: Settings, preferences: PreferenceIndex | None = None) -> Selector:
    """Return the selector that asks about everything open in rows that are not settled.

    Within a row, what searchers liked most is asked about first.
    """
    return SelectAll(
        lambda pools: are_settled(pools, settings.measures, scale=settings.scale),
        None if preferences is None else preferences.favour,
    )


def _calls_saved(
    queries: Sequence[Query],
    rules: PoolRules,
    grades: GradeIndex,
    settings: Settings,
) -> dict[str, int]:
    """Return how many judge calls each source of absolute evidence makes unnecessary.

    Sources come in the order in which they narrow; each is credited with what is no longer
    asked once it is there.
    """
    none = GradeIndex(())
    bare = [replace(query, golden=None) for query in queries]
    steps = {"": Evidence(bare, rules, none)}
    if any(query.golden is not None for query in queries):
        steps["golden"] = Evidence(queries, rules, none)
    if grades:
        steps["known grade"] = Evidence(queries, rules, grades)
    if len(steps) == 1:
        return {}
    asked = []
    for evidence in steps.values():
        pools = [evidence.pool(at, {}) for at in range(len(queries))]
        asked.append(len(select_all(settings).next(pools, limit=1)))
    return {
        name: before - after
        for name, (before, after) in zip(list(steps)[1:], pairwise(asked), strict=True)
    }


def _stale(queries: Sequence[Query], corpus_ids: frozenset[str]) -> tuple[Notice, ...]:
    stale = stale_ids(queries, corpus_ids)
    if not stale:
        return ()
    shown = ", ".join(stale[:5]) + (", …" if len(stale) > 5 else "")
    text = f"expected ids that are not in the corpus (stale goldens?): {len(stale)} ({shown})"
    return (Notice("stale_expected", len(stale), text),)


def _trust_notice(trust: LogTrust, *, by_mock: bool) -> Iterator[Notice]:
    judged = f" ({WORD_OVERLAP})" if by_mock and trust.audited.pairs else ""
    yield Notice("log_trust", trust.audited.contradicted, f"{trust.sentence()}{judged}")


def _is_open(pool: QueryPool) -> bool:
    return any(judgment.is_open for judgment in pool.judgments)
