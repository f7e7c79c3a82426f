"""A comparison as text: the sentence first, then the table, the rows, the doubts."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence

from judge.comparing.comparison import Change, Comparison, RowChange, Verdict, moved_chunks
from judge.comparing.lacking import has_failed, lacking
from judge.grades import Source
from judge.measures.names import Measure
from judge.report.phrases import MOCK, cost_words, number, plural
from judge.report.terminal import WIDTH, clean, shorten
from judge.scoring import Mean
from judge.statistics.estimate import Estimate
from judge.statistics.significance import ALPHA

OVERALL = "overall"
_NAME_WIDTH = 14
_ROWS_SHOWN = 5
_BY_MOCK = "word overlap"


def signed(value: float) -> str:
    """Return a difference to three decimals with its sign; 0 has none."""
    return f"{value:+.3f}" if round(value, 3) else "0.000"


def span(lo: float, hi: float) -> str:
    """Return an interval of differences."""
    return f"{signed(lo)}..{signed(hi)}"


def p_text(p: float, digits: int) -> str:
    """Return a p value, never as 0.

    >>> p_text(0.0123, 3), p_text(0.00001, 3)
    ('p = 0.012', 'p < 0.001')
    """
    least = 10.0**-digits
    return f"p < {least:.{digits}f}" if p < least else f"p = {p:.{digits}f}"


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
        yield from _slices_that_differ(slices)
        yield ""
    for paragraph in (*significance_lines(comparison), *correction_lines(comparison)):
        yield from wrapped(paragraph)
    yield from _rows(comparison, wins=True)
    yield from _rows(comparison, wins=False)
    yield ""
    for paragraph in doubts(comparison):
        yield from wrapped(paragraph)
    yield from wrapped(outcome(comparison))


def wrapped(paragraph: str) -> list[str]:
    """Return a paragraph as lines of 80 columns, no word broken."""
    return textwrap.wrap(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)


def headline(comparison: Comparison) -> str:
    """Return the one sentence a manager reads."""
    names = [clean(run.name) for run in comparison.grading.runs]
    if comparison.grading.did_not_run:
        empty = " and ".join(clean(name) for name in comparison.grading.did_not_run)
        return f"{empty} did not run: every one of its lists is empty. There is no verdict."
    if comparison.primary is None:
        return "Nothing could be compared: no row has what the measures asked for need."
    change = comparison.overall[comparison.primary]
    sentence = _SENTENCES[comparison.verdict](comparison, change, names[0], names[1])
    return f"{sentence}{_by_mock(comparison)}"


def _better(comparison: Comparison, change: Change, before: str, after: str) -> str:
    return f"{after} is better than {before}: {_moves(comparison, change)}."


def _worse(comparison: Comparison, change: Change, before: str, after: str) -> str:
    return f"{after} is worse than {before}: {_moves(comparison, change)}."


def _no_difference(comparison: Comparison, change: Change, before: str, after: str) -> str:
    over = "on this one row" if change.rows == 1 else f"on these {plural(change.rows, 'row')}"
    if change.sign == 0:
        return f"No difference: {comparison.primary} of {after} and {before} is equal {over}."
    lo, hi = change.difference.lo, change.difference.hi
    stands = {
        1: f"{after} is {'ahead of' if lo > 0.0 else 'at least as good as'} {before}",
        -1: f"{after} is {'behind' if hi < 0.0 else 'at most as good as'} {before}",
    }[change.sign or 1]
    return (
        f"No difference shown: {stands} {over} ({_moves(comparison, change)}),"
        " but other queries could say otherwise."
    )


def _undecided(comparison: Comparison, change: Change, before: str, after: str) -> str:
    lo, hi = change.difference.lo, change.difference.hi
    could = f"{comparison.primary} could move {span(lo, hi)}"
    if comparison.finding is not None:
        found = comparison.finding
        stands = "ahead of" if found.sign > 0 else "behind"
        return (
            f"{after} is {stands} {before} on these {plural(change.rows, 'row')} with"
            f" {found.confidence:.0%} confidence, not certainty: judging stopped early"
            f" ({found.drawn} of {found.of} open rows drawn at random; {could})."
        )
    waiting, asks = comparison.open_chunks
    same = comparison.identical
    start = (
        f"{same} of {change.rows} lists are identical; in the other {change.rows - same}, "
        if same
        else ""
    )
    failed = sum(map(has_failed, comparison.open_pools))
    if failed:
        chunks = f"{plural(waiting, 'chunk')} without a grade and " if waiting else ""
        what = f"{chunks}{plural(failed, 'row')} that failed to run"
        return f"Undecided: {start}{what}: {could}; judging alone cannot settle it."
    price = comparison.price
    about = f", about ${max(price.usd, 0.01):.2f} with {price.model}" if price else ""
    settles = f"judging at most {asks:,} of them settles it{about}"
    how = settles if asks == waiting else f"{asks:,} of them have a text to judge{about}"
    are = "chunk has" if waiting == 1 else "chunks have"
    return f"Undecided: {start}{waiting:,} {are} no grade: {could}; {how}."


_SENTENCES = {
    Verdict.BETTER: _better,
    Verdict.WORSE: _worse,
    Verdict.NO_DIFFERENCE: _no_difference,
    Verdict.UNDECIDED: _undecided,
}


def _moves(comparison: Comparison, change: Change) -> str:
    ci = "" if change.ci is None else f", 95% CI {span(*change.ci)}"
    return f"{comparison.primary} {difference(change)}{ci}"


def _mark(comparison: Comparison) -> str:
    """Return what follows every figure of the primary measure that the mock had a part in."""
    primary = comparison.primary
    graded = primary is not None and primary.family == "graded"
    return f" ({_BY_MOCK})" if graded and comparison.grading.by_mock else ""


def _by_mock(comparison: Comparison) -> str:
    return f" (Graded by the mock: {MOCK}.)" if comparison.grading.by_mock else ""


def change_table(
    title: str,
    slices: Mapping[str, Change],
    overall: Change,
    *,
    marked: Collection[str] = (),
    by_mock: bool = False,
) -> Iterator[str]:
    """Yield a table of one measure: a line a slice, `!` before the marked ones, one overall.

    by_mock: every line says so; two tables then, since one would be too wide.
    """
    cells = [[title, "rows", "before", "after", "difference", "95% CI"]]
    for name, change in slices.items():
        mark = "! " if name in marked else ""
        cells.append([shorten(f"{mark}{name}", _NAME_WIDTH), *change_cells(change)])
    cells.append([OVERALL, *change_cells(overall)])
    if not by_mock:
        yield from aligned(cells)
        return
    graded = ["graded by", *[_BY_MOCK] * (len(cells) - 1)]
    yield from aligned([[*row[:4], by] for row, by in zip(cells, graded, strict=True)])
    yield ""
    yield from aligned([[row[0], *row[4:], by] for row, by in zip(cells, graded, strict=True)])


def change_cells(change: Change) -> list[str]:
    """Return rows, both means, their difference and its interval over queries."""
    return [
        str(change.rows),
        mean_text(change.before),
        mean_text(change.after),
        difference(change),
        "-" if change.ci is None else span(*change.ci),
    ]


def mean_text(mean: Mean) -> str:
    """Return a mean, as `lo..hi` where grades are open."""
    return f"{number(mean.lo)}..{number(mean.hi)}" if mean.is_open else number(mean.value)


def difference(change: Change) -> str:
    """Return the mean difference: the interval where grades are open, else the value."""
    if change.difference.is_open:
        return span(change.difference.lo, change.difference.hi)
    return signed(change.difference.value)


def _slices_that_differ(slices: Mapping[str, Change]) -> Iterator[str]:
    """Yield the slices whose difference stands after Holm, in every completion."""
    for name, change in slices.items():
        p = change.p_holm
        if p is not None and p <= ALPHA and change.verdict in (Verdict.BETTER, Verdict.WORSE):
            yield f"{shorten(name, 38)} is {change.verdict} ({p_text(p, 3)}, Holm over slices)."


def aligned(cells: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows of cells in columns, the first one to the left, the others to the right."""
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    for row in cells:
        first, *rest = row
        padded = [f"{cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join([f"{first:<{widths[0]}}", *padded]).rstrip()


def significance_lines(comparison: Comparison) -> Iterator[str]:
    """Yield what the tests over queries say of the primary measure."""
    assert comparison.primary is not None, "a verdict needs a measure"
    change = comparison.overall[comparison.primary]
    test, flip = change.test, change.flip
    if test.p is None:
        yield "One row says nothing about other queries: no interval, no test."
        return
    at = " at the lowest grades still possible" if change.difference.is_open else ""
    how = "exact" if flip.exact else "sampled"
    effect = "" if test.effect_size is None else f", effect size {test.effect_size:+.2f}"
    yield (
        f"{comparison.primary}{_mark(comparison)}{at}: paired t test {p_text(test.p, 4)},"
        f" {how} sign-flip test {p_text(flip.p, 4)}{effect}."
    )
    if flip.smallest > 0.05:
        moved = f"{plural(change.rows, 'row')} with so few differences"
        yield f"{moved} cannot reach p = .05: the smallest possible is {flip.smallest:.3f}."
    if change.verdict not in (Verdict.BETTER, Verdict.WORSE) and test.detectable:
        yield (
            f"So many rows would show a true change of {number(test.detectable)} in 4 of 5"
            " cases; a smaller one may be there and not show."
        )


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
        f"Corrected by people's labels of {found.labelled} of {plural(found.units, 'row')}:"
        f" {comparison.primary} {_estimated(found.estimate)};"
        f" {who} says {signed(found.judge_mean)},"
        f" those labels alone {_estimated(found.human_only)}."
    )


