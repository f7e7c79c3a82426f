"""Words and figures that every report writes alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from judge.evidence.judged_rows import ONLY_JUDGED, UNGRADED
from judge.evidence.unasked import UNASKED
from judge.formats.texts import UNMATCHED
from judge.grades import WORD_OVERLAP
from judge.judging.progress import CallCounts, spent
from judge.run import Notice

MOCK = WORD_OVERLAP


DIGITS = 3


def number(value: float, digits: int = DIGITS) -> str:
    """Return a measure's value to three decimals, without a minus zero."""
    return f"{value if round(value, digits) else 0.0:.{digits}f}"


def plural(count: int, noun: str) -> str:
    """Return `1 row`, `2 rows`, `3,000 rows`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def capitalised(text: str) -> str:
    """Return text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


SAID_FIRST = frozenset({ONLY_JUDGED, UNASKED, UNGRADED, UNMATCHED})
"""Kinds of notices on which every number hangs: which rows are in it, and which count nothing."""


def said_first(notices: Iterable[Notice]) -> str:
    """Return those notices as sentences to follow the first one; empty where there is none."""
    return "".join(f" {notice.text}." for notice in notices if notice.kind in SAID_FIRST)


class Judged(Protocol):
    """What a judge was paid for: a grading, or what was made of one."""

    @property
    def calls(self) -> CallCounts:
        """Return the requests."""
        ...

    @property
    def cost_usd(self) -> float | None:
        """Return what they cost, None where no price is known."""
        ...


def cost_words(judged: Judged) -> str:
    """Return what was paid for judging, and what nobody can know of it."""
    words = spent(judged.cost_usd, judged.calls, digits=4)
    if not judged.calls.unanswered:
        return words
    lost = plural(judged.calls.unanswered, "call")
    return f"{words} ({lost} without an answer may have been billed)"
