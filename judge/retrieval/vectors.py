"""Vector search: texts as unit vectors, ranked by cosine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

# Cosines of equal texts may differ in the last bits with the order in which a BLAS sums.
# Rounded, they tie, and ties go by corpus order on every machine.
_DECIMALS = 9


class Embedder(Protocol):
    """Turns texts into vectors of unit length (or zero), one row a text."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return an array of shape (texts, dimensions)."""
        ...


class VectorIndex:
    """Finds texts by the cosine of their vectors; a text is named by its place, from 0."""

    def __init__(self, texts: Sequence[str], *, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors = embedder.embed(texts)

    def cosines(self, query: str) -> NDArray[np.float64]:
        """Return the cosine of the query with every text."""
        vector = self._embedder.embed([query])[0]
        cosines: NDArray[np.float64] = np.round(self._vectors @ vector, _DECIMALS)
        return cosines

    def cosines_of_text(self, place: int) -> NDArray[np.float64]:
        """Return the cosine of one of the texts with every text, itself included."""
        cosines: NDArray[np.float64] = self._vectors @ self._vectors[place]
        return cosines


def nearest(
    cosines: NDArray[np.float64],
    *,
    groups: Sequence[NDArray[np.intp]],
    per_group: int,
    floor: float | None = None,
) -> list[int]:
    """Return the `per_group` best places of each group, merged by cosine, best first.

    groups: places in corpus order; ties keep that order
    floor: places with a lower cosine are left out
    """
    best = [group[np.argsort(-cosines[group], kind="stable")][:per_group] for group in groups]
    places = np.sort(np.concatenate(best))
    merged = places[np.argsort(-cosines[places], kind="stable")]
    kept = merged if floor is None else merged[cosines[merged] >= floor]
    return [int(place) for place in kept]
