"""Grades recorded earlier, answered as a judge would: no model, no cost, no cache."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from judge.errors import InputError, Problem
from judge.formats import ReadOptions, read_grades
from judge.formats.json_value import json_value
from judge.grades import WORD_OVERLAP
from judge.judging.exchange import Rejected, Reply, Request


class Replay:
    """Answers from a grades file of any shape, or from a verdicts.jsonl.

    A pair is found by (query_id, id), else by (query text, id). One that is not in the file,
    or has no grade there, is rejected: its judgment stays open with that reason.
    """

    remote = False
    recorded = True

    def __init__(self, path: str, *, grade_max: int) -> None:
        self._path = path
        self._grades, by_mock = _read(path, grade_max)
        # What the mock said stays word overlap when it is said again.
        self.name = f"mock:replay={path}" if by_mock else f"replay:{path}"
        self.settings: Mapping[str, object] = {"kind": "replay"}

    async def open(self) -> None:
        """Do nothing: there is nothing to set up."""

    async def answer(self, request: Request) -> Reply:
        """Return the recorded grade as a reply in the prompt's form."""
        pair = request.pair
        grade = self._grades.get((pair.query_id, pair.id), self._grades.get((pair.query, pair.id)))
        if grade is None:
            raise Rejected(f"no grade in {self._path}")
        return Reply(json.dumps({request.prompt.field: grade}))

    async def close(self) -> None:
        """Do nothing: there is no connection."""


_Grades: TypeAlias = dict[tuple[str, str], int]


def _read(path: str, grade_max: int) -> tuple[_Grades, bool]:
    """Return the recorded grades, and whether the mock gave any of them."""
    verdicts = _read_verdicts(path, grade_max)
    if verdicts is not None:
        return verdicts
    known = read_grades(Path(path), ReadOptions(grade_max=grade_max)).grades
    exact = [grade for grade in known if grade.lo == grade.hi]
    grades = {(grade.query_id or grade.query or "", grade.id): grade.lo for grade in exact}
    return grades, any(grade.detail == WORD_OVERLAP for grade in exact)


def _read_verdicts(path: str, grade_max: int) -> tuple[_Grades, bool] | None:
    """Return the graded lines of a verdicts.jsonl, or None if the file is none."""
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
        rows = [json_value(line) for line in lines if line.strip()]
    except (OSError, ValueError):
        return None
    if not rows or not all(isinstance(row, dict) and "status" in row for row in rows):
        return None
    grades: _Grades = {}
    problems = []
    for number, row in enumerate(rows, 1):
        grade = row.get("grade")
        if row["status"] != "graded":
            continue
        if type(grade) is int and 0 <= grade <= grade_max:
            grades[str(row.get("query_id")), str(row.get("id"))] = grade
        else:
            problems.append(
                Problem(f"{path}:{number}", f"grade {grade!r} is not in 0..{grade_max}")
            )
    if problems:
        raise InputError(problems)
    return grades, any(str(row.get("model")).partition(":")[0] == "mock" for row in rows)
