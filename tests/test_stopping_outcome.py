"""`judge.stopping.outcome`: decisions under completions, slices, strict, and error rates."""

from __future__ import annotations

import csv
import itertools
import math
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from judge.errors import UsageError
from judge.measures.pool import Bounded
from judge.stopping.outcome import Outcome, Rule, decide

# Example 1 and 2 of statistics.md E.
FIRST = [0.06, -0.01, 0.08, 0.04, 0.0, 0.09, -0.03, 0.06, 0.06, 0.03]
SECOND = [-0.02, 0.01, -0.03, 0.0, -0.01, 0.02, -0.04, 0.01, -0.02, 0.0]


def known(values: list[float]) -> list[Bounded]:
    return [Bounded(v, v, v) for v in values]


def outcome(rows: list[Bounded], rule: Rule, slices: Sequence[str | None] = ()) -> Outcome:
    return decide(rows, [1.0] * len(rows), slices or [None] * len(rows), rule=rule).outcome


@pytest.mark.parametrize(
    ("values", "margin", "expected"),
    [
        (FIRST, 0.01, Outcome.PASS),
        (SECOND, 0.01, Outcome.UNDECIDED),
        (SECOND, 0.03, Outcome.PASS),
        ([v - 0.1 for v in FIRST], 0.01, Outcome.FAIL),
    ],
)
def test_worked_examples(values: list[float], margin: float, expected: Outcome) -> None:
    assert outcome(known(values), Rule(margin)) is expected


@pytest.mark.parametrize("drop", [0.3 - 0.4, 0.1 - 0.2, 0.7 - 0.8])
def test_rows_that_all_drop_by_the_margin_neither_pass_nor_fail(drop: float) -> None:
    # Both bounds are -.1: not above it, not below it, however the drop was rounded.
    found = decide(known([drop] * 4), [1.0] * 4, ["a", "a", "b", "b"], rule=Rule(0.1))
    assert (found.outcome, found.failed) == (Outcome.UNDECIDED, ())


def test_bounds_stay_within_what_a_mean_difference_can_be() -> None:
    # Two rows of weights 1 and 100 tell as much as 101² / 10001 = 1.02 rows.
    found = decide(known([0.2, -0.1]), [1.0, 100.0], [None] * 2, rule=Rule())
    assert found.bounds == (-1.0, 1.0)


def test_a_trace_of_rounding_fails_no_slice() -> None:
    found = decide(known([-1.2e-17] * 4), [1.0] * 4, ["a", "a", "b", "b"], rule=Rule(0.0))
    assert (found.outcome, found.failed) == (Outcome.PASS, ())


def test_identical_lists_pass_even_as_one_row() -> None:
    assert outcome(known([0.0]), Rule()) is Outcome.PASS


def test_a_pass_holds_under_every_completion() -> None:
    # The lower bound of FIRST is .014845; one row may sink a little, not far.
    rows = known(FIRST)
    rows[0] = Bounded(0.06, 0.04, 0.06)
    assert outcome(rows, Rule(0.01)) is Outcome.PASS
    rows[0] = Bounded(0.06, -0.9, 0.06)
    found = decide(rows, [1.0] * 10, [None] * 10, rule=Rule(0.01))
    assert found.outcome is Outcome.UNDECIDED
    assert found.is_open


def test_undecided_by_noise_is_not_open() -> None:
    found = decide(known(SECOND), [1.0] * 10, [None] * 10, rule=Rule(0.01))
    assert not found.is_open


def test_a_collapsing_slice_fails_although_the_mean_rises() -> None:
    values = [0.2, 0.3, 0.25, 0.2, 0.3, 0.25, 0.2, 0.3, -0.3, -0.31, -0.29, -0.3]
    slices = ["good"] * 8 + ["bad"] * 4
    found = decide(known(values), [1.0] * 12, slices, rule=Rule(0.01))
    assert sum(values) > 0
    assert found.failed == ("bad",)
    assert found.outcome is Outcome.FAIL


