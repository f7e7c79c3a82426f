"""A comparison as JSON: fields are added, never changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge.comparing.change import Change
from judge.comparing.comparison import Comparison, RowChange
from judge.comparing.moving import moved_chunks
from judge.measures.names import Measure
from judge.report.by_log import both_readings
from judge.report.comparison_wording import headline, outcome
from judge.report.conflicts import conflict_documents
from judge.report.differences import METHOD
from judge.report.preferences import trust_document
from judge.scoring import Mean
from judge.statistics.correction import Correction

SCHEMA = 1


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Return what `judge compare --json` prints."""
    grading, finding = comparison.grading, comparison.finding
    # A run that did not run has no numbers either: an empty list is not a bad ranking.
    ran = not grading.did_not_run
    measures, by_log = _measures(comparison), comparison.by_log
    if by_log is not None:
        measures = both_readings(measures, _measures(by_log))
    return {
        "schema": SCHEMA,
        "baseline": grading.runs[0].name,
        "candidate": grading.runs[1].name,
        "verdict": str(comparison.verdict),
        "sentence": headline(comparison),
        "outcome": outcome(comparison),
        "settings": {
            "measures": [str(measure) for measure in grading.settings.measures],
            "gain": grading.settings.gain,
            "grade_max": grading.settings.grade_max,
            "unit": grading.unit,
            "backend": grading.backend,
            "prompt": grading.prompt,
            "until": comparison.until,
        },
        "finding": None
        if finding is None
        else {
            "sign": finding.sign,
            "confidence": finding.confidence,
            "rows_drawn": finding.drawn,
            "rows_open": finding.of,
        },
        "corrected": None if comparison.corrected is None else _corrected(comparison.corrected),
        "identical_rows": comparison.identical,
        "open_chunks": comparison.open_chunks[0],
        "unjudged": {"baseline": comparison.unjudged[0], "candidate": comparison.unjudged[1]},
        "calls": {
            "made": grading.calls.made,
            "cached": grading.calls.cached,
            "unanswered": grading.calls.unanswered,
        },
        "cost_usd": grading.cost_usd,
        "measures": measures if ran else {"overall": {}, "slices": {}},
        "read_log": None if grading.log is None else trust_document(grading.log.trust),
        "verdict_by_log": None if by_log is None else str(by_log.verdict),
        "conflicts": conflict_documents(grading.conflicts),
        "rows": _rows(comparison) if ran else [],
        "notices": [{"kind": n.kind, "count": n.count, "text": n.text} for n in grading.notices],
    }


def _measures(comparison: Comparison) -> dict[str, Any]:
    return {
        "overall": _changes(comparison.overall),
        "slices": {name: _changes(of) for name, of in comparison.slices.items()},
    }


def _rows(comparison: Comparison) -> list[dict[str, Any]]:
    rows = [_row(comparison, row) for row in comparison.rows]
    if comparison.by_log is None:
        return rows
    by_log = [_row(comparison.by_log, row) for row in comparison.by_log.rows]
    return [both_readings(*both) for both in zip(rows, by_log, strict=True)]


def _changes(of: Mapping[Measure, Change]) -> dict[str, Any]:
    return {str(measure): change_document(change) for measure, change in of.items()}


def change_document(change: Change) -> dict[str, Any]:
    """Return one mean difference with its bounds, its test and what it could show."""
    return {
        "rows": change.rows,
        "difference": _mean(change.difference),
        "before": _mean(change.before),
        "after": _mean(change.after),
        "ci95": None if change.interval is None else list(change.interval),
        "ci95_method": None if change.interval is None else METHOD,
        # Of the sign-flip test: the largest that any completion of open grades has.
        "p": change.flip.p,
        "p_sign_flip": change.flip.p,
        "p_holm": change.p_holm,
        "exploratory": change.is_exploratory,
        "looks": change.looks,
        "effect_size": change.effect_size,
        "detectable": change.detectable,
        "verdict": str(change.verdict),
    }


def _corrected(correction: Correction) -> dict[str, Any]:
    return {
        "method": correction.method,
        **correction.estimate.as_json(),
        "judge": correction.judge_mean,
        "judge_weight": correction.judge_weight,
        "human_only": correction.human_only.as_json(),
        "labelled_rows": correction.labelled,
        "rows": correction.units,
        "notes": list(correction.notes),
    }


def _mean(mean: Mean) -> dict[str, float]:
    return {"value": mean.value, "lo": mean.lo, "hi": mean.hi}


def _row(comparison: Comparison, row: RowChange) -> dict[str, Any]:
    depth = comparison.grading.settings.reach
    return {
        "query_id": row.pool.query.key,
        "query": row.pool.query.text,
        "slice": row.pool.query.slice,
        "weight": row.pool.query.weight,
        "differences": {
            str(measure): {"value": found.value, "lo": found.lo, "hi": found.hi}
            for measure, found in row.differences.items()
        },
        "moved": [
            {"id": c.id, "before": c.before, "after": c.after, "lo": c.lo, "hi": c.hi}
            for c in moved_chunks(row, depth=depth, count=20)
        ],
    }
