"""A sweep as one SVG picture: a panel a measure, a line a slice, overall in bold.

Where grades are open a point is hollow, at the lowest grades; a stem spans what others give.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from judge.measures.names import Measure
from judge.report.estimates import in_cell
from judge.report.phrases import MOCK
from judge.report.sweep_text import line_name
from judge.report.terminal import clean, shorten
from judge.scoring import Mean
from judge.sweep import Line, Sweep

_WIDTH, _PANEL = 760, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 210, 48, 56
_LABEL_STEP = 16
# Okabe and Ito's palette; the dashes tell lines apart without colour.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_DASHES = ("none", "6 3", "2 3", "8 3 2 3", "10 4", "4 4")
_OPEN = "hollow: at the lowest grades of what is open; the stem spans what others would give"
_STYLE = (
    "text{font-family:system-ui,sans-serif;font-size:13px;fill:#222}.small{font-size:12px}"
    ".title{font-weight:600}.grid{stroke:#ddd}.line{fill:none;stroke-width:2}"
    ".overall{stroke-width:4}"
)


def sweep_svg(sweep: Sweep) -> str:
    """Return the whole picture as text; names and values from files are escaped."""
    height = _PANEL * len(sweep.measures)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img">',
        f"<title>{_text(f'Sweep of {sweep.knob}')}</title>",
        f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>',
    ]
    for at, measure in enumerate(sweep.measures):
        parts.append(f'<g transform="translate(0 {at * _PANEL})">')
        parts += _panel(sweep, measure)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"])


def _panel(sweep: Sweep, measure: Measure) -> Iterator[str]:
    mock = f" ({MOCK})" if sweep.by_mock(measure) else ""
    title = _text(f"{measure} by {sweep.knob}{mock}")
    yield f'<text x="{_LEFT}" y="24" class="title">{title}</text>'
    for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        y = _y(share)
        yield f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}" class="grid"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end" class="small">{share}</text>'
    lines = sweep.of(measure)
    if any(mean.is_open for line in lines for mean in line.means):
        yield f'<text x="{_LEFT}" y="40" class="small">{_OPEN}</text>'
    xs = _xs(len(sweep.values))
    for x, value in zip(xs, sweep.values, strict=True):
        label = _text(shorten(value, 10))
        y = _PANEL - _BOTTOM + 20
        yield f'<text x="{x}" y="{y}" text-anchor="middle" class="small">{label}</text>'
    labels = _spread([_y(line.means[-1].value) for line in lines])
    for at, (line, label_y) in enumerate(zip(lines, labels, strict=True)):
        yield from _curve(line, at, xs, label_y)


def _curve(line: Line, at: int, xs: Sequence[float], label_y: float) -> Iterator[str]:
    overall = line.slice is None
    colour = "#222" if overall else _COLOURS[at % len(_COLOURS)]
    dash = "none" if overall else _DASHES[at % len(_DASHES)]
    points = [(x, _y(mean.value)) for x, mean in zip(xs, line.means, strict=True)]
    path = " ".join(f"{x},{y}" for x, y in points)
    kind = "line overall" if overall else "line"
    yield (
        f'<polyline points="{path}" class="{kind}" stroke="{colour}" stroke-dasharray="{dash}"/>'
    )
    for x, mean in zip(xs, line.means, strict=True):
        yield from _point(x, mean, colour)
    label = _text(f"{line_name(line)} {in_cell(line.means[-1])}")
    weight = 600 if overall else 400
    style = f"fill:{colour};font-weight:{weight}"
    yield f'<text x="{points[-1][0] + 12}" y="{label_y + 4}" style="{style}">{label}</text>'


def _point(x: float, mean: Mean, colour: str) -> Iterator[str]:
    y, fill = _y(mean.value), colour
    if mean.is_open:
        ends = f'x1="{x}" x2="{x}" y1="{_y(mean.lo)}" y2="{_y(mean.hi)}"'
        yield f'<line {ends} class="open" stroke="{colour}"/>'
        fill = "#fff"
    yield f'<circle cx="{x}" cy="{y}" r="3.5" fill="{fill}" stroke="{colour}"/>'


def _xs(n: int) -> list[float]:
    """Return a place for each value, evenly spaced: a knob's values need not be numbers."""
    room = _WIDTH - _LEFT - _RIGHT
    return [round(_LEFT + room * (at + 0.5) / n, 1) for at in range(n)]


def _y(share: float) -> float:
    return round(_TOP + (1.0 - share) * (_PANEL - _TOP - _BOTTOM), 1)


def _spread(heights: Sequence[float]) -> list[float]:
    """Return heights moved down where labels would cover each other, in the same order."""
    placed = [0.0] * len(heights)
    last = -float(_LABEL_STEP)
    for at in sorted(range(len(heights)), key=lambda at: heights[at]):
        last = placed[at] = max(heights[at], last + _LABEL_STEP)
    return placed


def _text(text: str) -> str:
    return escape(clean(text))
