"""Quepid: ratings, detailed exports, snapshots, and books with a column for each rater.

Read: query texts, document ids, positions, ratings; titles and fields of a detailed export
as text. A blank rating is open, never 0, and "unrateable" is open too; both are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from judge.formats.decoding import Fields
from judge.formats.families import Decoded, Items, Readers
from judge.formats.findings import Findings, Place, shown
from judge.formats.options import ReadOptions
from judge.formats.records import records_of

_UNRATEABLE = "unrateable"
_CASE_COLUMNS = frozenset({"Team Name", "Case Name", "Case ID", "Query Text", "Doc ID", "Rating"})
_SNAPSHOT_COLUMNS = _CASE_COLUMNS | {"Snapshot Name", "Snapshot Time", "Doc Position"}
_PAIR_COLUMNS = frozenset({"query", "docid", "doc_id", "rating"})


def pair_grades(decoded: Decoded, options: ReadOptions, findings: Findings) -> Items:
    """Return the ratings of `query,docid,rating`, or of a book's column for each rater."""
    items: Items = []
    for place, line in _lines(decoded):
        query, id = line.get("query"), line.get("docid") or line.get("doc_id")
        if id is None:
            findings.count("no ratings", "queries without ratings", place=place)
            continue
        raters = [name for name in line if name not in _PAIR_COLUMNS]
        for rater in raters or ["rating"]:
            grade = {"grade": _rating(line[rater], place, findings)}
            if raters:
                grade["rater"] = rater
            items.append((place, {"query": query, "id": id, **grade}))
    return items


def case_grades(decoded: Decoded, options: ReadOptions, findings: Findings) -> Items:
    """Return the ratings of a detailed export."""
    return [
        (place, {"query": line["Query Text"], "id": line["Doc ID"], "grade": grade})
        for place, line in _lines(decoded)
        for grade in [_rating(line["Rating"], place, findings)]
    ]


def case_runs(decoded: Decoded, options: ReadOptions, findings: Findings) -> Mapping[str, Items]:
    """Return a detailed export as a run: its documents in their order, with ratings and texts."""
    rows: dict[object, tuple[Place, list[object]]] = {}
    for place, line in _lines(decoded):
        result = _result(line, place, findings)
        rows.setdefault(line["Query Text"], (place, []))[1].append(result)
    return {"": _rows(rows)}


def snapshot_runs(
    decoded: Decoded, options: ReadOptions, findings: Findings
) -> Mapping[str, Items]:
    """Return each snapshot as a run, its documents ordered by position.

    Ratings and texts are read where a snapshot has them.
    """
    runs: dict[str, dict[object, tuple[Place, list[object]]]] = {}
    placed: list[tuple[int, Place, Fields]] = []
    for place, line in _lines(decoded):
        text = str(line["Doc Position"])
        if text.isascii() and text.isdigit() and len(text) < 10:
            placed.append((int(text), place, line))
        else:
            found = f"Doc Position {shown(line['Doc Position'])}"
            findings.problem(place, found, "a position is a whole number")
    for _, place, line in sorted(placed, key=lambda one: one[0]):
        rows = runs.setdefault(str(line.get("Snapshot Name") or ""), {})
        rows.setdefault(line["Query Text"], (place, []))[1].append(_result(line, place, findings))
    return {name: _rows(rows) for name, rows in runs.items()} or {"": []}


def _lines(decoded: Decoded) -> list[tuple[Place, Fields]]:
    lines = records_of(decoded, under="rows").items
    return [(place, line) for place, line in lines if isinstance(line, dict)]


def _result(line: Fields, place: Place, findings: Findings) -> Fields:
    """Return the document of a line, its text made of every column that Quepid has no name for."""
    parts = [value for name, value in line.items() if name not in _SNAPSHOT_COLUMNS]
    return {
        "id": line["Doc ID"],
        "text": "\n".join(str(part) for part in parts if part) or None,
        "grade": _rating(line.get("Rating"), place, findings),
    }


def _rows(rows: Mapping[object, tuple[Place, list[object]]]) -> Items:
    return [
        (place, {"query": query, "results": results}) for query, (place, results) in rows.items()
    ]


def _rating(value: object, place: Place, findings: Findings) -> object:
    """Return a rating, or None where the rater could not or did not give one."""
    if isinstance(value, str) and value.casefold() == _UNRATEABLE:
        then = "they stay open"
        findings.count("unrateable", "documents called unrateable", place=place, consequence=then)
        return None
    return value


READERS: Mapping[str, Readers] = MappingProxyType(
    {
        "Quepid ratings": Readers(grades=pair_grades),
        "a Quepid book": Readers(grades=pair_grades),
        "a detailed Quepid export": Readers(runs=case_runs, grades=case_grades),
        "a Quepid snapshot": Readers(runs=snapshot_runs),
    }
)
