"""`judge.stopping.ruling`: what a gate says of these queries, and of queries like them."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

from judge.errors import UsageError
from judge.measures.pool import Bounded
from judge.stopping.outcome import Claim, Outcome, Rule
from judge.stopping.ruling import GateRows, Ruling, rule_on

POPULATION = Rule(claim=Claim.POPULATION)


def known(values: Sequence[float]) -> list[Bounded]:
    return [Bounded(v, v, v) for v in values]


def ruled(
    rows: Sequence[Bounded],
    rule: Rule,
    *,
    slices: Sequence[str | None] = (),
    weights: Sequence[float] = (),
    identical: bool = False,
) -> Ruling:
    n = len(rows)
    found = GateRows(range(n), slices or [None] * n, weights or [1.0] * n, rows, identical)
    return rule_on(found, rule)


@pytest.mark.parametrize(
    ("values", "margin", "expected"),
    [
        # Their mean is -.008: within .01, beyond .007; no noise of theirs plays a part.
        ([-0.02, 0.01, -0.03, 0.0, -0.01, 0.02, -0.04, 0.01, -0.02, 0.0], 0.01, Outcome.PASS),
        ([-0.02, 0.01, -0.03, 0.0, -0.01, 0.02, -0.04, 0.01, -0.02, 0.0], 0.007, Outcome.FAIL),
        ([-0.001, 0.0, 0.0], 0.0, Outcome.FAIL),
        ([-0.001, 0.001], 0.0, Outcome.PASS),
        ([0.0], 0.0, Outcome.PASS),
        # A mean of exactly the margin is not lower by more, however it was rounded.
        ([0.3 - 0.4, 0.1 - 0.2, 0.7 - 0.8], 0.1, Outcome.PASS),
        ([-1.2e-17] * 4, 0.0, Outcome.PASS),
    ],
)
def test_the_mean_of_these_rows_decides(
    values: list[float], margin: float, expected: Outcome
) -> None:
    assert ruled(known(values), Rule(margin)).outcome is expected


def test_a_slice_of_one_row_is_a_slice() -> None:
    found = ruled(known([0.05] * 20 + [-0.02]), Rule(), slices=["large"] * 20 + ["small"])
    assert (found.failed, found.outcome) == (("small",), Outcome.FAIL)


def test_a_slice_that_falls_within_the_margin_passes_even_to_zero() -> None:
    # .005 was all there was of it: no rule of its own makes that a fail.
    found = ruled(known([0.05] * 20 + [-0.005]), Rule(), slices=["large"] * 20 + ["small"])
    assert found.outcome is Outcome.PASS


def test_weights_count() -> None:
    # (3 * -.02 + 1 * .02) / 4 = -.01 passes, (4 * -.02 + .02) / 5 = -.012 fails.
    assert ruled(known([-0.02, 0.02]), Rule(), weights=[3, 1]).outcome is Outcome.PASS
    assert ruled(known([-0.02, 0.02]), Rule(), weights=[4, 1]).outcome is Outcome.FAIL


@pytest.mark.parametrize("weight", [5e-324, 1e308])
def test_weights_of_any_size_are_equal_weights(weight: float) -> None:
    found = ruled(known([-0.4, 0.1, 0.1]), Rule(), weights=[weight] * 3)
    assert found.ranges[None] == pytest.approx((-0.2 / 3, -0.2 / 3))


@pytest.mark.parametrize(
    ("row", "possible"),
    [
        (Bounded(-0.2, -0.2, 0.3), {Outcome.PASS, Outcome.FAIL}),
        (Bounded(0.0, 0.0, 0.3), {Outcome.PASS}),
        (Bounded(-0.3, -0.3, -0.2), {Outcome.FAIL}),
    ],
)
def test_every_completion_counts(row: Bounded, possible: set[Outcome]) -> None:
    found = ruled([*known([0.0] * 5), row], Rule())
    assert found.possible == possible
    assert found.is_open == (len(possible) > 1)


@pytest.mark.slow
def test_possible_outcomes_are_those_of_every_completion_by_exact_arithmetic() -> None:
    drawn = random.Random(3)
    for _ in range(300):
        ends = [sorted(drawn.choices(range(-4, 5), k=2)) for _ in range(4)]
        slices = drawn.choices(["a", "b", None], k=4)
        weights = drawn.choices([1, 2, 3], k=4)
        margin = drawn.choice([0, 1, 2])
        rows = [Bounded(lo / 10, lo / 10, hi / 10) for lo, hi in ends]
        found = ruled(rows, Rule(margin / 10), slices=slices, weights=weights)
        expected = set()
        for chosen in itertools.product(*(range(lo, hi + 1) for lo, hi in ends)):
            parts = [range(4), *([i for i in range(4) if slices[i] == s] for s in ("a", "b"))]
            means = [
                Fraction(sum(weights[i] * chosen[i] for i in at), sum(weights[i] for i in at))
                for at in parts
                if at
            ]
            expected.add(Outcome.FAIL if min(means) < -margin else Outcome.PASS)
        assert found.possible == expected


def test_open_slices_that_could_fail_are_named() -> None:
    rows = [*known([0.05] * 4), Bounded(0.0, -0.35, 0.0)]
    found = ruled(rows, Rule(0.05), slices=["large"] * 4 + ["small"])
    # Overall (.2 - .35) / 5 = -.03 is within the margin in every completion.
    assert found.could_fail == ("small",)
    assert found.outcome is Outcome.UNDECIDED


def test_rows_without_a_difference_show_little_of_other_queries() -> None:
    # 1 - .05 ** (1 / n) = .0099 at n = 300 is the least that could be shown by anybody.
    assert ruled(known([0.0] * 300), POPULATION).outcome is Outcome.UNDECIDED
    assert ruled(known([0.0] * 300), Rule(0.02, Claim.POPULATION)).outcome is Outcome.PASS
    assert ruled(known([0.0] * 500), POPULATION).outcome is Outcome.PASS
    assert ruled(known([0.0] * 300), Rule()).outcome is Outcome.PASS


def test_identical_lists_pass_as_one_row_too() -> None:
    assert ruled(known([0.0]), POPULATION, identical=True).outcome is Outcome.PASS
    assert ruled(known([0.0]), POPULATION).outcome is Outcome.UNDECIDED


def test_what_fails_on_these_queries_fails_under_both_claims() -> None:
    for rule in (Rule(), POPULATION):
        assert ruled(known([-0.02] * 30), rule).outcome is Outcome.FAIL


def test_slices_are_held_to_these_queries_only() -> None:
    rows, slices = known([0.0] * 500), ["large"] * 498 + ["small"] * 2
    assert ruled(rows, POPULATION, slices=slices).outcome is Outcome.PASS


def test_open_rows_could_show_it_or_not() -> None:
    # 500 rows of which fifty may lose .1 each: in the mean .01 at most, which is allowed here,
    # but not shown of others.
    rows = [*known([0.0] * 450), *[Bounded(-0.1, -0.1, 0.0)] * 50]
    found = ruled(rows, POPULATION)
    assert found.possible == {Outcome.PASS, Outcome.UNDECIDED}


@pytest.mark.parametrize("margin", [math.nan, math.inf, -0.01, 1.5])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    # Nothing is below minus nan: everything would pass.
    with pytest.raises(UsageError, match="the margin is"):
        Rule(margin)


def test_a_margin_of_everything_passes_everything() -> None:
    assert ruled(known([-1.0]), Rule(1.0, Claim.POPULATION)).outcome is Outcome.PASS
