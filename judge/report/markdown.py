"""The report as Markdown: for a pull request, a wiki, a mail."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from judge.measures.names import Measure
from judge.report import wording
from judge.report.model import Report
from judge.report.phrases import MOCK
from judge.report.terminal import OVERALL, clean, slice_name
from judge.scoring import Mean

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
            f"- {wording.interval(row.scores[report.primary])}{by} {escape(row.query.key)}"
            for row in worst
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
    measures = list(report.overall)
    mock = report.by_mock and any(measure.family == "graded" for measure in measures)
    heads = ["slice", "rows", *map(str, measures), *(["graded by"] if mock else [])]
    lines = [_line(heads), _line(["---", *["---:"] * (len(heads) - 1)])]
    named = [(slice_name(name), means) for name, means in report.slices.items()]
    for name, means in [*named, (OVERALL, report.overall)]:
        lines.append(_line(_cells(escape(name), means, measures, mock=mock)))
    return lines


def _cells(
    name: str, means: Mapping[Measure, Mean], measures: Iterable[Measure], *, mock: bool
) -> list[str]:
    rows = max((mean.n for mean in means.values()), default=0)
    cells = [name, f"{rows:,}", *(wording.cell(means.get(measure)) for measure in measures)]
    return [*cells, *([MOCK] if mock else [])]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
