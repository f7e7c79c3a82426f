"""Count what compare and gate conclude where the truth is known: tables of docs/statistics.md.

    python scripts/check_verdicts.py alike ../shared/data/dl19 --pairs 1000
    python scripts/check_verdicts.py population
    python scripts/check_verdicts.py repeats

`alike`: pairs that do not differ. Two orders of one system's list, each shuffled within places
that tie, and two systems of which chance says, query by query, which is called the candidate.
"""

from __future__ import annotations

import argparse
import gzip
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from judge.comparing.change import Change, Verdict, change, claimed  # noqa: E402
from judge.measures.names import Measure, parse_measure  # noqa: E402
from judge.measures.pool import Bounded  # noqa: E402
from judge.scoring import Mean  # noqa: E402
from judge.statistics.significance import moments  # noqa: E402
from judge.statistics.student import t_quantile  # noqa: E402
from judge.stopping.outcome import Claim, Outcome, Rule  # noqa: E402
from judge.stopping.ruling import GateRows, rule_on  # noqa: E402

MEASURES = tuple(map(parse_measure, ("nDCG@10", "RR", "R@5", "R@10")))
SLICE_SIZES = (2, 3, 5, 10)
TIED = 3
MARGIN = 0.01
NO_MEAN = Mean(0.0, 0.0, 0.0, 1)
Grades = dict[str, int]
Differences = dict[Measure, list[float]]
Drawn = np.random.Generator


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("table", choices=("alike", "population", "repeats"))
    parser.add_argument("data", type=Path, nargs="?", help="folder of the DL 2019 data")
    parser.add_argument("--pairs", type=int, default=1000, help="pairs of each kind [1000]")
    arguments = parser.parse_args()
    if arguments.table == "alike":
        tell_alike(arguments.data, arguments.pairs)
    else:
        {"population": tell_population, "repeats": tell_repeats}[arguments.table]()


def known(values: Sequence[float]) -> list[Bounded]:
    """Return differences of which nothing is open."""
    return [Bounded(float(v), float(v), float(v)) for v in values]


def ruled(values: Sequence[float], rule: Rule, slices: Sequence[str | None] = ()) -> Outcome:
    """Return what a gate says of one measure's differences."""
    n = len(values)
    rows = GateRows(range(n), slices or [None] * n, [1.0] * n, known(values))
    return rule_on(rows, rule).outcome


# Pairs that are alike.


def tell_alike(data: Path, pairs: int) -> None:
    """Print how often a difference is called better or worse, and whether a gate fails rightly."""
    lists, grades = read(data)
    kinds: dict[str, Callable[[Drawn], Differences]] = {
        "orders of ties": lambda drawn: tied(lists, grades, drawn),
        "swapped systems": lambda drawn: swapped(lists, grades, drawn),
    }
    for kind, pair in kinds.items():
        deciding = anywhere = fails = wrong = 0
        for seed in range(pairs):
            drawn = np.random.default_rng(seed)
            differences = pair(drawn)
            slices = slices_of(len(next(iter(differences.values()))), drawn)
            verdicts = claims(differences, slices)
            deciding += verdicts[0] is not Verdict.NO_DIFFERENCE
            anywhere += any(verdict is not Verdict.NO_DIFFERENCE for verdict in verdicts)
            for values in differences.values():
                failed = ruled(values, Rule(MARGIN), slices) is Outcome.FAIL
                fails += failed
                wrong += failed != drops(values, slices)
        print(
            f"{kind}, {pairs} pairs: deciding measure {deciding / pairs:.1%}, anywhere"
            f" {anywhere / pairs:.1%}; gate (these queries): {fails} of {pairs * len(MEASURES)}"
            f" measures fail, {wrong} against exact arithmetic",
            flush=True,
        )


def claims(differences: Differences, slices: Sequence[str]) -> list[Verdict]:
    """Return every verdict of a comparison, the deciding one first."""
    at = {name: [i for i, of in enumerate(slices) if of == name] for name in dict.fromkeys(slices)}
    overall = {measure: of(values) for measure, values in differences.items()}
    by_slice = {
        name: {measure: of([values[i] for i in places]) for measure, values in differences.items()}
        for name, places in at.items()
    }
    found, in_slices = claimed(overall, by_slice)
    every = [*found.values(), *(one for of in in_slices.values() for one in of.values())]
    return [one.verdict for one in every]


def of(values: Sequence[float]) -> Change:
    """Return what differences come to."""
    return change(known(values), [1.0] * len(values), before=NO_MEAN, after=NO_MEAN)


def drops(values: Sequence[float], slices: Sequence[str]) -> bool:
    """Tell, in fractions, whether the mean or that of a slice is below the margin."""
    parts = [list(values)] + [
        [v for v, of in zip(values, slices, strict=True) if of == name] for name in set(slices)
    ]
    means = [sum(map(Fraction, part)) / len(part) for part in parts]
    # To a trillionth: the margin, and differences of thirds, are no doubles.
    return min(means) < -Fraction(1, 100) - Fraction(1, 10**12)


def slices_of(rows: int, drawn: Drawn) -> list[str]:
    """Return rows in slices of 2, 3, 5, 10 and all others, drawn anew each time."""
    names = [f"s{size}" for size in SLICE_SIZES for _ in range(size)]
    return list(drawn.permutation([*names, *["rest"] * (rows - len(names))]))


