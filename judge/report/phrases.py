"""Words and figures that every report writes alike."""

from __future__ import annotations

MOCK = "word overlap, not a judgment"


def number(value: float) -> str:
    """Return a measure's value to three decimals, without a minus zero."""
    return f"{value:.3f}" if round(value, 3) else "0.000"


def plural(count: int, noun: str) -> str:
    """Return `1 row`, `2 rows`, `3,000 rows`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
