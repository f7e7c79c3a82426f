"""Runs on their way out: our own `run.json`, one row a line, and rows for ragas."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from judge.formats.decoding import Fields
from judge.formats.judged import Judged
from judge.run import Golden, Result, Row, Run


def run_lines(run: Run) -> Iterator[str]:
    """Yield the lines of a `run.json`; read again, it gives the same rows and grades."""
    grades: dict[tuple[str | None, str | None], dict[str, list[int]]] = {}
    for known in run.grades:
        of_query = grades.setdefault((known.query_id, known.query), {})
        of_query.setdefault(known.id, []).append(known.lo)
    yield f'{{"name": {_json(run.name)}, "rows": ['
    for number, row in enumerate(run.rows, start=1):
        named = (row.query_id if row.query else row.key, row.query)
        yield _row_line(row, grades.get(named, {})) + ("," if number < len(run.rows) else "")
    yield "]}"


def _row_line(row: Row, grades: Mapping[str, list[int]]) -> str:
    """Return a row as one line of JSON, without what it does not have.

    grades: of each id, one for each of its slots that came with one
    """
    waiting = {id: iter(of_id) for id, of_id in grades.items()}
    golden: Fields = {} if row.golden is None else _golden(row.golden)
    fields: Fields = {
        "query_id": row.query_id,
        "query": row.query,
        "slice": row.slice,
        "weight": None if row.weight == 1 else row.weight,
        "error": row.error,
        **golden,
        "results": [_result(r, next(waiting.get(r.id, iter(())), None)) for r in row.results],
    }
    return _json({name: value for name, value in fields.items() if value is not None})


def ragas_lines(run: Run, judged: Sequence[Judged], *, rel: int) -> Iterator[str]:
    """Yield a ragas sample for each row: what was retrieved, and which ids are known to answer.

    rel: the lowest grade that makes a chunk a reference
    """
    references: dict[str, list[str]] = {}
    for one in judged:
        if one.lo >= rel:
            for name in {one.query_id, one.query} - {None}:
                references.setdefault(str(name), []).append(one.id)
    for row in run.rows:
        yield _json(_sample(row, references))


def _sample(row: Row, references: Mapping[str, list[str]]) -> Fields:
    named = [name for name in (row.query_id, row.query) if name is not None and name in references]
    texts = [result.text for result in row.results]
    return {
        "user_input": row.query or row.key,
        **({"retrieved_contexts": texts} if None not in texts else {}),
        "retrieved_context_ids": [result.id for result in row.results],
        **({"reference_context_ids": references[named[0]]} if named else {}),
    }


def _golden(golden: Golden) -> Fields:
    return {
        "expected": [*golden.expected, *({"quote": quote} for quote in golden.quotes)],
        "match": None if golden.match == "all" else golden.match,
        "complete": golden.complete or None,
    }


def _result(result: Result, grade: int | None) -> Fields:
    fields: Fields = {
        "id": result.id,
        "document_id": result.document_id,
        "score": result.score,
        "grade": grade,
        "metadata": None if result.metadata is None else dict(result.metadata),
        "text": result.text,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
