"""The reference engine: chunks, two channels, fusion, decay, one ranked list.

Items of both kinds share a list. Candidates come from a lexical and a vector channel,
their ranks are fused, then memories decay with age. Every step is deterministic, and
ties keep corpus order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from judge.errors import UsageError, printable
from judge.retrieval.chunking import split
from judge.retrieval.corpus import Item
from judge.retrieval.embedding import open_embedder
from judge.retrieval.knobs import Knobs
from judge.retrieval.lexical import LexicalIndex
from judge.retrieval.rrf import fuse
from judge.retrieval.vectors import Embedder, VectorIndex, nearest
from judge.run import Result, Row, Run


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of an item, as it is indexed and returned."""

    id: str
    text: str
    item: Item


class Engine:
    """A corpus that can be searched under any knobs; indexes are kept and used again."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = tuple(items)
        self._indexes: dict[tuple[int, int, str], SearchIndex] = {}

    def index(self, knobs: Knobs) -> SearchIndex:
        """Return the index for these knobs' chunks and vectors."""
        made = (knobs.chunk_size, knobs.chunk_overlap, knobs.vectors)
        if made not in self._indexes:
            self._indexes[made] = SearchIndex(
                self.items,
                chunk_size=knobs.chunk_size,
                chunk_overlap=knobs.chunk_overlap,
                embedder=open_embedder(knobs.vectors),
            )
        return self._indexes[made]

    def run(self, asked: Iterable[Row], *, knobs: Knobs, name: str | None = None) -> Run:
        """Return a run with the results of each query, in the order of the queries."""
        index = self.index(knobs)
        rows = tuple(
            replace(row, results=index.search(row.query or "", knobs=knobs)) for row in asked
        )
        ids = frozenset(item.id for item in self.items)
        return Run(name or str(knobs), rows, corpus_ids=ids)


class SearchIndex:
    """A corpus cut into chunks; each channel's index is built when first asked for."""

    def __init__(
        self,
        items: Sequence[Item],
        *,
        chunk_size: int,
        chunk_overlap: int,
        embedder: Embedder,
    ) -> None:
        self.chunks = tuple(
            chunk for item in items for chunk in _chunks(item, chunk_size, chunk_overlap)
        )
        _check_ids(self.chunks)
        self._embedder = embedder
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
        channels = _CHANNELS[knobs.retriever](self, query, knobs)
        scores = fuse(channels, rrf_k=knobs.rrf_k)
        half_life = knobs.recency_half_life_days
        if half_life > 0:
            for place in scores:
                item = self.chunks[place].item
                if item.is_memory:
                    scores[place] *= 2.0 ** (-item.age_days / half_life)
        best = sorted(scores, key=lambda place: (-scores[place], place))[: knobs.depth]
        return tuple(_result(self.chunks[place], scores[place]) for place in best)


Channels: TypeAlias = list[list[int]]
"""Places of chunks, best first, a list a channel; a channel alone keeps its order."""


def _bm25(index: SearchIndex, query: str, knobs: Knobs) -> Channels:
    return [index.lexical.by_bm25(query, limit=2 * knobs.depth)]


def _hashed(index: SearchIndex, query: str, knobs: Knobs) -> Channels:
    cosines = index.vectors.cosines(query)
    floor = knobs.min_similarity
    return [nearest(cosines, groups=index.kinds, per_group=knobs.depth, floor=floor)]


def _hybrid(index: SearchIndex, query: str, knobs: Knobs) -> Channels:
    return [*_hashed(index, query, knobs), index.lexical.by_count(query, limit=2 * knobs.depth)]


_CHANNELS: Mapping[str, Callable[[SearchIndex, str, Knobs], Channels]] = MappingProxyType(
    {"bm25": _bm25, "hashed": _hashed, "hybrid": _hybrid}
)


def _chunks(item: Item, size: int, overlap: int) -> list[Chunk]:
    pieces = [item.text] if item.is_memory else split(item.text, size=size, overlap=overlap)
    if len(pieces) == 1:
        return [Chunk(item.id, item.text, item)]
    return [Chunk(f"{item.id}#chunk-{n}", text, item) for n, text in enumerate(pieces, start=1)]


def _check_ids(chunks: Iterable[Chunk]) -> None:
    """Raise UsageError where an item is called what a chunk of another one is called."""
    owners: dict[str, Item] = {}
    for chunk in chunks:
        owner = owners.setdefault(chunk.id, chunk.item)
        if owner is not chunk.item:
            raise UsageError(
                f"the id {printable(chunk.id)} belongs to a piece of {printable(owner.id)} and to "
                f"one of {printable(chunk.item.id)}; rename an item, or keep documents whole with "
                "--chunk-size 0"
            )


def _result(chunk: Chunk, score: float) -> Result:
    item = chunk.item
    metadata: dict[str, object] = {"kind": item.kind}
    if item.is_memory:
        metadata["age_days"] = item.age_days
    return Result(chunk.id, item.document, chunk.text, metadata, score)
