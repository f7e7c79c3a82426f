"""Decide pairs from counted votes: the Beta rule, cycles set aside, conclusions drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from judge.errors import UsageError
from judge.evidence.orders import without_cycles
from judge.readlog.votes import PairVotes

_EXACT = 64  # throws up to which integers are quick, and small taus are met exactly


@dataclass(frozen=True, slots=True)
class Rule:
    """When votes decide a pair.

    tau: least probability that more than half of all sources prefer the winner
    min_sources: least number of independent sources for the winner
    prior: a0, b0 of the Beta prior
    hops: decided pairs in a row from which another one is concluded; 1 concludes nothing
    """

    tau: float = 0.95
    min_sources: int = 5
    prior: tuple[int, int] = (1, 1)
    hops: int = 2

    def __post_init__(self) -> None:
        if not 0.5 <= self.tau < 1:
            raise UsageError(f"tau is a probability from 0.5 to below 1, not {self.tau:g}")
        if self.min_sources < 1 or self.hops < 1 or min(self.prior) < 1:
            raise UsageError("min-sources, hops and the prior are whole numbers from 1 up")

    def verdict(self, wins: int, losses: int) -> tuple[float, bool]:
        """Return P(theta > 1/2), and whether these sources decide the pair for the winner."""
        strength = probability(wins, losses, self.prior)
        return strength, strength >= self.tau and wins >= self.min_sources and wins > losses

    @property
    def fewest_sources(self) -> int:
        """Return how many unanimous sources it takes at least.

        >>> Rule().fewest_sources
        5
        """
        wins = max(1, self.min_sources)
        while not self.verdict(wins, 0)[1]:
            wins += 1
        return wins


@lru_cache(maxsize=65_536)
def probability(wins: int, losses: int, prior: tuple[int, int] = (1, 1)) -> float:
    """Return P(theta > 1/2) after wins and losses, under a Beta(a0, b0) prior of integers.

    It is 1 - I_1/2(wins + a0, losses + b0), and for integers the chance of at most
    wins + a0 - 1 heads in wins + losses + a0 + b0 - 1 throws of a fair coin.

    >>> probability(4, 0), probability(4, 1)
    (0.96875, 0.890625)
    """
    throws = wins + losses + prior[0] + prior[1] - 1
    most = wins + prior[0] - 1
    if throws <= _EXACT:
        # Exact, so that a tau which is itself such a value is met and not missed by a bit.
        return sum(math.comb(throws, heads) for heads in range(most + 1)) / (1 << throws)
    if 2 * most + 1 < throws:
        return _tail(throws, most)
    return 1.0 - _tail(throws, throws - most - 1)


def _tail(throws: int, most: int) -> float:
    """Return the chance of at most `most` heads, for `most` no more than half of the throws."""
    if most < 0:
        return 0.0
    log_first = (
        math.lgamma(throws + 1)
        - math.lgamma(most + 1)
        - math.lgamma(throws - most + 1)
        - throws * math.log(2)
    )
    term, total = 1.0, 1.0
    for heads in range(most, 0, -1):
        term *= heads / (throws - heads + 1)
        total += term
        if term < 1e-18 * total:
            break
    return math.exp(log_first) * total


class DecidedPair(NamedTuple):
    """One pair of chunks of a query: what its voters said, and whether that decides it.

    A tuple, not a dataclass: a log has millions.

    hops: 1 for its own votes; more for a pair concluded from that many decided ones
    contradictory: its votes decide it, but decided pairs go round in a circle through it
    """

    winner: int
    loser: int
    wins: int
    losses: int
    weak: int
    probability: float
    decided: bool
    hops: int = 1
    contradictory: bool = False


def decide(votes: Iterable[PairVotes], rule: Rule) -> list[DecidedPair]:
    """Decide the pairs of one query: those with votes, and those that follow from them."""
    all_splits = list(votes)
    favoured = [_favoured(split, rule) for split in all_splits]
    orders = {(pair.winner, pair.loser) for pair in favoured if pair.decided}
    if not orders:
        return favoured
    splits = {(split.a, split.b): split for split in all_splits}
    own = dict(zip(splits, favoured, strict=True))
    standing, cyclic = without_cycles(orders)
    for winner, loser in cyclic:
        ends = min(winner, loser), max(winner, loser)
        own[ends] = own[ends]._replace(decided=False, contradictory=True)
    strength = {(a, b): own[min(a, b), max(a, b)].probability for a, b in standing}
    for (a, b), (hops, weakest) in _concluded(strength, rule.hops).items():
        ends = min(a, b), max(a, b)
        side = _side(splits.get(ends, PairVotes(0, *ends, 0, 0, 0, 0)), a, rule)
        own[ends] = side._replace(probability=weakest, decided=True, hops=hops)
    return list(own.values())


def _favoured(split: PairVotes, rule: Rule) -> DecidedPair:
    """Return the pair as its votes favour it; opposition is counted for one side only."""
    if not split.b_wins:
        return _side(split, split.a, rule)
    if not split.a_wins:
        return _side(split, split.b, rule)
    one, other = _side(split, split.a, rule), _side(split, split.b, rule)
    return max(one, other, key=lambda side: (side.probability, side.wins, -side.winner))


def _side(split: PairVotes, winner: int, rule: Rule) -> DecidedPair:
    """Return the pair as seen from one of its chunks."""
    _, a, b, a_wins, a_losses, b_wins, b_losses, a_weak, b_weak = split
    if winner == a:
        loser, wins, losses, weak = b, a_wins, a_losses, a_weak
    else:
        loser, wins, losses, weak = a, b_wins, b_losses, b_weak
    strength, decided = rule.verdict(wins, losses)
    return DecidedPair(winner, loser, wins, losses, weak, strength, decided)


def _concluded(
    strength: Mapping[tuple[int, int], float], most_hops: int
) -> dict[tuple[int, int], tuple[int, float]]:
    """Return (a, c) that follow from at most `most_hops` decided pairs: hops and weakest one.

    The shortest path counts, of several the one whose weakest pair is strongest.
    """
    after: dict[int, list[tuple[int, float]]] = {}
    for (winner, loser), own in strength.items():
        after.setdefault(winner, []).append((loser, own))
    concluded: dict[tuple[int, int], tuple[int, float]] = {}
    paths = dict(strength)
    for hops in range(2, most_hops + 1):
        longer: dict[tuple[int, int], float] = {}
        for (start, middle), weakest in paths.items():
            for end, own in after.get(middle, ()):
                if (start, end) not in strength and (start, end) not in concluded:
                    least = min(weakest, own)
                    longer[start, end] = max(least, longer.get((start, end), 0.0))
        concluded.update({ends: (hops, weakest) for ends, weakest in longer.items()})
        paths = longer
    return concluded
