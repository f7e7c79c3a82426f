"""Small pictures of bounded values, as SVG with a text for those who do not see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from judge.measures.pool import Bounded
from judge.report.estimates import in_words
from judge.report.html.elements import Markup, tag
from judge.scoring import Mean

_BAR = (120, 14)
_PLOT_LEFT, _PLOT_WIDTH, _PLOT_STEP = 180, 460, 26
_NAME_LENGTH = 18  # what fits left of a plot, in a phone's larger letters too


def bar(bounded: Bounded | Mean) -> Markup:
    """Return a bar 0..1: filled to what is certain, pale to what is possible.

    A tick where the value stands; none where it is open, and any place in the pale part may be it.
    """
    width, height = _BAR
    lo, hi, value = (width * _within(x) for x in (bounded.lo, bounded.hi, bounded.value))
    tick = tag("line", class_="tick", x1=_px(value), x2=_px(value), y1=0, y2=height)
    return tag(
        "svg",
        tag("rect", class_="ground", x=0, y=3, width=width, height=height - 6),
        tag("rect", class_="sure", x=0, y=3, width=_px(lo), height=height - 6),
        tag("rect", class_="possible", x=_px(lo), y=3, width=_px(hi - lo), height=height - 6),
        [] if bounded.is_open else tick,
        class_="bar",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=in_words(bounded),
    )


@dataclass(frozen=True, slots=True)
class Axis:
    """A horizontal axis; values beyond its ends are drawn at them."""

    low: float = 0.0
    high: float = 1.0
    signed: bool = False

    @classmethod
    def around_zero(cls, values: Iterable[float]) -> Axis:
        """Return an axis with 0 in the middle that reaches the farthest of `values`."""
        reach = max((abs(value) for value in values), default=0.0) or 1.0
        return cls(-reach, reach, signed=True)

    def x(self, value: float) -> str:
        """Return where a value stands."""
        share = (value - self.low) / (self.high - self.low)
        return _px(_PLOT_LEFT + _PLOT_WIDTH * _within(share))

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Return five values along the axis with what is written below them."""
        values = [self.low + (self.high - self.low) * step / 4 for step in range(5)]
        return [(value, f"{value:{'+' if self.signed and value else ''}.3g}") for value in values]


UNIT = Axis()


def forest(
    lines: Mapping[str, Bounded | Mean],
    *,
    spans: Mapping[str, tuple[float, float]],
    axis: Axis = UNIT,
) -> Markup:
    """Return one line a name: a thick interval for open grades, a thin one for other queries.

    spans: 95% confidence intervals by name, where there are any
    """
    height = _PLOT_STEP * (len(lines) + 1)
    rows = [
        _forest_line(at, name, mean, spans.get(name), axis)
        for at, (name, mean) in enumerate(lines.items())
    ]
    said = "; ".join(f"{name} {in_words(mean)}" for name, mean in lines.items())
    return tag(
        "svg",
        _grid(axis, height),
        rows,
        class_="forest",
        viewBox=f"0 0 {_PLOT_LEFT + _PLOT_WIDTH + 20} {height}",
        role="img",
        aria_label=said,
    )


def _forest_line(
    at: int, name: str, mean: Bounded | Mean, span: tuple[float, float] | None, axis: Axis
) -> Markup:
    y = _PLOT_STEP * at + _PLOT_STEP // 2
    marks = []
    if mean.is_open:
        ends = {"x1": axis.x(mean.lo), "x2": axis.x(mean.hi)}
        marks.append(tag("line", class_="possible", **ends, y1=y, y2=y))
    else:
        x = axis.x(mean.value)
        marks.append(tag("line", class_="tick", x1=x, x2=x, y1=y - 8, y2=y + 8))
    if span is not None:
        ends = {"x1": axis.x(span[0]), "x2": axis.x(span[1])}
        marks.append(tag("line", class_="span", **ends, y1=y, y2=y))
    label = name if len(name) <= _NAME_LENGTH else name[: _NAME_LENGTH - 1] + "…"
    title = tag("title", f"{name} {in_words(mean)}")
    return tag("g", title, tag("text", label, x=_PLOT_LEFT - 10, y=y + 4, class_="name"), marks)


def _grid(axis: Axis, height: int) -> list[Markup]:
    bottom = height - _PLOT_STEP
    return [
        part
        for value, label in axis.ticks
        for part in (
            tag("line", class_="grid", x1=axis.x(value), x2=axis.x(value), y1=0, y2=bottom),
            tag("text", label, x=axis.x(value), y=bottom + 18),
        )
    ]


def _within(value: float) -> float:
    return min(1.0, max(0.0, value))


def _px(value: float) -> str:
    return f"{value:.2f}"
