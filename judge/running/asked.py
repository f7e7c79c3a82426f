"""The queries that a system is asked: a file of queries, goldens or a query set."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from judge.formats.decoding import Fields
from judge.formats.findings import Findings, Place, shown
from judge.formats.goldens import GoldenReader
from judge.formats.ids import id_text
from judge.formats.opening import SourceFile, read_text, source_name
from judge.formats.options import DEFAULTS, ReadOptions
from judge.formats.rows import keyed
from judge.formats.spellings import QUERY, ROW, Spellings
from judge.formats.texts import QUERY_FILES, text_records
from judge.formats.values import naming
from judge.run import Notice, Row

_OF_ROW = ("slice", "weight", "expected", "expected_pages", "match", "complete")
_ASKED: Spellings = MappingProxyType(
    {
        "query_id": QUERY["query_id"],
        "query": (*ROW["query"], *QUERY["query"]),
        **{name: ROW[name] for name in _OF_ROW},
        "exclude": ("source", "source_id"),
    }
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A query to ask: its row without results yet, and ids that its results must not hold.

    exclude: what the question was made from, say; it is dropped and the ranks close up
    """

    row: Row
    exclude: frozenset[str] = frozenset()

    @property
    def values(self) -> dict[str, str]:
        """Return what the placeholders of a command, URL or template stand for."""
        return {"query": self.row.query or "", "query_id": self.row.key}


@dataclass(frozen=True, slots=True)
class AskedFile:
    """The queries of a file in its order, and what was counted on the way."""

    asked: tuple[Asked, ...]
    notices: tuple[Notice, ...] = ()


def read_asked(source: SourceFile, options: ReadOptions = DEFAULTS) -> AskedFile:
    """Return the queries of JSON lines, an array, a query set, or lines `id<TAB>text`.

    Goldens are queries too, and stay with their rows. Raises InputError naming every record
    without a text.
    """
    findings = Findings()
    goldens = GoldenReader(options, findings)
    read: list[tuple[Place, Row]] = []
    excluded: list[frozenset[str]] = []
    file = read_text(source, inside=QUERY_FILES)
    for place, _, fields in text_records(file, _ASKED, options, findings):
        named = naming(fields, place, findings)
        if named.query is None:
            findings.problem(place, "no query", "say which field it is: --map FIELD=query")
        row = Row(
            key=named.query_id or "",
            query_id=named.query_id,
            query=named.query,
            slice=named.slice,
            weight=1.0 if named.weight is None else named.weight,
            golden=goldens.golden(fields, named, place),
        )
        read.append((place, row))
        excluded.append(_excluded(fields, place, findings))
    rows = keyed(read, findings)
    findings.check_some(rows, "queries", source_name(source))
    pairs = zip(rows, excluded, strict=True)
    return AskedFile(tuple(Asked(row, ids) for row, ids in pairs), findings.notices())


def _excluded(fields: Fields, place: Place, findings: Findings) -> frozenset[str]:
    value = fields.get("exclude")
    items = value if isinstance(value, list) else [] if value is None else [value]
    ids = [id_text(item) for item in items]
    if None in ids:
        findings.problem(place.at("exclude"), shown(value), "give the ids to leave out")
    return frozenset(id for id in ids if id is not None)
