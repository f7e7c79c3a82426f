"""A run of the reference engine as `run.json`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from judge.run import Result, Row, Run


def write_run(run: Run, path: Path) -> None:
    """Write a run to a file; one that was there is replaced."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in run_lines(run))


def run_lines(run: Run) -> Iterator[str]:
    """Yield the lines of a `run.json`, one row a line, so that two runs diff well."""
    yield f'{{"name": {_json(run.name)}, "rows": ['
    for at, row in enumerate(run.rows, start=1):
        yield _json(_row(row)) + ("," if at < len(run.rows) else "")
    yield "]}"


def _row(row: Row) -> dict[str, object]:
    fields = {"query_id": row.query_id, "query": row.query, "slice": row.slice}
    given: dict[str, object] = {name: value for name, value in fields.items() if value is not None}
    return given | {"results": [_result(result) for result in row.results]}


def _result(result: Result) -> dict[str, object]:
    fields: dict[str, object] = {"id": result.id}
    if result.document_id != result.id:
        fields["document_id"] = result.document_id
    return fields | {"score": result.score, "metadata": result.metadata, "text": result.text}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
