"""Known grades by the query they are filed under, whatever files they come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from judge.evidence.plain_pool import plain_known
from judge.evidence.queries import Query
from judge.grades import Judgment
from judge.run import GradeTable, KnownGrade, KnownGrades, Notice

_Singles: TypeAlias = dict[str, list[KnownGrade]]

_NONE: Mapping[str, Judgment] = {}


class GradeIndex:
    """Known grades by the query id or query text that they are filed under."""

    def __init__(self, grades: Iterable[KnownGrade]) -> None:
        """Take grades; tables among them stay as they are."""
        self._parts: list[GradeTable | _Singles] = []
        for part in grades.parts if isinstance(grades, KnownGrades) else (grades,):
            if isinstance(part, GradeTable):
                self._parts.append(part)
                continue
            last = self._parts[-1] if self._parts else None
            singles = {} if last is None or isinstance(last, GradeTable) else last
            if singles is not last:
                self._parts.append(singles)
            _file(part, singles)

    def __bool__(self) -> bool:
        """Tell whether there is any grade."""
        return any(self._parts)

    def of(self, query: Query) -> list[KnownGrade]:
        """Return what is known of a query."""
        return [
            grade
            for name in _names(query)
            for part in self._parts
            for grade in (part.of(name) if isinstance(part, GradeTable) else part.get(name, ()))
        ]

    def knows(self, query: Query) -> bool:
        """Tell whether anything is known of a query."""
        return any(name in _filed(part) for name in _names(query) for part in self._parts)

    def plain(self, query: Query, *, grade_max: int) -> Mapping[str, Judgment] | None:
        """Return what is known of each chunk of a query; None where several say something.

        `plain_pool` takes it; whatever is None here is for `of` and `build_pool`.
        """
        holding = [
            (part, name) for name in _names(query) for part in self._parts if name in _filed(part)
        ]
        if len(holding) != 1:
            return None if holding else _NONE
        ((part, name),) = holding
        if not isinstance(part, GradeTable):
            return plain_known(part[name], grade_max=grade_max)
        return part.by_query[name] if part.grade_max == grade_max else None

    def notices(self, queries: Sequence[Query]) -> tuple[Notice, ...]:
        """Count the queries that have grades and are in no run: said, never dropped silently."""
        known = {name for query in queries for name in _names(query)}
        filed = dict.fromkeys(chain.from_iterable(map(_filed, self._parts)))
        other = [name for name in filed if name not in known]
        if not other:
            return ()
        shown = ", ".join(other[:5]) + (", …" if len(other) > 5 else "")
        text = f"queries with grades that are in no run, not used: {len(other)} ({shown})"
        return (Notice("grades_unused", len(other), text),)


def _file(grades: Iterable[KnownGrade], into: _Singles) -> None:
    for grade in grades:
        name = grade.query_id if grade.query_id is not None else (grade.query or "").strip()
        into.setdefault(name, []).append(grade)


def _filed(part: GradeTable | _Singles) -> Mapping[str, object]:
    return part.by_query if isinstance(part, GradeTable) else part


def _names(query: Query) -> list[str]:
    """Return what grades of this query may be filed under: its id, else its text."""
    names: list[str] = []
    for name in (query.query_id, query.key, query.text and query.text.strip()):
        if name and name not in names:
            names.append(name)
    return names
