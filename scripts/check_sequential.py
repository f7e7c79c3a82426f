"""Measure how often the sequential test of `--until confident` errs, where it is hardest.

The claim is a bound: it errs with a chance of at most 1 - confidence, whatever the grades.
Two kinds of rows try it, each judged again with many seeds of the draws: rows made up so
that a few, which look like all others until they are judged, turn a candidate that is
ahead everywhere else just behind; and pairs of TREC DL 2019 runs that lie closest together,
graded by GPT-4o's recorded labels.

    python scripts/check_sequential.py ../shared/data/dl19 --seeds 200 --closest 20
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts")]

import bench_calls_saved as bench  # noqa: E402
from stopping_pools import CONTRAST, Answering, Rows, hiding_rows, true_sign  # noqa: E402

from judge.cascade import grade_runs  # noqa: E402
from judge.judging.backends import open_backend  # noqa: E402
from judge.judging.judge import Judge  # noqa: E402
from judge.judging.prompt import load_prompt  # noqa: E402
from judge.run import Run  # noqa: E402
from judge.stopping.confident import Confident  # noqa: E402

CONFIDENCES = (0.9, 0.99)


def main() -> None:
    """Print one line a population and confidence."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with the DL 2019 runs, grades and texts")
    parser.add_argument("--seeds", type=int, default=200, help="draws of each population [200]")
    parser.add_argument("--closest", type=int, default=20, help="how many close pairs [20]")
    arguments = parser.parse_args()
    for hidden in (1, 2, 3):
        rows = hiding_rows(hidden)
        report(f"{hidden} of {len(rows)} rows decide", [rows], arguments.seeds)
    report(f"{arguments.closest} closest pairs", closest_pairs(arguments), arguments.seeds)


def report(name: str, populations: Sequence[Rows], seeds: int) -> None:
    """Print how often a wrong sign was found, at the most in one population and in all."""
    for confidence in CONFIDENCES:
        rates = [error_rate(rows, confidence, seeds) for rows in populations]
        print(
            f"{name}, {seeds} draws each, confidence {confidence}: wrong"
            f" {sum(rates) / len(rates):.2%} on average, {max(rates):.2%} at most",
            flush=True,
        )


def error_rate(rows: Rows, confidence: float, seeds: int) -> float:
    """Return the share of seeds with which the test names the wrong sign."""
    truth, wrong = true_sign(rows), 0
    for seed in range(seeds):
        selector = Confident(CONTRAST, confidence=confidence, seed=seed)
        Answering(rows).run(selector, limit=16)
        wrong += selector.finding is not None and selector.finding.sign == -truth
    return wrong / seeds


def closest_pairs(arguments: argparse.Namespace) -> list[Rows]:
    """Return both lists and all grades of every topic, for the closest pairs of runs."""
    runs, grades = bench.official_runs(arguments.data)
    pairs = bench.choose_pairs(sorted(runs), arguments)
    return [graded((runs[a], runs[b]), grades) for a, b in pairs]


def graded(pair: tuple[Run, Run], grades: Path) -> Rows:
    """Judge everything; return each topic as the two lists and the grades of their chunks."""
    backend = open_backend(f"replay:{grades}", grade_max=3)
    with Judge([backend], load_prompt(None)) as judge:
        pools = grade_runs(pair, settings=bench.SETTINGS, judge=judge).pools
    found = []
    for pool in pools:
        before, after = (
            [pool.ids[member] for member in ranking[:10] if member is not None]
            for ranking in pool.rankings
        )
        known = zip(pool.ids, pool.judgments, strict=True)
        found.append((before, after, {id: judgment.lo for id, judgment in known}))
    return found


if __name__ == "__main__":
    main()
