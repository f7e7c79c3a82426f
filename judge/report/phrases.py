"""Words and figures that every report writes alike."""

from __future__ import annotations

from judge.grades import WORD_OVERLAP

MOCK = WORD_OVERLAP


def number(value: float) -> str:
    """Return a measure's value to three decimals, without a minus zero."""
    return f"{value:.3f}" if round(value, 3) else "0.000"


def plural(count: int, noun: str) -> str:
    """Return `1 row`, `2 rows`, `3,000 rows`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
