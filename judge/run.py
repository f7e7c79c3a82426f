"""Runs, rows, results, goldens and known grades: what enters the pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from judge.grades import Source


@dataclass(frozen=True, slots=True)
class Result:
    """One slot of a row. Its rank is its 1-based position in the row.

    score orders TREC-like files when they are read and is never looked at again.
    """

    id: str
    document_id: str | None = None
    text: str | None = None
    metadata: Mapping[str, object] | None = None
    score: float | None = None

    @property
    def document(self) -> str:
        """Return the document this chunk belongs to: itself where none is given."""
        return self.id if self.document_id is None else self.document_id


@dataclass(frozen=True, slots=True)
class Row:
    """One query of a run with its ranked results.

    query_id: as given in the file, or None; `key` identifies the row in every case
    error: why the system returned nothing usable for this query, when it said so
    golden: an answer that stood in the same record (short rows), or None
    """

    key: str
    query_id: str | None = None
    query: str | None = None
    slice: str | None = None
    weight: float = 1.0
    results: tuple[Result, ...] = ()
    error: str | None = None
    golden: Golden | None = None


@dataclass(frozen=True, slots=True)
class Golden:
    """An answer known in advance.

    expected: ids of chunks or documents, in the order given, without repeats
    match: "all" (every one is wanted) or "any" (one of them answers)
    complete: the expected set is all there is; every other chunk is irrelevant
    where: the place it was read from, for messages
    quotes: spans of text; a chunk that contains one is expected. `judge.evidence.quotes` names
        the chunks, and then there are none left here
    """

    expected: tuple[str, ...]
    query_id: str | None = None
    query: str | None = None
    slice: str | None = None
    weight: float | None = None
    match: str = "all"
    complete: bool = False
    where: str = ""
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownGrade:
    """A grade (or interval of grades) of one (query, id) that was known before this run.

    query_id: joins rows as a golden's does; `query` where the file keys by query text
    source: `prior` for grades from a file, `human` for labels
    """

    id: str
    lo: int
    hi: int
    query_id: str | None = None
    query: str | None = None
    document_id: str | None = None
    source: Source = Source.PRIOR
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that was read, guessed, clipped or set aside, with how often: never silent.

    text: one line, complete in itself ("2 duplicate ids in 1 list: the first counts (q7: d3)")
    """

    kind: str
    count: int
    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """What one system returned for a set of queries, in the order of the file.

    corpus_ids, corpus: the ids, and the texts by id, of the corpus it was read with, if any
    """

    name: str
    rows: tuple[Row, ...]
    grades: tuple[KnownGrade, ...] = ()
    corpus_ids: frozenset[str] = field(default_factory=frozenset)
    corpus: Mapping[str, str | None] = field(default_factory=dict, compare=False, repr=False)
    notices: tuple[Notice, ...] = ()
