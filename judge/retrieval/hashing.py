"""A deterministic embedding by feature hashing: no model, no weights, no network.

It ranks by overlap of tokens and character trigrams, so it stands in for an embedding
model wherever what matters is change and not absolute quality.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from judge.retrieval.tokens import vector_tokens

DIMENSIONS = 1024
_TOKEN_WEIGHT = 1.0
_TRIGRAM_WEIGHT = 0.25
_FNV_PRIME = 16777619
_PLACE_BASIS = 2166136261
_SIGN_BASIS = 1099511628


class FeatureHasher:
    """Embeds texts into 1,024 dimensions; unit length, or all zero without a token.

    Each distinct feature counts once: `t:` + token and `g:` + trigram of `^token$`.
    """

    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._slots: dict[str, tuple[int, float]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return one row a text."""
        return np.array([self._vector(text) for text in texts]).reshape(len(texts), DIMENSIONS)

    def _vector(self, text: str) -> NDArray[np.float64]:
        vector = np.zeros(DIMENSIONS)
        for feature in dict.fromkeys(_features(text)):
            place, weight = self._slot(feature)
            vector[place] += weight
        length = float(np.linalg.norm(vector))
        return vector / length if length else vector

    def _slot(self, feature: str) -> tuple[int, float]:
        """Return where a feature goes and with what signed weight; hashed once a feature."""
        slot = self._slots.get(feature)
        if slot is None:
            weight = _TOKEN_WEIGHT if feature.startswith("t:") else _TRIGRAM_WEIGHT
            sign = 1.0 if fnv1a(feature, basis=_SIGN_BASIS) % 2 == 0 else -1.0
            slot = (fnv1a(feature, basis=_PLACE_BASIS) % DIMENSIONS, sign * weight)
            self._slots[feature] = slot
        return slot


def fnv1a(text: str, *, basis: int = _PLACE_BASIS) -> int:
    """Return the 32-bit FNV-1a hash of a text's code points.

    >>> hex(fnv1a("foobar"))
    '0xbf9cf968'
    """
    value = basis
    for character in text:
        value = ((value ^ ord(character)) * _FNV_PRIME) & 0xFFFFFFFF
    return value


def _features(text: str) -> Iterator[str]:
    for token in vector_tokens(text):
        yield "t:" + token
        padded = f"^{token}$"
        for start in range(len(padded) - 2):
            yield "g:" + padded[start : start + 3]
