"""`judge.comparing.change`: what may be said of differences, and what may not."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest

from judge.comparing.change import Change, Verdict, change, claimed, t_interval
from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.scoring import Mean

NDCG, RANK = Measure("nDCG", 10), Measure("RR")
MEAN = Mean(0.5, 0.5, 0.5, 1)


def known(values: Sequence[float]) -> list[Bounded]:
    return [Bounded(v, v, v) for v in values]


def of(rows: Sequence[Bounded], weights: Sequence[float] = ()) -> Change:
    return change(rows, weights or [1.0] * len(rows), before=MEAN, after=MEAN)


def decided(values: Sequence[float]) -> Verdict:
    overall, _ = claimed({NDCG: of(known(values))}, {})
    return overall[NDCG].verdict


@pytest.mark.parametrize(
    ("values", "p", "verdict"),
    [
        # statistics.md H: n equal differences give 2 / 2^n.
        ([0.5] * 2, 0.5, Verdict.NO_DIFFERENCE),
        ([0.5] * 3, 0.25, Verdict.NO_DIFFERENCE),
        ([0.5] * 5, 0.0625, Verdict.NO_DIFFERENCE),
        ([0.5] * 6, 0.03125, Verdict.BETTER),
        ([-0.5] * 6, 0.03125, Verdict.WORSE),
        ([0.5] * 10, 0.001953125, Verdict.BETTER),
        ([0.2, 0.1, 0.3, -0.05, 0.4, 0.15, 0.02], 0.046875, Verdict.BETTER),
        ([0.0] * 8, 1.0, Verdict.NO_DIFFERENCE),
        ([0.3], 1.0, Verdict.NO_DIFFERENCE),
    ],
)
def test_worked_values(values: list[float], p: float, verdict: Verdict) -> None:
    assert of(known(values)).flip.p == p
    assert decided(values) is verdict


def test_nothing_is_claimed_before_everything_that_was_looked_at_is_known() -> None:
    assert of(known([0.5] * 10)).verdict is Verdict.NO_DIFFERENCE


@pytest.mark.parametrize(
    "rows",
    [
        known([0.5, 0.5]),
        known([0.1, 0.2, 0.3, 0.4, 0.5]),
        known([0.0] * 40),
        known([0.3] * 12),
        # Six may differ, five do.
        [*known([0.1, 0.2, 0.3, 0.4, 0.5]), Bounded(0.0, 0.0, 0.6)],
        # All could be .2.
        [*known([0.2] * 6), Bounded(0.1, 0.1, 0.3)],
    ],
)
def test_no_interval_where_t_cannot_keep_its_promise(rows: list[Bounded]) -> None:
    assert t_interval(rows, [1.0] * len(rows)) is None


def test_an_interval_where_six_rows_differ() -> None:
    # Mean 1.12 / 7 = .16, sd .156098; t(.975, 6) = 2.446912: .16 -+ 2.446912 * sd / sqrt(7).
    found = of(known([0.2, 0.1, 0.3, -0.05, 0.4, 0.15, 0.02]))
    assert found.interval == pytest.approx((0.015633, 0.304367), abs=2e-6)


@pytest.mark.slow
def test_every_completion_keeps_what_is_said_while_grades_are_open() -> None:
    drawn = random.Random(5)
    for _ in range(60):
        rows = []
        for _ in range(7):
            lo, hi = sorted(drawn.choices(range(-2, 6), k=2))
            rows.append(Bounded(lo / 10, lo / 10, hi / 10))
        p = of(rows).flip.p
        worst = max(
            of(known(values)).flip.p
            for values in itertools.product(*({row.lo, row.hi} for row in rows))
        )
        assert worst <= p + 1e-12
        mean_open = sum(r.lo for r in rows) < 0 < sum(r.hi for r in rows)
        if not mean_open:
            assert p == pytest.approx(worst)


def test_an_open_row_takes_the_claim_back() -> None:
    rows = [*known([0.2, 0.1, 0.3, 0.05, 0.4]), Bounded(0.0, 0.0, 0.1)]
    (found,) = claimed({NDCG: of(rows)}, {})[0].values()
    assert (found.sign, found.flip.p, found.verdict) == (1, 0.0625, Verdict.NO_DIFFERENCE)
    (closed,) = claimed({NDCG: of([*rows[:5], *known([0.1])])}, {})[0].values()
    assert closed.verdict is Verdict.BETTER


def test_a_look_is_called_better_or_worse_only_once_the_deciding_measure_is_shown() -> None:
    clear, nothing = of(known([-0.2] * 12)), of(known([0.1, -0.1] * 6))
    overall, slices = claimed({NDCG: nothing, RANK: clear}, {"s": {NDCG: clear}})
    assert overall[RANK].stands_out and overall[RANK].verdict is Verdict.NO_DIFFERENCE
    assert slices["s"][NDCG].stands_out and slices["s"][NDCG].verdict is Verdict.NO_DIFFERENCE
    overall, slices = claimed({NDCG: clear, RANK: clear}, {"s": {NDCG: clear}})
    assert overall[RANK].verdict is slices["s"][NDCG].verdict is Verdict.WORSE
    # Two looks: twice 2 / 2^12 each.
    assert overall[RANK].p_holm == slices["s"][NDCG].p_holm == 4 / 2**12
    assert overall[NDCG].p_holm is None


@pytest.mark.parametrize("weights", [[1e308] * 6, [5e-324] * 6, [1e308, 1, 1, 1, 1, 5e-324]])
def test_weights_of_any_size(weights: list[float]) -> None:
    found = of(known([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), weights)
    assert found.difference.value == pytest.approx(0.1 if len(set(weights)) > 1 else 0.35)
    assert (found.interval is None) == (len(set(weights)) > 1)
    assert found.rows == 6
