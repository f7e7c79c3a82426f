"""Do the intervals of agreement coefficients keep their promise over few queries? Seeded.

    python scripts/check_agreement.py [RUNS JUDGE_QRELS HUMAN_QRELS]

Made-up queries of ten chunks: people and judge see the same truth with errors of their own, and
queries differ in how well the judge does. Printed: how often the 95% interval holds the
coefficient of 50,000 queries, (how often its lower end lies above that), and its median width; of
the percentiles of the cluster bootstrap, and of the symmetric bootstrap-t that is used.
Then, of 43 such queries of 20 chunks: how often the interval of each share of people's grades holds
the share among all, when some chunks (drawn within the judge's grades) or whole rows are labelled.
With three files: how often the interval of each rank correlation of the runs (all, and twelve drawn
anew each time), over topics drawn with replacement, holds the correlation over all topics.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judge.calibration.rescoring import CORRELATIONS, Scoring, score_runs, sources, with_interval
from judge.formats import read_labels, read_runs
from judge.formats.verdicts import read_verdicts
from judge.measures.names import parse_measure
from judge.statistics.agreement import coefficients
from judge.statistics.bootstrap import bootstrap_t, resample
from judge.statistics.paired import GradedUnit, Resampling, grade_shares
from judge.statistics.sampling import stratified

CHUNKS = 10
QUERIES = (10, 20)
CUTS = (-0.3, 0.6, 1.4)
# Spread of queries' mean relevance; the judge's error; its lean in grades' units.
KINDS = {"a judge that errs much": (1.0, 1.5, 0.3), "a judge that errs less": (1.5, 0.8, 0.2)}
NAMES = ("kappa_quadratic", "kappa", "ac2_quadratic")


def tables(
    kind: tuple[float, float, float], queries: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return a table of grades, people in rows and judge in columns, for each query."""
    judge, people = grades(kind, queries, CHUNKS, generator)
    found = np.zeros((queries, 4, 4))
    at = np.repeat(np.arange(queries), CHUNKS)
    np.add.at(found, (at, people.ravel(), judge.ravel()), 1.0)
    return found


