"""The reference engine: chunks, two channels, fusion, decay, one ranked list.

Items of both kinds share a list. Candidates come from a lexical and a vector channel,
their ranks are fused, then memories decay with age. Every step is deterministic, and
ties keep corpus order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from judge.errors import UsageError
from judge.retrieval.chunking import split
from judge.retrieval.corpus import Item
from judge.retrieval.hashing import FeatureHasher
from judge.retrieval.lexical import LexicalIndex
from judge.retrieval.rrf import RRF_K, fuse
from judge.retrieval.vectors import Embedder, VectorIndex, nearest
from judge.run import Result


@dataclass(frozen=True, slots=True)
class Knobs:
    """What a ranking may be turned by.

    retriever: a name of RETRIEVERS
    min_similarity: cosine below which the vector channel returns nothing; None is off
    recency_half_life_days: age at which a memory's fused score is halved; 0 is off
    depth: results a query, and candidates of each kind that a channel puts forward
    """

    retriever: str = "hybrid"
    rrf_k: float = RRF_K
    min_similarity: float | None = None
    recency_half_life_days: float = 0.0
    depth: int = 10

    def __post_init__(self) -> None:
        if self.retriever not in RETRIEVERS:
            raise UsageError(f"no retriever {self.retriever!r}; there are {', '.join(RETRIEVERS)}")
        for name, least in (("rrf_k", 0), ("recency_half_life_days", 0), ("depth", 1)):
            if not getattr(self, name) >= least:
                raise UsageError(f"{name} {getattr(self, name)} is below {least}")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of an item, as it is indexed and returned."""

    id: str
    text: str
    item: Item


class SearchIndex:
    """A corpus cut into chunks; each channel's index is built when first asked for."""

    def __init__(
        self,
        items: Sequence[Item],
        *,
        chunk_size: int = 1000,
        chunk_overlap: int = 200,
        embedder: Embedder | None = None,
    ) -> None:
        self.chunks = tuple(
            chunk for item in items for chunk in _chunks(item, chunk_size, chunk_overlap)
        )
        self._embedder = FeatureHasher() if embedder is None else embedder
        is_memory = np.array([chunk.item.is_memory for chunk in self.chunks], dtype=bool)
        self.kinds = (np.flatnonzero(~is_memory), np.flatnonzero(is_memory))

    @cached_property
    def lexical(self) -> LexicalIndex:
        """Return the full-text index."""
        return LexicalIndex(chunk.text for chunk in self.chunks)

    @cached_property
    def vectors(self) -> VectorIndex:
        """Return the vector index."""
        return VectorIndex([chunk.text for chunk in self.chunks], embedder=self._embedder)

    def search(self, query: str, *, knobs: Knobs) -> tuple[Result, ...]:
        """Return at most `knobs.depth` results; a document's chunks are not collapsed."""
        channels = RETRIEVERS[knobs.retriever](self, query, knobs)
        scores = fuse(channels, rrf_k=knobs.rrf_k)
        half_life = knobs.recency_half_life_days
        if half_life > 0:
            for place in scores:
                item = self.chunks[place].item
                if item.is_memory:
                    scores[place] *= 2.0 ** (-item.age_days / half_life)
        best = sorted(scores, key=lambda place: (-scores[place], place))[: knobs.depth]
        return tuple(_result(self.chunks[place], scores[place]) for place in best)


Channels = list[list[int]]


def _bm25(index: SearchIndex, query: str, knobs: Knobs) -> Channels:
    return [index.lexical.by_bm25(query, limit=2 * knobs.depth)]


def _hashed(index: SearchIndex, query: str, knobs: Knobs) -> Channels:
    cosines: NDArray[np.float64] = index.vectors.cosines(query)
    floor = knobs.min_similarity
    return [nearest(cosines, groups=index.kinds, per_group=knobs.depth, floor=floor)]


def _hybrid(index: SearchIndex, query: str, knobs: Knobs) -> Channels:
    return [*_hashed(index, query, knobs), index.lexical.by_count(query, limit=2 * knobs.depth)]


RETRIEVERS: Mapping[str, Callable[[SearchIndex, str, Knobs], Channels]] = MappingProxyType(
    {"bm25": _bm25, "hashed": _hashed, "hybrid": _hybrid}
)
"""By name, the channels whose candidates are fused; one channel keeps its own order."""


def _chunks(item: Item, size: int, overlap: int) -> list[Chunk]:
    pieces = [item.text] if item.is_memory else split(item.text, size=size, overlap=overlap)
    if len(pieces) == 1:
        return [Chunk(item.id, item.text, item)]
    return [Chunk(f"{item.id}#chunk-{n}", text, item) for n, text in enumerate(pieces, start=1)]


def _result(chunk: Chunk, score: float) -> Result:
    item = chunk.item
    metadata: dict[str, object] = {"kind": item.kind}
    if item.is_memory:
        metadata["age_days"] = item.age_days
    return Result(chunk.id, item.id, chunk.text, metadata, score)
