"""Do corrected values keep their promise when labelling stops early? Coverage, seeded.

    python scripts/check_corrections.py [RUNS JUDGE_QRELS HUMAN_QRELS]

Part 1: 43 rows in slices of 20, 10, 8 and 5; 15 are drawn within slices, shuffled, and the first
15, 10, 7 and 5 of them labelled. With three files the rows are those of the runs and of the
differences between neighbours, people's grades the truth; without, they are made up.
Part 2: queries of traffic, labelled and not, corrected by PPI++.
Printed: how often the 95% interval holds the truth (where one is printed), and its median width.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judge.statistics.correction import Correction, difference_estimator, prediction_powered
from judge.statistics.sampling import stratified

Array = NDArray[np.float64]
Pairs = tuple[Array, Array]
"""The judge's values and people's."""

SIZES = (20, 10, 8, 5)
ROWS = sum(SIZES)
DRAWN = (15, 10, 7, 5)
LABELLED = ((5, 50), (8, 100), (15, 100), (30, 200))


def _alike(generator: np.random.Generator, n: int) -> Pairs:
    people = generator.beta(2, 2, n)
    return np.clip(0.2 + 0.7 * people + generator.normal(0, 0.1, n), 0, 1), people


def _weak(generator: np.random.Generator, n: int) -> Pairs:
    people = generator.beta(2, 1, n)
    return np.clip(0.3 * people + generator.uniform(0, 0.6, n), 0, 1), people


def _unrelated(generator: np.random.Generator, n: int) -> Pairs:
    return generator.beta(2, 2, n), generator.beta(2, 2, n)


def _near_one(generator: np.random.Generator, n: int) -> Pairs:
    people = generator.beta(4, 0.6, n)
    return np.clip(people + generator.normal(0, 0.15, n), 0, 1), people


def _difference(generator: np.random.Generator, n: int) -> Pairs:
    people = generator.normal(0.02, 0.12, n) * (generator.random(n) < 0.7)
    return 0.8 * people + generator.normal(0, 0.05, n), people


POPULATIONS: dict[str, Callable[[np.random.Generator, int], Pairs]] = {
    "a good judge": _alike,
    "a weak judge": _weak,
    "no relation": _unrelated,
    "means near 1": _near_one,
    "a difference": _difference,
}


def stopped_early(judge: Array, people: Array, *, draws: int, seed: int) -> dict[int, Array]:
    """Return (covered or NaN, width) of each draw by how many of the 15 were labelled."""
    generator = np.random.default_rng(seed)
    found: dict[int, list[tuple[float, float]]] = {n: [] for n in DRAWN}
    for _ in range(draws):
        slices = generator.permutation(np.repeat(range(len(SIZES)), SIZES)).tolist()
        drawn = stratified(slices, n=max(DRAWN), floor=1, seed=int(generator.integers(2**31)))
        order = generator.permutation(list(drawn)).tolist()
        chances = [drawn.get(at, 1.0) for at in range(ROWS)]
        for n in DRAWN:
            seen = [float(people[at]) if at in order[:n] else None for at in range(ROWS)]
            correction = difference_estimator(judge.tolist(), seen, strata=slices, chances=chances)
            found[n].append(_held(correction, float(people.mean())))
    return {n: np.array(rows) for n, rows in found.items()}


def of_traffic(
    population: Callable[[np.random.Generator, int], Pairs],
    labelled: int,
    rest: int,
    *,
    draws: int,
    seed: int,
) -> Array:
    """Return (covered or NaN, width) of each draw of queries, corrected by PPI++."""
    generator = np.random.default_rng(seed)
    truth = float(population(generator, 2_000_000)[1].mean())
    rows = []
    for _ in range(draws):
        judge, people = population(generator, labelled + rest)
        seen = [*people[:labelled].tolist(), *[None] * rest]
        rows.append(_held(prediction_powered(judge.tolist(), seen), truth))
    return np.array(rows)


def _held(correction: Correction, truth: float) -> tuple[float, float]:
    lo, hi = correction.estimate.lo, correction.estimate.hi
    if lo is None or hi is None:
        return np.nan, np.nan
    return float(lo <= truth <= hi), hi - lo


def _cells(found: Array) -> str:
    printed = found[~np.isnan(found[:, 0])]
    return f"{printed[:, 0].mean():.1%} / {np.median(printed[:, 1]):.3f}" if len(printed) else "-"


def _real(paths: list[Path]) -> Iterator[tuple[str, list[Pairs]]]:
    """Yield the runs' values and those of neighbours' differences."""
    from judge.calibration.rescoring import Scoring, score_runs, sources
    from judge.formats import read_labels, read_runs
    from judge.formats.verdicts import read_verdicts
    from judge.measures.names import parse_measure

    runs = list(read_runs(paths[0]).values())
    both = sources(read_verdicts(paths[1]).grades, read_labels(paths[2]).labels)
    how = Scoring(parse_measure("nDCG@10"))
    judge, people = (score_runs(runs, side, how) for side in (both.judge, both.people))
    yield f"{len(runs)} runs", list(zip(judge, people, strict=True))
    moved = [side[:-1] - side[1:] for side in (judge, people)]
    yield f"{len(runs) - 1} differences", list(zip(*moved, strict=True))


def main() -> None:
    """Print both tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    draws, seed = arguments.draws, arguments.seed
    print("| rows | " + " | ".join(f"{n} of 15 labelled" for n in DRAWN) + " |")
    print("| --- |" + " --- |" * len(DRAWN))
    for name, make in POPULATIONS.items():
        found = stopped_early(*make(np.random.default_rng(seed), ROWS), draws=draws, seed=seed)
        print(f"| {name} | " + " | ".join(_cells(found[n]) for n in DRAWN) + " |")
    if arguments.files:
        for name, pairs in _real(arguments.files):
            each = [stopped_early(*pair, draws=draws // 4, seed=seed) for pair in pairs]
            print(f"| {name} | " + " | ".join(_over(each, n) for n in DRAWN) + " |")
    print("\n| queries | " + " | ".join(f"{n} labelled of {n + m}" for n, m in LABELLED) + " |")
    print("| --- |" + " --- |" * len(LABELLED))
    for name, make in POPULATIONS.items():
        cells = [_cells(of_traffic(make, n, m, draws=draws, seed=seed)) for n, m in LABELLED]
        print(f"| {name} | " + " | ".join(cells) + " |")


def _over(each: list[dict[int, Array]], n: int) -> str:
    """Return the median and the least coverage over runs that print in a fifth of the draws."""
    printed = [f[n][~np.isnan(f[n][:, 0])] for f in each]
    often = [p for p, f in zip(printed, each, strict=True) if len(p) >= len(f[n]) / 5]
    shares = sorted(float(p[:, 0].mean()) for p in often)
    width = np.median(np.concatenate([p[:, 1] for p in often]))
    return f"{np.median(shares):.1%} (least {shares[0]:.1%}, {len(shares)}) / {width:.3f}"


if __name__ == "__main__":
    main()
