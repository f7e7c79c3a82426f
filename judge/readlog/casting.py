"""From visits to votes: what each list that was read says, and whose vote it is."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import pairwise

from judge.readlog.chains import Clusters, chain_votes, chains
from judge.readlog.names import Names
from judge.readlog.options import MiningOptions
from judge.readlog.ranks import RankReader, ReadPositions, by_rank_alone, reads_of
from judge.readlog.strategies import STRATEGIES, cited_over_uncited, opposed
from judge.readlog.visits import ShownList, Visit
from judge.readlog.votes import OPPOSED, WEAK_WIN, WIN, Pattern, VoteStore

_KEPT_PAIRS, _KEPT_PATTERNS = 100, 10_000  # longer and rarer patterns are not remembered
_CHAIN = Pattern(2, ((0, 1, WEAK_WIN),))


class Caster:
    """Casts the votes of visits, and counts what was seen on the way.

    names: of queries and chunks; votes: by those numbers
    lists, read: by query, lists that were shown, and those of them that were read
    clusters: wordings that sessions used for one need
    holes: (query, chunk) that only a later wording of a query returned
    named: sources that the log names; unnamed: visits whose session has to stand for one
    """

    def __init__(self, options: MiningOptions) -> None:
        self._options = options
        self._strategies = [STRATEGIES[name] for name in options.strategies]
        self.names = Names()
        self.lists: Counter[int] = Counter()
        self.read: Counter[int] = Counter()
        self.clusters = Clusters()
        self.holes: dict[tuple[str, str], None] = {}
        self._patterns: dict[tuple[str, tuple[int, ...], int], Pattern] = {}
        self._n_cast = 0
        self.votes = VoteStore()
        self.positions = ReadPositions()
        self.named: set[int] = set()
        self.unnamed = 0
        self.rank_readers: dict[str, RankReader] = {}

    def take(self, visit: Visit) -> None:
        """Count a visit's lists and cast its votes."""
        voter: int | None = None
        nobody = [shown for shown in visit.lists if shown.read and visit.source(shown) is None]
        self.unnamed += bool(nobody)
        why = by_rank_alone(*reads_of((shown.query, *_positions(shown)) for shown in nobody))
        if why is not None:
            self.rank_readers[visit.session] = RankReader(f"session {visit.session}", why)
        for shown in visit.lists:
            query = self.names.query(shown.query)
            self.lists[query] += 1
            if not shown.read:
                continue
            self.read[query] += 1
            source = visit.source(shown)
            if source is None and why is not None:
                continue
            voter = _voter(visit.voter(shown))
            if source is not None:
                self._remember(voter, source, query, shown)
            self._cast(shown, query, voter)
        # Without a read there is nothing that a chain could say either.
        if voter is not None and self._options.chains:
            self._cast_chains(visit, voter)
        if self._options.reformulations:
            self._join_wordings(visit)

    def _remember(self, voter: int, source: str, query: int, shown: ShownList) -> None:
        """Keep where a named source read: its habits show over all its sessions."""
        self.named.add(voter)
        read, length = _positions(shown)
        self.positions.add(voter, source, query, read, length=length)

    def _cast(self, shown: ShownList, query: int, voter: int) -> None:
        """Cast the votes of one list that was read, but not to the last result."""
        n = len(shown.ids)
        if len(shown.read) == n:
            return
        if not self._options.one_vote:
            self._n_cast += 1
            voter = self._n_cast
        read = tuple(shown.ids.index(id) for id in shown.read)
        pattern = self._pattern(shown.kind, read, n)
        if pattern.pairs:
            chunks = self.names.chunks_of(shown.ids, shown.hashes)
            self.votes.add(pattern, query, chunks, voter)

    def _pattern(self, kind: str, read: tuple[int, ...], n: int) -> Pattern:
        """Return what a list read like this says; most lists are read like others."""
        key = kind, read, n
        known = self._patterns.get(key)
        if known is not None:
            return known
        if kind == "inject":
            pairs = [(winner, loser, WIN) for winner, loser in cited_over_uncited(read, n)]
        else:
            pairs = [
                (winner, loser, WEAK_WIN if strategy.weak else WIN)
                for strategy in self._strategies
                for winner, loser in strategy.pairs(read, n)
            ]
            if self._options.opposition:
                pairs += [(winner, loser, OPPOSED) for winner, loser in opposed(read, n)]
        pattern = Pattern(n, pairs)
        if len(pairs) <= _KEPT_PAIRS and len(self._patterns) < _KEPT_PATTERNS:
            self._patterns[key] = pattern
        return pattern

    def _join_wordings(self, visit: Visit) -> None:
        """Make the wordings of each of a visit's chains one query."""
        for chain in chains(visit):
            for one, other in pairwise(self.names.query(shown.query) for shown in chain):
                self.clusters.join(one, other)

    def _cast_chains(self, visit: Visit, voter: int) -> None:
        """Cast the votes that reads in later wordings give for earlier ones."""
        for chain in chains(visit):
            for cast in chain_votes(chain):
                if cast.loser is None:
                    self.holes[cast.query, cast.winner[0]] = None
                    continue
                pair = self.names.chunk(*cast.winner), self.names.chunk(*cast.loser)
                self.votes.add(_CHAIN, self.names.query(cast.query), pair, voter)


def _positions(shown: ShownList) -> tuple[list[int], int]:
    """Return the positions read, and the list's length if it stood in random order, else 0."""
    read = [shown.ids.index(id) for id in shown.read]
    return read, len(shown.ids) if shown.shuffled else 0


def _voter(name: str) -> int:
    """Return a number of 64 bits for a voter: a log may have more of them than fit by name."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "big")
