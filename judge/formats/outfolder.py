"""A folder that `grade --out` or `compare --out` wrote, read again for a person's check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from judge.errors import InputError, Problem
from judge.formats.opening import read_text

REPORT, COMPARISON = "report.json", "comparison.json"
VERDICTS = "verdicts.jsonl"


@dataclass(frozen=True, slots=True)
class GradedRow:
    """A row of the report: its query and slice."""

    query_id: str
    query: str
    slice: str | None


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """What the judge said of one chunk, as far as a person's check needs it.

    grade: None where there was none; spread: variance of a panel's votes or of the grade's token
    probabilities, 0 where neither is known
    """

    query_id: str
    id: str
    grade: int | None
    reason: str = ""
    flags: tuple[str, ...] = ()
    spread: float = 0.0


@dataclass(frozen=True, slots=True)
class StoredConflict:
    """Two sources that contradict each other about one chunk."""

    query_id: str
    id: str
    stands: str
    against: str


@dataclass(frozen=True, slots=True)
class OutFolder:
    """What a graded run left behind.

    grade_max: the scale it was graded on
    flips: (query id, chunk id) whose grade a comparison's verdict hangs on, most telling first
    """

    run: str
    grade_max: int
    rows: tuple[GradedRow, ...]
    verdicts: tuple[StoredVerdict, ...]
    conflicts: tuple[StoredConflict, ...]
    flips: tuple[tuple[str, str], ...] = ()


class _Row(BaseModel):
    query_id: str
    query: str | None = None
    slice: str | None = None


class _Evidence(BaseModel):
    source: str


class _Conflict(BaseModel):
    query_id: str
    id: str
    stands: _Evidence
    against: _Evidence


class _Flip(BaseModel):
    query_id: str
    id: str


class _Settings(BaseModel):
    grade_max: int


class _Report(BaseModel):
    run: str = ""
    candidate: str = ""
    settings: _Settings
    rows: list[_Row]
    conflicts: list[_Conflict] = []
    flips: list[_Flip] = []


class _Vote(BaseModel):
    grade: int | None = None


class _Verdict(BaseModel):
    query_id: str
    id: str
    status: str
    grade: int | None = None
    reason: str = ""
    flags: list[str] = []
    probabilities: list[float] | None = None
    votes: list[_Vote] = []


def read_out_folder(folder: Path) -> OutFolder:
    """Read a folder's report (or comparison) and verdicts; InputError says what is wrong.

    Verdicts by a rule (blank text) are left out: no judge gave them.
    """
    report = _read_report(folder)
    verdicts = [
        _parse(line, _Verdict, f"{folder / VERDICTS}:{number}")
        for number, line in read_text(_existing(folder / VERDICTS)).lines()
        if line.strip()
    ]
    return OutFolder(
        run=report.run or report.candidate,
        grade_max=report.settings.grade_max,
        rows=_rows(report),
        verdicts=tuple(_stored(verdict) for verdict in verdicts if verdict.status != "rule"),
        conflicts=tuple(
            StoredConflict(c.query_id, c.id, c.stands.source, c.against.source)
            for c in report.conflicts
        ),
        flips=tuple((flip.query_id, flip.id) for flip in report.flips),
    )


def read_slices(folder: Path) -> dict[str, str]:
    """Return the slice of each query id of a folder's rows that have one."""
    return {row.query_id: row.slice for row in _read_report(folder).rows if row.slice is not None}


def _read_report(folder: Path) -> _Report:
    name = REPORT if (folder / REPORT).is_file() else COMPARISON
    path = _existing(folder / name)
    return _parse(read_text(path).text, _Report, str(path))


def _rows(report: _Report) -> tuple[GradedRow, ...]:
    return tuple(
        GradedRow(row.query_id, row.query or row.query_id, row.slice) for row in report.rows
    )


def _stored(verdict: _Verdict) -> StoredVerdict:
    votes = [vote.grade for vote in verdict.votes if vote.grade is not None]
    counts = [votes.count(grade) for grade in range(max(votes, default=-1) + 1)]
    return StoredVerdict(
        query_id=verdict.query_id,
        id=verdict.id,
        grade=verdict.grade,
        reason=verdict.reason,
        flags=tuple(verdict.flags),
        spread=_spread(verdict.probabilities or counts),
    )


def _spread(weights: Sequence[float]) -> float:
    """Return the variance of a grade, given the weight of each grade 0, 1, …; none: 0."""
    total = sum(weights)
    if not total:
        return 0.0
    mean = sum(grade * weight for grade, weight in enumerate(weights)) / total
    return sum(weight * (grade - mean) ** 2 for grade, weight in enumerate(weights)) / total


_Model = TypeVar("_Model", bound=BaseModel)


def _existing(path: Path) -> Path:
    if not path.is_file():
        name = REPORT if path.name == COMPARISON else path.name
        fix = "name a folder that `judge grade --out` or `judge compare --out` wrote"
        raise InputError(Problem(str(path.parent), f"no {name} in this folder", fix))
    return path


def _parse(text: str, model: type[_Model], where: str) -> _Model:
    try:
        return TypeAdapter(model).validate_json(text)
    except ValidationError as error:
        problems = [
            Problem(f"{where}: {'.'.join(map(str, e['loc']))}", e["msg"], "grade the run again")
            for e in error.errors()
        ]
        raise InputError(problems) from error
