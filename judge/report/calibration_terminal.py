"""A calibration as a person reads it in a terminal: the sentence first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.calibration.files import CalibrationReport
from judge.calibration.rescoring import SystemOrders
from judge.report import calibration as wording
from judge.report.calibration import estimate_text
from judge.report.phrases import number
from judge.report.terminal import NAME_WIDTH, OVERALL, WIDTH, clean, shorten
from judge.statistics.paired import Agreement

_BY_SLICE = ("exact", "kappa_quadratic", "alpha_ordinal", "bias")
_SHORT = {"kappa_quadratic": "quadratic kappa", "alpha_ordinal": "ordinal alpha"}
_STYLES = {True: "bold green", False: "bold red", None: "bold yellow"}


def print_calibration(
    report: CalibrationReport, stream: TextIO, *, width: int = WIDTH, color: bool = False
) -> None:
    """Print a calibration to `stream`, `width` cells wide; nothing from a file is obeyed."""
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
    found = report.calibration
    _line(console, wording.headline(report), style=_STYLES[found.answer.may_gate])
    notices = list(dict.fromkeys(n.text for n in (*report.notices, *found.notices)))
    apart = [n.text for n in report.notices if n.kind == "ranges differ"]
    _lines(console, (f"warning: {text}" for text in apart))
    if found.overall.pairs:
        console.print()
        console.print(_coefficients(found.overall))
        _lines(console, _reasons(found.overall))
        console.print()
        console.print(_confusion(found.overall))
        console.print()
        _line(console, f"The judge's {wording.bias_text(found.overall.coefficients['bias'])}.")
        _lines(console, wording.share_lines(report))
        _lines(console, wording.people_lines(found))
        _lines(console, wording.panel_lines(found))
    if found.slices:
        console.print()
        console.print(_slices(report))
    if report.orders is not None:
        console.print()
        _lines(console, _order_lines(report.orders))
    if report.corrected:
        console.print()
        console.print(_corrections(report))
    rest = [text for text in notices if text not in apart]
    if rest:
        console.print()
        _lines(console, rest)


def _coefficients(agreement: Agreement) -> Table:
    table = _bare_table("agreement", ("value", "95% interval"))
    for name, found in agreement.coefficients.items():
        if name == "bias":
            continue
        text = estimate_text(found)
        value, _, interval = text.partition(" ")
        table.add_row(*map(Text, (wording.full_name(name), value, interval)))
    return table


def _reasons(agreement: Agreement) -> list[str]:
    """Return a line for each reason why something above is missing or odd."""
    named: dict[str, list[str]] = {}
    for name, found in agreement.coefficients.items():
        if found.reason:
            named.setdefault(found.reason, []).append(wording.full_name(name))
    every = len(agreement.coefficients)
    said = []
    for reason, names in sorted(named.items(), key=lambda item: len(item[1])):
        who = ", ".join(names)
        if len(names) > every / 2:
            who = "All of these" if len(names) == every else "All others"
        said.append(f"{who}: {reason}.")
    return said


def _confusion(agreement: Agreement) -> Table:
    grades = range(len(agreement.confusion))
    table = _bare_table("human \\ judge", (*map(str, grades), "recall"))
    for grade, row in enumerate(agreement.confusion):
        cells = [f"{cell:,.0f}" if cell == round(cell) else f"{cell:,.1f}" for cell in row]
        table.add_row(str(grade), *cells, _share(agreement.recall[grade]))
    table.add_row("precision", *map(_share, agreement.precision))
    return table


def _slices(report: CalibrationReport) -> Table:
    """Return a line a slice, with the interval of what decides."""
    found = report.calibration
    names = [_SHORT.get(name, name) for name in _by_slice(report)]
    table = _bare_table("slice", ("queries", "chunks", *names))
    for name, part in [*found.slices.items(), (OVERALL, found.overall)]:
        cells = [
            estimate_text(part.coefficients[coefficient])
            if coefficient == wording.decisive(found)
            else _value(part, coefficient)
            for coefficient in _by_slice(report)
        ]
        counts = (f"{part.queries:,}", f"{part.pairs:,}")
        style = "bold" if name == OVERALL and part is found.overall else ""
        row = (shorten(name, NAME_WIDTH), *counts, *cells)
        table.add_row(*(Text(cell, style=style) for cell in row))
    return table


def _by_slice(report: CalibrationReport) -> list[str]:
    return list(dict.fromkeys((*_BY_SLICE, wording.decisive(report.calibration))))


def _value(agreement: Agreement, coefficient: str) -> str:
    value = agreement.coefficients[coefficient].value
    return "-" if value is None else number(value)


def _order_lines(orders: SystemOrders) -> list[str]:
    systems = f"{len(orders.means):,} runs by mean {orders.measure} over {orders.queries:,} queries"
    lines = [f"Order of {systems}, judge against people:"]
    for name, found in orders.correlations.items():
        note = f" ({found.reason})" if found.reason else ""
        lines.append(f"  {name:<9} {estimate_text(found)}{note}")
    if orders.overlap is not None:
        least = f"at least {number(orders.overlap.minimum)}"
        lines.append(f"  RBO       {number(orders.overlap.extrapolated)} ({least})")
    return lines


def _corrections(report: CalibrationReport) -> Table | Text:
    """Return every run's corrected mean, or the one reason why there is none."""
    first = next(iter(report.corrected.values()))
    if first.estimate.value is None:
        whole = "queries of which people graded every chunk that the judge did"
        return Text(f"Means not corrected: {first.estimate.reason} ({whole}).")
    labelled = f"{first.labelled:,} of {first.units:,} queries"
    table = _bare_table(f"by labels of {labelled}", ("judge's mean", "corrected"))
    for name, found in report.corrected.items():
        cells = (shorten(name, NAME_WIDTH), number(found.judge_mean), estimate_text(found.estimate))
        table.add_row(*map(Text, cells))
    return table


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _bare_table(first: str, others: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right" if name else "left")
    return table


def _lines(console: Console, lines: Iterable[str]) -> None:
    for line in lines:
        _line(console, line)


def _line(console: Console, text: str, *, style: str = "") -> None:
    console.print(Text(clean(text), style=style))
