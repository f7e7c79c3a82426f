"""The rows of a page: sorted, filtered and opened by its script, from data that is only data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge.evidence.pool import QueryPool
from judge.grades import Judgment
from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.report.html.elements import Markup, tag
from judge.report.phrases import MOCK

TEXT_SHOWN = 600
ROWS_WITH_TEXT = 2_000
"""Chunks are shown up to this many characters, and only on pages of up to this many rows."""


@dataclass(frozen=True, slots=True)
class ShownChunk:
    """One chunk of an opened row. where: its rank, or how its rank moved."""

    where: str
    id: str
    judgment: Judgment
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ShownRow:
    """One row: a value a measure, and its chunks. error: why it did not run."""

    pool: QueryPool
    scores: Mapping[Measure, Bounded]
    chunks: Sequence[ShownChunk]
    error: str | None = None


@dataclass(frozen=True, slots=True)
class RowTable:
    """All rows of a page. signed: the values are differences."""

    measures: Sequence[Measure]
    slices: Sequence[str]
    rows: Sequence[ShownRow]
    by_mock: bool
    signed: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return what the page's script reads."""
        with_text = len(self.rows) <= ROWS_WITH_TEXT
        return {
            "measures": [str(measure) for measure in self.measures],
            "signed": self.signed,
            "mock": MOCK if self.by_mock else None,
            "rows": [_row(row, with_text=with_text) for row in self.rows],
        }


def _row(row: ShownRow, *, with_text: bool) -> dict[str, Any]:
    query = row.pool.query
    return {
        "key": query.key,
        "query": query.text or query.key,
        "slice": query.slice or "",
        "open": any(score.is_open for score in row.scores.values()),
        "error": row.error,
        "scores": {str(measure): _score(score) for measure, score in row.scores.items()},
        "chunks": [_chunk(chunk, with_text=with_text) for chunk in row.chunks],
    }


def _score(score: Bounded) -> dict[str, Any]:
    return {"value": score.value, "lo": score.lo, "hi": score.hi, "exact": score.exact}


def _chunk(chunk: ShownChunk, *, with_text: bool) -> dict[str, Any]:
    text = (chunk.text or "") if with_text else ""
    judgment = chunk.judgment
    return {
        "where": chunk.where,
        "id": chunk.id,
        "lo": judgment.lo,
        "hi": judgment.hi,
        "source": None if judgment.source is None else str(judgment.source),
        "reason": judgment.reason,
        "text": text if len(text) <= TEXT_SHOWN else text[:TEXT_SHOWN] + "…",
    }


def row_frame(table: RowTable) -> Iterable[Markup]:
    """Yield what the script fills: controls, a head to sort by, an empty body."""
    yield tag("h2", "Rows")
    slices = [tag("option", "every slice", value="")]
    slices += [tag("option", name, value=name) for name in table.slices]
    yield tag(
        "form",
        tag("label", "Find ", tag("input", type="search", id="find")),
        tag("label", "Slice ", tag("select", slices, id="slice")),
        tag("label", tag("input", type="checkbox", id="open"), " open only"),
        tag("output", id="shown"),
        id="controls",
    )
    heads = [
        tag("th", tag("button", name, type="button"), scope="col", data_column=name)
        for name in ("query", "slice", *map(str, table.measures))
    ]
    rows = tag("table", tag("thead", tag("tr", heads)), tag("tbody", id="rows"), class_="rows")
    yield tag("div", rows, class_="wide", tabindex="0", role="region", aria_label="Rows")
    yield tag("button", "Show more", type="button", id="more", hidden="")
    yield tag("noscript", tag("p", "The rows need JavaScript; report.json has them too."))
