"""Count the judge calls that each way of stopping saves on TREC DL 2019 passage runs.

Pairs of the 37 official runs are compared on nDCG@10 with GPT-4o's recorded grades as
the judge (`replay:`), through the same pipeline as `judge compare`. All calls are the
union of both top tens. For every way: how many of these it made, and whether it names
the sign that judging everything gives.

    python scripts/bench_calls_saved.py ../shared/data/dl19
    python scripts/bench_calls_saved.py ../shared/data/dl19 --closest 20
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judge.cascade import Settings, grade_runs
from judge.contrast import Contrast
from judge.evidence.pool import QueryPool
from judge.formats import ReadOptions, read_runs
from judge.judging.backends import open_backend
from judge.judging.judge import Judge
from judge.judging.limits import Limits
from judge.judging.prompt import load_prompt
from judge.judging.selector import Ask, Selector
from judge.measures.names import Measure
from judge.run import Run
from judge.scoring import Scale
from judge.stopping.confident import Confident
from judge.stopping.directed import Directed
from judge.stopping.goals import Sign, mean_range

MEASURE = Measure("nDCG", 10)
CONTRAST = Contrast(MEASURE, (-1.0, 1.0), Scale("linear", 3))
SETTINGS = Settings((MEASURE,))


class Greedy:
    """The plain order to be beaten: in the widest row the largest weight, until certain."""

    def __init__(self) -> None:
        self._directed = Directed(CONTRAST, Sign())

    def next(self, pools: Sequence[QueryPool], *, limit: int) -> list[Ask]:
        """Return one ask."""
        standing = self._directed.standing(pools)
        if Sign().aim(standing) is None:
            return []
        rows = self._directed.open_rows
        if not rows:
            return []
        widest = max(rows, key=lambda i: rows[i].bounded.hi - rows[i].bounded.lo)
        row = rows[widest]
        member = max(row.members, key=lambda m: abs(float(row.weights[m])))
        return [(widest, chunk) for chunk in pools[widest].asks[member]]


WAYS: Mapping[str, Callable[[], Selector | None]] = {
    "all": lambda: None,
    "greedy": Greedy,
    "decided": lambda: Directed(CONTRAST, Sign()),
    "confident=0.99": lambda: Confident(CONTRAST, confidence=0.99),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one way made of one pair: its calls and the sign it names (0: none)."""

    calls: int
    sign: int


def compare(pair: tuple[Run, Run], way: str, *, grades: Path, concurrency: int) -> Outcome:
    """Judge one pair until the way is content."""
    selector = WAYS[way]()
    backend = open_backend(f"replay:{grades}", grade_max=3)
    with Judge([backend], load_prompt(None), limits=Limits(concurrency=concurrency)) as judge:
        grading = grade_runs(pair, settings=SETTINGS, judge=judge, selector=selector)
    finding = selector.finding if isinstance(selector, Confident) else None
    if finding is not None:
        return Outcome(len(grading.verdicts), finding.sign)
    rows = [row for row in CONTRAST.rows(grading.pools) if row is not None]
    lo, hi = mean_range(rows, [1.0 / len(rows)] * len(rows))
    return Outcome(len(grading.verdicts), int(hi > 0.0 and lo >= 0.0) - int(lo < 0.0 and hi <= 0.0))


def main() -> None:
    """Print the table."""
    arguments = parse_arguments()
    runs, grades = official_runs(arguments.data)
    tags = choose_pairs(sorted(runs), arguments)
    ways = ["all", *(way for way in WAYS if way != "all" and way in arguments.ways)]
    outcomes: dict[str, list[Outcome]] = {way: [] for way in ways}
    for a, b in tags:
        for way in ways:
            one_at_a_time = 1 if way == "greedy" else arguments.concurrency
            outcomes[way].append(
                compare((runs[a], runs[b]), way, grades=grades, concurrency=one_at_a_time)
            )
        print_pair(a, b, {way: found[-1] for way, found in outcomes.items()})
    print_table(outcomes)


def official_runs(data: Path) -> tuple[dict[str, Run], Path]:
    """Return the 37 runs by tag, with texts, and the file of GPT-4o's grades."""
    runs = read_runs(
        data / "all37_top20.trecrun.gz",
        ReadOptions(),
        corpus=data / "passages_dl19.jsonl.gz",
        queries=data / "topics_dl19.tsv.gz",
    )
    return runs, data / "llm_umbrela-gpt4o_dl19.qrels.gz"


def parse_arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with the DL 2019 runs, grades and texts")
    parser.add_argument("--seed", type=int, default=1, help="of the random pairs [1]")
    parser.add_argument("--pairs", type=int, default=40, help="how many random pairs [40]")
    parser.add_argument("--closest", type=int, default=0, help="the n closest pairs instead")
    parser.add_argument("--concurrency", type=int, default=16, help="of the judge [16]")
    parser.add_argument("--ways", nargs="*", default=list(WAYS), help="which ways [all of them]")
    return parser.parse_args()


def choose_pairs(tags: Sequence[str], arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """Return random pairs, or those whose official means lie closest together."""
    pairs = list(itertools.combinations(tags, 2))
    if not arguments.closest:
        return random.Random(arguments.seed).sample(pairs, arguments.pairs)
    import json

    means = json.loads((arguments.data / "nist_official_ndcg_cut_10.json").read_text())
    return sorted(pairs, key=lambda pair: abs(means[pair[0]] - means[pair[1]]))[: arguments.closest]


def print_pair(a: str, b: str, found: Mapping[str, Outcome]) -> None:
    """Print one line a pair: the share of all calls, and `!` where the sign is wrong."""
    whole = found["all"]
    shares = (
        f"{way} {outcome.calls / whole.calls:.0%}{'' if right(outcome, whole) else '!'}"
        for way, outcome in found.items()
        if way != "all"
    )
    print(f"{a:>22} {b:<22} {whole.calls:4} calls  " + "  ".join(shares), flush=True)


def right(outcome: Outcome, whole: Outcome) -> bool:
    """Tell whether a sign is that of judging everything; a true 0 makes either right."""
    return whole.sign == 0 or outcome.sign == whole.sign


def print_table(outcomes: Mapping[str, Sequence[Outcome]]) -> None:
    """Print quartiles, mean and range of the share of calls, and how many signs are right."""
    whole = outcomes["all"]
    heads = ("least", "25%", "median", "75%", "most", "mean")
    print(f"\n{'way':16} {' '.join(f'{head:>7}' for head in heads)}   right")
    for way, found in outcomes.items():
        shares = [o.calls / all_.calls for o, all_ in zip(found, whole, strict=True)]
        good = sum(itertools.starmap(right, zip(found, whole, strict=True)))
        figures = [*np.percentile(shares, [0, 25, 50, 75, 100]), np.mean(shares)]
        print(
            f"{way:16} {' '.join(f'{figure:7.1%}' for figure in figures)}   {good} of {len(found)}"
        )


if __name__ == "__main__":
    main()
