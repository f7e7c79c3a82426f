"""The report as Markdown: for a pull request, a wiki, a mail."""

from __future__ import annotations

import re
from collections.abc import Iterable

from judge.report import wording
from judge.report.estimates import in_words
from judge.report.model import Report
from judge.report.phrases import MOCK
from judge.report.terminal import OVERALL, clean, slice_name

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&@-])")


def render_markdown(report: Report) -> str:
    """Return the report as Markdown; nothing from a file becomes markup."""
    parts = [f"**{escape(wording.headline(report))}**", ""]
    if report.ran and report.overall:
        parts += [*_table(report), ""]
    parts += [f"- {escape(line)}" for line in wording.facts(report)]
    worst = wording.worst_rows(report)
    if worst and report.primary is not None:
        mock = report.by_mock and report.primary.family == "graded"
        by = f" ({MOCK})" if mock else ""
        parts += ["", f"Worst rows by {report.primary}{by}:", ""]
        parts += [
            f"- {in_words(row.scores[report.primary])}{by} {escape(row.query.key)}" for row in worst
        ]
    parts += ["", f"**{escape(wording.outcome(report))}**", ""]
    return "\n".join(parts)


def escape(text: str) -> str:
    """Return text as Markdown shows it literally, on one line.

    >>> escape("a|b <img>")
    'a\\\\|b \\\\<img\\\\>'
    """
    return _SPECIAL.sub(r"\\\1", clean(text))


def _table(report: Report) -> list[str]:
    mock = report.by_mock and any(measure.family == "graded" for measure in report.overall)
    rows = wording.summary_rows(report)
    names = [OVERALL if name is None else escape(slice_name(name)) for name, _ in rows]
    columns = {
        "slice": names,
        "rows": [f"{wording.rows_of(means):,}" for _, means in rows],
        **wording.summary_columns(report),
        **({"graded by": [MOCK] * len(rows)} if mock else {}),
    }
    return [
        _line(columns),
        _line(["---", *["---:"] * (len(columns) - 1)]),
        *map(_line, zip(*columns.values(), strict=True)),
    ]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
