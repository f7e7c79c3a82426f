"""What mining a log came to, for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from judge.readlog.deciding import Rule
from judge.readlog.mining import Mined

_SHOWN_CLUSTERS = 10
_SHOWN_READERS = 5


def summary_lines(mined: Mined, rule: Rule) -> Iterator[str]:
    """Yield what a log held, what was not used and why, and last what it decided."""
    tally = mined.tally
    yield f"read {_listed(tally.events) or 'nothing'}"
    if not mined.queries and not tally.sessions:
        yield "no search in it that anyone could have read from: is this a read log?"
    if tally.unused:
        yield f"not used: {_listed(tally.unused)}"
    if tally.sessions:
        yield f"sessions set aside: {_listed(tally.sessions)}"
    if tally.notes:
        yield f"noted: {_listed(tally.notes)}"
    for reader in mined.rank_readers[:_SHOWN_READERS]:
        yield f"set aside, it reads by rank alone: {reader.name} ({reader.why})"
    if len(mined.rank_readers) > _SHOWN_READERS:
        yield f"… and {len(mined.rank_readers) - _SHOWN_READERS} more that read by rank alone"
    if mined.unnamed:
        yield f"{mined.unnamed} sessions with reads name no user, agent or model: each counts as a\
 source of its own, as if nobody came twice"
    late = sum(n for reason, n in tally.unused.items() if "older than the log" in reason)
    if late:
        yield f"{late} events came too late to be put in order: sort the log by time, or name each\
 machine's log as a file of its own"
    for cluster in mined.agreement[:_SHOWN_CLUSTERS]:
        names = " / ".join(cluster.queries)
        yield f"one query: {names}: agree on {cluster.n_agreeing} of {cluster.n_pairs} pairs"
    if len(mined.agreement) > _SHOWN_CLUSTERS:
        yield f"… and {len(mined.agreement) - _SHOWN_CLUSTERS} more clusters of wordings"
    if mined.holes:
        yield f"{len(mined.holes)} chunks were found only by a later wording (recall holes)"
    if mined.contradictory:
        yield f"{mined.contradictory} pairs contradict each other in circles and are not decided"
    yield decision_line(mined, rule)


def decision_line(mined: Mined, rule: Rule) -> str:
    """Say how much a log decided, and how often it saw most queries."""
    pairs = sum(query.decided for query in mined.queries)
    queries = sum(query.decided > 0 for query in mined.queries)
    few = sum(query.lists < rule.fewest_sources for query in mined.queries)
    return (
        f"the log decided {pairs} pairs in {queries} of {len(mined.queries)} queries;"
        f" {few} were seen fewer than {rule.fewest_sources} times"
    )


def summary_record(mined: Mined, rule: Rule) -> dict[str, object]:
    """Return the summary as JSON: fields are added in later versions, never changed."""
    tally = mined.tally
    decided = [pair for pair in mined.preferences if pair.decided]
    return {
        "schema": 1,
        "events": dict(tally.events),
        "unused": dict(tally.unused),
        "sessions_set_aside": dict(tally.sessions),
        "notes": dict(tally.notes),
        "queries": {
            "seen": len(mined.queries),
            "read": sum(query.read > 0 for query in mined.queries),
            "decided": sum(query.decided > 0 for query in mined.queries),
            "seen_too_rarely": sum(q.lists < rule.fewest_sources for q in mined.queries),
        },
        "lists": {
            "shown": sum(query.lists for query in mined.queries),
            "read": sum(query.read for query in mined.queries),
        },
        "pairs": {
            "voted_on": sum(pair.wins + pair.losses > 0 for pair in mined.preferences),
            "decided": len(decided),
            "concluded": sum(pair.hops > 1 for pair in decided),
            "with_weak_votes": sum(pair.weak > 0 for pair in decided),
            "contradictory": mined.contradictory,
        },
        "fewest_sessions": rule.fewest_sources,
        "sources": {
            "named": mined.named,
            "sessions": mined.unnamed,
            "least_for_a_pair": rule.fewest_sources,
            "by_rank_alone": [{"source": r.name, "why": r.why} for r in mined.rank_readers],
        },
        "clusters": [
            {"queries": list(c.queries), "pairs": c.n_pairs, "agreeing": c.n_agreeing}
            for c in mined.agreement
        ],
        "recall_holes": [{"query": query, "id": id} for query, id in mined.holes],
    }


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.most_common())
