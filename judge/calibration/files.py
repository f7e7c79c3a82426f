"""`judge.calibrate`: files of a judge's grades and of people's labels in, a report out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from judge.calibration.labelled import drawn_labels
from judge.calibration.ranges import range_notices
from judge.calibration.rescoring import (
    Scoring,
    SystemOrders,
    corrected_means,
    sources,
    system_orders,
)
from judge.calibration.trust import Calibration, CalibrationSettings, compare_with_labels
from judge.errors import InputError, Problem, UsageError
from judge.formats import ReadOptions, read_labels, read_runs
from judge.formats.opening import SourceFile
from judge.formats.outfolder import COMPARISON, REPORT, VERDICTS, read_slices
from judge.formats.verdicts import read_verdicts
from judge.measures.names import parse_measure
from judge.run import Notice, Run
from judge.statistics.correction import Correction


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """A calibration, and what runs add to it.

    models: the judges that the judgments name; several are calibrated as if they were one
    orders: how alike judge and people order the runs; None with fewer than two
    corrected: each run's mean by people's grades, by name
    """

    calibration: Calibration
    models: tuple[str, ...] = ()
    orders: SystemOrders | None = None
    corrected: Mapping[str, Correction] = field(default_factory=lambda: MappingProxyType({}))
    notices: tuple[Notice, ...] = ()


def calibrate(
    judgments: SourceFile,
    labels: SourceFile,
    *,
    runs: Iterable[SourceFile | Run] = (),
    measure: str = "nDCG@10",
    gain: str = "linear",
    options: ReadOptions | None = None,
    settings: CalibrationSettings | None = None,
) -> CalibrationReport:
    """Say how far a judge can be trusted, from labels that people gave.

    judgments: a folder of `judge grade --out`, or a file of the judge's grades in any shape
    labels: CSV or JSON lines with query_id, chunk_id, grade, rater, pi; or a file of grades
    runs: what the two sources are to order by `measure`; their rows name the slices

    Raises InputError for files that cannot be used, UsageError for a measure without grades.
    """
    options = options or ReadOptions()
    settings = settings or CalibrationSettings(grade_max=options.grade_max)
    how = Scoring(parse_measure(measure), gain, settings.grade_max)
    if how.measure.family != "graded":
        raise UsageError(f"{measure} sees no grades; order runs by a graded one, as nDCG@10")
    judged, labelled = read_verdicts(_judge_file(judgments), options), read_labels(labels, options)
    all_runs = _read_runs(runs, options)
    slices = _slices(judgments, all_runs)
    drawn = drawn_labels(labelled.labels)
    both = sources(judged.grades, [label for label, _ in drawn.labels])
    return CalibrationReport(
        calibration=compare_with_labels(
            judged.grades,
            labelled.labels,
            slices=slices,
            votes=judged.votes,
            settings=settings,
        ),
        models=judged.models,
        orders=system_orders(all_runs, both, how, resampling=settings.resampling)
        if len(all_runs) > 1
        else None,
        corrected=corrected_means(all_runs, both, how, slices=slices),
        notices=(
            *range_notices(judged.grades.values(), (label.grade for label in labelled.labels)),
            *judged.notices,
            *labelled.notices,
            *(notice for run in all_runs for notice in run.notices),
        ),
    )


def _folder(judgments: SourceFile) -> Path | None:
    """Return the folder that `judgments` names, or None for a file or a stream."""
    is_folder = isinstance(judgments, (str, Path)) and Path(judgments).is_dir()
    return Path(judgments) if is_folder else None  # type: ignore[arg-type]


def _judge_file(judgments: SourceFile) -> SourceFile:
    """Return the verdicts of a folder, or the file itself."""
    folder = _folder(judgments)
    if folder is None:
        return judgments
    if not (folder / VERDICTS).is_file():
        found, fix = f"no {VERDICTS} in this folder", "name one that `judge grade --out` wrote"
        raise InputError(Problem(str(folder), found, fix))
    return folder / VERDICTS


def _read_runs(runs: Iterable[SourceFile | Run], options: ReadOptions) -> tuple[Run, ...]:
    read: list[Run] = []
    for run in runs:
        read += [run] if isinstance(run, Run) else read_runs(run, options).values()
    named: dict[str, Run] = {}
    for run in read:
        if named.setdefault(run.name, run) is not run:
            raise UsageError(
                f"two runs are named {run.name!r}; rename one, so that both can be told"
            )
    return tuple(read)


def _slices(judgments: SourceFile, runs: Iterable[Run]) -> Mapping[str, str]:
    """Return the slice of every name that a label may call a row: its id, key or query text."""
    named = {
        name: row.slice
        for run in runs
        for row in run.rows
        if row.slice is not None
        for name in (row.query, row.key, row.query_id)
        if name is not None
    }
    folder = _folder(judgments)
    if folder is None or not any((folder / name).is_file() for name in (REPORT, COMPARISON)):
        return named
    return {**read_slices(folder), **named}
