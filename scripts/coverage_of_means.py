"""Measure how often the printed 95% interval of one run's mean holds the mean of all queries.

Queries are drawn from five populations whose mean is known, and the interval that `grade` and
`compare` of several runs print is taken from them, with Student's t beside it. The last lines
draw weights too, and let a share of the rows be open: then the interval has to hold the mean
whatever the open rows turn out to be.

    python scripts/coverage_of_means.py --draws 4000
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from judge.measures.pool import Bounded
from judge.scoring import confidence
from judge.statistics.significance import moments
from judge.statistics.student import t_quantile

DEMO = (1.0, 1.0, 0.984, 0.689, 0.673, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0)
"""nDCG@10 of the README's demo, row by row."""

POPULATIONS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "the demo's rows": (DEMO, (1 / 11,) * 11),
    "R@10, 95% ones": ((1.0, 0.0), (0.95, 0.05)),
    "half ones, half zeros": ((1.0, 0.0), (0.5, 0.5)),
    "RR: 1, 1/2, 1/3, 1/5, 0": ((1.0, 1 / 2, 1 / 3, 1 / 5, 0.0), (0.6, 0.15, 0.1, 0.05, 0.1)),
    "even from 0 to 1": (tuple(i / 100 for i in range(101)), (1 / 101,) * 101),
}
"""Values and how often each occurs."""

SIZES = (5, 11, 30, 100)
WEIGHTS: dict[str, Callable[[random.Random], float]] = {
    "lognormal": lambda drawn: drawn.lognormvariate(0.0, 1.0),
    "1 or 10": lambda drawn: 10.0 if drawn.random() < 0.1 else 1.0,
}
_OPEN_SHARE = 0.3

Drawn = tuple[Sequence[Bounded], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Coverage:
    """The share of intervals that hold the true mean, and their median width."""

    share: float
    width: float

    def __str__(self) -> str:
        return f"{self.share:6.1%} {self.width:5.2f}"


def main() -> None:
    """Print a line a population and size: coverage and median width of both intervals."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--draws", type=int, default=4000, help="sets of queries a line [4000]")
    parser.add_argument("--seed", type=int, default=0, help="of the draws [0]")
    arguments = parser.parse_args()
    print(f"{'':<36}{'n':>4}  plus two      Student's t")
    for name in POPULATIONS:
        for n in SIZES:
            sets = draw_sets(name, n, arguments.draws, seed=arguments.seed)
            ours, theirs = (measure(how, sets, true_mean(name)) for how in (confidence, students_t))
            print(f"{name:<36}{n:>4}  {ours}  {theirs}", flush=True)
    for kind, weigh in WEIGHTS.items():
        for name in ("the demo's rows", "R@10, 95% ones", "half ones, half zeros"):
            for n in SIZES:
                sets = draw_sets(name, n, arguments.draws, seed=arguments.seed, weigh=weigh)
                ours = measure(confidence, sets, true_mean(name))
                print(f"{f'{name}, weights {kind}':<46}{n:>4}  {ours}", flush=True)
    for name in ("the demo's rows", "R@10, 95% ones"):
        for n in SIZES:
            sets = draw_sets(name, n, arguments.draws // 4, seed=arguments.seed, is_open=True)
            ours = measure(confidence, sets, true_mean(name))
            print(f"{f'{name}, 3 of 10 rows open':<46}{n:>4}  {ours}", flush=True)


def true_mean(name: str) -> float:
    """Return the mean of a population."""
    values, shares = POPULATIONS[name]
    return sum(value * share for value, share in zip(values, shares, strict=True))


def draw_sets(
    name: str,
    n: int,
    draws: int,
    *,
    seed: int,
    weigh: Callable[[random.Random], float] | None = None,
    is_open: bool = False,
) -> list[Drawn]:
    """Return sets of n rows with their weights; open rows lie somewhere around their true value."""
    drawn = random.Random(f"{seed} {name} {n}")
    values, shares = POPULATIONS[name]
    found: list[Drawn] = []
    for _ in range(draws):
        truth = drawn.choices(values, shares, k=n)
        rows = [_row(value, drawn, is_open=is_open) for value in truth]
        found.append((rows, [weigh(drawn) for _ in rows] if weigh else [1.0] * n))
    return found


def _row(value: float, drawn: random.Random, *, is_open: bool) -> Bounded:
    if not is_open or drawn.random() >= _OPEN_SHARE:
        return Bounded(value, value, value)
    lo, hi = value * drawn.random(), 1.0 - (1.0 - value) * drawn.random()
    return Bounded(lo, lo, hi)


def measure(
    interval: Callable[[Sequence[Bounded], Sequence[float]], tuple[float, float] | None],
    sets: Sequence[Drawn],
    truth: float,
) -> Coverage:
    """Return how often an interval holds the truth; none printed is none that errs."""
    spans = [span for rows, weights in sets if (span := interval(rows, weights)) is not None]
    held = sum(lo - 1e-12 <= truth <= hi + 1e-12 for lo, hi in spans)
    return Coverage(held / len(spans), statistics.median(hi - lo for lo, hi in spans))


def students_t(rows: Sequence[Bounded], weights: Sequence[float]) -> tuple[float, float]:
    """Return Student's interval, cut to [0, 1]: what plus two took the place of."""
    found = moments([row.value for row in rows], weights=weights)
    assert found.se is not None, "five rows have a standard error"
    reach = t_quantile(0.975, df=found.df) * found.se
    return max(found.mean - reach, 0.0), min(found.mean + reach, 1.0)


if __name__ == "__main__":
    main()