def read(data: Path) -> tuple[dict[str, dict[str, list[str]]], dict[str, Grades]]:
    """Return every run's lists by topic, and the grades of each topic."""
    scored: dict[str, dict[str, list[tuple[float, str]]]] = defaultdict(lambda: defaultdict(list))
    with gzip.open(data / "all37_top20.trecrun.gz", "rt") as file:
        for line in file:
            topic, _, id, _, score, run = line.split()
            scored[run][topic].append((float(score), id))
    grades: dict[str, Grades] = defaultdict(dict)
    with gzip.open(data / "human_dl19.qrels.gz", "rt") as file:
        for line in file:
            topic, _, id, grade = line.split()
            grades[topic][id] = int(grade)
    lists = {
        run: {topic: [id for _, id in sorted(found, reverse=True)] for topic, found in of.items()}
        for run, of in scored.items()
    }
    return lists, grades


def tied(
    lists: dict[str, dict[str, list[str]]], grades: dict[str, Grades], drawn: Drawn
) -> Differences:
    """Return differences of two orders of one run, in half of whose topics places tie."""
    run = lists[str(drawn.choice(sorted(lists)))]
    pairs = {}
    for topic, shown in run.items():
        ties = drawn.random() < 0.5
        pairs[topic] = [shuffled(shown, drawn) if ties else shown for _ in range(2)]
    return differences_of(pairs, grades)


def shuffled(shown: Sequence[str], drawn: Drawn) -> list[str]:
    """Return a list with each three neighbours in any order."""
    parts = (shown[start : start + TIED] for start in range(0, len(shown), TIED))
    return [str(id) for part in parts for id in drawn.permutation(part)]


def swapped(
    lists: dict[str, dict[str, list[str]]], grades: dict[str, Grades], drawn: Drawn
) -> Differences:
    """Return differences of two runs of which a coin says, topic by topic, which comes first."""
    first, second = drawn.choice(sorted(lists), 2, replace=False)
    pairs = {}
    for topic, shown in lists[str(first)].items():
        both = [shown, lists[str(second)].get(topic, [])]
        pairs[topic] = both if drawn.random() < 0.5 else both[::-1]
    return differences_of(pairs, grades)


def differences_of(pairs: dict[str, list[list[str]]], grades: dict[str, Grades]) -> Differences:
    """Return second minus first of every measure, topic by topic."""
    scores = [
        [score(shown, grades[topic]) for shown in both] for topic, both in sorted(pairs.items())
    ]
    return {
        measure: [after[i] - before[i] for before, after in scores]
        for i, measure in enumerate(MEASURES)
    }


def score(shown: Sequence[str], grades: Grades) -> tuple[float, ...]:
    """Return nDCG@10, RR, R@5 and R@10; the answers are the three best-graded passages."""
    discounts = [1.0 / math.log2(rank + 2) for rank in range(10)]
    ideal = sorted(grades.values(), reverse=True)[:10]
    gained = sum(grades.get(id, 0) * d for id, d in zip(shown, discounts, strict=False))
    best = sum(grade * d for grade, d in zip(ideal, discounts, strict=False))
    answers = sorted(grades, key=lambda answer: (-grades[answer], answer))[:3]
    ranks = [shown.index(id) + 1 for id in answers if id in shown]
    found = (sum(rank <= k for rank in ranks) / len(answers) for k in (5, 10))
    return gained / best if best else 0.0, 1.0 / min(ranks) if ranks else 0.0, *found


# Queries like these.


def tell_population() -> None:
    """Print how often a gate passes that R@10 is lost in more queries than the margin allows."""
    print("rows  lost in 5%: set, t, population  lost in 1%: set, t, population")
    for rows in (10, 20, 50, 100, 200, 300, 500, 1000):
        cells = [f"{rows:4}"]
        for share in (0.05, 0.01):
            drawn = np.random.default_rng(rows)
            lost = [-1.0 * (drawn.random(rows) < share) for _ in range(2000)]
            passes = [
                sum(ruled(list(v), Rule(MARGIN, claim)) is Outcome.PASS for v in lost)
                for claim in (Claim.SET, Claim.POPULATION)
            ]
            by_t = sum(passes_by_t(list(v)) for v in lost)
            cells += [f"{count / 2000:7.1%}" for count in (passes[0], by_t, passes[1])]
        print(*cells, flush=True)
    print("no change, normal differences: share that passes --claim population")
    for sd in (0.05, 0.10, 0.15):
        drawn = np.random.default_rng(7)
        shares = [
            sum(
                ruled(list(drawn.normal(0, sd, n)), Rule(MARGIN, Claim.POPULATION)) is Outcome.PASS
                for _ in range(200)
            )
            / 200
            for n in (300, 500, 1000, 2000)
        ]
        print(f"sd {sd:.2f}: n = 300, 500, 1000, 2000:", *(f"{s:.0%}" for s in shares), flush=True)


def passes_by_t(values: Sequence[float]) -> bool:
    """Tell whether Student's one-sided bound would pass; where nothing differs it does."""
    found = moments(values)
    if found.se is None:
        return False
    return found.mean - t_quantile(0.95, df=found.df) * found.se > -MARGIN


# Repeats of one run.


def tell_repeats() -> None:
    """Print the share of true drops that fail, by how often the candidate was run."""
    rows, slices = 40, [f"s{i % 4}" for i in range(40)]
    print("drop   within a row   repeats 1, 3, 5, 10: share failed")
    for drop in (0.10, 0.05, 0.03, 0.015, 0.0):
        for noise in (0.10, 0.30):
            shares = []
            for repeats in (1, 3, 5, 10):
                drawn = np.random.default_rng(repeats)
                failed = 0
                for _ in range(2000):
                    values = drawn.normal(-drop, noise, (repeats, rows)).mean(0)
                    failed += ruled(list(values), Rule(MARGIN), slices) is Outcome.FAIL
                shares.append(f"{failed / 2000:.1%}")
            print(f"{drop:.3f}  {noise:.2f}          ", *shares, flush=True)


if __name__ == "__main__":
    main()
