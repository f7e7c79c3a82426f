"""Words and figures that every report writes alike."""

from __future__ import annotations

from judge.cascade import Grading
from judge.grades import WORD_OVERLAP
from judge.judging.progress import spent

MOCK = WORD_OVERLAP


def number(value: float) -> str:
    """Return a measure's value to three decimals, without a minus zero."""
    return f"{value:.3f}" if round(value, 3) else "0.000"


def plural(count: int, noun: str) -> str:
    """Return `1 row`, `2 rows`, `3,000 rows`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def cost_words(grading: Grading) -> str:
    """Return what was paid for judging, and what nobody can know of it."""
    words = spent(grading.cost_usd, grading.calls, digits=4)
    if not grading.calls.unanswered:
        return words
    lost = plural(grading.calls.unanswered, "call")
    return f"{words} ({lost} without an answer may have been billed)"