def grades(
    kind: tuple[float, float, float], queries: int, chunks: int, generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the judge's and people's grades, (queries, chunks) each."""
    spread, error, lean = kind
    shape = (queries, chunks)
    truth = generator.normal(0, spread, (queries, 1)) + generator.normal(0, 1, shape)
    errors = error * np.exp(generator.normal(0, 0.5, (queries, 1)))
    leans = lean + generator.normal(0, 0.4, (queries, 1))
    people = np.searchsorted(CUTS, truth + generator.normal(0, 0.3, shape))
    judge = np.searchsorted(CUTS, truth + leans + errors * generator.normal(0, 1, shape))
    return judge, people


def coverage(
    kind: tuple[float, float, float], name: str, queries: int, *, samples: int, seed: int
) -> tuple[float, list[NDArray[np.float64]]]:
    """Return the true coefficient, and (holds, too high, width) by sample of both intervals."""
    generator = np.random.default_rng(seed)
    coefficient = coefficients(3)[name]
    truth = float(coefficient(tables(kind, 50_000, generator).sum(0)))
    plain, studentised = [], []
    for sample in range(samples):
        drawn_tables = tables(kind, queries, generator)
        drawn = resample(drawn_tables, draws=500, seed=sample)
        lo, hi = np.nanpercentile(coefficient(drawn.sums), [2.5, 97.5])
        plain.append((lo <= truth <= hi, lo > truth, hi - lo))
        found = bootstrap_t(coefficient, drawn_tables, drawn, at_most_1=True)
        if found is not None:
            studentised.append(
                (found.lo <= truth <= found.hi, found.lo > truth, found.hi - found.lo)
            )
    return truth, [np.array(plain, dtype=float), np.array(studentised, dtype=float)]


def shares(plan: str, n: int, *, samples: int, seed: int) -> NDArray[np.float64]:
    """Return (holds, width) by sample and grade of the shares of people's grades.

    plan: n "chunks" or "rows" are labelled, of 43 queries made up once for each sample
    """
    generator = np.random.default_rng(seed)
    found = []
    for sample in range(samples):
        judge, people = grades(KINDS["a judge that errs less"], 43, 20, generator)
        if plan == "rows":
            drawn = {(row, at): 1.0 for row in generator.permutation(43)[:n] for at in range(20)}
        else:
            drawn = {
                divmod(at, 20): pi
                for at, pi in stratified(judge.ravel().tolist(), n=n, seed=sample).items()
            }
        units = [
            GradedUnit(str(row), int(judge[row, at]), (int(people[row, at]),), 1.0 / pi)
            for (row, at), pi in drawn.items()
        ]
        sizes = np.bincount(judge.ravel(), minlength=4).tolist()
        truth = np.bincount(people.ravel(), minlength=4) / people.size
        estimates = grade_shares(units, sizes=sizes)
        limits = [(e.lo, e.hi) for e in estimates if e.lo is not None and e.hi is not None]
        if len(limits) == len(truth):
            found.append(
                [(lo <= t <= hi, hi - lo) for (lo, hi), t in zip(limits, truth, strict=True)]
            )
    return np.array(found, dtype=float)


def orders(
    judge: NDArray[np.float64],
    people: NDArray[np.float64],
    *,
    systems: int,
    topics: int,
    samples: int,
    seed: int,
) -> dict[str, NDArray[np.float64]]:
    """Return (holds, width) by sample of each rank correlation's interval.

    judge, people: scores, (runs, topics). The bound on topics is not asked here.
    """
    generator = np.random.default_rng(seed)
    found: dict[str, list[tuple[bool, float]]] = {name: [] for name in CORRELATIONS}
    for sample in range(samples):
        some = np.sort(generator.permutation(len(judge))[:systems])
        drawn = generator.integers(judge.shape[1], size=topics)
        both = np.stack([judge[some], people[some]], axis=1)
        for name, correlation in CORRELATIONS.items():
            truth = correlation(*both.mean(2).T.tolist()).value
            estimate = with_interval(
                correlation, both[:, :, drawn].T, Resampling(draws=100, seed=sample), fewest=1
            )
            if truth is not None and estimate.lo is not None and estimate.hi is not None:
                holds = estimate.lo <= truth <= estimate.hi
                found[name].append((holds, estimate.hi - estimate.lo))
    return {name: np.array(rows, dtype=float) for name, rows in found.items()}


def main() -> None:
    """Print the tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print("| | queries | percentiles | symmetric bootstrap-t |\n| --- | --- | --- | --- |")
    for label, kind in KINDS.items():
        for name in NAMES:
            for queries in QUERIES:
                truth, both = coverage(
                    kind, name, queries, samples=arguments.samples, seed=arguments.seed
                )
                cells = [
                    f"{f[:, 0].mean():.1%} ({f[:, 1].mean():.1%}) / {np.median(f[:, 2]):.2f}"
                    for f in both
                ]
                print(f"| {label}: {name}, true {truth:.2f} | {queries} | {' | '.join(cells)} |")
    print("\n| labelled | grade 0 | grade 1 | grade 2 | grade 3 |\n|" + " --- |" * 5)
    for plan, n in (("chunks", 30), ("chunks", 100), ("rows", 10), ("rows", 15)):
        table = shares(plan, n, samples=arguments.samples, seed=arguments.seed)
        cells = [f"{a:.1%} / {b:.2f}" for a, b in table.mean(0)]
        print(f"| {n} {plan} | {' | '.join(cells)} |")
    if arguments.files:
        _print_orders(arguments)


def _print_orders(arguments: argparse.Namespace) -> None:
    runs = list(read_runs(arguments.files[0]).values())
    verdicts, labels = read_verdicts(arguments.files[1]), read_labels(arguments.files[2])
    both = sources(verdicts.grades, labels.labels).shared
    how = Scoring(parse_measure("nDCG@10"))
    judge, people = (score_runs(runs, side, how) for side in (both.judge, both.people))
    print(f"\n| systems | topics | {' | '.join(CORRELATIONS)} |\n|" + " --- |" * 5)
    for systems in (len(runs), 12):
        for topics in (10, 20, 30, 43, 60):
            found = orders(
                judge, people, systems=systems, topics=topics,
                samples=arguments.samples, seed=arguments.seed,
            )  # fmt: skip
            cells = [f"{f[:, 0].mean():.0%} / {np.median(f[:, 1]):.2f}" for f in found.values()]
            print(f"| {systems} | {topics} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
