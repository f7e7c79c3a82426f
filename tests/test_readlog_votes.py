"""Counting votes: one a voter and pair, in any order, in memory or out of it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.readlog.votes import OPPOSED, WEAK_WIN, WIN, PairVotes, Pattern, VoteStore

VOTES = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, 3), st.integers(0, 3),
        st.sampled_from([WIN, OPPOSED, WEAK_WIN]), st.integers(0, 4),
    ).filter(lambda vote: vote[1] != vote[2]),
    max_size=60,
)  # fmt: skip

PAIR = {kind: Pattern(2, [(0, 1, kind)]) for kind in (WIN, OPPOSED, WEAK_WIN)}


def counted(votes, **limits):
    store = VoteStore(**limits)
    for query, winner, loser, kind, voter in votes:
        store.add(PAIR[kind], query, (winner, loser), voter)
    found = list(store.counts())
    store.close()
    return found


def counted_by_hand(votes):
    """Count with sets: for each pair and side, who is for it and who gives a reason against."""
    said = {}
    for query, winner, loser, kind, voter in votes:
        said.setdefault((query, min(winner, loser), max(winner, loser)), {}).setdefault(
            voter, set()
        ).add((winner, kind))
    found = []
    for (query, a, b), voters in sorted(said.items()):

        def split(me, other, voters=voters):
            wins = losses = weak = 0
            for words in voters.values():
                is_for = (me, WIN) in words or (me, WEAK_WIN) in words
                against = bool({(other, WIN), (other, WEAK_WIN), (other, OPPOSED)} & words)
                wins += is_for and not against
                weak += is_for and not against and (me, WIN) not in words
                losses += against and not is_for
            return wins, losses, weak

        (a_wins, a_losses, a_weak), (b_wins, b_losses, b_weak) = split(a, b), split(b, a)
        if a_wins or b_wins:
            found.append(PairVotes(query, a, b, a_wins, a_losses, b_wins, b_losses, a_weak, b_weak))
    return found


@pytest.mark.slow
@given(VOTES)
def test_counts_equal_those_by_hand(votes):
    assert counted(votes) == counted_by_hand(votes)


@pytest.mark.slow
@given(VOTES, st.integers(1, 7), st.integers(1, 20))
def test_merging_and_spilling_to_disk_change_nothing(votes, merge_at, spill_at):
    assert counted(votes, merge_at=merge_at, spill_at=spill_at) == counted(votes)


def test_order_of_votes_changes_nothing():
    choose = random.Random(1)
    votes = [(choose.randrange(50), a, b, WIN, choose.randrange(9)) for a in range(9)
             for b in range(9) if a != b for _ in range(30)]  # fmt: skip
    shuffled = choose.sample(votes, len(votes))
    assert counted(votes, merge_at=100, spill_at=500) == counted(shuffled)


def test_opposition_is_a_loss_and_never_a_win():
    # a read above an unread b: against b, but not for a.
    assert counted([(0, 1, 2, OPPOSED, 7)]) == []
    assert counted([(0, 1, 2, OPPOSED, 7), (0, 2, 1, WIN, 8)]) == [
        PairVotes(0, 1, 2, a_wins=0, a_losses=1, b_wins=1, b_losses=1)
    ]


def test_pattern_writes_out_each_pair_of_each_list():
    # Read at position 2 of three: over 0 and 1; the same for two lists of two voters.
    store = VoteStore()
    pattern = Pattern(3, [(2, 0, WIN), (2, 1, WIN)])
    store.add(pattern, 0, (7, 8, 9), 1)
    store.add(pattern, 0, (9, 8, 7), 2)
    assert list(store.counts()) == [
        PairVotes(0, 7, 8, 1, 0, 0, 1),
        PairVotes(0, 7, 9, 1, 1, 1, 1),
        PairVotes(0, 8, 9, 0, 1, 1, 0),
    ]


def test_queries_can_be_counted_as_one():
    store = VoteStore()
    for query, voter in ((0, 7), (5, 7), (5, 8)):
        store.add(PAIR[WIN], query, (1, 2), voter)
    assert list(store.counts({5: 0})) == [PairVotes(0, 1, 2, 2, 0, 0, 2)]


@pytest.mark.parametrize("number", [2**32 - 1])
def test_largest_numbers_and_voters_fit(number):
    store = VoteStore()
    store.add(PAIR[WIN], number, (number, 0), 2**64 - 1)
    assert list(store.counts()) == [PairVotes(number, 0, number, 0, 1, 1, 0)]


@pytest.mark.slow
@given(VOTES)
def test_size_of_the_numbers_changes_nothing(votes):
    # Multiplied, query and both chunks need more than the 64 bits of one word.
    large = [(q << 30, w << 30, x << 30, kind, voter << 60) for q, w, x, kind, voter in votes]
    scaled = [s._replace(query=s.query << 30, a=s.a << 30, b=s.b << 30) for s in counted(votes)]
    assert counted(large) == scaled


def test_chunk_shown_under_two_ids_was_not_preferred_to_itself():
    assert counted([(0, 5, 5, WIN, 1), (0, 5, 6, WIN, 1)]) == [PairVotes(0, 5, 6, 1, 0, 0, 1)]
