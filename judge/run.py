"""Runs, rows, results, goldens and known grades: what enters the pipeline."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import overload

from judge.grades import Judgment, Source


@dataclass(frozen=True, slots=True, init=False)
class Result:
    """One slot of a row. Its rank is its 1-based position in the row.

    score orders TREC-like files when they are read and is never looked at again.
    """

    id: str
    document_id: str | None = None
    text: str | None = None
    metadata: Mapping[str, object] | None = None
    score: float | None = None

    # A run has millions: the __init__ that a frozen class is given takes twice as long.
    def __init__(
        self,
        id: str,
        document_id: str | None = None,
        text: str | None = None,
        metadata: Mapping[str, object] | None = None,
        score: float | None = None,
    ) -> None:
        """Take the fields as they are."""
        _set_id(self, id)
        _set_document_id(self, document_id)
        _set_text(self, text)
        _set_metadata(self, metadata)
        _set_score(self, score)

    @property
    def document(self) -> str:
        """Return the document this chunk belongs to: itself where none is given."""
        return self.id if self.document_id is None else self.document_id


_set_id, _set_document_id, _set_text, _set_metadata, _set_score = (
    Result.__dict__[field.name].__set__ for field in fields(Result)
)


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


class Grades(Sequence[KnownGrade], ABC):
    """Known grades that need not all be objects at once; equal to any sequence of equal grades."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, index: int) -> KnownGrade: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[KnownGrade]: ...
    def __getitem__(self, index: int | slice) -> KnownGrade | Sequence[KnownGrade]:
        """Return one grade, or a tuple of several; counts from the start each time."""
        return tuple(self)[index]

    @abstractmethod
    def __iter__(self) -> Iterator[KnownGrade]:
        """Yield each grade."""

    def __eq__(self, other: object) -> bool:
        """Tell whether another sequence holds equal grades in the same order."""
        return isinstance(other, Sequence) and tuple(self) == tuple(other)


class KnownGrades(Grades):
    """Grades of several files, one after the other."""

    __slots__ = ("parts",)

    def __init__(self, *parts: Sequence[KnownGrade]) -> None:
        """Take the parts in their order; what is parts already is taken apart."""
        taken = (part.parts if isinstance(part, KnownGrades) else (part,) for part in parts)
        self.parts: tuple[Sequence[KnownGrade], ...] = tuple(
            part for part in chain.from_iterable(taken) if part
        )

    def __len__(self) -> int:
        """Return the number of grades."""
        return sum(map(len, self.parts))

    def __iter__(self) -> Iterator[KnownGrade]:
        """Yield each grade, part by part."""
        return chain.from_iterable(self.parts)


class GradeTable(Grades):
    """The grades of a file of millions of lines, without an object for each.

    by_query: query id to chunk id to what the file says of the two. Equal judgments are one
        object; each lies within the scale 0..grade_max and is narrower than it.
    """

    __slots__ = ("by_query", "grade_max")

    def __init__(self, by_query: Mapping[str, Mapping[str, Judgment]], *, grade_max: int) -> None:
        """Take the table as it is."""
        self.by_query = by_query
        self.grade_max = grade_max

    def of(self, query_id: str) -> list[KnownGrade]:
        """Return the grades of one query."""
        return [
            KnownGrade(
                id,
                judgment.lo,
                judgment.hi,
                query_id=query_id,
                source=judgment.source or Source.PRIOR,
                detail=judgment.reason,
            )
            for id, judgment in self.by_query.get(query_id, {}).items()
        ]

    def __len__(self) -> int:
        """Return the number of grades."""
        return sum(map(len, self.by_query.values()))

    def __iter__(self) -> Iterator[KnownGrade]:
        """Yield each grade, query by query in the order in which the file first names them."""
        return chain.from_iterable(map(self.of, self.by_query))


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
