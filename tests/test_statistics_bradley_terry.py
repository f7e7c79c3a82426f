"""Bradley-Terry strengths against a worked example; unbounded cases."""

from __future__ import annotations

import math

import pytest

from judge.statistics.bradley_terry import PSEUDO_WINS, log_strengths

WINS = ((0, 4, 5, 6), (1, 0, 3, 4), (0, 2, 0, 3), (0, 1, 2, 0))


def test_worked_example():
    # statsmodels' binomial GLM gives the same.
    expected = (2.107839, 0.024142, -0.781543, -1.350439)
    assert log_strengths(WINS) == pytest.approx(expected, abs=5e-7)


def test_two_players_are_their_odds():
    found = log_strengths(((0, 3), (1, 0)))
    assert found[0] - found[1] == pytest.approx(math.log(3))


def test_player_that_never_loses_is_unbounded():
    assert log_strengths(((0, 3), (0, 0))) is None
    # With half a win both ways: odds 3.5 to 0.5.
    found = log_strengths(((0, 3), (0, 0)), pseudo_wins=PSEUDO_WINS)
    assert found[0] - found[1] == pytest.approx(math.log(7))


def test_players_that_never_met_cannot_be_compared():
    apart = ((0, 1, 0, 0), (1, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 0))
    assert log_strengths(apart) is None
    assert log_strengths(apart, pseudo_wins=PSEUDO_WINS) is None