def test_slices_of_one_row_are_no_tests_for_holm() -> None:
    # Two rows of -.2 and -.25 have the one-sided 95% bound -.225 + 6.314 * .035355 / sqrt(2) =
    # -.067; at half of 5% it is -.225 + 12.706 * .025 = +.093. The single rows cannot fail.
    values = [0.3, 0.3, 0.3, 0.3, 0.3, -0.2, -0.25]
    slices = ["a", "b", "c", "d", "e", "pair", "pair"]
    assert decide(known(values), [1.0] * 7, slices, rule=Rule()).failed == ("pair",)


def test_noise_in_a_small_slice_never_makes_it_undecided() -> None:
    values = [*([0.05] * 20), 0.2, -0.25]
    slices = ["large"] * 20 + ["small"] * 2
    assert outcome(known(values), Rule(0.02), slices) is Outcome.PASS


def test_an_open_chunk_that_could_sink_a_slice_does() -> None:
    rows = [*known([0.05, 0.06] * 20), *[Bounded(0.0, -0.35, 0.0), Bounded(0.0, -0.36, 0.0)] * 3]
    slices = ["large"] * 40 + ["small"] * 6
    found = decide(rows, [1.0] * 46, slices, rule=Rule(0.05))
    assert found.overall is Outcome.PASS
    assert found.open_slices == ("small",)
    assert found.outcome is Outcome.UNDECIDED


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (Bounded(-0.001, -0.001, -0.001), Outcome.FAIL),
        (Bounded(-0.2, -0.2, 0.3), Outcome.UNDECIDED),
        (Bounded(0.0, 0.0, 0.3), Outcome.PASS),
    ],
)
def test_strict_fails_any_certain_drop(row: Bounded, expected: Outcome) -> None:
    assert outcome([*known([0.0] * 5), row], Rule(strict=True)) is expected


def test_bounds_are_those_of_the_worked_example() -> None:
    # Example 2 of statistics.md E: mean -0.008000, one-sided 95% bounds [-0.019201, 0.003201].
    found = decide(known(SECOND), [1.0] * 10, [None] * 10, rule=Rule(0.01))
    assert found.bounds == pytest.approx((-0.019201, 0.003201), abs=1e-6)
    assert decide(known([0.0] * 3), [1.0] * 3, [None] * 3, rule=Rule()).bounds is None


@pytest.mark.parametrize("margin", [math.nan, math.inf, -0.01, 1.5])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    # Nothing is below minus nan: everything would pass.
    with pytest.raises(UsageError, match="the margin is"):
        Rule(margin)


def test_one_row_that_could_be_equal_could_still_pass() -> None:
    # Lists of one row: a completion in which they score alike passes, any other shows nothing.
    found = decide([Bounded(0.0, -0.1, 0.2)], [1.0], [None], rule=Rule())
    assert found.possible == {Outcome.PASS, Outcome.UNDECIDED}
    assert found.is_open


def dl19_differences(data: Path) -> list[list[float]]:
    """Return per-query nDCG@10 differences of pairs of official DL 2019 runs."""
    values: dict[str, list[float]] = defaultdict(list)
    with (data / "dl19/per_topic_ndcg_cut_10.trec_eval.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["topic"] != "average":
                values[row["runid"]].append(float(row["ndcg_cut_10"]))
    pairs = random.Random(5).sample(list(itertools.combinations(sorted(values), 2)), 50)
    return [[b - a for a, b in zip(values[x], values[y], strict=True)] for x, y in pairs]


@pytest.mark.slow
def test_error_rates_on_real_differences(data: Path) -> None:
    pairs = dl19_differences(data)
    drawn = random.Random(11)
    fails = passes = 0
    margin = 0.01
    for draw in range(1000):
        differences = pairs[draw % len(pairs)]
        slices = [f"s{i % 4}" for i in range(len(differences))]
        weights = [1.0] * len(differences)
        flipped = known([d * drawn.choice((1, -1)) for d in differences])
        fails += decide(flipped, weights, slices, rule=Rule(margin)).outcome is Outcome.FAIL
        # A new sample of queries from a population whose true mean is -margin.
        mean = sum(differences) / len(differences)
        shifted = [d - mean - margin for d in differences]
        sample = known(drawn.choices(shifted, k=len(shifted)))
        passes += decide(sample, weights, slices, rule=Rule(margin)).overall is Outcome.PASS
    assert fails <= 65
    assert passes <= 65
