"""Grades as files write them, put on the scale 0..G; what does not fit is named with its cure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from judge.formats.findings import Findings, Place, shown
from judge.formats.options import ReadOptions

_LISTED = 12


@dataclass(slots=True)
class _Placed:
    """What one distinct value of a file became, and how often and where first it stood."""

    grade: int | None
    first: Place
    count: int = 0


class Scale:
    """Places a file's grades on 0..G; each distinct value is looked at once.

    grade_max: G, or None for qrels as `measure` takes them: any integer, negatives too
    """

    def __init__(
        self, options: ReadOptions, findings: Findings, *, grade_max: int | None = None
    ) -> None:
        self._top = grade_max
        self._clip = options.clip
        self._flag = options.map_flag
        self._map = _numbered(options.grade_map)
        self._findings = findings
        self._seen: dict[tuple[type, object], _Placed] = {}

    def grade(self, value: object, place: Place) -> int | None:
        """Return a value's grade; None where it has none on this scale (see `report`)."""
        name = value if isinstance(value, (str, int, float, bool)) else shown(value)
        seen = self._seen.get((type(name), name))
        if seen is None:
            seen = self._seen[(type(name), name)] = _Placed(self._placed(name), place)
        seen.count += 1
        return seen.grade

    def report(self) -> None:
        """Record values off the scale as one problem each kind, and what was clipped."""
        off = {_text(name): seen for (_, name), seen in self._seen.items() if seen.grade is None}
        if off:
            self._findings.problem(*self._off_scale(off))
        for (_, name), seen in self._seen.items():
            number = _number(name)
            if seen.grade is None or self._map is not None or number is None or self._top is None:
                continue
            if number < 0:
                self._clipped(f"negative grade {_text(name)} read as 0", seen)
            elif number > self._top:
                self._clipped(f"grade {_text(name)} clipped to {self._top}", seen)

    def _clipped(self, what: str, seen: _Placed) -> None:
        self._findings.count("clipped grade", what, place=seen.first, n=seen.count)

    def _placed(self, value: object) -> int | None:
        number = _number(value)
        if self._map is not None:
            return self._map.get(_text(value) if number is None else number)
        if number is None or not number.is_integer():
            return None
        grade = int(number)
        if self._top is None:
            return grade
        if grade > self._top and not self._clip:
            return None
        return min(max(grade, 0), self._top)

    def _off_scale(self, off: Mapping[str, _Placed]) -> tuple[Place, str, str]:
        first = next(iter(off.values())).first
        total = sum(seen.count for seen in off.values())
        kinds = ", ".join(
            f"{_bare(name)} (first at {off[name].first})"
            for name in sorted(off, key=_order)[:_LISTED]
        )
        if self._map is not None:
            found = f"grades that {self._flag} does not name: {kinds}, {total} in all"
            return first, found, f"add them to {self._flag}"
        every = sorted({_text(name) for (_, name), _ in self._seen.items()}, key=_order)
        scale = "" if self._top is None else f" 0..{self._top}"
        found = f"grades that are no whole number{scale}: {kinds}, {total} in all"
        found += f"; values in the file: {_listed(every)}"
        return first, found, _cure(every, self._top, self._flag)


def _numbered(grade_map: Mapping[str, int] | None) -> dict[object, int] | None:
    """Return the map keyed by number where a key is one, so that "10" finds "10.000"."""
    if grade_map is None:
        return None
    numbers = ((_number(name), name, grade) for name, grade in grade_map.items())
    return {name if number is None else number: grade for number, name, grade in numbers}


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str) and "_" in value:
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _text(value: object) -> str:
    number = _number(value)
    if number is None:
        return str(value).lower() if isinstance(value, bool) else str(value).strip()
    return f"{number:.12g}"


def _order(text: str) -> tuple[bool, float, str]:
    number = _number(text)
    return (number is None, number or 0.0, text)


def _bare(name: str) -> str:
    """Return a value as it stands in a flag, safe to print."""
    return shown(name).strip("'")


def _listed(names: Mapping[str, object] | list[str]) -> str:
    ordered = sorted(names, key=_order)
    head = ", ".join(_bare(name) for name in ordered[:_LISTED])
    return f"{head}, …" if len(ordered) > _LISTED else head


def _cure(values: list[str], grade_max: int | None, flag: str) -> str:
    """Return the flag to write: a whole grade map where the order of values gives one."""
    numbers = [_number(value) for value in values]
    if len(values) > _LISTED or grade_max is None:
        return f"write whole grades, or map each value with {flag} VALUE=GRADE,…"
    whole = all(number is not None and number.is_integer() for number in numbers)
    if None not in numbers and len(values) <= grade_max + 1:
        pairs = ",".join(f"{value}={grade}" for grade, value in enumerate(values))
        return f"write {flag} {pairs} if that is their order of worth"
    if whole:
        top = max(int(number) for number in numbers if number is not None)
        return f"set --grade-max {top} if that is the scale, or --clip, or {flag}"
    pairs = ",".join(f"{value}=?" for value in values)
    return f"write {flag} {pairs} with a grade 0..{grade_max} for each"
