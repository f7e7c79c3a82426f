"""The calls behind `import judge`: the same names and answers as the command line."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from judge.api.inputs import Inputs, Known
from judge.auditing import LOG_ERROR, LogUse
from judge.cascade import Settings, grade_runs
from judge.errors import UsageError
from judge.evidence.preferences import Preference
from judge.formats import ReadOptions
from judge.formats.opening import SourceFile, uncollected
from judge.grades import GAINS
from judge.judging.backends import open_backend
from judge.judging.backends.opening import server_of
from judge.judging.cache import JudgmentCache
from judge.judging.cache_folder import cache_folder
from judge.judging.judge import Judge
from judge.judging.prompt import load_prompt
from judge.judging.selector import Selector
from judge.measures.names import Measure, parse_measure
from judge.report.model import Report, build_report
from judge.run import Golden, Run


def default_measures(*, goldens: bool, k: int = 10) -> tuple[Measure, ...]:
    """Return what is measured unless something else is asked: nDCG@k, with goldens also RR, R."""
    names = [f"nDCG@{k}", *(["RR", "R@5", f"R@{k}"] if goldens else [])]
    return tuple(dict.fromkeys(parse_measure(name) for name in names))


def grade(
    run: Run | SourceFile,
    *,
    goldens: SourceFile | Iterable[Golden] | None = None,
    judgments: Iterable[SourceFile] = (),
    labels: SourceFile | None = None,
    exclude_labels: bool = False,
    preferences: SourceFile | Iterable[Preference] | None = None,
    read_log: SourceFile | Sequence[SourceFile] | None = None,
    log_error: float = LOG_ERROR,
    only_judged: bool = False,
    corpus: SourceFile | None = None,
    queries: SourceFile | None = None,
    options: ReadOptions | None = None,
    backend: str | None = None,
    prompt: str | None = None,
    cache_dir: Path | None = None,
    judge: Judge | None = None,
    measures: Sequence[str] = (),
    k: int = 10,
    gain: str = "linear",
    selector: Callable[[Settings], Selector] | None = None,
    shadow: float = 0.0,
    clock: Callable[[], float] = time.perf_counter,
) -> Report:
    """Grade what a search system returned, and report graded nDCG with its interval.

    run: a `Run`, or a file in any shape that `judge.read_run` knows
    goldens, ..., options: what is known and read, as in `judge.api.inputs.Inputs`
    backend: "mock", "openai:MODEL", …; None uses known evidence only
    cache_dir: folder of judgments that are paid once; None pays again in each call
    judge: a `Judge` of your own in place of `backend`; it stays open
    measures: names; nDCG@k, and with goldens RR, R@5 and R@k, if none is given
    gain: "linear" (grade) or "exponential" (2^grade - 1)
    shadow: share of what needs no judge to show it all the same; changes no grade

    Raises InputError for input that cannot be used, UsageError for arguments that cannot
    go together, BackendUnavailable if the judge cannot be reached and nothing else is known.
    """
    inputs = Inputs(
        goldens=goldens,
        judgments=judgments,
        labels=labels,
        exclude_labels=exclude_labels,
        preferences=preferences,
        read_log=read_log,
        log_error=log_error,
        only_judged=only_judged,
        corpus=corpus,
        queries=queries,
        options=options or ReadOptions(),
    )
    with one_judge(backend, judge, prompt, cache_dir, inputs.options) as judge:
        return grade_inputs(
            run,
            inputs,
            judge=judge,
            measures=measures,
            k=k,
            gain=gain,
            selector=selector,
            shadow=shadow,
            clock=clock,
        )


def grade_inputs(
    run: Run | SourceFile,
    inputs: Inputs,
    *,
    judge: Judge | None,
    measures: Sequence[str],
    k: int,
    gain: str,
    selector: Callable[[Settings], Selector | None] | None = None,
    shadow: float = 0.0,
    clock: Callable[[], float] = time.perf_counter,
) -> Report:
    """Do what `grade` does, with what is known in one piece and a judge that is open."""
    _check_gain(gain)
    started = clock()
    run = inputs.run(run)
    known = inputs.known()
    run = replace(run, notices=(*run.notices, *known.notices))
    settings = settings_of(
        measures,
        goldens=has_goldens(known, [run]),
        k=k,
        gain=gain,
        grade_max=inputs.options.grade_max,
    )
    read_at = clock()
    asking = selector(settings) if selector else None
    grading = grade_runs(
        [run],
        settings=settings,
        goldens=known.goldens,
        known=known.grades,
        preferences=inputs.pairs(),
        judge=judge,
        selector=asking,
        shadow=shadow,
        # A goal is reached without the log, or not; only where all is asked may it save calls.
        log=LogUse(inputs.log_error, audits=asking is None, settles=asking is None),
        judged_rows=inputs.only_judged,
    )
    held_out = known.held_out
    del known  # its grades are in the pools by now, and may be many
    graded_at = clock()
    with uncollected():
        report = build_report(grading)
    timing = {
        "read_s": read_at - started,
        "grade_s": graded_at - read_at,
        "measure_s": clock() - graded_at,
    }
    timing = {name: round(took, 4) for name, took in timing.items()}
    return replace(report, timing=timing, held_out=held_out)


def has_goldens(known: Known, runs: Iterable[Run]) -> bool:
    """Tell whether goldens were read, apart or inside the runs."""
    return bool(known.goldens) or any(row.golden is not None for run in runs for row in run.rows)


def settings_of(
    names: Sequence[str], *, goldens: bool, k: int, gain: str, grade_max: int
) -> Settings:
    """Return what is measured; UsageError for what the scale 0..grade_max does not have."""
    _check_gain(gain)
    measures = tuple(map(parse_measure, names)) or default_measures(goldens=goldens, k=k)
    beyond = [measure for measure in measures if measure.rel > grade_max]
    if beyond:
        raise UsageError(f"{beyond[0]}: rel is above the scale 0..{grade_max}")
    return Settings(tuple(dict.fromkeys(measures)), gain, grade_max)


def _check_gain(gain: str) -> None:
    if gain not in GAINS:
        raise UsageError(f"there is no gain {gain!r}; use one of {', '.join(GAINS)}")


@contextmanager
def one_judge(
    backend: str | None,
    judge: Judge | None,
    prompt: str | None,
    cache_dir: Path | None,
    options: ReadOptions,
) -> Iterator[Judge | None]:
    """Yield the caller's judge, which stays open, or one of `backend`'s for the while.

    UsageError where both are given.
    """
    if backend is None:
        yield judge
        return
    if judge is not None:
        raise UsageError("give a backend or a judge of your own, not both")
    with open_judge(backend, prompt=prompt, cache_dir=cache_dir, options=options) as opened:
        yield opened


def open_judge(
    backend: str,
    *,
    prompt: str | None = None,
    cache_dir: Path | None = None,
    options: ReadOptions | None = None,
) -> Judge:
    """Return a judge to use as a context manager, with its judgments kept in `cache_dir`.

    The environment means what it does on the command line: OPENAI_BASE_URL names the server
    of `openai:`, JUDGE_CACHE_DIR the folder where none is given.
    """
    grade_max = (options or ReadOptions()).grade_max
    base_url = server_of(backend, None, environ=os.environ)
    return Judge(
        [open_backend(backend, grade_max=grade_max, base_url=base_url)],
        load_prompt(prompt),
        cache=JudgmentCache(cache_folder(cache_dir, environ=os.environ)),
    )


__all__ = ["default_measures", "grade", "grade_inputs", "open_judge"]
