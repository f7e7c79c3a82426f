"""report.html: the sentence, the tables and pictures, and every row with its chunks."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import asdict
from importlib import resources
from typing import Any

from judge.calibrating import CalibrationReport
from judge.grades import Judgment
from judge.measures.names import Measure
from judge.report import wording
from judge.report.calibration import headline as calibration_headline
from judge.report.html.charts import bar, forest
from judge.report.html.elements import Markup, code, data, tag
from judge.report.model import Report, RowReport
from judge.report.terminal import OVERALL
from judge.run import Result
from judge.scoring import Mean

TEXT_SHOWN = 600
ROWS_WITH_TEXT = 2_000
"""Chunks are shown up to this many characters, and only in reports of up to this many rows."""


def render_html(report: Report, *, calibration: CalibrationReport | None = None) -> str:
    """Return the whole page; it loads nothing, and nothing from a file is markup in it.

    calibration: adds what the judge's grades are worth beside people's, with the confusion matrix
    """
    style, script = _source("report.css"), _source("report.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"judge: {report.run.name}"),
        tag("link", rel="icon", href="data:,"),
        code("style", style),
    )
    body = tag(
        "body",
        tag(
            "header", tag("h1", report.run.name), tag("p", wording.headline(report), class_="lead")
        ),
        tag("main", _summary(report), _slices(report), _calibration(calibration), _rows(report)),
        tag("footer", tag("p", wording.outcome(report))),
        data("rows-data", _rows_data(report)),
        code("script", script),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _source(name: str) -> str:
    return resources.files("judge.report.html").joinpath(name).read_text("utf-8")


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


def _summary(report: Report) -> Iterable[Markup]:
    if report.ran and report.overall:
        yield _table(report)
    yield tag("ul", [tag("li", line) for line in wording.facts(report)], class_="facts")


def _table(report: Report) -> Markup:
    measures = list(report.overall)
    heads = [tag("th", name, scope="col") for name in ("slice", "rows")]
    heads += [tag("th", _named(report, measure), scope="col") for measure in measures]
    body = [
        tag(
            "tr",
            tag("th", name, scope="row"),
            tag("td", f"{max((m.n for m in means.values()), default=0):,}", class_="n"),
            [_cell(means.get(measure)) for measure in measures],
        )
        for name, means in [*report.slices.items(), (OVERALL, report.overall)]
    ]
    table = tag("table", tag("thead", tag("tr", heads)), tag("tbody", body), class_="summary")
    return tag("div", table, class_="wide", tabindex="0", role="region", aria_label="Means")


def _named(report: Report, measure: Measure) -> list[str | Markup]:
    mock = report.by_mock and measure.family == "graded"
    return [str(measure), *([tag("small", f" {wording.MOCK}")] if mock else [])]


def _cell(mean: Mean | None) -> Markup:
    return tag("td", "-") if mean is None else tag("td", bar(mean), " ", wording.cell(mean))


def _slices(report: Report) -> Iterable[Markup]:
    primary = report.primary
    if primary is None or not report.slices or not report.ran:
        return
    lines = {name: means[primary] for name, means in report.slices.items() if primary in means}
    lines[OVERALL] = report.overall[primary]
    span = report.confidence.get(primary)
    yield tag("h2", _named(report, primary), " by slice")
    yield tag("div", forest(lines, spans={OVERALL: span} if span else {}), class_="wide")
    yield tag(
        "p",
        "Tick: value. Thick: what ungraded chunks leave open. Thin: 95% for other queries.",
        class_="help",
    )


def _calibration(calibration: CalibrationReport | None) -> Iterable[Markup]:
    if calibration is None:
        return
    found = calibration.calibration
    yield tag("h2", "The judge beside people")
    yield tag("p", calibration_headline(calibration))
    grades = range(len(found.overall.confusion))
    corner = tag("th", "human \\ judge", scope="col")
    heads = [tag("th", str(grade), scope="col") for grade in grades]
    body = [
        tag(
            "tr",
            tag("th", str(grade), scope="row"),
            [_count(cell, same=grade == at) for at, cell in enumerate(row)],
        )
        for grade, row in enumerate(found.overall.confusion)
    ]
    yield tag(
        "table", tag("thead", tag("tr", corner, heads)), tag("tbody", body), class_="confusion"
    )


def _count(cell: float, *, same: bool) -> Markup:
    return tag("td", f"{cell:,.4g}", class_="n same" if same else "n")


def _rows(report: Report) -> Iterable[Markup]:
    """Return the frame that the script fills: controls, a head to sort by, an empty body."""
    yield tag("h2", "Rows")
    slices = [tag("option", "every slice", value="")]
    slices += [tag("option", name, value=name) for name in report.slices]
    yield tag(
        "form",
        tag("label", "Find ", tag("input", type="search", id="find")),
        tag("label", "Slice ", tag("select", slices, id="slice")),
        tag("label", tag("input", type="checkbox", id="open"), " open only"),
        tag("output", id="shown"),
        id="controls",
    )
    columns = ["query", "slice", *map(str, report.overall)]
    heads = [
        tag("th", tag("button", name, type="button"), scope="col", data_column=name)
        for name in columns
    ]
    table = tag("table", tag("thead", tag("tr", heads)), tag("tbody", id="rows"), class_="rows")
    yield tag("div", table, class_="wide", tabindex="0", role="region", aria_label="Rows")
    yield tag("button", "Show more", type="button", id="more", hidden="")
    yield tag("noscript", tag("p", "The rows need JavaScript; report.json has them too."))


def _rows_data(report: Report) -> dict[str, Any]:
    with_text = len(report.rows) <= ROWS_WITH_TEXT
    return {
        "measures": [str(measure) for measure in report.overall],
        "mock": wording.MOCK if report.by_mock else None,
        "rows": [_row_data(row, with_text=with_text) for row in report.rows],
    }


def _row_data(row: RowReport, *, with_text: bool) -> dict[str, Any]:
    own, ranking = row.query.rows[0], row.pool.rankings[0]
    results = own.results if own is not None else ()
    return {
        "key": row.query.key,
        "query": row.query.text or row.query.key,
        "slice": row.query.slice or "",
        "open": row.is_open,
        "error": own.error if own is not None else None,
        "scores": {str(measure): asdict(bounded) for measure, bounded in row.scores.items()},
        "chunks": [
            _chunk_data(row, result, member, with_text=with_text)
            for result, member in zip(results, ranking, strict=True)
        ],
    }


def _chunk_data(
    row: RowReport, result: Result, member: int | None, *, with_text: bool
) -> dict[str, Any]:
    if member is None:
        # A repeat, or a chunk below the pool's depth: nothing is known of it here.
        judgment = Judgment(0, row.pool.grade_max, reason="outside the pool")
    else:
        judgment = row.pool.judgments[member]
    text = (result.text or "") if with_text else ""
    return {
        "id": result.id,
        "lo": judgment.lo,
        "hi": judgment.hi,
        "source": None if judgment.source is None else str(judgment.source),
        "reason": judgment.reason,
        "text": text if len(text) <= TEXT_SHOWN else text[:TEXT_SHOWN] + "…",
    }
