"""Reformulations within a session: which wordings mean one query, and what a later read says.

Both are off by default. Time says little about where one need ends and the next begins;
shared words say more (statistics.md A.2), so wordings are linked by words alone. Agreement
of chain preferences with judges was 84.5% ± 6.1 (Radlinski & Joachims 2005).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from judge.evidence.joining import normalise_query
from judge.readlog.visits import ShownList, Visit

_SHARED_WORDS = 0.5
_SHARED_LETTERS = 0.8
_COMPARED = 300  # characters; longer texts are compared by words alone


def is_reformulation(one: str, other: str) -> bool:
    """Tell whether two normalised queries share at least half of their words, or are typos.

    >>> is_reformulation("reset password", "password reset email"), is_reformulation("a", "b")
    (True, False)
    """
    words, others = set(one.split()), set(other.split())
    if len(words & others) >= _SHARED_WORDS * len(words | others):
        return True
    if max(len(one), len(other)) > _COMPARED:
        return False
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.quick_ratio() >= _SHARED_LETTERS and matcher.ratio() >= _SHARED_LETTERS


def chains(visit: Visit) -> Iterator[tuple[ShownList, ...]]:
    """Yield a visit's searches in runs of lists whose neighbours are reformulations."""
    chain: list[ShownList] = []
    for shown in sorted(visit.lists, key=lambda shown: shown.time):
        if shown.kind != "search":
            continue
        if chain and not is_reformulation(
            normalise_query(chain[-1].query), normalise_query(shown.query)
        ):
            yield tuple(chain)
            chain = []
        chain.append(shown)
    if chain:
        yield tuple(chain)


@dataclass(frozen=True, slots=True)
class ChainVote:
    """A later read preferred to a chunk of an earlier list, for the earlier query.

    loser: None where the earlier list never had the winner: a hole in what it recalls
    """

    query: str
    winner: tuple[str, str | None]
    loser: tuple[str, str | None] | None


def chain_votes(chain: tuple[ShownList, ...]) -> Iterator[ChainVote]:
    """Yield what reads of later lists say about the earlier ones of one chain.

    A later read beats what was skipped above a read of the earlier list, or, where that
    one was left unread, its first two results.
    """
    for at, earlier in enumerate(chain):
        depth = max((earlier.ids.index(id) for id in earlier.read), default=2)
        skipped = [id for id in earlier.ids[:depth] if id not in earlier.read]
        for later in chain[at + 1 :]:
            for id in later.read:
                if id in earlier.read:
                    continue
                winner = id, later.hash_of(id)
                for loser in skipped:
                    if loser != id:
                        yield ChainVote(earlier.query, winner, (loser, earlier.hash_of(loser)))
                if id not in earlier.ids:
                    yield ChainVote(earlier.query, winner, None)


class Clusters:
    """Queries by number, joined when a session used both as wordings of one need."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}

    def join(self, one: int, other: int) -> None:
        """Make two queries one; the smaller number, the one seen first, names both."""
        first, second = sorted((self.name(one), self.name(other)))
        if first != second:
            self._parent[second] = first

    def name(self, query: int) -> int:
        """Return the number that a query's cluster goes by."""
        while (parent := self._parent.get(query, query)) != query:
            query = parent
        return query

    def names(self) -> dict[int, int]:
        """Return, for each query that goes by another number, that number."""
        return {query: self.name(query) for query in self._parent}
