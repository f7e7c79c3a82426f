"""Measure how often the sequential test of `--until confident` errs, on real differences.

For pairs of the 37 TREC DL 2019 runs the per-topic differences of nDCG@10 are moved to a
true mean of 0, the worst case, and drawn in 2,000 random orders; an error is a look that
passes its critical value, on either side.

    python scripts/check_sequential.py ../shared/data/dl19
"""

from __future__ import annotations

import csv
import itertools
import random
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from judge.statistics.sequential import critical_values
from judge.stopping.confident import looks_for

PAIRS, ORDERS, ALPHA = 100, 2000, 0.01


def main() -> None:
    """Print the mean and the largest error rate over pairs and sides."""
    values: dict[str, list[float]] = defaultdict(list)
    path = Path(sys.argv[1]) / "per_topic_ndcg_cut_10.trec_eval.csv"
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["topic"] != "average":
                values[row["runid"]].append(float(row["ndcg_cut_10"]))
    generator = np.random.default_rng(1)
    rates: list[float] = []
    skews: list[float] = []
    for a, b in random.Random(1).sample(list(itertools.combinations(sorted(values), 2)), PAIRS):
        differences = np.array(values[b]) - np.array(values[a])
        differences = differences[differences != 0.0]
        looks = looks_for(len(differences))
        if not looks:
            continue
        critical = critical_values(looks, population=len(differences), alpha=ALPHA)
        orders = np.argsort(generator.random((ORDERS, len(differences))), axis=1)
        rows = (differences - differences.mean())[orders]
        rates += [error_rate(rows, looks, critical), error_rate(-rows, looks, critical)]
        skew = float((rows[0] ** 3).mean() / rows[0].std() ** 3)
        skews += [skew, -skew]
    report("all", rates)
    mild = [rate for rate, skew in zip(rates, skews, strict=True) if abs(skew) <= 1.0]
    report("skewness within 1", mild)


def report(name: str, rates: list[float]) -> None:
    """Print one line of error rates."""
    above = sum(rate > ALPHA for rate in rates) / len(rates)
    print(
        f"{name}: {len(rates)} one-sided tests at {ALPHA}: error {np.mean(rates):.4f} on"
        f" average, {max(rates):.4f} at most, above {ALPHA} in {above:.0%}"
    )


def error_rate(
    rows: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    looks: tuple[int, ...],
    critical: tuple[float, ...],
) -> float:
    """Return the share of orders in which some look passes."""
    passed = np.zeros(len(rows), dtype=bool)
    population = rows.shape[1]
    for n, value in zip(looks, critical, strict=True):
        mean, sd = rows[:, :n].mean(axis=1), rows[:, :n].std(axis=1, ddof=1)
        passed |= mean > value * sd / np.sqrt(n) * np.sqrt(1.0 - n / population)
    return float(passed.mean())


if __name__ == "__main__":
    main()
