"""report.json: what other programs may rely on; written one row a line, so that it diffs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TextIO

from judge.grades import Conflict, Evidence, Judgment
from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.report.model import Report, RowReport
from judge.scoring import Mean

SCHEMA = 1

Json = Mapping[str, Any]


def write_report(report: Report, stream: TextIO) -> None:
    """Write a report as JSON: small parts first, then a line a row and a line a pool member."""
    stream.write("{\n")
    for name, part in _head(report).items():
        stream.write(f"{_dump(name)}: {_dump(part)},\n")
    _write_list("rows", map(row_document, report.rows), stream)
    stream.write(",\n")
    _write_list("pool", _pool(report), stream)
    stream.write(",\n")
    _write_list("conflicts", map(_conflict, report.conflicts), stream)
    stream.write(f',\n"timing": {_dump(report.timing)}\n}}\n')


def report_document(report: Report) -> dict[str, Any]:
    """Return the same document as plain dicts and lists."""
    return {
        **_head(report),
        "rows": [row_document(row) for row in report.rows],
        "pool": list(_pool(report)),
        "conflicts": [_conflict(conflict) for conflict in report.conflicts],
        "timing": dict(report.timing),
    }


def _head(report: Report) -> dict[str, Any]:
    grading, coverage, calls = report.grading, report.coverage, report.grading.calls
    return {
        "schema": SCHEMA,
        "run": report.run.name,
        "settings": {
            "measures": [str(measure) for measure in grading.settings.measures],
            "gain": grading.settings.gain,
            "grade_max": grading.settings.grade_max,
            "pool_depth": grading.settings.depth,
            "unit": grading.unit,
            "backend": grading.backend,
            "prompt": grading.prompt,
        },
        "coverage": {
            "rows": coverage.rows,
            "slots": coverage.slots,
            "graded": coverage.graded,
            "open": coverage.open,
            "failed": coverage.failed,
            "by_source": dict(coverage.by_source),
            "open_by_reason": dict(coverage.open_by_reason),
        },
        "calls": {
            "made": calls.made,
            "cached": calls.cached,
            "retried": calls.retried,
            "failed": calls.failed,
        },
        "cost_usd": grading.cost_usd,
        "measures": {
            "overall": _with_confidence(report),
            "slices": {name: _means(part) for name, part in report.slices.items()},
        },
        "answerless": {
            "rows": report.answerless.rows,
            "empty": report.answerless.empty,
            "non_empty": report.answerless.non_empty,
        },
        "misses": [
            {"query_id": miss.query_id, "id": miss.id, "kind": miss.kind, "rank": miss.rank}
            for miss in report.misses
        ],
        "notices": [
            {"kind": notice.kind, "count": notice.count, "text": notice.text}
            for notice in grading.notices
        ],
    }


def row_document(row: RowReport) -> dict[str, Any]:
    """Return one row of the report; a slot outside the pool has the whole scale as interval."""
    query = row.query
    document: dict[str, Any] = {
        "query_id": query.key,
        "query": query.text,
        "slice": query.slice,
        "measures": {str(measure): bounded_document(b) for measure, b in row.scores.items()},
        "weight": query.weight,
        "results": list(_results(row)),
    }
    if query.golden is not None:
        document["expected"] = list(query.golden.expected)
        document["match"] = query.golden.match
        document["complete"] = query.golden.complete
    own = query.rows[0]
    if own is not None and own.error is not None:
        document["error"] = own.error
    return document


def _results(row: RowReport) -> Iterator[Json]:
    own, ranking = row.query.rows[0], row.pool.rankings[0]
    for rank, result in enumerate(own.results if own else (), 1):
        member = ranking[rank - 1]
        judgment = None if member is None else row.pool.judgments[member]
        yield {
            "id": result.id,
            "document_id": result.document_id,
            "rank": rank,
            **_judgment(judgment, row),
        }


def _judgment(judgment: Judgment | None, row: RowReport) -> dict[str, Any]:
    if judgment is None:
        return {"grade": None, "lo": 0, "hi": row.pool.grade_max, "source": None}
    return {
        "grade": judgment.grade,
        "lo": judgment.lo,
        "hi": judgment.hi,
        "source": None if judgment.source is None else str(judgment.source),
    }


def _pool(report: Report) -> Iterator[Json]:
    for row in report.rows:
        yield from pool_documents(row)


def pool_documents(row: RowReport) -> Iterator[dict[str, Any]]:
    """Yield one document a pool member of a row: what judgments.jsonl and `pool` hold."""
    for id, judgment in zip(row.pool.ids, row.pool.judgments, strict=True):
        yield {
            "query_id": row.query.key,
            "id": id,
            "document_id": row.pool.documents.get(id),
            **_judgment(judgment, row),
            "reason": judgment.reason,
        }


def _conflict(conflict: Conflict) -> Json:
    return {
        "query_id": conflict.query_id,
        "id": conflict.id,
        "stands": _evidence(conflict.stands),
        "against": _evidence(conflict.against),
    }


def _evidence(evidence: Evidence) -> Json:
    return {
        "source": str(evidence.source),
        "lo": evidence.lo,
        "hi": evidence.hi,
        "detail": evidence.detail,
    }


def _means(means: Mapping[Measure, Mean]) -> dict[str, dict[str, Any]]:
    return {
        str(measure): {"value": mean.value, "lo": mean.lo, "hi": mean.hi, "n": mean.n}
        for measure, mean in means.items()
    }


def _with_confidence(report: Report) -> Json:
    documents = _means(report.overall)
    for measure in report.overall:
        interval = report.confidence.get(measure)
        documents[str(measure)]["ci95"] = None if interval is None else list(interval)
    return documents


def bounded_document(bounded: Bounded) -> Json:
    """Return a bounded value as `{value, lo, hi}`."""
    return {"value": bounded.value, "lo": bounded.lo, "hi": bounded.hi}


def _write_list(name: str, items: Iterable[Json], stream: TextIO) -> None:
    stream.write(f"{_dump(name)}: [")
    separator = "\n"
    for item in items:
        stream.write(separator + _dump(item))
        separator = ",\n"
    stream.write("]" if separator == "\n" else "\n]")


def _dump(value: object) -> str:
    # NaN in a report would be a bug of ours: refuse it rather than write it.
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=dict)
