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
# What GitHub and GitLab make links of by themselves, escaped or not: addresses of pages and of
# people, @names, #1, !1, GH-1, owner/name#1.
_LINKED = re.compile(
    r":(?=//)|www(?=\.)|\b(?:mailto|xmpp)(?=:)|\bGH(?=-\d)"
    r"|(?<!\w)@(?=\w)|@(?=[\w-]+\.\w)|@(?=[0-9a-f]{7})|#(?=\w)|!(?=\d)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\A(\d+)([.)])")
_NOTHING = "<!-- -->"
"""A comment of HTML: it shows nothing, and no link reaches across it."""


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
    """Return text as Markdown shows it literally, on one line; nothing of it becomes a link.

    >>> escape("a|b <img>")
    'a\\\\|b \\\\<img\\\\>'
    >>> escape("@me")
    '\\\\@<!-- -->me'
    """
    pieces, at = [], 0
    cleaned = clean(text)
    for found in _LINKED.finditer(cleaned):
        pieces.append(_SPECIAL.sub(r"\\\1", cleaned[at : found.end()]))
        at = found.end()
    pieces.append(_SPECIAL.sub(r"\\\1", cleaned[at:]))
    return _NUMBERED.sub(r"\1\\\2", _NOTHING.join(pieces))


def code(text: str) -> str:
    """Return text, on one line, as a code span: nothing in it is markup or a link.

    >>> code("a`b")
    '``a`b``'
    """
    cleaned = clean(text).strip() or " "
    longest = max(map(len, re.findall("`+", cleaned)), default=0)
    fence = "`" * (longest + 1)
    space = " " if cleaned[0] == "`" or cleaned[-1] == "`" else ""
    return f"{fence}{space}{cleaned}{space}{fence}"


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
