"""Goldens whose query no run asked: empty lists or left out, so which query was meant matters.

One capital letter is enough to part a golden from its row. Its nearest query is found by the
trigrams of letters that two texts share, which takes one pass over the rows for each golden
that is named, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judge.run import Notice

UNASKED = "golden_without_row"
_NAMED = 2
_NEAR = 0.6
_NAME_LENGTH = 60


def unasked_notice(
    names: Sequence[str], asked: Sequence[str], *, n_runs: int, hint: str = ""
) -> Notice:
    """Return how many goldens ask what no row does, the first of them with their nearest query.

    names: of those goldens, by text or else by id; asked: of the rows
    hint: what else is known of them
    """
    shown = [_with_nearest(name, nearest(name, asked)) for name in names[:_NAMED]]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    one = len(names) == 1
    golden = "1 golden asks" if one else f"{len(names):,} goldens ask"
    if n_runs == 1:
        counts = "counts as an empty list" if one else "count as empty lists"
        counted = f"the run asks and {counts}"
    else:
        counted = f"any run asks and {'is' if one else 'are'} left out"
    text = f"{golden} what no row of {counted}: {', '.join(shown)}{more}{hint}"
    return Notice(UNASKED, len(names), text)


def nearest(name: str, asked: Iterable[str]) -> str | None:
    """Return the text that shares most trigrams of letters with `name`, or None if none is near.

    >>> nearest("How do I mute a call?", ["How do I move a vault?", "how do i Mute a Call"])
    'how do i Mute a Call'
    """
    own = _trigrams(name)
    best, best_share = None, _NEAR
    for text in asked:
        other = _trigrams(text)
        share = 2 * len(own & other) / (len(own) + len(other))
        if share > best_share or (best is None and share >= best_share):
            best, best_share = text, share
    return best


def _trigrams(text: str) -> frozenset[str]:
    letters = " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())
    padded = f"  {letters} "
    return frozenset(padded[at : at + 3] for at in range(len(padded) - 2))


def _with_nearest(name: str, near: str | None) -> str:
    closest = "" if near is None else f' (the closest row: "{_short(near)}")'
    return f'"{_short(name)}"{closest}'


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _NAME_LENGTH else text[: _NAME_LENGTH - 1] + "…"
