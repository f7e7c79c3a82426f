"""Every way `judge` refuses, as one tree.

    JudgeError
    ├── UsageError              options that cannot go together (exit 2)
    ├── InputError              a file that cannot be read as what it should be (exit 2)
    └── BackendUnavailable      the judge cannot be reached or refuses us (exit 4)
    Interrupted                 SIGINT, SIGTERM, SIGHUP; what was paid for is kept (exit 130)

A failed call for *one* chunk is not an exception: it is an open judgment with a
reason (`judge.grades.Judgment`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

SHOWN_PROBLEMS = 20


class JudgeError(Exception):
    """Anything `judge` says no to; `exit_code` is what the command line ends with."""

    exit_code = 2


class UsageError(JudgeError):
    """Options or arguments that are wrong or contradict each other."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One place in the input that is wrong.

    where: file, and line number or JSON path (`run.jsonl:12`, `run.json: rows[3].results`)
    found: what stands there
    fix:   what the user can do about it
    """

    where: str
    found: str
    fix: str = ""

    def __str__(self) -> str:
        tail = f"; {self.fix}" if self.fix else ""
        return printable(f"{self.where}: {self.found}{tail}")


class InputError(JudgeError):
    """Input that cannot be used; holds every bad place, shows the first twenty."""

    def __init__(self, problems: Problem | Iterable[Problem], *, total: int | None = None) -> None:
        found = (problems,) if isinstance(problems, Problem) else tuple(problems)
        assert found, "an InputError names at least one place"
        self.problems = found
        self.total = max(total or 0, len(found))
        super().__init__(str(self))

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems[:SHOWN_PROBLEMS]]
        rest = self.total - len(lines)
        if rest > 0:
            lines.append(f"… and {rest} more like these")
        return "\n".join(lines)


class BackendUnavailable(JudgeError):
    """The judge as a whole cannot be used: wrong key, no quota, unknown model, no server."""

    exit_code = 4


class Interrupted(JudgeError):
    """The user or the system stopped us; everything received is already stored."""

    exit_code = 130


def printable(text: str) -> str:
    """Return a text that cannot steer a terminal: what does not print stands as an escape.

    >>> print(printable(chr(27) + "[31m"))
    \\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
