"""Check the t bounds of a mean under open rows against a search that knows none of their algebra.

Each case is a few rows with intervals (some known, some with common ends), with or without
weights. The largest bound is looked for over a fine grid of common levels, twice refined; the
smallest over every corner of the intervals, which only has to lie within.

    python scripts/check_t_bounds.py --cases 25000
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from judge.statistics.noninferiority import Interval, lower_bound
from judge.statistics.student import t_quantile

Floats = NDArray[np.float64]
_GRID = 401
_t = lru_cache(maxsize=None)(t_quantile)


@dataclass(frozen=True, slots=True)
class Case:
    """Rows, their weights (None: all alike), and the one-sided error."""

    rows: tuple[Interval, ...]
    weights: tuple[float, ...] | None
    alpha: float


@dataclass(frozen=True, slots=True)
class Gaps:
    """How far the found ends lie outside of what a search reaches, below 0 where they do not.

    In standard errors of a spread of 1, because t has no limit where few weights count.
    """

    above: float
    below: float


def main() -> None:
    """Print the worst gaps over all cases."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--cases", type=int, default=25_000, help="how many [25000]")
    parser.add_argument("--seed", type=int, default=0, help="of the cases [0]")
    arguments = parser.parse_args()
    drawn = random.Random(arguments.seed)
    found = [gaps(draw_case(drawn)) for _ in range(arguments.cases)]
    above, below = np.array([gap.above for gap in found]), np.array([gap.below for gap in found])
    print(f"{len(found):,} cases")
    print(f"largest bound minus the search: {above.min():.1e} to {above.max():.1e}")
    print(
        f"search minus smallest bound: {below.min():.1e} to {below.max():.1e},"
        f" median {np.median(below):.1e}"
    )


def draw_case(drawn: random.Random) -> Case:
    """Return 2 to 8 rows; ends often coincide, and a third of the rows are known."""
    step = drawn.choice([1, 5, 100])
    rows = []
    for _ in range(drawn.randint(2, 8)):
        ends = sorted(drawn.randrange(-100, 101, step) / 100 for _ in range(2))
        rows.append((ends[0], ends[0] if drawn.random() < 1 / 3 else ends[1]))
    weights = [drawn.choice([1.0, 2.0, 10.0]) for _ in rows] if drawn.random() < 0.5 else None
    alpha = drawn.choice([0.05, 0.025, 0.005])
    return Case(tuple(rows), None if weights is None else tuple(weights), alpha)


def gaps(case: Case) -> Gaps:
    """Return how far each found end lies outside of the ends that a search reaches."""
    found = lower_bound(case.rows, weights=case.weights, alpha=case.alpha)
    lo, hi = np.array(case.rows).T
    corners = np.array(np.meshgrid(*case.rows, indexing="ij")).reshape(len(lo), -1).T
    least = bounds_of(corners, case).min()
    unit = 1.0 + _factor(case, len(lo))
    above, below = found.hi - _highest(lo, hi, case), least - found.lo
    return Gaps(float(above / unit), float(below / unit))


def bounds_of(values: Floats, case: Case) -> Floats:
    """Return mean - t·se of each line of values, by the textbook."""
    p = _shares(case, values.shape[1])
    mean = values @ p
    bounds: Floats = mean - _factor(case, len(p)) * np.sqrt((values - mean[:, None]) ** 2 @ p)
    return bounds


def _shares(case: Case, n: int) -> Floats:
    weights = np.array(case.weights or [1.0] * n)
    shares: Floats = weights / weights.sum()
    return shares


def _factor(case: Case, n: int) -> float:
    """Return t·se of rows whose weighted mean square deviation is 1."""
    squares = float((_shares(case, n) ** 2).sum())
    t = _t(1.0 - case.alpha, df=round(1.0 / squares - 1.0, 9))
    return t * float(np.sqrt(squares / (1.0 - squares)))


def _highest(lo: Floats, hi: Floats, case: Case) -> float:
    """Return the largest bound over completions that hold every row at one level, clipped."""
    low, high, best = lo.min(), hi.max(), -np.inf
    for _ in range(4):
        levels = np.linspace(low, high, _GRID)
        reached = bounds_of(np.clip(levels[:, None], lo, hi), case)
        at = int(reached.argmax())
        best = max(best, float(reached[at]))
        low, high = levels[max(at - 1, 0)], levels[min(at + 1, _GRID - 1)]
    return best


if __name__ == "__main__":
    main()
