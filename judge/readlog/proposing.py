"""Propose goldens from a log: real queries, and the chunks that may answer them.

Nothing here is an answer yet. A person looks at each line, moves what is right into
`expected`, and deletes the rest; until then `judge` refuses the file.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from judge.formats.opening import SourceFile
from judge.readlog.chains import chains
from judge.readlog.names import Names
from judge.readlog.options import MiningOptions
from judge.readlog.ordering import without_repeats
from judge.readlog.pairs import json_line
from judge.readlog.reading import read_events
from judge.readlog.tally import Tally
from judge.readlog.visits import Visit, Visits

TRAFFIC, EMPTY, REFORMULATED = "traffic", "returned nothing", "reformulated"
_VERBS = {"inject": "cited", "search": "read"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that may answer a query, and in how many sessions it was read or cited."""

    id: str
    verb: str
    sessions: int

    def __str__(self) -> str:
        return f"{self.verb} in {self.sessions} sessions: accept?"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A query worth a golden.

    why: what drew it: traffic, a list that was empty, or searchers who asked again
    weight: how often traffic drew it; None for queries that were not drawn by traffic
    lists, empty, reformulated: how often it was asked, got nothing, was asked anew otherwise
    """

    query: str
    why: str
    weight: int | None
    lists: int
    empty: int
    reformulated: int
    candidates: tuple[Candidate, ...]


@dataclass(slots=True)
class _Seen:
    """What a log shows of one query."""

    lists: int = 0
    empty: int = 0
    reformulated: int = 0
    voters: dict[tuple[str, str], set[str]] = field(default_factory=dict)


def propose(
    sources: Sequence[SourceFile],
    *,
    n: int = 50,
    n_empty: int = 10,
    n_reformulated: int = 10,
    least_sessions: int = 2,
    seed: int = 0,
    options: MiningOptions | None = None,
) -> tuple[Proposal, ...]:
    """Return queries of logs that are worth a golden, those drawn by traffic first.

    n: draws from the traffic, with replacement: weighted by its draws, the mean over the
        queries drawn estimates the mean over searches
    n_empty, n_reformulated: further queries, the most frequent ones
    least_sessions: sessions that make a read or cited chunk a candidate
    """
    names, seen = _look(sources, options or MiningOptions())
    choose = random.Random(seed)  # noqa: S311 - a sample, not a secret
    lists = [query.lists for query in seen]
    drawn = Counter(choose.choices(range(len(seen)), lists, k=n) if seen else ())
    picked: dict[int, tuple[str, int | None]] = {
        query: (TRAFFIC, weight) for query, weight in sorted(drawn.items())
    }
    for why, most, count in (
        (EMPTY, n_empty, [query.empty for query in seen]),
        (REFORMULATED, n_reformulated, [query.reformulated for query in seen]),
    ):
        ranked = sorted((q for q in range(len(seen)) if count[q]), key=lambda q: -count[q])
        for query in [q for q in ranked if q not in picked][:most]:
            picked[query] = (why, None)
    return tuple(
        _proposal(names.queries[query], why, weight, seen[query], least_sessions)
        for query, (why, weight) in picked.items()
    )


def proposal_lines(proposals: Iterable[Proposal]) -> Iterator[str]:
    """Yield each proposal as a line of a golden file that is yet to be filled in."""
    for proposal in proposals:
        fields: dict[str, object] = {"query": proposal.query, "slice": None, "expected": []}
        if proposal.weight is not None:
            fields["weight"] = proposal.weight
        fields["metadata"] = {
            "proposed_for": proposal.why,
            "searches": proposal.lists,
            "returned_nothing": proposal.empty,
            "reformulated": proposal.reformulated,
            "candidates": {candidate.id: str(candidate) for candidate in proposal.candidates},
        }
        yield json_line(fields)


def _look(sources: Sequence[SourceFile], options: MiningOptions) -> tuple[Names, list[_Seen]]:
    tally, names = Tally(), Names()
    seen: list[_Seen] = []
    window_s = options.visits.window_s
    events = read_events(sources, tally=tally, window_s=window_s, read_actions=options.read_actions)
    once = without_repeats(events, window_s=window_s, tally=tally)
    for visit in Visits(options.visits, tally).follow(once):
        if visit.set_aside is None:
            _take(visit, names, seen)
    return names, seen


def _take(visit: Visit, names: Names, seen: list[_Seen]) -> None:
    for shown in visit.lists:
        number = names.query(shown.query)
        seen += [_Seen() for _ in range(number + 1 - len(seen))]
        query = seen[number]
        if shown.kind == "search":
            query.lists += 1
            query.empty += not shown.ids
        for id in shown.read:
            query.voters.setdefault((id, _VERBS[shown.kind]), set()).add(visit.voter(shown))
    for chain in chains(visit):
        for earlier, later in pairwise(chain):
            one, other = names.query(earlier.query), names.query(later.query)
            if one != other:
                seen[one].reformulated += 1


def _proposal(query: str, why: str, weight: int | None, seen: _Seen, least: int) -> Proposal:
    candidates = [
        Candidate(id, verb, len(voters))
        for (id, verb), voters in seen.voters.items()
        if len(voters) >= least
    ]
    # A citation says more than a read, and each says more the more sessions agree.
    candidates.sort(key=lambda candidate: (candidate.verb != "cited", -candidate.sessions))
    return Proposal(
        query=query,
        why=why,
        weight=weight,
        lists=seen.lists,
        empty=seen.empty,
        reformulated=seen.reformulated,
        candidates=tuple(candidates),
    )
