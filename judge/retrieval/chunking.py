"""Cutting a text into overlapping pieces."""

from __future__ import annotations

from judge.errors import UsageError


def split(text: str, *, size: int, overlap: int) -> list[str]:
    """Return pieces of `size` characters, each starting `size - overlap` after the last.

    The last piece may be shorter; a text that fits is one piece, and so is every text at
    size 0. Characters, not words: where a piece ends never depends on a tokenizer.

    >>> split("abcdefgh", size=4, overlap=1)
    ['abcd', 'defg', 'gh']
    """
    if size == 0:
        return [text]
    if not 0 <= overlap < size:
        raise UsageError(
            f"chunks of {size} characters cannot overlap by {overlap}; "
            "give 0 <= overlap < size, or size 0 for whole texts"
        )
    starts = range(0, max(len(text) - overlap, 1), size - overlap)
    return [text[start : start + size] for start in starts]
