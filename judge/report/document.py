"""report.json: what other programs may rely on; written one row a line, so that it diffs."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TextIO

from judge.measures.names import Measure
from judge.report.conflicts import conflict_documents
from judge.report.lines import ReportLines, dump
from judge.report.model import Report, Span
from judge.report.preferences import preferences_document, trust_document, without_log
from judge.scoring import Mean
from judge.statistics.plus_two import METHOD

SCHEMA = 1

Json = Mapping[str, Any]


def write_report(report: Report, stream: TextIO, *, judgments: TextIO | None = None) -> None:
    """Write a report as JSON: small parts first, then a line a row and a line a pool member.

    judgments: takes the lines of pool members as well, as `--judgments` reads them
    """
    stream.write("{\n")
    for name, part in _head(report).items():
        stream.write(f"{dump(name)}: {dump(part)},\n")
    lines = ReportLines()
    _write_list("rows", map(lines.row, report.rows), stream)
    stream.write(",\n")
    _write_list("pool", _pools(report, lines, judgments), stream)
    stream.write(",\n")
    _write_list("conflicts", map(dump, conflict_documents(report.conflicts)), stream)
    stream.write(f',\n"timing": {dump(report.timing)}\n}}\n')


def _pools(report: Report, lines: ReportLines, judgments: TextIO | None) -> Iterator[str]:
    """Yield the lines of each row's pool in one piece: a write each takes longer than to make."""
    for row in report.rows:
        if members := lines.pool(row):
            if judgments is not None:
                judgments.write("\n".join(members) + "\n")
            yield ",\n".join(members)


def report_document(report: Report) -> dict[str, Any]:
    """Return what `write_report` writes, as dicts and lists."""
    stream = io.StringIO()
    write_report(report, stream)
    document: dict[str, Any] = json.loads(stream.getvalue())
    return document


def _head(report: Report) -> dict[str, Any]:
    grading, coverage, calls = report.grading, report.coverage, report.grading.calls
    overall_by_log = report.by_log.overall if report.by_log else {}
    slices_by_log = report.by_log.slices if report.by_log else {}
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
            "unanswered": calls.unanswered,
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
        "read_log": None if grading.log is None else trust_document(grading.log.trust),
        "calibration": _calibration(report),
        "cost_usd": grading.cost_usd,
        "ci95_method": METHOD,
        "measures": {
            "overall": _with_confidence(report.overall, report.confidence, overall_by_log),
            "slices": {
                name: _with_confidence(
                    means, report.slice_confidence[name], slices_by_log.get(name, {})
                )
                for name, means in report.slices.items()
            },
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


def _with_confidence(
    means: Mapping[Measure, Mean],
    spans: Mapping[Measure, Span],
    by_log: Mapping[Measure, Mean],
) -> Json:
    """Return means as JSON: lo and hi are those with the log where it narrows them."""
    found = {}
    for measure, bare in means.items():
        mean = by_log.get(measure, bare)
        found[str(measure)] = {
            "value": mean.value,
            "lo": mean.lo,
            "hi": mean.hi,
            "n": mean.n,
            "ci95": list(spans[measure]) if measure in spans else None,
            **({} if mean is bare else without_log(bare)),
        }
    return found


def _write_list(name: str, lines: Iterable[str], stream: TextIO) -> None:
    stream.write(f"{dump(name)}: [")
    separator = "\n"
    for line in lines:
        stream.write(separator + line)
        separator = ",\n"
    stream.write("]" if separator == "\n" else "\n]")
