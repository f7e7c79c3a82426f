"""The calls behind `import judge`: the same names and answers as the command line."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, TypeAlias

from judge.cascade import Settings, grade_runs
from judge.errors import UsageError
from judge.evidence.joining import PreferenceIndex
from judge.evidence.labels import disagreements, known_labels
from judge.evidence.preferences import Preference
from judge.formats import Label, ReadOptions, read_goldens, read_grades, read_labels, read_run
from judge.formats.opening import uncollected
from judge.grades import GAINS
from judge.judging.backends import open_backend
from judge.judging.cache import JudgmentCache
from judge.judging.judge import Judge
from judge.judging.prompt import load_prompt
from judge.judging.selector import Selector
from judge.measures.names import Measure, parse_measure
from judge.readlog.pairs import read_preferences
from judge.report.model import Report, build_report
from judge.run import Golden, KnownGrade, KnownGrades, Notice, Run

SourceFile: TypeAlias = str | Path | BinaryIO


@dataclass(frozen=True, slots=True)
class Known:
    """What is known before any judge is asked, and what reading it noticed.

    held_out: labels that are no evidence, kept to compare the judge with
    """

    goldens: tuple[Golden, ...] = ()
    grades: Sequence[KnownGrade] = ()
    notices: tuple[Notice, ...] = ()
    held_out: tuple[Label, ...] = ()


def read_known(
    *,
    goldens: SourceFile | Iterable[Golden] | None = None,
    judgments: Iterable[SourceFile] = (),
    labels: SourceFile | None = None,
    exclude_labels: bool = False,
    options: ReadOptions,
) -> Known:
    """Read goldens, grades known earlier and human labels from their files.

    exclude_labels: labels are read and checked, but are no evidence
    """
    found: list[Golden] = []
    grades: list[Sequence[KnownGrade]] = []
    notices: list[Notice] = []
    if isinstance(goldens, (str, Path, BinaryIO)) or hasattr(goldens, "read"):
        golden_file = read_goldens(goldens, options)  # type: ignore[arg-type]
        found += golden_file.goldens
        notices += golden_file.notices
    elif goldens is not None:
        found += goldens
    for source in judgments:
        grade_file = read_grades(source, options)
        grades.append(grade_file.grades)
        notices += grade_file.notices
    held_out: tuple[Label, ...] = ()
    if labels is not None:
        label_file = read_labels(labels, options)
        notices += label_file.notices
        if exclude_labels:
            held_out = label_file.labels
        else:
            people = known_labels(label_file.labels)
            grades.append(people)
            notices += disagreements(people)
    return Known(tuple(found), KnownGrades(*grades), tuple(notices), held_out)


def read_pairs(
    preferences: SourceFile | Iterable[Preference] | None,
    read_log: SourceFile | Sequence[SourceFile] | None,
) -> PreferenceIndex | None:
    """Return the pairs of a preferences file and of read logs; None without either."""
    if preferences is None and read_log is None:
        return None
    pairs: list[Preference] = []
    if isinstance(preferences, (str, Path, BinaryIO)) or hasattr(preferences, "read"):
        pairs += read_preferences(preferences).preferences  # type: ignore[arg-type]
    elif preferences is not None:
        pairs += preferences
    if read_log is not None:
        # Takes as long to import as a small run to grade.
        from judge.readlog.mining import mine

        logs = list(read_log) if isinstance(read_log, (list, tuple)) else [read_log]
        pairs += mine(logs).preferences  # type: ignore[arg-type]
    return PreferenceIndex(pairs)


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
    corpus: SourceFile | None = None,
    queries: SourceFile | None = None,
    backend: str | None = None,
    prompt: str | None = None,
    cache_dir: Path | None = None,
    judge: Judge | None = None,
    measures: Sequence[str] = (),
    k: int = 10,
    gain: str = "linear",
    options: ReadOptions | None = None,
    selector: Callable[[Settings], Selector] | None = None,
    shadow: float = 0.0,
    clock: Callable[[], float] = time.perf_counter,
) -> Report:
    """Grade what a search system returned, and report graded nDCG with its interval.

    run: a `Run`, or a file in any shape that `judge.read_run` knows
    goldens, judgments, labels: what is known, by path (or goldens as objects)
    exclude_labels: labels settle nothing, so that the judge can be calibrated with them
    preferences: pairs that `judge mine` wrote, by path or as objects
    read_log: logs to mine for pairs, with the defaults of `judge mine`
    backend: "mock", "openai:MODEL", …; None uses known evidence only
    cache_dir: folder of judgments that are paid once; None pays again in each call
    judge: a `Judge` of your own in place of `backend`; it stays open
    measures: names; nDCG@k, and with goldens RR, R@5 and R@k, if none is given
    gain: "linear" (grade) or "exponential" (2^grade - 1)
    shadow: share of what needs no judge to show it all the same; changes no grade

    Raises InputError for input that cannot be used, UsageError for arguments that cannot
    go together, BackendUnavailable if the judge cannot be reached and nothing else is known.
    """
    _check_gain(gain)
    started = clock()
    options = options or ReadOptions()
    if not isinstance(run, Run):
        run = read_run(run, options, corpus=corpus, queries=queries)
    known = read_known(
        goldens=goldens,
        judgments=judgments,
        labels=labels,
        exclude_labels=exclude_labels,
        options=options,
    )
    run = replace(run, notices=(*run.notices, *known.notices))
    has_goldens = bool(known.goldens) or any(row.golden is not None for row in run.rows)
    settings = settings_of(
        measures, goldens=has_goldens, k=k, gain=gain, grade_max=options.grade_max
    )
    read_at = clock()
    with one_judge(backend, judge, prompt, cache_dir, options) as judge:
        grading = grade_runs(
            [run],
            settings=settings,
            goldens=known.goldens,
            known=known.grades,
            preferences=read_pairs(preferences, read_log),
            judge=judge,
            selector=selector(settings) if selector else None,
            shadow=shadow,
        )
    known = replace(known, grades=())  # they are in the pools by now, and may be many
    graded_at = clock()
    with uncollected():
        report = build_report(grading)
    timing = {
        "read_s": read_at - started,
        "grade_s": graded_at - read_at,
        "measure_s": clock() - graded_at,
    }
    return replace(
        report,
        timing={name: round(took, 4) for name, took in timing.items()},
        held_out=known.held_out,
    )


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
    """Return a judge to use as a context manager, with its judgments kept in `cache_dir`."""
    grade_max = (options or ReadOptions()).grade_max
    return Judge(
        [open_backend(backend, grade_max=grade_max)],
        load_prompt(prompt),
        cache=None if cache_dir is None else JudgmentCache(cache_dir),
    )


__all__ = ["Known", "default_measures", "grade", "open_judge", "read_known", "read_pairs"]
