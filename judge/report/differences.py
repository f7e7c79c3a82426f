"""Differences as text: signs, intervals, p values, and the table of one measure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from rich.cells import cell_len

from judge.comparing.change import Change
from judge.report.estimates import in_cell
from judge.report.terminal import WIDTH, shorten
from judge.scoring import Mean

OVERALL = "overall"
BY_MOCK = "word overlap"
METHOD = "t, approximate"
INTERVAL = f"95% ({METHOD})"
_NAME_WIDTH = 14


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


def wrapped(paragraph: str) -> list[str]:
    """Return a paragraph as lines of 80 columns, no word broken."""
    lines: list[str] = []
    for word in paragraph.split():
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def change_table(
    title: str,
    slices: Mapping[str, Change],
    overall: Change,
    *,
    marked: Collection[str] = (),
    by_mock: bool = False,
    interval: bool = True,
) -> Iterator[str]:
    """Yield a table of one measure: a line a slice, `!` before the marked ones, one overall.

    by_mock: every line says so; interval: with the interval over queries, which is nothing
    to a gate. Two tables where one would be wider than 80 columns.
    """
    heads = ["rows", "before", "after", "difference", *([INTERVAL] if interval else [])]
    cells = [[title, *heads]]
    for name, change in slices.items():
        mark = "! " if name in marked else ""
        row = change_cells(change, interval=interval)
        cells.append([shorten(f"{mark}{name}", _NAME_WIDTH), *row])
    cells.append([OVERALL, *change_cells(overall, interval=interval)])
    graded = [["graded by"], *[[BY_MOCK]] * (len(cells) - 1)] if by_mock else [[]] * len(cells)
    whole = list(aligned([[*row, *by] for row, by in zip(cells, graded, strict=True)]))
    if max(map(cell_len, whole)) <= WIDTH:
        yield from whole
        return
    yield from aligned([[*row[:4], *by] for row, by in zip(cells, graded, strict=True)])
    yield ""
    yield from aligned([[row[0], *row[4:], *by] for row, by in zip(cells, graded, strict=True)])


def change_cells(change: Change, *, interval: bool = True) -> list[str]:
    """Return rows, both means, their difference and, if asked, its interval over queries."""
    means = [mean_text(change.before), mean_text(change.after)]
    cells = [str(change.rows), *means, difference(change)]
    return [*cells, interval_text(change)] if interval else cells


def interval_text(change: Change) -> str:
    """Return the interval of a difference over queries; `-` where there is none."""
    return "-" if change.interval is None else span(*change.interval)


def mean_text(mean: Mean) -> str:
    """Return a mean, as `lo..hi` where grades are open."""
    return in_cell(mean)


def difference(change: Change) -> str:
    """Return the mean difference: the interval where grades are open, else the value."""
    if change.difference.is_open:
        return span(change.difference.lo, change.difference.hi)
    return signed(change.difference.value)


def aligned(cells: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows of cells in columns, the first one to the left, the others to the right."""
    widths = [max(cell_len(row[i]) for row in cells) for i in range(len(cells[0]))]
    for row in cells:
        blanks = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        padded = [blank + cell for blank, cell in zip(blanks[1:], row[1:], strict=True)]
        yield "  ".join([row[0] + blanks[0], *padded]).rstrip()
