"""The tools whose files we know by content, and the module that reads each.

A family's module turns a decoded file into records of ours, which the usual readers
then check and count: `runs`, `grades`, `goldens`, `texts`, `queries`, as far as it has them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from judge.errors import InputError, Problem
from judge.formats.decoding import Document, Fields, Lines, decode, looks_like_json
from judge.formats.findings import Findings, Place
from judge.formats.options import ReadOptions
from judge.formats.tables import Table, table_header, table_records
from judge.formats.textfile import TextFile

Items: TypeAlias = list[tuple[Place, object]]
"""Records with the places they were read from."""


Decoded: TypeAlias = Document | Lines | Table

Convert: TypeAlias = Callable[[Decoded, ReadOptions, Findings], Items]
ConvertRuns: TypeAlias = Callable[[Decoded, ReadOptions, Findings], Mapping[str, Items]]
"""Records of rows by the name of their run; "" is the name of the file."""

Kind: TypeAlias = Literal["grades", "goldens", "texts", "queries"]


_NONE = type(None)
_Type: TypeAlias = type | tuple[type, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """A tool's kind of file.

    whole: names that the object around the file has, each of the type given
    record: names that its first record has, in a list or in lines
    columns: names in the header of its table
    """

    name: str
    module: str
    whole: Mapping[str, _Type] = field(default_factory=dict)
    record: Mapping[str, _Type] = field(default_factory=dict)
    columns: frozenset[str] = frozenset()

    def recognises(self, whole: Fields, record: Fields) -> bool:
        """Tell whether JSON with this object around it, or this first record, is of the family."""
        if self.whole:
            return _has(whole, self.whole)
        return bool(self.record) and _has(record, self.record)

    def runs(
        self, decoded: Decoded, options: ReadOptions, findings: Findings
    ) -> Mapping[str, Items]:
        """Return the rows of a file of this family by run; "" is named after the file."""
        readers = self._readers()
        if readers.runs is None:
            raise self._lacks("a run", decoded)
        return readers.runs(decoded, options, findings)

    def records(
        self, kind: Kind, decoded: Decoded, options: ReadOptions, findings: Findings
    ) -> Items:
        """Return the records of a kind in a file of this family; goldens are queries too.

        Raises InputError where such files hold nothing of the kind.
        """
        readers = self._readers()
        convert = getattr(readers, kind) or (readers.goldens if kind == "queries" else None)
        if convert is None:
            raise self._lacks(kind, decoded)
        items: Items = convert(decoded, options, findings)
        return items

    def _readers(self) -> Readers:
        module = importlib.import_module(f"judge.formats.{self.module}")
        readers: Readers = module.READERS[self.name]
        return readers

    def _lacks(self, kind: str, decoded: Decoded) -> InputError:
        held = [name for name in Readers.__slots__ if getattr(self._readers(), name) is not None]
        found = f"{self.name}, which holds {' and '.join(held)}"
        return InputError(Problem(decoded.place.file, found, f"give a file with {kind} here"))


@dataclass(frozen=True, slots=True)
class Readers:
    """What can be read from a family's files, each None where they hold nothing of the kind."""

    runs: ConvertRuns | None = None
    grades: Convert | None = None
    goldens: Convert | None = None
    texts: Convert | None = None
    queries: Convert | None = None


def _has(fields: Fields, wanted: Mapping[str, _Type]) -> bool:
    return all(isinstance(fields.get(name), kind) for name, kind in wanted.items())


FAMILIES: tuple[Family, ...] = (
    Family(
        "a _rank_eval response", "elastic", whole={"details": dict, "metric_score": (int, float)}
    ),
    # Where every query failed the score is no number, however it is written.
    Family("a _rank_eval response", "elastic", whole={"details": dict, "failures": dict}),
    Family("a _rank_eval request", "elastic", whole={"requests": list}),
    Family("an _msearch response", "elastic", whole={"responses": list}),
    Family("a _search response", "elastic", whole={"hits": dict}),
    Family("a _search response", "elastic", record={"hits": dict}),
    Family("a _search response", "elastic", whole={"error": dict, "status": int}),
    Family("a Workbench judgment list", "workbench", whole={"judgmentRatings": list}),
    Family("a Workbench query set", "workbench", whole={"querySetQueries": list}),
    Family("a LlamaIndex dataset", "datasets", whole={"queries": dict, "relevant_docs": dict}),
    Family("DeepEval test cases", "datasets", record={"input": str, "retrieval_context": list}),
    Family("DeepEval goldens", "datasets", record={"input": str, "context": list}),
    Family("LangSmith examples", "datasets", record={"inputs": dict, "outputs": (dict, _NONE)}),
    Family("Langfuse dataset items", "datasets", record={"datasetName": str, "input": object}),
    Family("a trace", "traces", record={"resourceSpans": list}),
    Family("a trace", "traces", record={"attributes": (dict, list), "context": dict}),
    Family("a trace", "traces", record={"attributes": (dict, list), "span_id": str}),
    Family("a trace", "traces", record={"attributes": (dict, list), "spanId": str}),
    Family("a trace", "traces", record={"context.span_id": str}),
    Family(
        "a Quepid snapshot", "quepid", columns=frozenset({"Query Text", "Doc ID", "Doc Position"})
    ),
    Family(
        "a detailed Quepid export", "quepid", columns=frozenset({"Query Text", "Doc ID", "Rating"})
    ),
    Family("Quepid ratings", "quepid", columns=frozenset({"query", "docid", "rating"})),
    Family("Quepid ratings", "quepid", columns=frozenset({"query", "doc_id", "rating"})),
    Family("a Quepid book", "quepid", columns=frozenset({"query", "docid"})),
)


def recognised(decoded: Decoded) -> Family | None:
    """Return the family a decoded file belongs to, or None where it is one of our shapes."""
    if isinstance(decoded, Table):
        return _of_header(decoded.header)
    value = decoded.first if isinstance(decoded, Lines) else decoded.value
    whole = value if isinstance(decoded, Document) and isinstance(value, dict) else {}
    if isinstance(whole.get("rows"), list):
        return None
    around = ("data", "test_cases", "goldens", "examples")
    listed = next((whole[name] for name in around if name in whole), value)
    first = listed[0] if isinstance(listed, list) and listed else value
    record = first if isinstance(first, dict) else {}
    return next((family for family in FAMILIES if family.recognises(whole, record)), None)


def decode_any(file: TextFile, findings: Findings) -> Decoded | None:
    """Return a file's JSON, or its table if a family knows the header; None for other text."""
    if looks_like_json(file):
        return unwrapped(decode(file, findings))
    header = frozenset(table_header(file))
    if _of_header(header) is None:
        return None
    return Table(Place(file.name), header, table_records(file, findings, ragged=True))


def is_family_table(file: TextFile) -> bool:
    """Tell whether a file is a table whose header is that of a family."""
    return _of_header(frozenset(table_header(file))) is not None


def _of_header(header: frozenset[str]) -> Family | None:
    known = (family for family in FAMILIES if family.columns)
    return next((family for family in known if family.columns <= header), None)


def unwrapped(decoded: Document | Lines) -> Document | Lines:
    """Return what a plugin of OpenSearch stored, where a search for it brought it back."""
    if not isinstance(decoded, Document):
        return decoded
    value: object = decoded.value
    for step in ("hits", "hits"):
        value = value.get(step) if isinstance(value, dict) else None
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        inner = Document(decoded.place.at("hits.hits[0]._source"), value[0].get("_source"))
        return inner if recognised(inner) else decoded
    return decoded
