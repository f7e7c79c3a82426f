"""The judge of a report beside the labels that were kept out of its settling."""

from __future__ import annotations

from dataclasses import replace

from judge.calibration.files import CalibrationReport
from judge.calibration.trust import CalibrationSettings, compare_with_labels
from judge.report.model import Report


def calibration_of(report: Report) -> CalibrationReport:
    """Compare the verdicts of a report with its held-out labels, which name rows by id or text."""
    queries = [row.query for row in report.rows]
    key_of = {
        name: query.key
        for query in queries
        for name in (query.text, query.key, query.query_id)
        if name is not None
    }
    verdicts = [v for v in report.grading.verdicts if v.status == "graded" and v.grade is not None]
    labels = [
        replace(label, query_id=key_of.get(label.query_id, label.query_id))
        for label in report.held_out
    ]
    return CalibrationReport(
        compare_with_labels(
            {(v.query_id, v.id): v.grade for v in verdicts if v.grade is not None},
            labels,
            slices={query.key: query.slice for query in queries if query.slice is not None},
            votes={
                (v.query_id, v.id): {b.model: b.grade for b in v.votes if b.grade is not None}
                for v in verdicts
                if v.votes
            },
            settings=CalibrationSettings(grade_max=report.grading.settings.grade_max),
        ),
        models=tuple(dict.fromkeys(v.model for v in verdicts)),
    )
