"""report.html: the sentence, the tables and pictures, and every row with its chunks."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest

from judge.grades import Judgment
from judge.measures.names import Measure
from judge.report import wording
from judge.report.estimates import INTERVAL_METHOD
from judge.report.html.charts import bar, forest
from judge.report.html.elements import Markup, tag
from judge.report.html.rows import RowTable, ShownChunk, ShownRow
from judge.report.html.shell import shell
from judge.report.model import Report, RowReport
from judge.report.phrases import MOCK
from judge.report.terminal import OVERALL, slice_name
from judge.run import Result
from judge.scoring import Mean

ROWS_ON_PAGE = 5000
"""A browser opens this many at once; a page of more would be hundreds of megabytes."""


def render_html(report: Report) -> str:
    """Return the whole page; it loads nothing, and nothing from a file is markup in it."""
    return shell(
        report.run.name,
        lead=wording.headline(report),
        main=[*_summary(report), *_slices(report), *_calibration(report), *_rows_left(report)],
        rows=RowTable(
            measures=tuple(report.overall),
            slices=tuple(report.slices),
            rows=[_shown_row(row) for row in _rows_on_page(report)],
            by_mock=report.by_mock,
        ),
        outcome=wording.outcome(report),
    )


def _rows_on_page(report: Report) -> Iterable[RowReport]:
    """Return every row, or of a large report those with the lowest leading measure."""
    if len(report.rows) <= ROWS_ON_PAGE or report.primary is None:
        return report.rows[:ROWS_ON_PAGE]
    primary = report.primary
    scored = [
        (score.value, at)
        for at, row in enumerate(report.rows)
        if (score := row.scores.get(primary)) is not None
    ]
    return [report.rows[at] for _, at in nsmallest(ROWS_ON_PAGE, scored)]


def _rows_left(report: Report) -> Iterable[Markup]:
    if len(report.rows) > ROWS_ON_PAGE:
        shown = f"The {ROWS_ON_PAGE:,} rows with the lowest {report.primary} are on this page"
        yield tag("p", f"{shown}; report.json has all {len(report.rows):,}.")


def _summary(report: Report) -> Iterable[Markup]:
    if report.ran and report.overall:
        yield _table(report)
    yield tag("ul", [tag("li", line) for line in wording.facts(report)], class_="facts")


def _table(report: Report) -> Markup:
    by_name = {str(measure): measure for measure in report.overall}
    columns = wording.summary_columns(report)
    heads = [tag("th", name, scope="col") for name in ("slice", "rows")]
    heads += [
        tag("th", _named(report, by_name[title]) if title in by_name else title, scope="col")
        for title in columns
    ]
    body = [
        tag(
            "tr",
            tag("th", OVERALL if name is None else slice_name(name), scope="row"),
            tag("td", f"{wording.rows_of(means):,}", class_="n"),
            [
                _cell(cells[at], means.get(by_name[title]) if title in by_name else None)
                for title, cells in columns.items()
            ],
        )
        for at, (name, means) in enumerate(wording.summary_rows(report))
    ]
    table = tag("table", tag("thead", tag("tr", heads)), tag("tbody", body), class_="summary")
    return tag("div", table, class_="wide", tabindex="0", role="region", aria_label="Means")


def _named(report: Report, measure: Measure) -> list[str | Markup]:
    mock = report.by_mock and measure.family == "graded"
    return [str(measure), *([tag("small", f" {MOCK}")] if mock else [])]


def _cell(text: str, mean: Mean | None) -> Markup:
    return tag("td", text) if mean is None else tag("td", bar(mean), " ", text)


def _slices(report: Report) -> Iterable[Markup]:
    primary = report.primary
    if primary is None or not report.slices or not report.ran:
        return
    lines = {
        slice_name(name): means[primary]
        for name, means in report.slices.items()
        if primary in means
    }
    lines[OVERALL] = report.overall[primary]
    spans = {
        slice_name(name): found[primary]
        for name, found in report.slice_confidence.items()
        if primary in found
    }
    if primary in report.confidence:
        spans[OVERALL] = report.confidence[primary]
    yield tag("h2", _named(report, primary), " by slice")
    yield tag("div", forest(lines, spans=spans), class_="wide")
    yield tag(
        "p",
        "Tick: value. Thick, without a tick: it lies somewhere there, as ungraded chunks turn out."
        f" Thin: 95% for other queries ({INTERVAL_METHOD}), from five rows of a slice on.",
        class_="help",
    )


def _calibration(report: Report) -> Iterable[Markup]:
    """Yield the judge beside people, where labels were kept out of settling for that."""
    if not report.held_out:
        return
    # Only these few reports need numpy.
    from judge.report.calibration import headline
    from judge.report.held_out import calibration_of

    calibration = calibration_of(report)
    confusion = calibration.calibration.overall.confusion
    yield tag("h2", "The judge beside people")
    yield tag("p", headline(calibration))
    corner = tag("th", "human \\ judge", scope="col")
    heads = [tag("th", str(grade), scope="col") for grade in range(len(confusion))]
    body = [
        tag(
            "tr",
            tag("th", str(grade), scope="row"),
            [_count(cell, same=grade == at) for at, cell in enumerate(row)],
        )
        for grade, row in enumerate(confusion)
    ]
    yield tag(
        "table", tag("thead", tag("tr", corner, heads)), tag("tbody", body), class_="confusion"
    )


def _count(cell: float, *, same: bool) -> Markup:
    return tag("td", f"{cell:,.4g}", class_="n same" if same else "n")


def _shown_row(row: RowReport) -> ShownRow:
    own, ranking = row.query.rows[0], row.pool.rankings[0]
    results = own.results if own is not None else ()
    chunks = [
        _shown_chunk(row, rank, result, member)
        for rank, (result, member) in enumerate(zip(results, ranking, strict=True), 1)
    ]
    return ShownRow(row.pool, row.scores, chunks, own.error if own is not None else None)


def _shown_chunk(row: RowReport, rank: int, result: Result, member: int | None) -> ShownChunk:
    if member is None:
        # A repeat, or a chunk below the pool's depth: nothing is known of it here.
        judgment = Judgment(0, row.pool.grade_max, reason="outside the pool")
    else:
        judgment = row.pool.judgments[member]
    return ShownChunk(f"{rank}.", result.id, judgment, result.text)