def _estimated(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"nothing ({estimate.reason})"
    if estimate.lo is None or estimate.hi is None:
        return f"{signed(estimate.value)} ({estimate.reason})"
    return f"{signed(estimate.value)}, 95% CI {span(estimate.lo, estimate.hi)}"


def _rows(comparison: Comparison, *, wins: bool) -> Iterator[str]:
    rows = comparison.largest(wins=wins, count=_ROWS_SHOWN)
    if not rows or comparison.primary is None:
        return
    yield ""
    yield f"Biggest {'wins' if wins else 'losses'} by {comparison.primary}:"
    for row in rows:
        yield from _row(row, comparison.primary, _mark(comparison))


def _row(row: RowChange, measure: Measure, mark: str) -> Iterator[str]:
    found, query = row.differences[measure], row.pool.query
    name = query.key if not query.text or query.text == query.key else f"{query.key}: {query.text}"
    value = span(found.lo, found.hi) if found.is_open else signed(found.value)
    start = f"  {value}{mark}  "
    yield start + shorten(name, WIDTH - len(start))
    for chunk in moved_chunks(row, depth=measure.k or 10):
        grade = str(chunk.lo) if chunk.lo == chunk.hi else f"{chunk.lo}..{chunk.hi}"
        grade += f", {_BY_MOCK}" if chunk.by_mock else ""
        yield (
            f"      {shorten(chunk.id, 40)} (grade {grade}):"
            f" {_rank(chunk.before, chunk.below)} -> {_rank(chunk.after, chunk.below)}"
        )


def _rank(rank: int | None, below: int | None) -> str:
    if rank is not None:
        return f"rank {rank}"
    return "not shown" if below is None else f"rank {below}, too low to count"


def doubts(comparison: Comparison) -> Iterator[str]:
    """Yield what a careful reader would want to know before believing the verdict."""
    before, after = comparison.unjudged
    if before or after:
        yield (
            f"Without a grade: {before:.0%} of the baseline's slots,"
            f" {after:.0%} of the candidate's."
        )
    loose = sum(not row.differences[m].exact for m, row in comparison.primary_rows)
    if loose:
        yield (
            f"The bounds of {plural(loose, 'row')} are sound but not the tightest: too many open"
            " chunks under orders for exact ones."
        )
    for source, (was, now) in comparison.source_gaps.items():
        if source is not None:
            yield (
                f"warning: {_SOURCES[source]} grade {was:.0%} of the baseline's slots and {now:.0%}"
                " of the candidate's: part of the difference may be the graders'."
            )
    names = [run.name for run in comparison.grading.runs]
    for text in lacking((row.pool for row in comparison.rows), names):
        yield f"note: {clean(text)}."
    for notice in comparison.grading.notices:
        if notice.kind != "ignored field":
            yield f"note: {clean(notice.text)}"
    calls = comparison.grading.calls
    if calls.made or calls.cached:
        yield (
            f"Judged until {comparison.until}: {plural(calls.made, 'call')},"
            f" {calls.cached:,} from the cache; {cost_words(comparison.grading)}."
        )


_SOURCES = {
    Source.GOLDEN: "goldens",
    Source.HUMAN: "people's labels",
    Source.PRIOR: "grades from files",
    Source.RULE: "rules",
    Source.PREFERENCE: "read logs",
    Source.JUDGE: "the judge's replies",
}


def outcome(comparison: Comparison) -> str:
    """Return the last line: the verdict with its numbers."""
    verdict = comparison.verdict
    if comparison.primary is None or verdict is Verdict.DID_NOT_RUN:
        return "NO VERDICT"
    change = comparison.overall[comparison.primary]
    label = str(verdict).upper()
    if comparison.finding is not None and verdict is Verdict.UNDECIDED:
        label = f"{'AHEAD' if comparison.finding.sign > 0 else 'BEHIND'} ({comparison.until})"
    return (
        f"{label} {_moves(comparison, change)} over {plural(change.rows, 'row')},"
        f" given this pool of judged chunks{_mark(comparison)}"
    )
