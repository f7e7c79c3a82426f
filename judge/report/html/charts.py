"""Small pictures of bounded values, as SVG with a text for those who do not see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judge.measures.pool import Bounded
from judge.report.html.elements import Markup, tag
from judge.report.wording import interval, number
from judge.scoring import Mean

_BAR = (120, 14)
_PLOT_LEFT, _PLOT_WIDTH, _PLOT_STEP = 180, 460, 26


def bar(bounded: Bounded | Mean) -> Markup:
    """Return a bar 0..1: filled to what is certain, pale to what is possible, a tick at value."""
    width, height = _BAR
    lo, hi, value = (width * _within(x) for x in (bounded.lo, bounded.hi, bounded.value))
    return tag(
        "svg",
        tag("rect", class_="ground", x=0, y=3, width=width, height=height - 6),
        tag("rect", class_="sure", x=0, y=3, width=_px(lo), height=height - 6),
        tag("rect", class_="possible", x=_px(lo), y=3, width=_px(hi - lo), height=height - 6),
        tag("line", class_="tick", x1=_px(value), x2=_px(value), y1=0, y2=height),
        class_="bar",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=interval(bounded),
    )


def forest(
    lines: Mapping[str, Bounded | Mean], *, spans: Mapping[str, tuple[float, float]]
) -> Markup:
    """Return one line a name: a thick interval for open grades, a thin one for other queries.

    spans: 95% confidence intervals by name, where there are any
    """
    height = _PLOT_STEP * (len(lines) + 1)
    rows = [
        _forest_line(at, name, mean, spans.get(name))
        for at, (name, mean) in enumerate(lines.items())
    ]
    said = "; ".join(f"{name} {interval(mean)}" for name, mean in lines.items())
    return tag(
        "svg",
        _grid((0.0, 0.25, 0.5, 0.75, 1.0), height),
        rows,
        class_="forest",
        viewBox=f"0 0 {_PLOT_LEFT + _PLOT_WIDTH + 20} {height}",
        role="img",
        aria_label=said,
    )


def _forest_line(
    at: int, name: str, mean: Bounded | Mean, span: tuple[float, float] | None
) -> Markup:
    y = _PLOT_STEP * at + _PLOT_STEP // 2
    marks = [tag("line", class_="tick", x1=_x(mean.value), x2=_x(mean.value), y1=y - 8, y2=y + 8)]
    if mean.is_open:
        marks.append(tag("line", class_="possible", x1=_x(mean.lo), x2=_x(mean.hi), y1=y, y2=y))
    if span is not None:
        marks.append(tag("line", class_="span", x1=_x(span[0]), x2=_x(span[1]), y1=y, y2=y))
    label = name if len(name) <= 24 else name[:23] + "…"
    title = tag("title", f"{name} {interval(mean)}")
    return tag("g", title, tag("text", label, x=_PLOT_LEFT - 10, y=y + 4, class_="name"), marks)


def _grid(values: Sequence[float], height: int) -> list[Markup]:
    bottom = height - _PLOT_STEP
    return [
        part
        for value in values
        for part in (
            tag("line", class_="grid", x1=_x(value), x2=_x(value), y1=0, y2=bottom),
            tag("text", number(value).rstrip("0").rstrip("."), x=_x(value), y=bottom + 18),
        )
    ]


def _x(value: float) -> str:
    return _px(_PLOT_LEFT + _PLOT_WIDTH * _within(value))


def _within(value: float) -> float:
    return min(1.0, max(0.0, value))


def _px(value: float) -> str:
    return f"{value:.2f}"
