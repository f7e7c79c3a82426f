"""From a log to preferences, on one page.

    events ─► visits ─► lists with reads ─► votes by a strategy ─► counts ─► decided pairs

One vote a session (or user) and pair. Whoever votes both ways votes for neither. A pair is
keyed by the normalised query and by the hash of the chunk's text, or its id where the log
has no hashes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from operator import attrgetter

from judge.errors import UsageError
from judge.evidence.preferences import Preference
from judge.formats.opening import SourceFile, uncollected
from judge.readlog.chains import Clusters, chain_votes, chains
from judge.readlog.deciding import DecidedPair, Rule, decide
from judge.readlog.events import Event
from judge.readlog.names import Names
from judge.readlog.ordering import without_repeats
from judge.readlog.reading import read_events
from judge.readlog.strategies import STRATEGIES, cited_over_uncited, opposed
from judge.readlog.tally import Tally
from judge.readlog.ubi import READ_ACTIONS
from judge.readlog.visits import ShownList, Visit, VisitRules, Visits
from judge.readlog.votes import OPPOSED, WEAK_WIN, WIN, Pattern, VoteStore

_KEPT_PAIRS, _KEPT_PATTERNS = 100, 10_000  # longer and rarer patterns are not remembered
_CHAIN = Pattern(2, ((0, 1, WEAK_WIN),))


@dataclass(frozen=True, slots=True)
class MiningOptions:
    """How a log is read and what counts as a vote.

    strategies: names in `strategies.STRATEGIES` for lists that people read from
    opposition: count a read above an unread chunk against the lower one
    one_vote: one vote a session and pair; False (every list votes) shows what that costs
    reformulations: wordings of one session that share most of their words are one query
    chains: let a read in a later wording speak for the earlier one (weak)
    read_actions: UBI `action_name`s that are reads
    """

    rule: Rule = field(default_factory=Rule)
    visits: VisitRules = field(default_factory=VisitRules)
    strategies: tuple[str, ...] = ("skip-above",)
    opposition: bool = True
    one_vote: bool = True
    reformulations: bool = False
    chains: bool = False
    read_actions: Collection[str] = READ_ACTIONS

    def __post_init__(self) -> None:
        for name in self.strategies:
            if name not in STRATEGIES:
                raise UsageError(f"no strategy {name!r}; there are: {', '.join(STRATEGIES)}")


@dataclass(frozen=True, slots=True)
class QueryCount:
    """How often one query was seen, and what came of it.

    lists: shown or injected; read: those of them with a read or a citation
    """

    query: str
    lists: int
    read: int
    decided: int


@dataclass(frozen=True, slots=True)
class ClusterAgreement:
    """How far the wordings of one cluster agree: of pairs that two of them voted on."""

    queries: tuple[str, ...]
    n_pairs: int
    n_agreeing: int


@dataclass(frozen=True, slots=True)
class Mined:
    """What a log says.

    preferences: every pair with a vote, and every one concluded, by query and winner
    queries: every query that was seen by a session that may vote, in order of appearance
    contradictory: pairs whose votes decide them, but round in a circle: not decided
    tally: what the log held, and what was not used and why
    holes: (query, chunk) that only a later wording of the query returned
    """

    preferences: tuple[Preference, ...]
    queries: tuple[QueryCount, ...]
    contradictory: int
    tally: Tally
    agreement: tuple[ClusterAgreement, ...] = ()
    holes: tuple[tuple[str, str], ...] = ()


def mine(sources: Sequence[SourceFile], options: MiningOptions | None = None) -> Mined:
    """Mine logs given as paths or streams; raise InputError where one cannot be opened."""
    options = options or MiningOptions()
    tally = Tally()
    events = read_events(
        sources,
        tally=tally,
        window_s=options.visits.window_s,
        read_actions=options.read_actions,
    )
    with uncollected():
        return mine_events(events, options, tally=tally)


def mine_events(
    events: Iterable[Event], options: MiningOptions, *, tally: Tally | None = None
) -> Mined:
    """Mine events that come in order of time."""
    tally = tally if tally is not None else Tally()
    miner = _Miner(options)
    once = without_repeats(events, window_s=options.visits.window_s, tally=tally)
    try:
        for visit in Visits(options.visits, tally).follow(once):
            if visit.set_aside is None:
                miner.take(visit)
        return miner.mined(tally)
    finally:
        miner.votes.close()


class _Miner:
    """Turns visits into votes, and votes into preferences."""

    def __init__(self, options: MiningOptions) -> None:
        self._options = options
        self._strategies = [STRATEGIES[name] for name in options.strategies]
        self._names = Names()
        self._lists: Counter[int] = Counter()
        self._read: Counter[int] = Counter()
        self._clusters = Clusters()
        self._holes: dict[tuple[str, str], None] = {}
        self._patterns: dict[tuple[str, tuple[int, ...], int], Pattern] = {}
        self._n_cast = 0
        self.votes = VoteStore()

    def take(self, visit: Visit) -> None:
        """Count a visit's lists and cast its votes."""
        voter = _voter(visit.voter)
        for shown in visit.lists:
            query = self._names.query(shown.query)
            self._lists[query] += 1
            if shown.read:
                self._read[query] += 1
                self._cast(shown, query, voter)
        if self._options.reformulations or self._options.chains:
            self._take_chains(visit, voter)

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
            chunks = self._names.chunks_of(shown.ids, shown.hashes)
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

    def _take_chains(self, visit: Visit, voter: int) -> None:
        """Join the wordings of a visit's chains, and cast the votes that chains give."""
        for chain in chains(visit):
            numbers = [self._names.query(shown.query) for shown in chain]
            if self._options.reformulations:
                for one, other in pairwise(numbers):
                    self._clusters.join(one, other)
            for cast in chain_votes(chain) if self._options.chains else ():
                if cast.loser is None:
                    self._holes[cast.query, cast.winner[0]] = None
                    continue
                pair = self._names.chunk(*cast.winner), self._names.chunk(*cast.loser)
                self.votes.add(_CHAIN, self._names.query(cast.query), pair, voter)

    def mined(self, tally: Tally) -> Mined:
        """Count the votes and decide, query by query."""
        cluster_of = self._clusters.names()
        members: dict[int, list[str]] = {}
        for query, cluster in cluster_of.items():
            members.setdefault(cluster, []).append(self._names.queries[query])
        preferences: list[Preference] = []
        decided: Counter[int] = Counter()
        contradictory = 0
        counts = self.votes.counts(cluster_of)
        for query, splits in groupby(counts, key=attrgetter("query")):
            pairs = decide(splits, self._options.rule)
            decided[query] = sum(pair.decided for pair in pairs)
            contradictory += sum(pair.contradictory for pair in pairs)
            wordings = tuple(members.get(query, ()))
            preferences += [self._preference(query, pair, wordings) for pair in pairs]
        return Mined(
            preferences=tuple(preferences),
            queries=self._query_counts(cluster_of, decided),
            contradictory=contradictory,
            tally=tally,
            agreement=self._agreement(cluster_of),
            holes=tuple(self._holes),
        )

    def _preference(self, query: int, pair: DecidedPair, wordings: tuple[str, ...]) -> Preference:
        winner, winner_hash = self._names.chunks[pair.winner]
        loser, loser_hash = self._names.chunks[pair.loser]
        return Preference(
            query=self._names.queries[query],
            winner=winner,
            loser=loser,
            wins=pair.wins,
            losses=pair.losses,
            probability=pair.probability,
            decided=pair.decided,
            hops=pair.hops,
            weak=pair.weak,
            winner_hash=winner_hash,
            loser_hash=loser_hash,
            queries=wordings,
        )

    def _query_counts(
        self, cluster_of: Mapping[int, int], decided: Counter[int]
    ) -> tuple[QueryCount, ...]:
        lists: Counter[int] = Counter()
        read: Counter[int] = Counter()
        for query, n in self._lists.items():
            name = cluster_of.get(query, query)
            lists[name] += n
            read[name] += self._read[query]
        return tuple(
            QueryCount(self._names.queries[query], lists[query], read[query], decided[query])
            for query in sorted(lists)
        )

    def _agreement(self, cluster_of: Mapping[int, int]) -> tuple[ClusterAgreement, ...]:
        """Compare the wordings of each cluster pair by pair, by the majority of each."""
        if not cluster_of:
            return ()
        sides: dict[int, dict[tuple[int, int], list[int]]] = {}
        for split in self.votes.counts():
            cluster = cluster_of.get(split.query, split.query)
            margin = split.a_wins - split.b_wins
            if margin:
                pairs = sides.setdefault(cluster, {})
                pairs.setdefault((split.a, split.b), []).append(margin)
        members: dict[int, list[int]] = {}
        for query, cluster in sorted(cluster_of.items()):
            members.setdefault(cluster, [cluster]).append(query)
        found = []
        for cluster, queries in sorted(members.items()):
            shared = [margins for margins in sides.get(cluster, {}).values() if len(margins) > 1]
            agreeing = [m for m in shared if all(x > 0 for x in m) or all(x < 0 for x in m)]
            texts = tuple(self._names.queries[query] for query in queries)
            found.append(ClusterAgreement(texts, len(shared), len(agreeing)))
        return tuple(found)


def _voter(name: str) -> int:
    """Return a number of 64 bits for a voter: a log may have more of them than fit by name."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "big")
