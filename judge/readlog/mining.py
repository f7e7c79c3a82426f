"""From a log to preferences, on one page.

    events ─► visits ─► lists with reads ─► votes by a strategy ─► counts ─► decided pairs

One vote a source and pair: an agent or model version, a user, or a session where the log
names nobody. Whoever votes both ways votes for neither. A source that reads by rank alone is
set aside. A pair is
keyed by the normalised query and by the hash of the chunk's text, or its id where the log
has no hashes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from judge.evidence.preferences import Preference
from judge.formats.opening import SourceFile, uncollected
from judge.readlog.casting import Caster
from judge.readlog.deciding import DecidedPair, Rule, decide
from judge.readlog.events import Event
from judge.readlog.names import Names
from judge.readlog.options import MiningOptions
from judge.readlog.ordering import without_repeats
from judge.readlog.ranks import RankReader
from judge.readlog.reading import read_events
from judge.readlog.tally import Tally
from judge.readlog.visits import Visits

__all__ = ["ClusterAgreement", "Mined", "MiningOptions", "QueryCount", "mine", "mine_events"]


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

    preferences: every pair with a vote, and every one concluded, query by query
    queries: every query that was seen by a session that may vote, in order of appearance
    contradictory: pairs whose votes decide them, but round in a circle: not decided
    tally: what the log held, and what was not used and why
    holes: (query, chunk) that only a later wording of the query returned
    rank_readers: sources that were set aside because they read by rank alone
    named: sources with a vote that the log names; unnamed: visits that stand for one each
    """

    preferences: tuple[Preference, ...]
    queries: tuple[QueryCount, ...]
    contradictory: int
    tally: Tally
    agreement: tuple[ClusterAgreement, ...] = ()
    holes: tuple[tuple[str, str], ...] = ()
    rank_readers: tuple[RankReader, ...] = ()
    named: int = 0
    unnamed: int = 0


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
    cast = Caster(options)
    once = without_repeats(events, window_s=options.visits.window_s, tally=tally)
    try:
        for visit in Visits(options.visits, tally).follow(once):
            if visit.set_aside is None:
                cast.take(visit)
        return _mined(cast, options.rule, tally)
    finally:
        cast.votes.close()


def _mined(cast: Caster, rule: Rule, tally: Tally) -> Mined:
    """Count the votes and decide, query by query."""
    cluster_of = cast.clusters.names()
    members: dict[int, list[str]] = {}
    for query, cluster in cluster_of.items():
        members.setdefault(cluster, []).append(cast.names.queries[query])
    preferences: list[Preference] = []
    decided: Counter[int] = Counter()
    contradictory = 0
    gone = cast.positions.rank_readers()
    counts = cast.votes.counts(cluster_of, without=gone)
    for query, splits in groupby(counts, key=attrgetter("query")):
        pairs = decide(splits, rule)
        decided[query] = sum(pair.decided for pair in pairs)
        contradictory += sum(pair.contradictory for pair in pairs)
        wordings = tuple(members.get(query, ()))
        preferences += [_preference(cast.names, query, pair, wordings) for pair in pairs]
    return Mined(
        preferences=tuple(preferences),
        queries=_query_counts(cast, cluster_of, decided),
        contradictory=contradictory,
        tally=tally,
        agreement=_agreement(cast, cluster_of, gone),
        holes=tuple(cast.holes),
        rank_readers=(*gone.values(), *cast.rank_readers.values()),
        named=len(cast.named),
        unnamed=cast.unnamed,
    )


def _preference(
    names: Names, query: int, pair: DecidedPair, wordings: tuple[str, ...]
) -> Preference:
    winner, winner_hash = names.chunks[pair.winner]
    loser, loser_hash = names.chunks[pair.loser]
    return Preference(
        query=names.queries[query],
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
    cast: Caster, cluster_of: Mapping[int, int], decided: Counter[int]
) -> tuple[QueryCount, ...]:
    lists: Counter[int] = Counter()
    read: Counter[int] = Counter()
    for query, n in cast.lists.items():
        name = cluster_of.get(query, query)
        lists[name] += n
        read[name] += cast.read[query]
    return tuple(
        QueryCount(cast.names.queries[query], lists[query], read[query], decided[query])
        for query in sorted(lists)
    )


def _agreement(
    cast: Caster, cluster_of: Mapping[int, int], gone: Collection[int]
) -> tuple[ClusterAgreement, ...]:
    """Compare the wordings of each cluster pair by pair, by the majority of each."""
    if not cluster_of:
        return ()
    sides: dict[int, dict[tuple[int, int], list[int]]] = {}
    for split in cast.votes.counts(without=gone):
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
        texts = tuple(cast.names.queries[query] for query in queries)
        found.append(ClusterAgreement(texts, len(shared), len(agreeing)))
    return tuple(found)
