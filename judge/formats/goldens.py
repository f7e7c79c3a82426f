"""Goldens: answers known in advance, from their own file or from the rows of a run."""

from __future__ import annotations

from dataclasses import dataclass

from judge.errors import InputError, Problem
from judge.formats.decoding import Fields
from judge.formats.families import decode_any, recognised
from judge.formats.fields import FieldReader
from judge.formats.findings import Findings, Place, shown
from judge.formats.ids import id_text, key_id
from judge.formats.opening import SourceFile, read_text
from judge.formats.options import DEFAULTS, ReadOptions
from judge.formats.records import records_of
from judge.formats.spellings import PLAIN, RESULT, ROW
from judge.formats.values import Naming, flag, naming
from judge.run import Golden, Notice

_EMPTY = 'name an id, or add "complete": true if the question has no answer'
MATCHES = ("all", "any")
STRICT = frozenset({"query", "slice", "expected"})
_QUERY_NAMES = frozenset({"query", "query_id", *ROW["query"], *ROW["query_id"]})


@dataclass(frozen=True, slots=True)
class GoldenFile:
    """The goldens of a file in its order, and what was counted on the way."""

    goldens: tuple[Golden, ...]
    notices: tuple[Notice, ...] = ()


def read_goldens(source: SourceFile, options: ReadOptions = DEFAULTS) -> GoldenFile:
    """Read goldens from JSON lines, a JSON array, or the rows of a `run.json`.

    Raises InputError naming every bad place.
    """
    file, findings = read_text(source), Findings()
    decoded = decode_any(file, findings)
    if decoded is None:
        found = f"not JSON; it starts {shown(file.text[:40].strip())}"
        raise InputError(
            Problem(file.name, found, 'goldens are lines like {"query": "…", "expected": ["id"]}')
        )
    family = recognised(decoded)
    items = (
        records_of(decoded, under="goldens").items
        if family is None
        else family.records("goldens", decoded, options, findings)
    )
    fields = row_fields("golden", options, findings)
    goldens = GoldenReader(options, findings)
    read = [goldens.required(fields, record, place) for place, record in items]
    fields.report()
    findings.check_some(read, "goldens", file.name)
    return GoldenFile(tuple(golden for golden in read if golden), findings.notices())


def row_fields(kind: str, options: ReadOptions, findings: Findings) -> FieldReader:
    """Return the reader of the fields of rows and goldens, which share their names."""
    return FieldReader(
        kind, ROW, findings=findings, renames=options.map, strict=STRICT, plain=PLAIN
    )


