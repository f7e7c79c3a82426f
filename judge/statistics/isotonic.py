"""Map a judge's expected grades to what people give: the best curve that never falls.

With fewer than 50 to 100 labels the curve follows their luck: use `prevalence.post_stratify`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class IsotonicCurve:
    """A curve through (x, y), both not falling; straight between the points, flat beyond them."""

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __call__(self, value: float) -> float:
        """Return the curve's height at `value`."""
        right = bisect_right(self.x, value)
        if right == 0:
            return self.y[0]
        if right == len(self.x):
            return self.y[-1]
        x0, x1, y0, y1 = self.x[right - 1], self.x[right], self.y[right - 1], self.y[right]
        return y0 + (y1 - y0) * (value - x0) / (x1 - x0)


def fit_isotonic(x: Sequence[float], y: Sequence[float]) -> IsotonicCurve:
    """Return the least-squares curve that never falls (pool adjacent violators).

    Equal x share one height. Raises ValueError without points.

    >>> fit_isotonic([1, 2, 3], [1, 3, 2]).y
    (1.0, 2.5, 2.5)
    """
    if not x:
        raise ValueError("a curve needs at least one point")
    given: dict[float, list[float]] = {}
    for at, height in sorted(zip(x, y, strict=True)):
        given.setdefault(at, []).append(height)
    blocks: list[_Block] = []
    for heights in given.values():
        block = _Block(sum(heights), len(heights), 1)
        while blocks and blocks[-1].height >= block.height:
            block = blocks.pop().joined(block)
        blocks.append(block)
    fitted = [block.height for block in blocks for _ in range(block.places)]
    return IsotonicCurve(tuple(given), tuple(fitted))


class _Block(NamedTuple):
    """Neighbouring points pooled to one height: the sum and number of their y, the distinct x."""

    total: float
    points: int
    places: int

    @property
    def height(self) -> float:
        return self.total / self.points

    def joined(self, other: _Block) -> _Block:
        return _Block(
            self.total + other.total, self.points + other.points, self.places + other.places
        )
