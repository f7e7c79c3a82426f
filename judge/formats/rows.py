"""Rows of a run from JSON records: ours, short ones with `ranked`, and RAG rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from judge.formats.decoding import Fields
from judge.formats.findings import Findings, Place, shown
from judge.formats.goldens import GoldenReader, row_fields
from judge.formats.options import ReadOptions
from judge.formats.results import Ranked, ResultReader
from judge.formats.values import naming
from judge.run import KnownGrade, Result, Row

_RAG = ("retrieved_contexts", "retrieved_context_ids")
_SHAPES = {True: "a RAG row (retrieved_contexts)", False: "a row with results"}


@dataclass(frozen=True, slots=True)
class ReadRows:
    """Rows with their keys, and the grades that stood in their results."""

    rows: tuple[Row, ...]
    grades: tuple[KnownGrade, ...]


def read_rows(
    items: Iterable[tuple[Place, object]], *, options: ReadOptions, findings: Findings
) -> ReadRows:
    """Return the rows of records; bad places go to `findings`, which the caller checks."""
    reader = _RowReader(options, findings)
    drafts = [reader.draft(record, place) for place, record in items]
    reader.report(len(drafts))
    good = [draft for draft in drafts if draft is not None]
    rows = keyed([(draft.place, draft.row) for draft in good], findings)
    return ReadRows(rows, tuple(_grades(rows, good)))


class _Draft(NamedTuple):
    """A row before its key is known, with the results that came with a grade."""

    place: Place
    row: Row
    graded: tuple[tuple[Result, int], ...]


def keyed(read: list[tuple[Place, Row]], findings: Findings) -> tuple[Row, ...]:
    """Return the rows with keys: the query id, else the query's text, else "row 12".

    A row that has a key keeps it. A query id that two rows share is a problem; a text that
    they share gets "#2", "#3", …
    """
    first: dict[str, Place] = {}
    for place, row in read:
        if row.query_id is None:
            continue
        if row.query_id in first:
            found = f"query_id {shown(row.query_id)} again, first at {first[row.query_id]}"
            findings.problem(place, found, "one row a query: remove or rename one")
        first.setdefault(row.query_id, place)
    used = dict.fromkeys(first, 1)
    return tuple(
        row if row.key else replace(row, key=_free_key(row.query or f"row {number}", used))
        for number, (_, row) in enumerate(read, start=1)
    )


def _free_key(name: str, used: dict[str, int]) -> str:
    """Return a key that no other row has: the name, or its next number, kept in `used`."""
    key, n = name, used.get(name, 0)
    while key in used:
        n += 1
        key = f"{name}#{n}"
    used[name] = max(n, 1)
    used.setdefault(key, 1)
    return key


class _RowReader:
    """Turns records into rows, one at a time, and remembers what it met."""

    def __init__(self, options: ReadOptions, findings: Findings) -> None:
        self._findings = findings
        self._fields = row_fields("row", options, findings)
        self._goldens = GoldenReader(options, findings)
        self._results = ResultReader(options, findings)
        self._shapes: dict[bool, Place] = {}
        self._without_results: list[Place] = []

    def draft(self, record: object, place: Place) -> _Draft | None:
        """Return a record's row, its key still to come; None where it is no object."""
        if not isinstance(record, dict):
            self._findings.problem(place, shown(record), "a row is an object")
            return None
        fields = self._fields.read(record, place)
        named = naming(fields, place, self._findings)
        ranked = self._ranked(fields, place)
        if fields.get("reference_contexts") is not None:
            what, then = "row field 'reference_contexts' ignored", "--goldens reads it as quotes"
            self._findings.count("ignored field", what, place=place, consequence=then)
        row = Row(
            key=named.query_id or "",
            query_id=named.query_id,
            query=named.query,
            slice=named.slice,
            weight=1.0 if named.weight is None else named.weight,
            results=ranked.results,
            error=_error(fields.get("error")),
            golden=self._goldens.golden(fields, named, place),
        )
        return _Draft(place, row, ranked.graded)

    def report(self, n_rows: int) -> None:
        """Record what is true of the rows together."""
        self._fields.report()
        self._results.report()
        missing = self._without_results
        if missing and len(missing) == n_rows:
            fix = "name the field that holds them: --map FIELD=results; goldens go to --goldens"
            self._findings.problem(missing[0], f"none of {n_rows} rows has results", fix)
        elif missing:
            what, then = "rows without results", "each read as an empty list"
            self._findings.count(
                "no results", what, place=missing[0], consequence=then, n=len(missing)
            )
        if len(self._shapes) > 1:
            (_, place), (is_rag, other) = self._shapes.items()
            found = f"{_SHAPES[is_rag]} in a file that began with {_SHAPES[not is_rag]} at {place}"
            self._findings.problem(other, found, "keep one shape a file")

    def _ranked(self, fields: Fields, place: Place) -> Ranked:
        contexts = [name for name in _RAG if fields.get(name) is not None]
        is_rag = bool(contexts) and fields.get("results") is None
        if contexts and not is_rag:
            what = f"{' and '.join(contexts)} beside results ignored"
            self._findings.count("ignored field", what, place=place)
        value = _contexts(fields, place, self._findings) if is_rag else fields.get("results")
        if value is None:
            if fields.get("error") is None:
                self._without_results.append(place)
            return Ranked()
        self._shapes.setdefault(is_rag, place)
        if not isinstance(value, list):
            fix = "results are a list, best first"
            self._findings.problem(place.at("results"), shown(value), fix)
            return Ranked()
        return self._results.ranked(value, place)


def _grades(rows: tuple[Row, ...], drafts: list[_Draft]) -> Iterator[KnownGrade]:
    """Yield the grades that stood in the rows' results, named as their rows are."""
    for row, draft in zip(rows, drafts, strict=True):
        for result, grade in draft.graded:
            yield KnownGrade(
                result.id,
                grade,
                grade,
                query_id=row.query_id if row.query else row.key,
                query=row.query,
                document_id=result.document_id,
                detail="in the run",
            )


def _contexts(fields: Fields, place: Place, findings: Findings) -> object:
    """Return a RAG row's contexts as results: texts beside ids, or either alone."""
    texts, ids = (fields.get(name) for name in _RAG)
    if ids is None:
        return [{"text": text} if isinstance(text, str) else text for text in _listed(texts)]
    if texts is None:
        return ids
    if not (isinstance(texts, list) and isinstance(ids, list) and len(texts) == len(ids)):
        found = f"retrieved_contexts is {shown(texts)}, retrieved_context_ids is {shown(ids)}"
        findings.problem(place, found, "give one id for each context")
        return []
    return [{"id": id, "text": text} for id, text in zip(ids, texts, strict=True)]


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _error(value: object) -> str | None:
    """Return why a row failed, as text; None where the system did not say that it did."""
    if value is None or value is False or value == "":
        return None
    if isinstance(value, str):
        return value
    return "failed" if value is True else json.dumps(value, ensure_ascii=False)
