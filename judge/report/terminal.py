"""The report as a person reads it in a terminal: the sentence, the table, the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.report import wording
from judge.report.estimates import in_words
from judge.report.model import Report, RowReport

WIDTH = 80
OVERALL = "overall"
_JOINERS = "\u200c\u200d"  # part of words and emoji, though they show nothing themselves
NAME_WIDTH = 24


def print_report(
    report: Report, stream: TextIO, *, width: int = WIDTH, color: bool = False
) -> None:
    """Print a report to `stream`, `width` cells wide.

    Everything from files goes through `clean`: no markup and no escape sequence of a run
    reaches the terminal.
    """
    console = Console(
        file=stream,
        width=width,
        force_terminal=color,
        no_color=not color,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    _paragraph(console, wording.headline(report), style="bold")
    if report.ran and report.overall:
        for table in summary_tables(report, width=width):
            _paragraph(console, "")
            console.print(table)
        _paragraph(console, "")
    _details(console, report)
    style = {0: "bold green", 3: "bold yellow"}.get(report.exit_code, "bold red")
    _paragraph(console, wording.outcome(report), style=style)


def clean(text: str) -> str:
    """Return text on one line with control characters shown, not obeyed."""
    return "".join(
        char if char.isprintable() or char in _JOINERS else _visible(char) for char in text
    )


def _visible(char: str) -> str:
    if char in "\n\t\r":
        return " "
    return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"


def shorten(text: str, width: int) -> str:
    """Return text cut to `width` cells, with an ellipsis where something is cut."""
    cleaned = clean(text)
    if cell_len(cleaned) <= width:
        return cleaned
    while cleaned and cell_len(cleaned) > width - 1:
        cleaned = cleaned[:-1]
    return cleaned + "…"


def slice_name(name: str) -> str:
    """Return a slice's name for a table, told apart from the line of all rows."""
    return f'slice "{name}"' if name == OVERALL else name


def summary_tables(report: Report, *, width: int) -> list[Table]:
    """Return one line a slice and one overall; several tables where one would be too wide."""
    lines = wording.summary_rows(report)
    names = [
        OVERALL if name is None else shorten(slice_name(name), NAME_WIDTH) for name, _ in lines
    ]
    counts = [f"{wording.rows_of(means):,}" for _, means in lines]
    columns = wording.summary_columns(report)
    left = max(map(cell_len, names)) + 2 + max(4, *map(len, counts))
    groups = _grouped(columns, width - left - (14 if report.by_mock else 0))
    return [
        _table(report, names, counts, {title: columns[title] for title in group})
        for group in groups
    ]


def _grouped(columns: dict[str, list[str]], room: int) -> list[list[str]]:
    """Split columns, in order, into groups that fit `room` cells each."""
    groups: list[list[str]] = [[]]
    used = 0
    for title, cells in columns.items():
        needs = 2 + max(len(title), *map(len, cells))
        if groups[-1] and used + needs > room:
            groups.append([])
            used = 0
        groups[-1].append(title)
        used += needs
    return groups


def _table(
    report: Report,
    names: Sequence[str],
    counts: Sequence[str],
    columns: dict[str, list[str]],
) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("slice", no_wrap=True)
    table.add_column("rows", justify="right", no_wrap=True)
    for title in columns:
        table.add_column(title, justify="right", no_wrap=True)
    shown = [measure for measure in report.overall if str(measure) in columns]
    says_mock = report.by_mock and any(measure.family == "graded" for measure in shown)
    if says_mock:
        table.add_column("graded by", no_wrap=True)
    for at, name in enumerate(names):
        style = "bold" if at == len(names) - 1 else ""
        cells = [name, counts[at], *(cells[at] for cells in columns.values())]
        cells += ["word overlap"] if says_mock else []
        table.add_row(*(Text(cell, style=style) for cell in cells))
    return table


def _details(console: Console, report: Report) -> None:
    for line in wording.facts(report):
        _paragraph(console, line)
    worst = wording.worst_rows(report)
    if worst:
        console.print()
        _paragraph(console, f"Worst rows by {report.primary}:")
        for row in worst:
            _paragraph(console, _worst_line(report, row, console.width))
    console.print()


def _worst_line(report: Report, row: RowReport, width: int) -> str:
    assert report.primary is not None, "worst rows are ordered by a measure"
    value = in_words(row.scores[report.primary])
    by = " (word overlap)" if report.by_mock and report.primary.family == "graded" else ""
    name = row.query.key
    if row.query.text and row.query.text != name:
        name = f"{name}: {row.query.text}"
    start = f"  {value}{by}  "
    return start + shorten(name, max(20, width - cell_len(start)))


def _paragraph(console: Console, text: str, *, style: str = "") -> None:
    console.print(Text(clean(text), style=style))
