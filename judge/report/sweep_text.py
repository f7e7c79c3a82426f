"""A sweep as text: a table and bars a measure, best values with their noise, warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len

from judge.measures.names import Measure
from judge.report.differences import INTERVAL, wrapped
from judge.report.estimates import at_lowest, in_cell
from judge.report.phrases import MOCK, number, plural
from judge.report.terminal import WIDTH, clean, shorten
from judge.statistics.estimate import Estimate
from judge.sweep import Line, Sweep

OVERALL = "overall"
_BAR = 40
_EIGHTHS = " ▏▎▍▌▋▊▉"
_NAME_WIDTH = 20
_SHOWN = 10
_SHOWN_VALUES = 3
_DIGITS = 4  # as tables of sweeps are published


def sweep_lines(sweep: Sweep) -> Iterator[str]:
    """Yield the lines of the whole text, without ends."""
    for measure in sweep.measures:
        yield from _owned(table_lines(sweep, measure), sweep, measure)
        yield ""
        yield from _owned(_best(sweep, measure), sweep, measure)
        yield ""
    lead = sweep.measures[0]
    yield from _owned(_bars(sweep, lead), sweep, lead)
    for measure in sweep.measures:
        yield from _owned(_hidden(sweep, measure), sweep, measure)
    yield from _owned(_payers(sweep, lead), sweep, lead)
    yield from _empty(sweep)


def _owned(lines: Iterable[str], sweep: Sweep, measure: Measure) -> Iterator[str]:
    """Yield lines, each saying so if its figures come from the mock."""
    mark = f"  ({MOCK})" if sweep.by_mock(measure) else ""
    return (line + mark if line else line for line in lines)


def table_lines(sweep: Sweep, measure: Measure) -> Iterator[str]:
    """Yield the table of one measure, a line a slice, a column a value; in parts if wide."""
    is_open = any(mean.is_open for line in sweep.of(measure) for mean in line.means)
    best = "best of its line" + ", at the lowest grades" * is_open
    yield f"{measure} by {clean(sweep.knob)} (* {best})"
    rows = [("slice", "rows", [clean(value) for value in sweep.values])]
    for line in sweep.of(measure):
        cells = [
            in_cell(mean, digits=_DIGITS) + "*" * (at == line.best)
            for at, mean in enumerate(line.means)
        ]
        rows.append((line_name(line), str(line.means[0].n), cells))
    heads = max(cell_len(name) for name, _, _ in rows) + max(len(n) for _, n, _ in rows) + 2
    widths = [
        max(map(cell_len, column)) for column in zip(*(cells for _, _, cells in rows), strict=True)
    ]
    for part, columns in enumerate(_parts(widths, WIDTH - heads)):
        if part:
            yield ""
        yield from _aligned([[name, n, *(cells[at] for at in columns)] for name, n, cells in rows])


def _parts(widths: Sequence[int], room: int) -> Iterator[list[int]]:
    """Yield the places of columns that fit side by side, in order; at least one a part."""
    part: list[int] = []
    taken = 0
    for at, width in enumerate(widths):
        if part and taken + width + 2 > room:
            yield part
            part, taken = [], 0
        part.append(at)
        taken += width + 2
    yield part


def _best(sweep: Sweep, measure: Measure) -> Iterator[str]:
    values = [clean(value) for value in sweep.values]
    rows = [["best", "value", f"from {values[0]}, {INTERVAL}", "not told from the best"]]
    still = [line_name(line) for line in sweep.of(measure) if not line.moves]
    for line in sweep.of(measure):
        if line.moves:
            noise = _noise(line.changes[line.best]) if line.best else "-"
            as_good = _listed([values[at] for at in line.as_good()])
            rows.append([line_name(line), values[line.best], noise, as_good])
    if len(rows) > 1:
        yield from _aligned(rows, left=len(rows[0]))
    if still:
        yield from wrapped(f"No value moves {', '.join(still)}.")


def _listed(values: Sequence[str]) -> str:
    more = [f"… {len(values) - _SHOWN_VALUES} more"] if len(values) > _SHOWN_VALUES else []
    return ", ".join([*values[:_SHOWN_VALUES], *more]) or "none"


def _bars(sweep: Sweep, measure: Measure) -> Iterator[str]:
    """Yield a bar a value for each slice that moves; a full bar is 1."""
    width = max(len(clean(value)) for value in sweep.values)
    for line in filter(lambda line: line.moves, sweep.of(measure)):
        yield f"{measure} {line_name(line)}"
        for value, mean in zip(sweep.values, line.means, strict=True):
            yield f"  {clean(value):>{width}} {_bar(mean.value)} {at_lowest(mean, digits=_DIGITS)}"


def _bar(share: float) -> str:
    eighths = round(share * _BAR * 8)
    part = _EIGHTHS[eighths % 8] if eighths % 8 else ""
    return "█" * (eighths // 8) + part


def _hidden(sweep: Sweep, measure: Measure) -> Iterator[str]:
    for hidden in sweep.hidden():
        line, at = hidden.line, hidden.at
        if line.measure != measure:
            continue
        also = ", ".join(clean(sweep.values[place]) for place in hidden.also)
        yield ""
        yield from wrapped(
            f"warning: the overall line hides what {line_name(line)} pays: at {clean(sweep.knob)} "
            f"{clean(sweep.values[at])} {measure} goes {_moved(hidden.overall, at)} overall, "
            f"{_moved(line, at)} in {line_name(line)}" + (f"; likewise at {also}" if also else "")
        )


def _payers(sweep: Sweep, measure: Measure) -> Iterator[str]:
    best = sweep.of(measure)[-1].best
    payers = [f"{line_name(line)} {_moved(line, best)}" for line in sweep.payers(measure)]
    if payers:
        value = clean(sweep.values[best])
        yield ""
        yield from wrapped(
            f"note: {value} is best overall, and paid for: {measure} of {', '.join(payers)}"
        )


def _empty(sweep: Sweep) -> Iterator[str]:
    for value, rows in zip(sweep.values, sweep.empty, strict=True):
        if rows:
            named = ", ".join(clean(row) for row in rows[:_SHOWN])
            more = ", …" if len(rows) > _SHOWN else ""
            count = plural(len(rows), "list")
            yield ""
            yield from wrapped(
                f"warning: at {clean(value)} {count} came back empty and count 0: {named}{more}"
            )


def _moved(line: Line, at: int) -> str:
    first, then = line.means[0], line.means[at]
    lowest = " at the lowest grades" if first.is_open or then.is_open else ""
    return f"from {number(first.value, _DIGITS)} to {number(then.value, _DIGITS)}{lowest}"


def line_name(line: Line) -> str:
    """Return a line's slice, short and fit to print, or `overall`."""
    if line.slice is None:
        return OVERALL
    name = shorten(line.slice, _NAME_WIDTH)
    return f'slice "{name}"' if name == OVERALL else name


def _noise(change: Estimate) -> str:
    value = f"{change.value or 0.0:+.4f}"
    if change.lo is None or change.hi is None:
        return f"{value} ({change.reason})"
    return f"{value} [{change.lo:+.4f}, {change.hi:+.4f}]"


def _aligned(rows: Sequence[Sequence[str]], *, left: int = 1) -> Iterator[str]:
    """Yield rows with columns as wide as they need; all but the first `left` to the right."""
    widths = [max(cell_len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        # Letters of some scripts are two cells wide, so blanks are counted in cells.
        blanks = [" " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True)]
        cells = [
            text + blank if at < left else blank + text
            for at, (text, blank) in enumerate(zip(row, blanks, strict=True))
        ]
        yield "  ".join(cells).rstrip()
