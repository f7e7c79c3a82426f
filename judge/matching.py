"""Runs of any shape matched with qrels: which query and which id the qrels mean by a row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import BinaryIO, TypeAlias

from judge.errors import InputError, Problem
from judge.formats import ReadOptions, read_runs
from judge.measures.ranked import Ranked, first_slots
from judge.run import Row

JudgedOf: TypeAlias = Callable[[str], Collection[str]]
"""From a query to the ids that the qrels grade, which are documents or chunks."""


def matched_runs(
    stream: BinaryIO, reading: ReadOptions, *, file: str, judged_of: JudgedOf
) -> dict[str, dict[str, Ranked]]:
    """Return every run of a file with its lists, under the names of the qrels.

    Raises InputError where two rows mean one query of the qrels.
    """
    runs = read_runs(stream, reading)
    return {name: _ranked_rows(run.rows, file, judged_of) for name, run in runs.items()}


def _ranked_rows(rows: Sequence[Row], file: str, judged_of: JudgedOf) -> dict[str, Ranked]:
    """Return the lists of a run under the names that the qrels have for their queries.

    That is a row's key, or its text where the qrels go by text.
    """
    named: dict[str, Row] = {}
    for row in rows:
        by_text = row.query is not None and not judged_of(row.key) and judged_of(row.query)
        name = row.query if by_text and row.query is not None else row.key
        if named.setdefault(name, row) is not row:
            found = f"rows {named[name].key!r} and {row.key!r} both ask {name!r}"
            fix = "the qrels go by text: keep one of the rows, or key the qrels by query_id"
            raise InputError(Problem(file, found, fix))
    by_document = _judges_documents(named, judged_of)
    return {
        name: Ranked(
            first_slots(result.document if by_document else result.id for result in row.results),
            failed=row.error is not None,
        )
        for name, row in named.items()
    }


def _judges_documents(rows: Mapping[str, Row], judged_of: JudgedOf) -> bool:
    """Tell whether a graded id can only mean the document of some chunk, so that all do."""
    for query, row in rows.items():
        documents = {result.document for result in row.results if result.document != result.id}
        if documents and not documents.isdisjoint(judged_of(query)):
            return True
    return False
