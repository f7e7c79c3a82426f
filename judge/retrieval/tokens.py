"""What counts as a token, for each channel of the reference engine.

The two patterns of the lexical and vector channels are pinned: published tables hang on
them, and ranks move with small differences.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+")
_LEXICAL = re.compile(r"\w+(?:[-.]\w+)*")
_VECTOR = re.compile(r"[^\W_][\w.\-]*")


def words(text: str) -> list[str]:
    """Return runs of letters and digits, lower-cased: what `bm25` splits a query into.

    >>> words("SKU-4711 in stock")
    ['sku', '4711', 'in', 'stock']
    """
    return _WORD.findall(text.lower())


def lexical_tokens(text: str) -> list[str]:
    """Return tokens that keep inner `-`, `_` and `.`, so that identifiers stay whole.

    >>> lexical_tokens("SKU-4711 (v1.2).")
    ['sku-4711', 'v1.2']
    """
    return _LEXICAL.findall(text.lower())


def vector_tokens(text: str) -> list[str]:
    """Return tokens of the feature hash: as lexical ones, but `a--b` stays one token.

    >>> vector_tokens("_cache a--b. end-")
    ['cache', 'a--b', 'end']
    """
    return [token.rstrip("._-") for token in _VECTOR.findall(text.lower())]


def written_words(text: str) -> list[str]:
    """Return runs of letters and digits as they are written.

    >>> written_words("The SKU-4711")
    ['The', 'SKU', '4711']
    """
    return _WORD.findall(text)
