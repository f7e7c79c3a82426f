"""`judge.gate`: runs against a committed baseline, from files or objects to an outcome."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from judge.api import grading as api
from judge.api.comparing import Inputs, leading, one_judge, read, with_notices
from judge.api.grading import SourceFile
from judge.cascade import Grading, Settings, grade_runs
from judge.comparing.gating import Gate, GatedMeasure, MeasureRows, gate_measure
from judge.comparing.lacking import has_failed, lacking
from judge.contrast import Contrast
from judge.errors import InputError, Problem, UsageError
from judge.evidence.pool import QueryPool
from judge.grades import Source
from judge.judging.judge import Judge
from judge.measures.names import Measure, parse_measure
from judge.measures.pool import Bounded
from judge.report.baseline import Baseline, check_settings, read_baseline, write_baseline
from judge.report.model import build_report
from judge.run import Golden, KnownGrade, Run
from judge.scoring import Scale
from judge.stopping.falling import NoneFallen
from judge.stopping.outcome import Outcome, Rule, SameOutcome
from judge.stopping.until import Until, parse_until

_REPORTED = {"R@5"}
_GRADED_SOURCES = {Source.HUMAN, Source.PRIOR, Source.JUDGE}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a gate measures, and how: given measures all gate, default ones as designed."""

    measures: tuple[str, ...] = ()
    k: int = 10
    gain: str = "linear"
    until: str = "all"
    rule: Rule = field(default_factory=Rule)


def gate(
    runs: Sequence[Run | SourceFile],
    baseline: str | Path,
    *,
    asked: Asked | None = None,
    inputs: Inputs | None = None,
    backend: str | None = None,
    prompt: str | None = None,
    cache_dir: Path | None = None,
    judge: Judge | None = None,
    update: bool = False,
) -> Gate:
    """Say whether runs (repeats of one system) are no worse than a stored baseline.

    update: write the first run as the new baseline afterwards, with the whole pool; where
    no file is there yet, it is compared with itself; not if the judge broke off
    Raises InputError for a baseline that cannot be compared with: another schema, cutoff,
    gain, unit or prompt, other goldens, edited by hand.
    """
    inputs, asked = inputs or Inputs(), asked or Asked()
    path = Path(baseline)
    if update:
        _refuse_own_file(path, runs)
    candidates = [read(run, inputs) for run in runs]
    stored = _stored(path, inputs, update=update)
    known = api.read_known(
        goldens=inputs.goldens,
        judgments=inputs.judgments,
        labels=inputs.labels,
        exclude_labels=inputs.exclude_labels,
        options=inputs.options,
    )
    before = _without_goldens(stored.run if stored else candidates[0], candidates, known.goldens)
    every = with_notices([before, *candidates], known.notices)
    settings = _settings(every, known.goldens, asked, inputs)
    grades = (*known.grades, *(stored.known if stored else ()))
    with one_judge(backend, judge, prompt, cache_dir, inputs.options) as judge:
        if stored is not None and not update:
            asked_by = judge.prompt_name if judge is not None else None
            check_settings(stored, settings, unit=None, prompt=asked_by)
        grading = _graded(every, settings, asked, inputs, known.goldens, grades, judge)
    if stored is not None and not update:
        check_settings(stored, settings, unit=grading.unit, prompt=None)
        _check_goldens(stored, grading)
    if update and grading.stopped is None:
        _write(path, candidates[0], grading, settings, known.goldens)
    return _build(grading, stored, asked)


def _refuse_own_file(path: Path, runs: Sequence[Run | SourceFile]) -> None:
    """Raise UsageError where a baseline would be written over one of the runs."""
    files = [Path(run) for run in runs if isinstance(run, str | Path)]
    if path.exists() and any(file.exists() and path.samefile(file) for file in files):
        found = f"--update-baseline would overwrite the run {path}"
        raise UsageError(f"{found}; name another --baseline")


def _stored(path: Path, inputs: Inputs, *, update: bool) -> Baseline | None:
    if update and not path.exists():
        return None
    if not update:
        return read_baseline(path, inputs.options)
    try:
        return read_baseline(path, inputs.options)
    except InputError:
        # It is about to be replaced; what cannot be read is nothing to compare with.
        return None


