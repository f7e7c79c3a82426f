"""A comparison as one HTML file: what moved by slice, and in every row which chunks moved."""

from __future__ import annotations

from collections.abc import Iterable

from judge.comparing.change import Change, Verdict
from judge.comparing.comparison import BASELINE, CANDIDATE, Comparison, RowChange
from judge.report.comparison_wording import (
    doubts,
    headline,
    look_lines,
    outcome,
    significance_lines,
)
from judge.report.correction_wording import correction_lines
from judge.report.differences import INTERVAL, OVERALL, interval_text, p_text, signed, span
from judge.report.estimates import in_cell
from judge.report.html.charts import Axis, forest
from judge.report.html.elements import Markup, tag
from judge.report.html.rows import RowTable, ShownChunk, ShownRow
from judge.report.html.shell import shell
from judge.report.phrases import MOCK

_HEADS = ("slice", "rows", "before", "after", "difference", INTERVAL, "p", "verdict")


def render_comparison(comparison: Comparison) -> str:
    """Return the whole page; it loads nothing, and nothing from a file is markup in it."""
    names = [run.name for run in comparison.grading.runs]
    return shell(
        f"{names[CANDIDATE]} against {names[BASELINE]}",
        lead=headline(comparison),
        main=[] if comparison.verdict is Verdict.DID_NOT_RUN else list(_main(comparison)),
        rows=RowTable(
            measures=tuple(comparison.overall),
            slices=tuple(comparison.slices),
            rows=[_shown_row(row) for row in comparison.rows],
            by_mock=comparison.grading.by_mock,
            signed=True,
        ),
        outcome=outcome(comparison),
    )


def _main(comparison: Comparison) -> Iterable[Markup]:
    for measure, overall in comparison.overall.items():
        slices = {n: of[measure] for n, of in comparison.slices.items() if measure in of}
        lines = {**slices, OVERALL: overall}
        mock = comparison.grading.by_mock and measure.family == "graded"
        note = tag("small", f" {MOCK}") if mock else Markup("")
        yield tag("h2", str(measure), note)
        yield _table(lines)
        looks = [tag("li", line) for line in look_lines(slices, overall)]
        if looks:
            yield tag("ul", looks, class_="facts")
        if measure == comparison.primary:
            yield tag("div", _picture(lines), class_="wide")
    said = [*significance_lines(comparison), *correction_lines(comparison), *doubts(comparison)]
    yield tag("ul", [tag("li", line) for line in said], class_="facts")


def _table(lines: dict[str, Change]) -> Markup:
    heads = [tag("th", name, scope="col") for name in _HEADS]
    body = [
        tag("tr", tag("th", name, scope="row"), [tag("td", cell) for cell in _cells(change)])
        for name, change in lines.items()
    ]
    table = tag("table", tag("thead", tag("tr", heads)), tag("tbody", body), class_="summary")
    return tag("div", table, class_="wide", tabindex="0", role="region", aria_label="Differences")


def _cells(change: Change) -> list[str]:
    p = change.flip.p if change.p_holm is None else change.p_holm
    verdict = f"{change.verdict} (exploratory)" if _is_claim(change) else str(change.verdict)
    found = change.difference
    return [
        f"{change.rows:,}",
        in_cell(change.before),
        in_cell(change.after),
        span(found.lo, found.hi) if found.is_open else signed(found.value),
        interval_text(change),
        p_text(p, 3).removeprefix("p = ").removeprefix("p "),
        verdict,
    ]


def _is_claim(change: Change) -> bool:
    return change.is_exploratory and change.verdict in (Verdict.BETTER, Verdict.WORSE)


def _picture(lines: dict[str, Change]) -> Markup:
    spans = {name: of.interval for name, of in lines.items() if of.interval is not None}
    ends = [
        end for change in lines.values() for end in (change.difference.lo, change.difference.hi)
    ]
    axis = Axis.around_zero([*ends, *(end for ci in spans.values() for end in ci)])
    return forest({n: change.difference for n, change in lines.items()}, spans=spans, axis=axis)


def _shown_row(row: RowChange) -> ShownRow:
    """Return a row with its pool's chunks as the candidate shows them, then those it lost."""
    pool = row.pool
    ranks = [
        {member: rank for rank, member in enumerate(ranking, 1) if member is not None}
        for ranking in pool.rankings
    ]
    texts = {
        result.id: result.text
        for own in pool.query.rows
        if own is not None
        for result in own.results
    }
    shown = dict.fromkeys((*ranks[CANDIDATE], *ranks[BASELINE]))
    chunks = [
        ShownChunk(
            f"{_rank(ranks[BASELINE].get(member))} → {_rank(ranks[CANDIDATE].get(member))}:",
            pool.ids[member],
            pool.judgments[member],
            texts.get(pool.ids[member]),
        )
        for member in shown
    ]
    failed = [own.error for own in pool.query.rows if own is not None and own.error is not None]
    return ShownRow(pool, row.differences, chunks, failed[0] if failed else None)


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)
