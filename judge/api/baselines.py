"""The stored side of `judge.gate`: which baseline counts, what it may be compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from judge.api.inputs import Inputs
from judge.cascade import Grading, grade_runs
from judge.contrast import Contrast
from judge.errors import InputError, Problem, UsageError
from judge.formats.opening import SourceFile
from judge.grades import Source
from judge.report.baseline import Baseline, read_baseline, write_baseline
from judge.report.model import build_report
from judge.run import Golden, KnownGrade, Run

_KEPT = {Source.HUMAN, Source.PRIOR, Source.RULE, Source.JUDGE}


def refuse_own_file(path: Path, runs: Sequence[Run | SourceFile]) -> None:
    """Raise UsageError where a baseline would be written over one of the runs."""
    files = [Path(run) for run in runs if isinstance(run, str | Path)]
    if path.exists() and any(file.exists() and path.samefile(file) for file in files):
        found = f"--update-baseline would overwrite the run {path}"
        raise UsageError(f"{found}; name another --baseline")


def stored_baseline(path: Path, inputs: Inputs, *, update: bool) -> Baseline | None:
    """Return the baseline in a file; None where it is about to be written and none is there."""
    if update and not path.exists():
        return None
    read = partial(
        read_baseline, path, inputs.options, corpus=inputs.corpus, queries=inputs.queries
    )
    if not update:
        return read()
    try:
        return read()
    except InputError:
        # It is about to be replaced; what cannot be read is nothing to compare with.
        return None


def without_goldens(before: Run, candidates: Sequence[Run], goldens: Sequence[Golden]) -> Run:
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


def check_goldens(stored: Baseline, grading: Grading) -> None:
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


def store(
    run: Run, path: Path, *, grading: Grading, goldens: Sequence[Golden], only_judged: bool = False
) -> None:
    """Write a run as the baseline, with the grades of everything in the pool.

    only_judged: without the rows of which nothing is known
    """
    empty = [name for name in grading.did_not_run if name in {r.name for r in grading.runs[1:]}]
    if empty:
        found = f"{empty[0]} did not run: every one of its lists is empty"
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
        if judgment.source in _KEPT and not judgment.is_open
    ]
    alone = grade_runs(
        [replace(run, grades=())],
        settings=grading.settings,
        goldens=goldens,
        known=known,
        judged_rows=only_judged,
    )
    report = build_report(replace(alone, backend=grading.backend, prompt=grading.prompt))
    write_baseline(report, path)


def other_judge(stored: Baseline, grading: Grading) -> Iterator[str]:
    """Yield a sentence where another judge graded the baseline than what is new now."""
    was, now = stored.settings.get("backend"), grading.backend
    if was is not None and now is not None and was != now:
        yield (
            f"{was} graded the baseline's chunks and {now} the new ones: part of a difference may"
            " be the graders'; --update-baseline with one judge for both tells"
        )


def ideal_moved(grading: Grading, stored: Baseline) -> Iterator[str]:
    """Yield the queries whose baseline value changed although its ranking did not."""
    graded = [m for m in grading.settings.measures if m.family == "graded"]
    only_baseline = (1.0, *[0.0] * (len(grading.runs) - 1))
    for measure in graded[:1]:
        rows = Contrast(measure, only_baseline, grading.settings.scale).rows(grading.pools)
        for pool, row in zip(grading.pools, rows, strict=True):
            was: Mapping[str, float] | None = stored.values.get(pool.query.key, {}).get(
                str(measure)
            )
            if row is not None and was is not None and abs(was["value"] - row.value) > 1e-9:
                yield pool.query.key
