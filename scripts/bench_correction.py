"""Does the corrected interval keep its promise on real grades? Coverage over drawn labels.

    python scripts/bench_correction.py RUNS JUDGE_QRELS HUMAN_QRELS

People's grades of every query are the truth. Some queries are drawn as if only they had been
labelled; the judge's mean is corrected by them. Printed per run: how often the 95% interval holds
the true mean, and how wide it is beside the interval from the same labels alone. `--differences`
does the same for each run minus the next one in the file.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from judge.calibration.rescoring import Scoring, score_runs, sources
from judge.formats import read_labels, read_runs
from judge.formats.verdicts import read_verdicts
from judge.measures.names import parse_measure
from judge.statistics.correction import difference_estimator
from judge.statistics.estimate import Estimate


@dataclass(frozen=True, slots=True)
class Coverage:
    """One run: share of printed intervals that held the truth, and their mean widths."""

    run: str
    truth: float
    judge: float
    covered: float
    covered_alone: float
    width: float
    width_alone: float


def coverage(
    run: str, judge: list[float], human: list[float], *, labelled: int, draws: int, seed: int
) -> Coverage:
    """Draw `labelled` queries `draws` times; say how the corrected intervals fare."""
    generator = random.Random(seed)
    truth = float(np.mean(human))
    held = np.zeros((draws, 2))
    widths = np.zeros((draws, 2))
    for draw in range(draws):
        chosen = set(generator.sample(range(len(human)), labelled))
        seen = [value if at in chosen else None for at, value in enumerate(human)]
        found = difference_estimator(judge, seen)
        for side, estimate in enumerate((found.estimate, found.human_only)):
            lo, hi = _interval(estimate)
            held[draw, side] = np.nan if np.isnan(lo) else lo <= truth <= hi
            widths[draw, side] = hi - lo
    covered, width = ([_mean_printed(column) for column in table.T] for table in (held, widths))
    mean = float(np.mean(judge))
    return Coverage(run, truth, mean, covered[0], covered[1], width[0], width[1])


def _mean_printed(column: np.ndarray) -> float:
    """Return the mean of the draws that printed an interval; NaN where none did."""
    printed = column[~np.isnan(column)]
    return float(printed.mean()) if len(printed) else float("nan")


def _interval(estimate: Estimate) -> tuple[float, float]:
    """Return the interval; one that is not printed promises nothing and is left out."""
    if estimate.lo is None or estimate.hi is None:
        return np.nan, np.nan
    return estimate.lo, estimate.hi


def main() -> None:
    """Print the table and the three figures that sum it up."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=Path)
    parser.add_argument("judge", type=Path)
    parser.add_argument("human", type=Path)
    parser.add_argument("--measure", default="nDCG@10")
    parser.add_argument("--labelled", type=int, default=15)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--differences", action="store_true")
    arguments = parser.parse_args()
    runs = list(read_runs(arguments.runs).values())
    both = sources(read_verdicts(arguments.judge).grades, read_labels(arguments.human).labels)
    how = Scoring(parse_measure(arguments.measure))
    names = [run.name for run in runs]
    judge, human = (score_runs(runs, side, how) for side in (both.judge, both.people))
    if arguments.differences:
        names = [f"{a} - {b}" for a, b in pairwise(names)]
        judge, human = (side[:-1] - side[1:] for side in (judge, human))
    table = [
        coverage(
            name,
            judge[at].tolist(),
            human[at].tolist(),
            labelled=arguments.labelled,
            draws=arguments.draws,
            seed=arguments.seed,
        )
        for at, name in enumerate(names)
    ]
    print_table(table, arguments)


def print_table(table: list[Coverage], arguments: argparse.Namespace) -> None:
    """Print a line a run, then how many keep the promise."""
    header = f"{'truth':>6} {'judge':>6} {'covers':>7} {'width':>6} {'alone':>6} {'width':>6}"
    print(f"{'run':<31} {header}")
    for line in table:
        figures = f"{line.truth:6.3f} {line.judge:6.3f} {line.covered:7.1%} {line.width:6.3f}"
        print(f"{line.run:<31} {figures} {line.covered_alone:6.1%} {line.width_alone:6.3f}")
    # Two runs that hardly differ print no interval in any draw.
    table = [line for line in table if not np.isnan([line.width, line.width_alone]).any()]
    covered = sorted(line.covered for line in table)
    narrower = sum(line.width < line.width_alone for line in table)
    what = "differences" if arguments.differences else "runs"
    print(
        f"\n{len(table)} {what}, {arguments.draws:,} draws of {arguments.labelled} queries (seed "
        f"{arguments.seed}): the 95% interval of the corrected mean {arguments.measure} holds the\n"
        f"true mean in a median of {np.median(covered):.1%} of draws, in 92% or more for "
        f"{sum(c >= 0.92 for c in covered)} of them (least {covered[0]:.1%}); it is narrower than\n"
        f"with labels alone for {narrower}, by {1 - _mean_ratio(table):.0%} on average."
    )


def _mean_ratio(table: list[Coverage]) -> float:
    return float(np.mean([line.width / line.width_alone for line in table]))


if __name__ == "__main__":
    main()
