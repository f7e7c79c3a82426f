"""What has been answered so far, in a file beside the run, so that nothing is asked twice.

The file only ever grows: whenever we are killed, what was answered before is there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from judge.errors import InputError, Problem, UsageError

Answer: TypeAlias = dict[str, object]
"""`key` and `results`, or `key` and `error`."""


class PartialRun:
    """The answers of a run that is not complete, one JSON line each, flushed as they come.

    asked_of: a digest of what is asked and how; another run's answers are refused
    """

    def __init__(self, path: Path, *, asked_of: str) -> None:
        self.path = path
        self._asked_of = asked_of

    def start(self) -> Mapping[str, Answer]:
        """Return the answers of an earlier start by key, and be ready to `add` to them.

        A line cut short, like a query that failed, is asked again. Raises UsageError where
        the file holds another run's answers or cannot be written.
        """
        try:
            content = self.path.read_bytes() if self.path.exists() else b""
            # Lines end at line feeds alone: other line breaks stand inside texts.
            lines = content.decode("utf-8", "replace").split("\n")
            head, *values = [_decoded(line) for line in lines]
            answers = {str(value["key"]): value for value in values if value and "results" in value}
            if head == {"asked_of": self._asked_of}:
                if not content.endswith(b"\n"):
                    self._append("")  # what was cut short must not spoil the next line
                return answers
            if answers:
                raise UsageError(
                    f"{self.path}: the answers of a run with other queries or settings; "
                    "delete it, or write elsewhere with -o"
                )
            self.path.write_text("")
            self._append(json.dumps({"asked_of": self._asked_of}))
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be written: {error}") from error
        return {}

    def add(self, answer: Answer) -> None:
        """Append one answer; InputError where the disk does not take it."""
        try:
            self._append(json.dumps(answer))
        except OSError as error:
            found = f"cannot be written ({error.strerror})"
            fix = "make room; the same command goes on with what was answered before"
            raise InputError(Problem(str(self.path), found, fix)) from error

    def _append(self, line: str) -> None:
        with self.path.open("ab") as file:
            file.write(line.encode() + b"\n")


def _decoded(line: str) -> Answer | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
