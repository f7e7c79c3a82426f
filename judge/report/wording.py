"""The sentences of a report, shared by the terminal and Markdown: plain words first."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nsmallest

from judge.measures.names import Measure
from judge.report.conflicts import conflict_line
from judge.report.estimates import INTERVAL_METHOD, in_cell, in_words, span_cell
from judge.report.model import Report, RowReport
from judge.report.phrases import (
    MOCK,
    SAID_FIRST,
    capitalised,
    cost_words,
    number,
    plural,
    said_first,
)
from judge.report.preferences import preference_lines
from judge.scoring import Mean

WORST_ROWS = 5


def summary_columns(report: Report) -> dict[str, list[str]]:
    """Return the table of means by title: a cell a slice, then one overall, as `summary_names`.

    The leading measure's 95% interval follows it where there are slices to have one. A mean over
    fewer rows than its line says how many.
    """
    columns: dict[str, list[str]] = {}
    for measure in report.overall:
        columns[str(measure)] = [
            _mean_cell(means.get(measure), rows=rows_of(means)) for _, means in summary_rows(report)
        ]
        if measure == report.primary and report.slices:
            columns[f"{measure} 95% CI"] = [
                span_cell(spans.get(measure))
                for spans in (*report.slice_confidence.values(), report.confidence)
            ]
    return columns


def summary_rows(report: Report) -> list[tuple[str | None, Mapping[Measure, Mean]]]:
    """Return the means of each slice by its name, then those overall, which have none."""
    return [*report.slices.items(), (None, report.overall)]


def rows_of(means: Mapping[Measure, Mean]) -> int:
    """Return how many rows a line of the table is about."""
    return max((mean.n for mean in means.values()), default=0)


def _mean_cell(mean: Mean | None, *, rows: int) -> str:
    over = f" (n={mean.n:,})" if mean is not None and mean.n != rows else ""
    return in_cell(mean) + over


def headline(report: Report) -> str:
    """Return the one sentence a manager reads."""
    if not report.ran:
        return (
            f"{report.run.name} did not run: every one of its lists is empty. Nothing is measured."
        )
    primary = report.primary
    if primary is None:
        return "Nothing could be measured: no row has what the measures asked for need."
    mean = report.overall[primary]
    why = f": {' and '.join(_unknowns(report))}" if mean.is_open else ""
    # Rows that the run never asked pull every mean down: no reader should find out late.
    first = said_first(report.grading.notices)
    return (
        f"{report.run.name}: {primary} is {in_words(mean)} over {plural(mean.n, 'row')}"
        f"{_mock(report, primary)}{why}.{first}"
    )


def _unknowns(report: Report) -> list[str]:
    """Return what leaves an interval open: chunks without a grade, rows that failed."""
    found = []
    if report.coverage.open:
        are = "is" if report.coverage.open == 1 else "are"
        missing = plural(report.coverage.open, "chunk")
        found.append(f"{missing} of {report.coverage.slots:,} {are} without a grade")
    if report.failed_rows:
        found.append(f"{plural(len(report.failed_rows), 'row')} failed to run")
    return found


def _mock(report: Report, measure: Measure) -> str:
    return f" ({MOCK})" if report.by_mock and measure.family == "graded" else ""


def facts(report: Report) -> list[str]:
    """Return all lines between the table and the worst rows."""
    ours = [
        confidence_line(report),
        by_log_line(report),
        *coverage_lines(report),
        *pool_lines(report),
        calls_line(report),
        saved_line(report),
        *shadow_lines(report),
        *judged_preferences(report),
        held_out_line(report),
        short_lists(report),
        *trouble_lines(report),
    ]
    return [line for line in ours if line]


def held_out_line(report: Report) -> str | None:
    """Return what labels that were kept out of settling say of the judge, if there are any."""
    if not report.held_out:
        return None
    # Only these few reports need numpy.
    from judge.report.calibration import headline
    from judge.report.held_out import calibration_of

    kept = plural(len(report.held_out), "label")
    return f"{kept} kept out of settling: {headline(calibration_of(report))}"


def confidence_line(report: Report) -> str | None:
    """Return what other queries would change of the leading measure, or None for one row."""
    primary = report.primary
    if primary is None or not report.ran:
        return None
    interval = report.confidence.get(primary)
    if interval is None:
        return f"One row says nothing about other queries: no 95% CI of {primary}"
    low, high = map(number, interval)
    mean = report.overall[primary]
    whatever = ", whatever the open grades are" if mean.is_open else ""
    span = f"95% CI of {primary} over queries like these{whatever}: {low} to {high}"
    span += f" ({INTERVAL_METHOD}"
    if report.by_mock and primary.family == "graded":
        span += f"; {MOCK}"
    return span + ")"


def by_log_line(report: Report) -> str | None:
    """Return the narrower means of a trusted read log, with the condition; None without any."""
    found = report.by_log
    if found is None:
        return None
    lines = [("overall", found.overall), *found.slices.items()]
    told = "; ".join(
        f"{name} " + ", ".join(f"{measure} {in_words(mean)}" for measure, mean in means.items())
        for name, means in lines
    )
    return f"{capitalised(found.condition)}: {told}" + _mock(report, next(iter(found.overall)))


def coverage_lines(report: Report) -> list[str]:
    """Return how much of the top K is graded and by whom, and why the rest is open."""
    coverage, depth = report.coverage, report.grading.settings.depth
    lines = []
    if coverage.slots:
        share = f"{coverage.graded:,} of {coverage.slots:,} slots graded"
        by = ", ".join(f"{_source(report, s)} {n:,}" for s, n in coverage.by_source.items())
        top = "whole lists" if depth is None else f"top {depth}"
        lines.append(f"Coverage ({top}): {share}" + (f" ({by})" if by else ""))
    if coverage.open:
        why = ", ".join(f"{reason} {n:,}" for reason, n in coverage.open_by_reason.items())
        lines.append(f"Open: {why}")
    return lines


def _source(report: Report, source: str) -> str:
    return f"mock judge ({MOCK})" if source == "judge" and report.by_mock else source


def pool_lines(report: Report) -> list[str]:
    """Return which pool the numbers are given, and what that leaves out."""
    if not any(measure.family == "graded" for measure in report.overall):
        return []
    graded = plural(report.n_graded, f"graded {report.grading.unit}")
    return [
        f"Pool: {graded} of this one run, its goldens and"
        " known grades. Graded measures show the order inside its lists, not what it failed to"
        " find; compare runs with `judge compare`."
    ]


def trouble_lines(report: Report) -> list[str]:
    """Return rows that failed or are empty, conflicts, misses, and what reading noticed."""
    lines = []
    if report.failed_rows:
        lines.append(f"Failed to run: {_named(report.failed_rows)}; each could be anything, 0 to 1")
    if report.empty_rows and report.ran:
        lines.append(f"Empty lists, each counted as 0: {_named(report.empty_rows)}")
    if report.answerless.rows:
        lines.append(
            f"Questions without an answer: {report.answerless.rows}, in no mean; their lists:"
            f" {report.answerless.empty} empty, {report.answerless.non_empty} not"
            + (f", {report.answerless.failed} failed" if report.answerless.failed else "")
        )
    missing = [miss for miss in report.misses if miss.rank is None]
    misranked = [miss for miss in report.misses if miss.rank is not None]
    reach = report.grading.settings.reach
    if missing and report.ran:
        lines.append("Missing answers: " + _named([f"{m.id} ({m.query_id})" for m in missing]))
    if misranked:
        named = [f"{miss.id} at {miss.rank} ({miss.query_id})" for miss in misranked]
        lines.append(f"Misranked answers, below {reach}: {_named(named)}")
    conflicts = conflict_line(report.conflicts)
    lines += [conflicts] if conflicts else []
    lines += [f"Note: {n.text}" for n in report.grading.notices if n.kind not in SAID_FIRST]
    return lines


def _named(names: list[str] | tuple[str, ...], *, shown: int = 3) -> str:
    more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
    return f"{len(names):,}: " + ", ".join(names[:shown]) + more


def short_lists(report: Report) -> str | None:
    """Return how many lists are shorter than the deepest cutoff, or None if none is."""
    reach = report.grading.settings.reach
    own = [row.query.rows[0] for row in report.rows]
    short = sum(0 < len(row.results) < reach for row in own if row is not None)
    return f"{plural(short, 'list')} shorter than {reach}" if short else None


def worst_rows(report: Report) -> list[RowReport]:
    """Return up to five rows that are certainly the worst by the leading measure."""
    primary = report.primary
    if primary is None or not report.ran:
        return []
    worse = [
        (score.hi, score.value, at)
        for at, row in enumerate(report.rows)
        if (score := row.scores.get(primary)) is not None and score.hi < 1.0
    ]
    return [report.rows[at] for _, _, at in nsmallest(WORST_ROWS, worse)]


def calls_line(report: Report) -> str | None:
    """Return what the judge was asked and what that cost, or None without a judge."""
    grading = report.grading
    if grading.backend is None:
        return None
    calls = grading.calls
    counts = f"{plural(calls.made, 'call')}, {calls.cached:,} from the cache"
    if calls.retried:
        counts += f", {calls.retried:,} retried"
    if calls.failed:
        counts += f", {calls.failed:,} failed"
    if calls.not_asked:
        counts += f", {calls.not_asked:,} not asked"
    return f"Judge {grading.backend}: {counts}; {cost_words(grading)}"


def saved_line(report: Report) -> str | None:
    """Return how many calls each source of known evidence made unnecessary, or None."""
    saved = {name: n for name, n in report.grading.calls_saved.items() if n}
    if not saved:
        return None
    return "Calls saved: " + ", ".join(f"{name} {n:,}" for name, n in saved.items())


def shadow_lines(report: Report) -> list[str]:
    """Return how what each source settled looks to the judge, which changed no grade."""
    lines = []
    for shadow in report.grading.shadows:
        found = f"the judge contradicts {shadow.contradicted:,} of {shadow.n:,}"
        if shadow.contradicted:
            found += f", {shadow.difference:+.2f} grades on average"
        mock = f" ({MOCK})" if report.by_mock else ""
        lines.append(f"Shadow of {shadow.source}: {found}{mock}")
    return lines


def judged_preferences(report: Report) -> list[str]:
    """Return how the judge and the run keep decided pairs; neither is an accuracy."""
    lines = preference_lines(report.grading.preferred)
    return [f"{line} ({MOCK})" if report.by_mock else line for line in lines]


def outcome(report: Report) -> str:
    """Return the last line: how it ended, with the means."""
    rows = rows_of(report.overall)
    values = ", ".join(
        f"{measure} {in_words(mean)}" + (f" ({plural(mean.n, 'row')})" if mean.n != rows else "")
        for measure, mean in report.overall.items()
    )
    if any(measure.family == "graded" for measure in report.overall) and report.by_mock:
        values += f" ({MOCK})"
    if not report.ran:
        return "DID NOT RUN: every list is empty, nothing was measured"
    if report.grading.stopped is not None:
        return f"STOPPED {values}: {report.grading.stopped}"
    if report.exit_code == 0:
        if report.by_log is None:
            return f"DONE {values}"
        right = {**report.overall, **report.by_log.overall}
        by_log = ", ".join(f"{measure} {in_words(mean)}" for measure, mean in right.items())
        return f"DONE {report.by_log.condition}: {by_log}; without it {values}"
    if not report.overall:
        return "NOTHING MEASURED: no row has what the measures asked for need"
    open_rows = sum(row.is_open for row in report.rows)
    open_chunks = f"{report.coverage.open:,} open in {plural(open_rows, 'row')}"
    failed = f"{plural(len(report.failed_rows), 'row')} failed"
    why = [open_chunks] * bool(report.coverage.open) + [failed] * bool(report.failed_rows)
    return f"INCOMPLETE {values}; {', '.join(why)}"
