"""Grades in the files of other tools: TREC, BEIR, `_rank_eval`, Workbench, Quepid, CSV.

A file written here and read again gives the same grades. What a format has no room for, open
judgments and where it is so their provenance, is left out and counted; an id that it cannot
hold is an error.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from judge.formats.findings import Findings, Place, shown
from judge.formats.judged import Judged
from judge.formats.spreadsheets import defused


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How grades are written.

    values: a grade -> how the tool writes it ("3" -> "100.000"); others stand as they are
    index: the index that `_rank_eval` ratings name; None: from ids written `index/id`
    name: what a Workbench judgment list is called
    """

    values: Mapping[int, str] = field(default_factory=dict)
    index: str | None = None
    name: str = "judge"

    def value(self, grade: int) -> str:
        """Return a grade as the tool writes it."""
        return self.values.get(grade, str(grade))


Writer: TypeAlias = Callable[[Sequence[Judged], WriteOptions, Findings], Iterator[str]]


def grade_lines(
    judged: Iterable[Judged], *, to: str, options: WriteOptions, findings: Findings
) -> list[str]:
    """Return the lines of a file of grades in the format `to`, one of `WRITERS`.

    Raises InputError naming ids and queries that the format cannot hold.
    """
    judged = list(judged)
    if to not in WITH_INTERVALS:
        closed = [one for one in judged if one.grade is not None]
        if len(closed) < len(judged):
            place, n = Place(to), len(judged) - len(closed)
            findings.count("open grade", "open judgments left out", place=place, n=n)
        judged = closed
    lines = list(WRITERS[to](judged, options, findings))
    findings.check()
    return lines


def _trec(judged: Sequence[Judged], options: WriteOptions, findings: Findings) -> Iterator[str]:
    for one in judged:
        query, id = _query_id(one), one.id
        for name, value in (("query", query), ("id", id)):
            if len(value.split()) != 1:
                fix = "give ids without white space (--queries FILE), or use --to beir or csv"
                findings.problem(_place(one), f"TREC cannot hold the {name} {shown(value)}", fix)
        if query.startswith(("{", "[")):
            found = f"a file that begins with the query {shown(query)} looks like JSON"
            findings.problem(_place(one), found, "use --to beir or csv")
        yield f"{query} 0 {id} {options.value(_grade(one))}"


def _beir(judged: Sequence[Judged], options: WriteOptions, findings: Findings) -> Iterator[str]:
    yield "query-id\tcorpus-id\tscore"
    for one in judged:
        query, id = _query_id(one), one.id
        for name, value in (("query", query), ("id", id)):
            if value != value.strip() or any(mark in value for mark in '\t\r\n"'):
                found = f"a tab-separated file cannot hold the {name} {shown(value)}"
                findings.problem(_place(one), found, "use --to csv")
            elif defused(value) != value:
                then = "open the file in no spreadsheet: --to csv has them as text"
                findings.count("formula", "ids like formulas", place=_place(one), consequence=then)
        yield f"{query}\t{id}\t{options.value(_grade(one))}"


def _rank_eval(
    judged: Sequence[Judged], options: WriteOptions, findings: Findings
) -> Iterator[str]:
    requests = [
        {
            "id": _query_id(of_query[0]),
            "request": {"query": {"simple_query_string": {"query": _query(of_query[0])}}},
            "ratings": [
                {**_indexed(one, options, findings), "rating": _number(_grade(one), options)}
                for one in of_query
            ],
        }
        for of_query in _by_query(judged)
    ]
    metric = {"dcg": {"k": 10, "normalize": True}}
    yield json.dumps({"requests": requests, "metric": metric}, ensure_ascii=False, indent=1)


def _workbench(
    judged: Sequence[Judged], options: WriteOptions, findings: Findings
) -> Iterator[str]:
    ratings = [
        {
            "query": _query(of_query[0]),
            "ratings": [
                {"docId": one.id, "rating": options.value(_grade(one))} for one in of_query
            ],
        }
        for of_query in _by_query(judged)
    ]
    head = {"name": options.name, "description": "", "type": "IMPORT_JUDGMENT"}
    yield json.dumps({**head, "judgmentRatings": ratings}, ensure_ascii=False, indent=1)


def _quepid(judged: Sequence[Judged], options: WriteOptions, findings: Findings) -> Iterator[str]:
    yield "query,docid,rating"
    for one in judged:
        yield _cells([_query(one), one.id, options.value(_grade(one))])


def _csv(judged: Sequence[Judged], options: WriteOptions, findings: Findings) -> Iterator[str]:
    yield "query_id,query,id,grade,lo,hi,source,reason"
    for one in judged:
        grade = "" if one.grade is None else options.value(one.grade)
        known = [one.query_id or "", one.query or "", one.id, grade, str(one.lo), str(one.hi)]
        yield _cells([*known, one.source, one.reason])


def _jsonl(judged: Sequence[Judged], options: WriteOptions, findings: Findings) -> Iterator[str]:
    for one in judged:
        named = {"query_id": one.query_id, "query": one.query}
        known = {"id": one.id, "grade": one.grade, "lo": one.lo, "hi": one.hi}
        said = {"source": one.source or None, "reason": one.reason}
        fields = {k: v for k, v in named.items() if v is not None} | known | said
        yield json.dumps(fields, ensure_ascii=False)


WRITERS: Mapping[str, Writer] = MappingProxyType(
    {
        "trec": _trec,
        "beir": _beir,
        "rank-eval": _rank_eval,
        "workbench": _workbench,
        "quepid": _quepid,
        "csv": _csv,
        "jsonl": _jsonl,
    }
)
WITH_INTERVALS = frozenset({"csv", "jsonl"})
"""The formats with room for an open judgment and for who said what."""


def _query_id(one: Judged) -> str:
    return one.query_id or one.query or ""


def _query(one: Judged) -> str:
    return one.query or one.query_id or ""


def _grade(one: Judged) -> int:
    assert one.grade is not None, "open judgments are left out before"
    return one.grade


def _place(one: Judged) -> Place:
    return Place(f"query {shown(_query_id(one))}")


def _by_query(judged: Sequence[Judged]) -> list[list[Judged]]:
    queries: dict[str, list[Judged]] = {}
    for one in judged:
        queries.setdefault(_query_id(one), []).append(one)
    return list(queries.values())


def _indexed(one: Judged, options: WriteOptions, findings: Findings) -> dict[str, str]:
    """Return the index and id of a rating; an id read as `index/id` splits at its first slash."""
    if options.index is not None:
        return {"_index": options.index, "_id": one.id}
    index, slash, id = one.id.partition("/")
    if not (slash and index and id):
        found = f"no index for the id {shown(one.id)}"
        findings.problem(_place(one), found, "name it with --index NAME")
    return {"_index": index, "_id": id}


def _number(grade: int, options: WriteOptions) -> object:
    text = options.value(grade)
    return int(text) if text.lstrip("-").isdigit() else text


def _cells(cells: Sequence[str]) -> str:
    """Return a CSV line; a cell that a spreadsheet would run as a formula starts with a space."""
    stream = io.StringIO()
    safe = [defused(cell) for cell in cells]
    # Without its line end the writer of Python 3.11 and 3.12 does not quote one inside a cell.
    csv.writer(stream, lineterminator="\r\n").writerow(safe)
    return stream.getvalue().removesuffix("\r\n")
