"""`judge.statistics.betting`: wealth by hand, and by enumerating every course of a game."""

from __future__ import annotations

import itertools

import pytest

from judge.statistics.betting import STAKE, wealth_after


def test_a_payoff_as_large_as_allowed_changes_nothing() -> None:
    assert wealth_after(3.0, 0.5, at_most=0.5) == pytest.approx(3.0)


def test_nothing_paid_costs_the_stake_and_a_double_payoff_wins_it() -> None:
    assert wealth_after(2.0, 0.0, at_most=0.5) == pytest.approx(2.0 * (1.0 - STAKE))
    assert wealth_after(2.0, 1.0, at_most=0.5) == pytest.approx(2.0 * (1.0 + STAKE))


@pytest.mark.parametrize("payoffs", [(0.0, 2.0), (0.0, 0.0, 0.0, 4.0), (0.9, 1.1)])
def test_in_a_fair_game_wealth_grows_for_nobody_and_a_hundredfold_is_rare(
    payoffs: tuple[float, ...],
) -> None:
    rounds = 12 if len(payoffs) == 2 else 6
    total, rich = 0.0, 0
    courses = list(itertools.product(payoffs, repeat=rounds))
    for course in courses:
        wealth, most = 1.0, 1.0
        for payoff in course:
            wealth = wealth_after(wealth, payoff, at_most=1.0)
            most = max(most, wealth)
        total += wealth
        rich += most >= 20.0
    assert total / len(courses) == pytest.approx(1.0)
    assert rich / len(courses) <= 1 / 20
