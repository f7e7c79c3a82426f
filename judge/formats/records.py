"""The records of a JSON file, whether it is lines, an array, or an object around them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from judge.formats.decoding import Document, Fields, Lines, decode
from judge.formats.findings import Findings, Place
from judge.formats.tables import Table
from judge.formats.textfile import TextFile


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a file with their places, and the object that held them, if one did."""

    items: Iterable[tuple[Place, object]]
    around: Fields


def records(file: TextFile, findings: Findings, *, under: str) -> Records:
    """Return a file's records: its lines, its array, the list `rows` or `under`, or itself."""
    return records_of(decode(file, findings), under=under)


def records_of(decoded: Document | Lines | Table, *, under: str) -> Records:
    """Return the records of a decoded file; see `records`."""
    if not isinstance(decoded, Document):
        return Records(decoded.records, {})
    value, place = decoded.value, decoded.place
    if isinstance(value, list):
        return Records(_listed(value, place, ""), {})
    if isinstance(value, dict):
        for name in (under, "rows"):
            held = value.get(name)
            if isinstance(held, list):
                return Records(_listed(held, place, name), value)
        if not value:
            return Records([], {})
    return Records([(place, value)], {})


def _listed(values: list[object], place: Place, name: str) -> list[tuple[Place, object]]:
    return [(place.at(f"{name}[{index}]"), value) for index, value in enumerate(values)]
