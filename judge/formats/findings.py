"""What a reader finds on its way: bad places, all at once, and everything it counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from judge.errors import SHOWN_PROBLEMS, InputError, Problem, printable
from judge.run import Notice

_SHOWN_LENGTH = 60


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file: `run.jsonl:12`, `run.json: rows[3].results[0]`.

    >>> str(Place("run.json").at("rows[3]").at("results"))
    'run.json: rows[3].results'
    """

    file: str
    line: int | None = None
    path: str = ""

    def at(self, step: str) -> Place:
        """Return the place one step further inside."""
        return Place(self.file, self.line, f"{self.path}.{step}" if self.path else step)

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        path = f": {self.path}" if self.path else ""
        return f"{self.file}{line}{path}"


@dataclass(slots=True)
class _Tally:
    what: str
    consequence: str
    first: Place
    count: int = 0


class Findings:
    """Collects problems and counts while a file is read; the reader goes on meanwhile.

    Only the first twenty problems are kept, the rest are counted, so that a file
    that is wrong on every line costs no memory.
    """

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._total = 0
        self._tallies: dict[tuple[str, str], _Tally] = {}

    def problem(self, place: Place | str, found: str, fix: str = "") -> None:
        """Record one bad place."""
        self._total += 1
        if len(self._problems) < SHOWN_PROBLEMS:
            self._problems.append(Problem(*map(printable, (str(place), found, fix))))

    def count(
        self, kind: str, what: str, *, place: Place, consequence: str = "", n: int = 1
    ) -> None:
        """Count `n` more of `what`; `place` is kept for the first of them."""
        tally = self._tallies.setdefault((kind, what), _Tally(what, consequence, place))
        tally.count += n

    @property
    def failed(self) -> bool:
        """Tell whether any problem was recorded."""
        return bool(self._problems)

    def check(self) -> None:
        """Raise InputError with every problem recorded so far, if there are any."""
        if self._problems:
            raise InputError(self._problems, total=self._total)

    def check_some(self, found: Collection[object], what: str, file: str) -> None:
        """Raise InputError with every problem, or because the file held none of `what`."""
        if not found and not self._problems:
            self.problem(file, f"no {what}", "give at least one")
        self.check()

    def notices(self) -> tuple[Notice, ...]:
        """Return one line for everything that was counted, in the order first met.

        Of one kind twenty lines are kept and the rest summed up: a file may have any
        number of fields that we do not know.
        """
        notices: list[Notice] = []
        rest: dict[str, list[_Tally]] = {}
        lines: Counter[str] = Counter()
        for (kind, _), tally in self._tallies.items():
            lines[kind] += 1
            if lines[kind] <= SHOWN_PROBLEMS:
                notices.append(Notice(kind, tally.count, printable(_sentence(tally))))
            else:
                rest.setdefault(kind, []).append(tally)
        for kind, tallies in rest.items():
            count = sum(tally.count for tally in tallies)
            text = f"{kind}: {len(tallies)} more, {count} times (first at {tallies[0].first})"
            notices.append(Notice(kind, count, printable(text)))
        return tuple(notices)


def shown(value: object) -> str:
    """Return a value from a file as it may stand in a message: short, on one line, no escapes.

    >>> shown("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…"
    """
    if isinstance(value, dict):
        return f"an object with {_listed([str(name) for name in value]) or 'no fields'}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
        return "a number of more than 60 digits"
    if isinstance(value, str):
        value = value[: _SHOWN_LENGTH + 1]
    text = json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= _SHOWN_LENGTH else text[:_SHOWN_LENGTH] + "…"


def _listed(names: list[str]) -> str:
    head = ", ".join(repr(name)[1:-1][:30] for name in names[:8])
    return f"{head}, …" if len(names) > 8 else head


def _sentence(tally: _Tally) -> str:
    consequence = f"; {tally.consequence}" if tally.consequence else ""
    return f"{tally.what}: {tally.count}{consequence} (first at {tally.first})"
