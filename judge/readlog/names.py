"""Numbers for the queries and chunks of a log, and back."""

from __future__ import annotations

from collections.abc import Sequence

from judge.evidence.joining import normalise_query


class Names:
    """Give each query and each chunk of a log a number, in order of appearance.

    A query is its normalised text; a chunk the hash of its text, or its id without one.
    """

    def __init__(self) -> None:
        self._query_of: dict[str, int] = {}
        self._wordings: dict[str, int] = {}
        self._chunk_of: dict[str, int] = {}
        self.queries: list[str] = []
        self.chunks: list[tuple[str, str | None]] = []

    def query(self, text: str) -> int:
        """Return the number of a query; the first wording of it stays its text."""
        known = self._wordings.get(text)
        if known is not None:
            return known
        number = self._query_of.setdefault(normalise_query(text), len(self.queries))
        if number == len(self.queries):
            self.queries.append(text)
        self._wordings[text] = number
        return number

    def chunks_of(self, ids: Sequence[str], hashes: Sequence[str]) -> list[int]:
        """Return the numbers of chunks; `hashes` are of the texts behind `ids`, or empty."""
        if hashes:
            return [self.chunk(id, hash) for id, hash in zip(ids, hashes, strict=True)]
        numbers = [*map(self._chunk_of.get, ids)]
        if None in numbers:
            return [self.chunk(id, None) for id in ids]
        return numbers  # type: ignore[return-value]  # no None is in it

    def chunk(self, id: str, hash: str | None) -> int:
        """Return the number of a chunk; of several ids with one text the last one names it."""
        # A hash is hex digits; the space keeps it apart from every id that looks like one.
        key = id if hash is None else f" {hash}"
        number = self._chunk_of.setdefault(key, len(self.chunks))
        if number == len(self.chunks):
            self.chunks.append((id, hash))
        elif hash is not None and self.chunks[number][0] != id:
            self.chunks[number] = (id, hash)
        return number
