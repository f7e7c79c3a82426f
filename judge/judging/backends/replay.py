"""Grades recorded earlier, answered as a judge would: no model, no cost, no cache."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from judge.errors import InputError, Problem
from judge.formats import ReadOptions, read_grades
from judge.judging.exchange import Rejected, Reply, Request


class Replay:
    """Answers from a grades file of any shape, or from a verdicts.jsonl.

    A pair is found by (query_id, id), else by (query text, id). One that is not in the file,
    or has no grade there, is rejected: its judgment stays open with that reason.
    """

    remote = False
    recorded = True

    def __init__(self, path: str, *, grade_max: int) -> None:
        self.name = f"replay:{path}"
        self.settings: Mapping[str, object] = {"kind": "replay"}
        self._grades = _read(path, grade_max)

    async def answer(self, request: Request) -> Reply:
        """Return the recorded grade as a reply in the prompt's form."""
        pair = request.pair
        grade = self._grades.get((pair.query_id, pair.id), self._grades.get((pair.query, pair.id)))
        if grade is None:
            raise Rejected(f"no grade in {self.name.removeprefix('replay:')}")
        return Reply(json.dumps({request.prompt.field: grade}))

    async def close(self) -> None:
        """Do nothing: there is no connection."""


def _read(path: str, grade_max: int) -> dict[tuple[str, str], int]:
    verdicts = _read_verdicts(path, grade_max)
    if verdicts is not None:
        return verdicts
    known = read_grades(Path(path), ReadOptions(grade_max=grade_max)).grades
    return {
        (grade.query_id or grade.query or "", grade.id): grade.lo
        for grade in known
        if grade.lo == grade.hi
    }


def _read_verdicts(path: str, grade_max: int) -> dict[tuple[str, str], int] | None:
    """Return the graded lines of a verdicts.jsonl, or None if the file is none."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError):
        return None
    if not rows or not all(isinstance(row, dict) and "status" in row for row in rows):
        return None
    grades: dict[tuple[str, str], int] = {}
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
    return grades