def _without_goldens(before: Run, candidates: Sequence[Run], goldens: Sequence[Golden]) -> Run:
    """Return the baseline's run without its own goldens where there are others now.

    A row that no candidate has any more keeps its golden: its answer was not found.
    """
    if not goldens and not any(row.golden for run in candidates for row in run.rows):
        return before
    now = {row.key for run in candidates for row in run.rows}
    rows = (
        row if not goldens and row.key not in now else replace(row, golden=None)
        for row in before.rows
    )
    return replace(before, rows=tuple(rows))


def _settings(
    runs: Sequence[Run], goldens: Sequence[Golden], asked: Asked, inputs: Inputs
) -> Settings:
    has_goldens = bool(goldens) or any(row.golden for run in runs for row in run.rows)
    named = tuple(dict.fromkeys(map(parse_measure, asked.measures)))
    return Settings(
        measures=leading(named or api.default_measures(goldens=has_goldens, k=asked.k)),
        gain=asked.gain,
        grade_max=inputs.options.grade_max,
    )


def _graded(
    runs: Sequence[Run],
    settings: Settings,
    asked: Asked,
    inputs: Inputs,
    goldens: Sequence[Golden],
    grades: Sequence[KnownGrade],
    judge: Judge | None,
) -> Grading:
    """Grade all runs over one pool; the judge is asked only if known evidence does not fail."""
    preferences = api.read_pairs(inputs.preferences, inputs.read_log)
    until: Until = parse_until(asked.until)
    if until.kind == "confident":
        raise UsageError("--until confident finds a sign, not an outcome; gate by decided or all")
    contrast = _contrast(settings.measures[0], settings, len(runs))
    selector = until.selector(contrast, SameOutcome(asked.rule), settings)
    if until.kind == "decided":
        selector = NoneFallen(selector, contrast, asked.rule)

    def graded(asked_judge: Judge | None) -> Grading:
        return grade_runs(
            runs,
            settings=settings,
            goldens=goldens,
            known=grades,
            preferences=preferences,
            judge=asked_judge,
            selector=selector,
        )

    if judge is None or until.kind == "all":
        return graded(judge)
    before = graded(None)
    fails = any(m.gates and m.outcome is Outcome.FAIL for m in _measures(before, asked, judge))
    return before if fails else graded(judge)


def _contrast(measure: Measure, settings: Settings, runs: int) -> Contrast:
    repeats = runs - 1
    coefficients = (-1.0, *[1.0 / repeats] * repeats)
    return Contrast(measure, coefficients, Scale(settings.gain, settings.grade_max))


def _check_goldens(stored: Baseline, grading: Grading) -> None:
    """Raise InputError where a query's answers are not those that the baseline was stored with."""
    was = {row.key: row.golden for row in stored.run.rows}
    problems = []
    for pool in grading.pools:
        key, now = pool.query.key, pool.query.golden
        if key in was and _answers(was[key]) != _answers(now):
            found = f"stored with {_shown(was[key])}, now {_shown(now)}"
            fix = "use the goldens that it was stored with, or write it anew with --update-baseline"
            problems.append(Problem(f"{stored.path}: row {key!r}", found, fix))
    if problems:
        raise InputError(problems)


def _answers(golden: Golden | None) -> tuple[frozenset[str], str, bool] | None:
    if golden is None:
        return None
    return frozenset(golden.expected), golden.match, golden.complete


def _shown(golden: Golden | None) -> str:
    if golden is None:
        return "no golden"
    return f"{', '.join(golden.expected) or 'no answer'} ({golden.match})"


