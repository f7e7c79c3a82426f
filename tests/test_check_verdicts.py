"""`scripts/check_verdicts.py` in small: what is concluded where the truth is known."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

from check_verdicts import (
    MARGIN,
    claims,
    differences_of,
    drops,
    read,
    ruled,
    slices_of,
    swapped,
)

from judge.comparing.change import Verdict
from judge.stopping.outcome import Claim, Outcome, Rule


def test_scores_by_hand() -> None:
    # Grades 3 and 1 of a and b, c has none: nDCG of b, c, a is (1 + 3/2) / (3 + 1/log2(3)) =
    # .688531, of a, b it is 1; the answers are a, b and the best of no grade, c.
    grades = {"q": {"a": 3, "b": 1, "c": 0}}
    found = differences_of({"q": [["a", "b"], ["x", "c", "a"]]}, grades)
    ndcg, rank, five, ten = (values[0] for values in found.values())
    assert ndcg == pytest.approx(1.5 / (3 + 1 / math.log2(3)) - 1)
    assert rank == pytest.approx(1 / 2 - 1)
    assert (five, ten) == (0.0, 0.0)


def test_a_gate_fails_where_fractions_say_so_and_nowhere_else() -> None:
    drawn = np.random.default_rng(1)
    for _ in range(100):
        values = list(drawn.choice([-0.5, -0.25, 0.0, 0.25, 0.5], 30))
        slices = slices_of(30, drawn)
        failed = ruled(values, Rule(MARGIN), slices) is Outcome.FAIL
        assert failed == drops(values, slices)


@pytest.mark.slow
def test_swapped_systems_are_told_apart_in_at_most_one_of_twenty(data: Path) -> None:
    lists, grades = read(data / "dl19")
    told, pairs = 0, 200
    for seed in range(pairs):
        drawn = np.random.default_rng(seed)
        differences = swapped(lists, grades, drawn)
        slices = slices_of(len(next(iter(differences.values()))), drawn)
        verdicts = claims(differences, slices)
        told += any(v in (Verdict.BETTER, Verdict.WORSE) for v in verdicts)
    # Three standard errors of 5% in 200 pairs.
    assert told / pairs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / pairs)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [10, 100, 500])
def test_losses_beyond_the_margin_pass_for_other_queries_in_at_most_one_of_twenty(
    rows: int,
) -> None:
    drawn = np.random.default_rng(rows)
    rule, draws = Rule(MARGIN, Claim.POPULATION), 400
    lost = [list(-1.0 * (drawn.random(rows) < 0.05)) for _ in range(draws)]
    passed = sum(ruled(values, rule) is Outcome.PASS for values in lost)
    assert passed / draws <= 0.05


@pytest.mark.parametrize("drop", [0.10, 0.03])
def test_more_repeats_hide_no_true_drop(drop: float) -> None:
    shares = []
    for repeats in (1, 3, 5, 10):
        drawn = np.random.default_rng(repeats)
        means = [drawn.normal(-drop, 0.3, (repeats, 40)).mean(0) for _ in range(200)]
        shares.append(sum(ruled(list(m), Rule(MARGIN)) is Outcome.FAIL for m in means))
    assert shares == sorted(shares)
