"""Single values of a record: text, number, flag; what is wrong goes to the findings."""

from __future__ import annotations

import math
from typing import NamedTuple

from judge.formats.decoding import Fields
from judge.formats.findings import Findings, Place, shown
from judge.formats.ids import id_text


class Naming(NamedTuple):
    """How a record names its query: what rows and goldens have in common."""

    query_id: str | None
    query: str | None
    slice: str | None
    weight: float | None


def naming(fields: Fields, place: Place, findings: Findings) -> Naming:
    """Return a record's query_id, query, slice and weight, each None where it has none."""
    return Naming(
        query_id=label(fields, "query_id", place, findings),
        query=label(fields, "query", place, findings),
        slice=label(fields, "slice", place, findings),
        weight=weight(fields, place, findings),
    )


def label(fields: Fields, name: str, place: Place, findings: Findings) -> str | None:
    """Return a field as trimmed text, numbers as written; None where absent, null or blank."""
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        return value.strip() or None
    text = id_text(value)
    if text is None:
        findings.problem(place.at(name), shown(value), f"{name} is text or a whole number")
    return text


def words(fields: Fields, name: str, place: Place, findings: Findings) -> str | None:
    """Return a field that holds prose, as it stands; None where absent or null."""
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value
    findings.problem(place.at(name), shown(value), f"{name} is text")
    return None


def number(value: object) -> float | None:
    """Return a JSON number as a finite float, or None for anything else.

    >>> number(2), number("2"), number(True), number(float("nan")), number(10**400)
    (2.0, None, None, None, None)
    """
    if value.__class__ is float:
        return value if math.isfinite(value) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        real = float(value)
    except OverflowError:
        return None
    return real if math.isfinite(real) else None


def weight(fields: Fields, place: Place, findings: Findings) -> float | None:
    """Return a record's weight, which must be above 0; None where it has none."""
    value = fields.get("weight")
    if value is None:
        return None
    real = number(value)
    if real is None or real <= 0:
        findings.problem(place.at("weight"), shown(value), "a weight is a number above 0")
        return None
    return real


def flag(fields: Fields, name: str, place: Place, findings: Findings) -> bool:
    """Return a true/false field; False where it is absent or null."""
    value = fields.get(name)
    if value is None or isinstance(value, bool):
        return bool(value)
    findings.problem(place.at(name), shown(value), f"{name} is true or false")
    return False
