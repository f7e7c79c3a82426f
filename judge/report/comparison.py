"""A comparison as text: the sentence first, then the table, the rows, the doubts."""

from __future__ import annotations

from collections.abc import Iterator

from judge.comparing.change import Verdict
from judge.comparing.comparison import Comparison, RowChange
from judge.comparing.moving import moved_chunks
from judge.measures.names import Measure
from judge.report.comparison_wording import (
    doubts,
    headline,
    look_lines,
    mark,
    outcome,
    significance_lines,
)
from judge.report.correction_wording import correction_lines
from judge.report.differences import BY_MOCK, change_table, signed, span, wrapped
from judge.report.terminal import WIDTH, shorten

_ROWS_SHOWN = 5


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """Yield the lines of the whole text, 80 columns wide, without ends."""
    yield from wrapped(headline(comparison))
    if comparison.verdict is Verdict.DID_NOT_RUN:
        yield outcome(comparison)
        return
    yield ""
    for measure, overall in comparison.overall.items():
        slices = {name: of[measure] for name, of in comparison.slices.items() if measure in of}
        by_mock = comparison.grading.by_mock and measure.family == "graded"
        yield from change_table(str(measure), slices, overall, by_mock=by_mock)
        for line in look_lines(slices, overall):
            yield from wrapped(line)
        yield ""
    for paragraph in (*significance_lines(comparison), *correction_lines(comparison)):
        yield from wrapped(paragraph)
    yield from _rows(comparison, wins=True)
    yield from _rows(comparison, wins=False)
    yield ""
    for paragraph in doubts(comparison):
        yield from wrapped(paragraph)
    yield from wrapped(outcome(comparison))


def _rows(comparison: Comparison, *, wins: bool) -> Iterator[str]:
    rows = comparison.largest(wins=wins, count=_ROWS_SHOWN)
    if not rows or comparison.primary is None:
        return
    yield ""
    yield f"Biggest {'wins' if wins else 'losses'} by {comparison.primary}:"
    for row in rows:
        yield from _row(row, comparison.primary, mark(comparison))


def _row(row: RowChange, measure: Measure, mark: str) -> Iterator[str]:
    found, query = row.differences[measure], row.pool.query
    name = query.key if not query.text or query.text == query.key else f"{query.key}: {query.text}"
    value = span(found.lo, found.hi) if found.is_open else signed(found.value)
    start = f"  {value}{mark}  "
    yield start + shorten(name, WIDTH - len(start))
    for chunk in moved_chunks(row, depth=measure.k or 10):
        grade = str(chunk.lo) if chunk.lo == chunk.hi else f"{chunk.lo}..{chunk.hi}"
        grade += f", {BY_MOCK}" if chunk.by_mock else ""
        yield (
            f"      {shorten(chunk.id, 40)} (grade {grade}):"
            f" {_rank(chunk.before, chunk.below)} -> {_rank(chunk.after, chunk.below)}"
        )


def _rank(rank: int | None, below: int | None) -> str:
    if rank is not None:
        return f"rank {rank}"
    return "not shown" if below is None else f"rank {below}, too low to count"
