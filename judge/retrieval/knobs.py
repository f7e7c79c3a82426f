"""What a ranking may be turned by: names, types, defaults, and how text becomes a value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from judge.errors import UsageError

RETRIEVERS = ("hybrid", "bm25", "hashed")
VECTORS = ("hash", "wordllama")


@dataclass(frozen=True, slots=True)
class Knobs:
    """One setting of the reference engine; the defaults are those of published tables.

    retriever: `hybrid` fuses words and vectors, `bm25` takes stemmed words alone,
        `hashed` vectors alone
    rrf_k: constant of the fusion, 1 / (rrf_k + rank)
    min_similarity: cosine below which the vector channel returns nothing; None is off
    recency_half_life_days: age at which a memory's fused score is halved; 0 is off
    depth: results a query, and candidates that a channel puts forward of each kind
    chunk_size, chunk_overlap: in characters; size 0 keeps documents whole
    vectors: what makes them: `hash`, or `wordllama` where that extra is installed
    """

    retriever: str = "hybrid"
    rrf_k: float = 60
    min_similarity: float | None = None
    recency_half_life_days: float = 0
    depth: int = 10
    chunk_size: int = 1000
    chunk_overlap: int = 200
    vectors: str = "hash"

    def __post_init__(self) -> None:
        for name, choices in (("retriever", RETRIEVERS), ("vectors", VECTORS)):
            if getattr(self, name) not in choices:
                found = f"{name} {getattr(self, name)!r}"
                raise UsageError(f"{found}: choose one of {', '.join(choices)}")
        for name, least in (("rrf_k", 0), ("recency_half_life_days", 0), ("depth", 1)):
            if not getattr(self, name) >= least:
                raise UsageError(f"{name} {getattr(self, name)}: it is {least} or more")
        # At an infinite rrf_k all scores are 0, and no cosine compares with NaN: lists would
        # come in corpus order or empty, and nothing would say why.
        for name in ("rrf_k", "min_similarity"):
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                raise UsageError(f"{name} {value}: give a finite number")
        if self.chunk_size and not 0 <= self.chunk_overlap < self.chunk_size:
            raise UsageError(
                f"chunks of {self.chunk_size} characters cannot overlap by {self.chunk_overlap}; "
                "give 0 <= chunk_overlap < chunk_size, or chunk_size 0 for whole texts"
            )

    def turned(self, name: str, value: str) -> Knobs:
        """Return these knobs with one of them at a value given as text.

        >>> Knobs().turned("rrf_k", "20").rrf_k
        20.0
        """
        if name not in _READ:
            raise UsageError(f"no knob {name!r}; there are {', '.join(_READ)}")
        try:
            return replace(self, **{name: _READ[name](value)})
        except ValueError as error:
            raise UsageError(f"{name}={value}: not a value of this knob ({error})") from error

    def __str__(self) -> str:
        """Return the retriever and what differs from the defaults, as the name of a run."""
        turned = [
            f"{field.name}={getattr(self, field.name):g}"
            if isinstance(getattr(self, field.name), float)
            else f"{field.name}={getattr(self, field.name)}"
            for field in fields(self)[1:]
            if getattr(self, field.name) != field.default
        ]
        return " ".join([self.retriever, *turned])


def _optional(text: str) -> float | None:
    return None if text in ("", "none", "off") else float(text)


_READ: Mapping[str, Callable[[str], Any]] = MappingProxyType(
    {
        "retriever": str,
        "rrf_k": float,
        "min_similarity": _optional,
        "recency_half_life_days": float,
        "depth": int,
        "chunk_size": int,
        "chunk_overlap": int,
        "vectors": str,
    }
)