def _write(
    path: Path,
    run: Run,
    grading: Grading,
    settings: Settings,
    goldens: Sequence[Golden],
) -> None:
    """Write a run as the baseline, with the grades of everything in the pool."""
    if run.name in grading.did_not_run:
        found = f"{run.name} did not run: every one of its lists is empty"
        raise InputError(Problem(str(path), found, "make a baseline of a run that ran"))
    known = [
        KnownGrade(
            id=id,
            lo=judgment.lo,
            hi=judgment.hi,
            query_id=pool.query.key,
            document_id=pool.documents.get(id),
            source=judgment.source,
            detail=judgment.reason,
        )
        for pool in grading.pools
        for id, judgment in zip(pool.ids, pool.judgments, strict=True)
        if judgment.source is not None
        and judgment.source in (*_GRADED_SOURCES, Source.RULE)
        and not judgment.is_open
    ]
    alone = grade_runs([replace(run, grades=())], settings=settings, goldens=goldens, known=known)
    report = build_report(replace(alone, backend=grading.backend, prompt=grading.prompt))
    write_baseline(report, path)


def _build(grading: Grading, stored: Baseline | None, asked: Asked) -> Gate:
    return Gate(
        baseline=grading.runs[0].name,
        runs=tuple(run.name for run in grading.runs[1:]),
        rule=asked.rule,
        measures=tuple(_measures(grading, asked, None)),
        did_not_run=grading.did_not_run,
        ideal_moved=tuple(_moved(grading, stored)) if stored else (),
        until=asked.until,
        by_mock=grading.by_mock,
        broke_off=grading.stopped is not None,
        failed=any(map(has_failed, grading.pools)),
        notices=(
            *lacking(grading.pools, [run.name for run in grading.runs]),
            *(n.text for n in grading.notices if n.kind != "ignored field"),
        ),
    )


def _measures(grading: Grading, asked: Asked, judge: Judge | None) -> Iterable[GatedMeasure]:
    """Yield every measure that is defined for some row, with whether it gates."""
    pools = [pool for pool in grading.pools if not pool.query.is_answerless]
    only_goldens = judge is None and not any(
        judgment.source in _GRADED_SOURCES for pool in pools for judgment in pool.judgments
    )
    has_goldens = any(pool.query.has_answer for pool in pools)
    for measure in grading.settings.measures:
        rows = _rows(grading, measure, pools)
        if not rows.pools:
            continue
        reported = str(measure) in _REPORTED or (
            measure.family == "graded" and only_goldens and has_goldens
        )
        gates = bool(asked.measures) or not reported
        yield gate_measure(rows, gates=gates, rule=asked.rule)


def _rows(grading: Grading, measure: Measure, pools: Sequence[QueryPool]) -> MeasureRows:
    settings, runs = grading.settings, len(grading.runs)
    scale = Scale(settings.gain, settings.grade_max)
    difference = _contrast(measure, settings, runs)
    alone = [
        Contrast(measure, tuple(float(run == r) for r in range(runs)), scale) for run in range(runs)
    ]
    after = replace(difference, coefficients=(0.0, *difference.coefficients[1:]))
    columns = [c.rows(pools) for c in (difference, alone[0], after, *alone[1:])]
    having = [i for i, row in enumerate(columns[0]) if row is not None]
    weights = [pools[i].query.weight for i in having]
    found = [[row for i in having if (row := column[i]) is not None] for column in columns]
    means = [_mean(column, weights) for column in found[3:]] if having else [0.0]
    return MeasureRows(
        measure=measure,
        pools=[pools[i] for i in having],
        differences=found[0],
        before=found[1],
        after=found[2],
        spread=max(means) - min(means),
    )


def _mean(rows: Sequence[Bounded], weights: Sequence[float]) -> float:
    return sum(w * row.value for w, row in zip(weights, rows, strict=True)) / sum(weights)


def _moved(grading: Grading, stored: Baseline) -> Iterable[str]:
    """Yield the queries whose baseline value changed although its ranking did not."""
    graded = [m for m in grading.settings.measures if m.family == "graded"]
    runs = len(grading.runs)
    scale = Scale(grading.settings.gain, grading.settings.grade_max)
    only_baseline = (1.0, *[0.0] * (runs - 1))
    for measure in graded[:1]:
        rows = Contrast(measure, only_baseline, scale).rows(grading.pools)
        for pool, row in zip(grading.pools, rows, strict=True):
            was: Mapping[str, float] | None = stored.values.get(pool.query.key, {}).get(
                str(measure)
            )
            if row is not None and was is not None and abs(was["value"] - row.value) > 1e-9:
                yield pool.query.key


__all__ = ["Asked", "gate"]
