"""report.json: what other programs may rely on; written one row a line, so that it diffs."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TextIO

from judge.grades import Conflict, Evidence, Judgment
from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.report.model import Report, RowReport
from judge.report.preferences import preferences_document
from judge.scoring import Mean

SCHEMA = 1

# NaN in a report would be a bug of ours: refuse it rather than write it.
_dump = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=dict).encode

Json = Mapping[str, Any]


def write_report(report: Report, stream: TextIO) -> None:
    """Write a report as JSON: small parts first, then a line a row and a line a pool member."""
    stream.write("{\n")
    for name, part in _head(report).items():
        stream.write(f"{_dump(name)}: {_dump(part)},\n")
    _write_list("rows", map(row_line, report.rows), stream)
    stream.write(",\n")
    _write_list("pool", (line for row in report.rows for line in pool_lines(row)), stream)
    stream.write(",\n")
    _write_list("conflicts", (_dump(_conflict(found)) for found in report.conflicts), stream)
    stream.write(f',\n"timing": {_dump(report.timing)}\n}}\n')


def report_document(report: Report) -> dict[str, Any]:
    """Return what `write_report` writes, as dicts and lists."""
    stream = io.StringIO()
    write_report(report, stream)
    document: dict[str, Any] = json.loads(stream.getvalue())
    return document


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
        "calls_saved": dict(grading.calls_saved),
        "shadow": [
            {
                "source": shadow.source,
                "n": shadow.n,
                "contradicted": shadow.contradicted,
                "difference": shadow.difference,
            }
            for shadow in grading.shadows
        ],
        "preferences": preferences_document(grading.preferred),
        "calibration": _calibration(report),
        "cost_usd": grading.cost_usd,
        "measures": {
            "overall": _with_confidence(report),
            "slices": {name: _means(part) for name, part in report.slices.items()},
        },
        "answerless": {
            "rows": report.answerless.rows,
            "empty": report.answerless.empty,
            "non_empty": report.answerless.non_empty,
            "failed": report.answerless.failed,
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


def _calibration(report: Report) -> Json | None:
    """Return what held-out labels say of the judge, as `judge calibrate --json` does."""
    if not report.held_out:
        return None
    # Only these few reports need numpy.
    from judge.report.calibration import calibration_document
    from judge.report.held_out import calibration_of

    return calibration_document(calibration_of(report))


def row_line(row: RowReport) -> str:
    """Return one row of the report; a slot outside the pool has the whole scale as interval."""
    query = row.query
    head: dict[str, Any] = {
        "query_id": query.key,
        "query": query.text,
        "slice": query.slice,
        "measures": {str(measure): _bounded(b) for measure, b in row.scores.items()},
        "weight": query.weight,
    }
    if query.golden is not None:
        head["expected"] = query.golden.expected
        head["match"] = query.golden.match
        head["complete"] = query.golden.complete
    own = query.rows[0]
    if own is not None and own.error is not None:
        head["error"] = own.error
    return f'{_dump(head)[:-1]}, "results": [{", ".join(_results(row))}]}}'


# A report of a million slots holds few distinct judgments. Lines are put together from
# encoded parts: a dict and a pass of the encoder for each would take most of the time.
def _results(row: RowReport) -> Iterator[str]:
    own, ranking = row.query.rows[0], row.pool.rankings[0]
    for rank, result in enumerate(own.results if own else (), 1):
        member = ranking[rank - 1]
        judgment = None if member is None else row.pool.judgments[member]
        document = "null" if result.document_id is None else _dump(result.document_id)
        yield (
            f'{{"id": {_dump(result.id)}, "document_id": {document}, "rank": {rank},'
            f" {_judged(judgment, row.pool.grade_max)}}}"
        )


def pool_lines(row: RowReport) -> Iterator[str]:
    """Yield one JSON object a pool member of a row: what judgments.jsonl and `pool` hold."""
    pool, query_id = row.pool, _dump(row.query.key)
    for id, judgment in zip(pool.ids, pool.judgments, strict=True):
        document = pool.documents.get(id)
        yield (
            f'{{"query_id": {query_id}, "id": {_dump(id)},'
            f' "document_id": {"null" if document is None else _dump(document)},'
            f' {_judged(judgment, pool.grade_max)}, "reason": {_reason(judgment.reason)}}}'
        )


@lru_cache(maxsize=1024)
def _judged(judgment: Judgment | None, grade_max: int) -> str:
    """Return a judgment's members, without braces; None is a slot outside the pool."""
    known = judgment or Judgment(0, grade_max)
    source = None if known.source is None else str(known.source)
    members = {"grade": known.grade, "lo": known.lo, "hi": known.hi, "source": source}
    return _dump(members)[1:-1]


_reason = lru_cache(maxsize=1024)(lambda reason: _dump(reason))


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


def _bounded(bounded: Bounded) -> Json:
    return {"value": bounded.value, "lo": bounded.lo, "hi": bounded.hi}


def _write_list(name: str, lines: Iterable[str], stream: TextIO) -> None:
    stream.write(f"{_dump(name)}: [")
    separator = "\n"
    for line in lines:
        stream.write(separator + line)
        separator = ",\n"
    stream.write("]" if separator == "\n" else "\n]")
