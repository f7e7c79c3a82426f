"""What has been answered so far, in a file beside the run, so that nothing is asked twice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from judge.errors import UsageError

Answer: TypeAlias = dict[str, object]
"""`key` and `results`, or `key` and `error`."""


class PartialRun:
    """The answers of a run that is not complete, one JSON line each, flushed as they come.

    asked_of: a digest of what is asked and how; another run's answers are refused
    """

    def __init__(self, path: Path, *, asked_of: str) -> None:
        self.path = path
        self._asked_of = asked_of

    def answers(self) -> Mapping[str, Answer]:
        """Return the answers of an earlier start by key; a line cut short is asked again."""
        if not self.path.exists():
            return {}
        lines = self.path.read_text("utf-8", errors="replace").splitlines()
        read = [value for line in lines if (value := _decoded(line)) is not None]
        if not read or read[0].get("asked_of") != self._asked_of:
            raise UsageError(
                f"{self.path}: the answers of a run with other queries or settings; "
                "delete it, or write elsewhere with -o"
            )
        return {str(value["key"]): value for value in read[1:] if "results" in value}

    def start(self, answers: Mapping[str, Answer]) -> None:
        """Write the file anew with the answers it had, so that failed ones are gone."""
        head = [{"asked_of": self._asked_of}]
        lines = (json.dumps(value, ensure_ascii=False) for value in [*head, *answers.values()])
        try:
            self.path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be written: {error}") from error

    def add(self, answer: Answer) -> None:
        """Append one answer."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(answer, ensure_ascii=False) + "\n")


def _decoded(line: str) -> Answer | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
