"""How a bounded number is written: one way in sentences, one in tables, wherever it stands."""

from __future__ import annotations

from judge.measures.pool import Bounded
from judge.report.phrases import DIGITS, number
from judge.scoring import Mean
from judge.statistics.plus_two import METHOD

INTERVAL_METHOD = f"{METHOD}: Student's t with one 0 and one 1 added"
_MOST_DIGITS = 13


def in_words(found: Bounded | Mean, *, digits: int = DIGITS) -> str:
    """Return a number for a sentence: `0.236`, or `between 0.204 and 1.000` where grades are open.

    The value at the lowest grades is left out there: it would be taken for a finding.
    """
    if not found.is_open:
        return number(found.value, digits)
    lo, hi = _ends(found, digits)
    return f"between {lo} and {hi}"


def in_cell(found: Bounded | Mean | None, *, digits: int = DIGITS) -> str:
    """Return a number for a table: `0.236`, `0.204..1.000` where grades are open, `-` for none."""
    if found is None:
        return "-"
    if not found.is_open:
        return number(found.value, digits)
    return "..".join(_ends(found, digits))


def at_lowest(found: Bounded | Mean, *, digits: int = DIGITS) -> str:
    """Return the one number that stands where a picture or an order needs one, and says which."""
    value = number(found.value, digits)
    return f"{value} at the lowest grades" if found.is_open else value


def span_cell(span: tuple[float, float] | None) -> str:
    """Return an interval over queries for a table; `-` where there is none."""
    return "-" if span is None else "..".join(map(number, span))


def _ends(found: Bounded | Mean, digits: int) -> tuple[str, str]:
    """Return both ends, with as many more digits as it takes to tell them apart."""
    for more in range(digits, _MOST_DIGITS):
        lo, hi = number(found.lo, more), number(found.hi, more)
        if lo != hi:
            return lo, hi
    return number(found.lo, digits), number(found.hi, digits)