class GoldenReader:
    """Makes goldens of records whose fields already have our names."""

    def __init__(self, options: ReadOptions, findings: Findings) -> None:
        self._options = options
        self._findings = findings

    def required(self, reader: FieldReader, record: object, place: Place) -> Golden | None:
        """Return the golden of a record that must be one; None where a problem was recorded."""
        if not isinstance(record, dict):
            self._findings.problem(place, shown(record), "a golden is an object")
            return None
        fields = self._quoting(reader.read(record, place), place)
        if "expected" not in fields:
            self._findings.problem(place, *_nothing_expected(record))
            return None
        named = naming(fields, place, self._findings)
        if named.query_id is None and named.query is None:
            fix = "give it one, or say which field it is: --map FIELD=query"
            self._findings.problem(place, "a golden with neither query_id nor query", fix)
        golden = self.golden(fields, named, place)
        if golden is None:
            self._findings.problem(place.at("expected"), "null", _EMPTY)
        return golden

    def _quoting(self, fields: Fields, place: Place) -> Fields:
        """Return the fields with ragas' reference texts as quotes, where no ids are expected."""
        contexts = fields.get("reference_contexts")
        texts = [text for text in contexts if text] if isinstance(contexts, list) else []
        if fields.get("expected") is not None or not texts:
            return fields
        if not all(isinstance(text, str) for text in texts):
            where = place.at("reference_contexts")
            self._findings.problem(where, shown(contexts), "reference contexts are texts")
            return fields
        what, then = "reference contexts as quotes", "each matches the chunks that contain it"
        self._findings.count("quote", what, place=place, consequence=then, n=len(texts))
        return fields | {"expected": [{"quote": text} for text in texts]}

    def golden(self, fields: Fields, named: Naming, place: Place) -> Golden | None:
        """Return the golden that stands in a record, or None where there is none."""
        value = self._with_pages(fields, place)
        complete = "complete" in fields and flag(fields, "complete", place, self._findings)
        if complete and "expected" not in fields:
            fix = 'add the expected ids, or "expected": [] if the question has no answer'
            self._findings.problem(place, '"complete" without "expected"', fix)
        if value is None and not complete:
            return None
        if value == [] and not complete:
            self._findings.problem(place.at("expected"), "an empty list", _EMPTY)
        items = value if isinstance(value, list) else [] if value is None else [value]
        quotes = tuple(quote for item in items if (quote := _quote(item)) is not None)
        match = fields.get("match") or "all"
        if match not in MATCHES:
            self._findings.problem(place.at("match"), shown(match), 'write "all" or "any"')
        return Golden(
            expected=self._expected(items, place),
            query_id=named.query_id,
            query=named.query,
            slice=named.slice,
            weight=named.weight,
            match=str(match),
            complete=complete,
            where=str(place),
            quotes=quotes,
        )

    def _with_pages(self, fields: Fields, place: Place) -> object:
        """Return what is expected, each file joined with its page where pages stand beside."""
        value, pages = fields.get("expected"), fields.get("expected_pages")
        if pages is None or value is None:
            return value
        files = value if isinstance(value, list) else [value]
        numbers = pages if isinstance(pages, list) else [pages]
        if len(self._options.key) != 2:
            fix = (
                "name the metadata with file and page, e.g. --key file_id,page, or leave the pages"
                " out: --map expected_pages=-"
            )
            self._findings.problem(place, "expected pages beside expected files", fix)
            return value
        if len(files) == 1:
            files = files * len(numbers)
        if len(files) != len(numbers):
            found = f"{len(files)} expected files and {len(numbers)} pages"
            self._findings.problem(place, found, "give one page for each file")
        pairs = zip(files, numbers, strict=False)
        return [dict(zip(self._options.key, pair, strict=False)) for pair in pairs]

    def _expected(self, items: list[object], place: Place) -> tuple[str, ...]:
        ids = [
            self._expected_id(item, place, index)
            for index, item in enumerate(items)
            if _quote(item) is None
        ]
        known = [id for id in ids if id is not None]
        distinct = tuple(dict.fromkeys(known))
        if len(distinct) < len(known):
            n = len(known) - len(distinct)
            self._findings.count(
                "repeated expected id", "expected ids given twice", place=place, n=n
            )
        return distinct

    def _expected_id(self, item: object, place: Place, index: int) -> str | None:
        """Return one expected id: text, a number, or an object with `--key`'s fields or an id."""
        key = self._options.key
        if isinstance(item, dict):
            id = key_id(item, key) if key else _first_id(item)
            fix = f"it must have {', '.join(key)}" if key else "give its id, or --key FIELD,…"
        elif len(key) > 1:
            id, fix = None, f"with --key write an object with {', '.join(key)}"
        else:
            id, fix = id_text(item), "an id is text or a whole number"
        if id is None:
            self._findings.problem(place.at(f"expected[{index}]"), shown(item), fix)
        return id


def _quote(item: object) -> str | None:
    """Return the quote of `{"quote": "…"}`, or None where it is none or blank."""
    quote = item.get("quote") if isinstance(item, dict) else None
    return quote if isinstance(quote, str) and quote.strip() else None


def _first_id(item: Fields) -> str | None:
    """Return the id in an object that stands for a chunk or document."""
    ids = (id_text(item.get(name)) for name in ("id", *RESULT["id"], *RESULT["document_id"]))
    return next((id for id in ids if id is not None), None)


def _nothing_expected(record: Fields) -> tuple[str, str]:
    """Return what is wrong with a record that names no expected ids, and the flag to write."""
    lists = {name: value for name, value in record.items() if isinstance(value, list)}
    held = [name for name, value in lists.items() if value and isinstance(value[0], dict)]
    if len(held) == 1 and not _QUERY_NAMES & set(record):
        fix = f"if {held[0]} holds the goldens, give that list alone: jq .{held[0]}"
        return f"no field `expected` in {shown(record)}", fix
    likely = list(lists) or [name for name in record if name not in ("query", "query_id", "slice")]
    field = likely[0] if likely else "FIELD"
    return (
        f"no field `expected` in {shown(record)}",
        f"if {field} holds them: --map {field}=expected",
    )
