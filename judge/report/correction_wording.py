"""What people's labels make of a comparison, in words: what they correct, and against whom."""

from __future__ import annotations

from collections.abc import Iterator

from judge.comparing.comparison import Comparison
from judge.report.differences import signed, span
from judge.report.phrases import plural
from judge.statistics.correction import Correction
from judge.statistics.estimate import Estimate


def with_labels(comparison: Comparison, sentence: str) -> str:
    """Return the headline with what labels say of it; as it is where they correct nothing."""
    found = comparison.corrected
    if found is None or found.estimate.value is None:
        return sentence
    grader = "the mock's grades" if comparison.grading.by_mock else "the judge's grades"
    return (
        f"By {grader}, {sentence} People's labels of {_rows(found)} correct that to"
        f" {_estimated(found.estimate)}: {_against_judge(found)}."
    )


def verdict_by_judge(comparison: Comparison, verdict: str) -> str:
    """Return the verdict in capitals, as the judge's alone where labels correct it."""
    found = comparison.corrected
    is_corrected = found is not None and found.estimate.value is not None
    return f"{verdict} BY THE JUDGE ALONE:" if is_corrected else verdict


def outcome_by_labels(comparison: Comparison) -> str:
    """Return what follows the verdict in the last line, "" where labels correct nothing."""
    found = comparison.corrected
    if found is None or found.estimate.value is None:
        return ""
    return f"; corrected by labels {_estimated(found.estimate)}: {_against_judge(found)}"


def correction_lines(comparison: Comparison) -> Iterator[str]:
    """Yield the difference by people's labels, or why they correct nothing."""
    found = comparison.corrected
    if found is None:
        return
    whole = "rows of which people graded every chunk that only the judge had graded"
    if found.estimate.value is None:
        yield (
            f"Not corrected by labels: {found.estimate.reason} ({whole})."
            " `judge spotcheck --rows N` draws such rows."
        )
        return
    who = "the mock, which is no judge," if comparison.grading.by_mock else "the judge alone"
    yield (
        f"Corrected by people's labels of {_rows(found)}:"
        f" {comparison.primary} {_estimated(found.estimate)};"
        f" {who} says {signed(found.judge_mean)},"
        f" those labels alone {_estimated(found.human_only)}."
    )
    for note in found.notes:
        yield f"note: {note}."


def _rows(found: Correction) -> str:
    return f"{found.labelled} of {plural(found.units, 'row')}"


def _against_judge(found: Correction) -> str:
    """Say whether labels bear the judge's sign out; a sign needs an interval that shows it."""
    estimate, judge = found.estimate, found.judge_mean
    if estimate.lo is None or estimate.hi is None:
        assert estimate.value is not None, "only a corrected value is set against the judge's"
        return "the other way round" if estimate.value * judge < 0.0 else "the same way"
    if estimate.lo <= 0.0 <= estimate.hi and not estimate.lo == estimate.hi == judge:
        return "no difference shown"
    return "the other way round" if estimate.lo * judge < 0.0 else "the same way"


def _estimated(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"nothing ({estimate.reason})"
    if estimate.lo is None or estimate.hi is None:
        return f"{signed(estimate.value)} ({estimate.reason})"
    return f"{signed(estimate.value)}, 95% CI {span(estimate.lo, estimate.hi)}"
