"""Words and figures that every report writes alike."""

from __future__ import annotations

from typing import Protocol

from judge.grades import WORD_OVERLAP
from judge.judging.progress import CallCounts, spent

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
