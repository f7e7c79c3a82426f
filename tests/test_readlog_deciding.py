"""When votes decide a pair: the worked probabilities, and what a rule lets pass."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import UsageError
from judge.readlog.deciding import Rule, decide, probability
from judge.readlog.votes import PairVotes


@pytest.mark.parametrize(
    ("wins", "losses", "expected"),
    [  # statistics.md A.4, Beta(1, 1)
        (3, 0, 0.937500), (4, 0, 0.968750), (5, 0, 0.984375), (4, 1, 0.890625),
        (5, 1, 0.937500), (6, 1, 0.964844), (7, 1, 0.980469), (8, 2, 0.967285),
        (9, 3, 0.953857), (10, 5, 0.894943), (12, 3, 0.989365),
    ],
)  # fmt: skip
def test_beta_posterior_has_the_worked_values(wins, losses, expected):
    assert probability(wins, losses) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(
    ("wins", "losses", "expected"),
    [(4, 0, 0.937500), (5, 0, 0.964844), (7, 1, 0.967285)],  # statistics.md A.4, Beta(2, 2)
)
def test_stronger_prior_has_the_worked_values(wins, losses, expected):
    assert probability(wins, losses, (2, 2)) == pytest.approx(expected, abs=5e-7)


@given(st.integers(0, 60))
def test_unanimous_votes_have_the_closed_form(wins):
    assert probability(wins, 0) == 1 - 0.5 ** (wins + 1)  # statistics.md A.4


@pytest.mark.parametrize("wins", [510, 600, 2000])
@pytest.mark.parametrize("losses", [500, 505, 590])
def test_many_votes_agree_with_the_exact_sum(wins, losses):
    throws = wins + losses + 1
    exact = sum(math.comb(throws, heads) for heads in range(wins + 1)) / 2**throws
    assert probability(wins, losses) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(
    ("wins", "losses", "decided"),
    [(5, 0, True), (4, 0, False), (6, 1, True), (8, 2, True), (9, 3, True),
     (3, 0, False), (4, 1, False), (5, 1, False), (0, 4, False), (2, 2, False)],
)  # fmt: skip
def test_recommended_rule_lets_the_worked_splits_pass(wins, losses, decided):
    # statistics.md A.4, and J.1: five sources at least.
    assert Rule().verdict(wins, losses)[1] is decided


def test_tau_that_is_itself_reached_is_met():
    assert Rule(tau=0.984375).verdict(5, 0)[1]


@pytest.mark.parametrize(
    ("rule", "fewest"),
    [(Rule(), 5), (Rule(tau=0.99), 6), (Rule(tau=0.5, min_sources=1), 1), (Rule(min_sources=6), 6)],
)  # fmt: skip
def test_rule_knows_the_fewest_sources_it_takes(rule, fewest):
    assert rule.fewest_sources == fewest


@pytest.mark.parametrize("wrong", [{"tau": 1.0}, {"tau": 0.4}, {"min_sources": 0}, {"hops": 0}])
def test_rule_that_means_nothing_is_refused(wrong):
    with pytest.raises(UsageError):
        Rule(**wrong)


def test_conclusion_keeps_the_votes_that_the_pair_had_itself():
    # a over b and b over c are decided 5-0; a over c has 1 vote for it and 2 against.
    split = [PairVotes(0, 1, 2, 5, 0, 0, 5), PairVotes(0, 2, 3, 5, 0, 0, 5),
             PairVotes(0, 1, 3, 1, 2, 2, 1)]  # fmt: skip
    pair = next(pair for pair in decide(split, Rule()) if {pair.winner, pair.loser} == {1, 3})
    assert (pair.winner, pair.wins, pair.losses, pair.hops) == (1, 1, 2, 2)
    assert (pair.decided, pair.probability) == (True, 0.984375)
