"""The pool of one query: its units, what is known of each, and every run's ranking over them.

A unit is a chunk, or a document where goldens name documents (`goldens.decide_unit`). A
document is known through its graded chunks and through its first slot in each run; later
slots keep their place and gain nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from judge.evidence.goldens import Expected, golden_evidence, resolve_expected
from judge.evidence.orders import bridged
from judge.evidence.preferences import Pair
from judge.evidence.queries import Query
from judge.evidence.slots import Slots, slots_of
from judge.evidence.units import BY_PREFERENCE, Reply, judge_units, unit_evidence
from judge.grades import GRADE_MAX, Conflict, Evidence, Judgment, Source
from judge.run import KnownGrade

NO_TEXT = "no text"
NO_QUERY = "no query text"
NOT_JUDGED = "not judged"

_NARROWED = {
    Source.HUMAN: "raters differ",
    Source.PRIOR: "known only as a range",
    Source.JUDGE: "the panel differs",
    Source.PREFERENCE: BY_PREFERENCE,
}
"""Why a judgment is still open that some source narrowed."""

_Known = Mapping[str, tuple[KnownGrade, ...]]


@dataclass(frozen=True, slots=True)
class PoolRules:
    """What is the same for every query: the unit, the depth K of the pool, the scale."""

    unit: str
    depth: int | None
    grade_max: int


@dataclass(frozen=True, slots=True)
class QueryPool:
    """One query's pool and the rankings of all runs over it.

    ids, judgments: the units in the pool and what is known of each, aligned
    rankings: by run, at each rank the index of the unit whose first slot this is, or None
    orders: (a, b) as indices: grade(a) >= grade(b)
    withdrawn: orders between members that some grade contradicts, or that go round in a circle
    asks: per unit, the chunk ids whose text the judge could still be sent
    texts: chunk id to text, for the ids in `asks`
    documents: unit to its document, where it has one other than itself
    failed: open units of which the judge was asked without getting a grade
    """

    query: Query
    ids: tuple[str, ...]
    judgments: tuple[Judgment, ...]
    rankings: tuple[tuple[int | None, ...], ...]
    expected: Expected
    orders: tuple[tuple[int, int], ...] = ()
    asks: tuple[tuple[str, ...], ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    conflicts: tuple[Conflict, ...] = ()
    failed: frozenset[str] = frozenset()
    grade_max: int = GRADE_MAX
    withdrawn: tuple[tuple[int, int], ...] = ()


def build_pool(
    query: Query,
    rules: PoolRules,
    *,
    known: Sequence[KnownGrade] = (),
    preferences: Iterable[Pair] = (),
    replies: Mapping[str, Reply] = MappingProxyType({}),
) -> QueryPool:
    """Return the pool of one query under all evidence so far.

    known: labels and prior grades of this query, by chunk or document id
    preferences: decided (winner, loser) pairs of ids
    replies: the judge's replies by chunk id

    Built anew from the evidence each time, so nothing depends on the order of arrival.
    """
    slots = slots_of(query.rows, unit=rules.unit, depth=rules.depth)
    expected = resolve_expected(query, first_ranks=slots.first_ranks, unit_of=slots.unit_of)
    by_unit = slots.by_unit(known, unit=rules.unit)
    evidence = _evidence(query, rules, slots, expected, by_unit, replies)
    # A document is at least its chunk; a chunk that lost says nothing of a document that has
    # more of them.
    pairs = [(slots.unit_of.get(a, a), b) for a, b in preferences if slots.unit_of.get(b, b) == b]
    units = judge_units(query.key, evidence, pairs, grade_max=rules.grade_max)
    members = {
        unit: judgment
        for unit, judgment in units.judgments.items()
        if not judgment.is_open or slots.first(unit, depth=rules.depth)
    }
    place = {unit: at for at, unit in enumerate(members)}
    waiting = [unit for unit, judgment in members.items() if judgment.is_open]
    asks = {unit: _asks(query, unit, slots, rules, replies) for unit in waiting}
    failures = {unit: _failures(unit, slots, replies) for unit in waiting}
    return QueryPool(
        query=query,
        ids=tuple(members),
        judgments=tuple(
            _with_reason(judgment, failures[unit], unasked(query, asked=bool(asks[unit])))
            if unit in asks
            else judgment
            for unit, judgment in members.items()
        ),
        rankings=tuple(
            tuple(None if unit is None else place.get(unit) for unit in ranking)
            for ranking in slots.rankings
        ),
        expected=expected,
        orders=tuple((place[a], place[b]) for a, b in bridged(units.orders, place)),
        asks=tuple(tuple(asks[unit]) if unit in asks else () for unit in members),
        texts={id: text for texts in asks.values() for id, text in texts.items()},
        documents=_documents(members, slots, by_unit),
        conflicts=units.conflicts,
        failed=frozenset(unit for unit, reasons in failures.items() if reasons),
        grade_max=rules.grade_max,
        withdrawn=tuple(
            (place[a], place[b]) for a, b in units.withdrawn if a in place and b in place
        ),
    )


def _evidence(
    query: Query,
    rules: PoolRules,
    slots: Slots,
    expected: Expected,
    known: _Known,
    replies: Mapping[str, Reply],
) -> dict[str, tuple[Evidence, ...]]:
    """Return what is said of every unit that was returned, expected or graded before."""
    shown = (unit for ranks in slots.first_ranks for unit in ranks)
    found: dict[str, tuple[Evidence, ...]] = {}
    for unit in dict.fromkeys((*shown, *expected.ideal, *known)):
        found[unit] = unit_evidence(
            unit,
            slots,
            known=known.get(unit, ()),
            replies=replies,
            grade_max=rules.grade_max,
        )
        golden = golden_evidence(query, unit, expected=expected, grade_max=rules.grade_max)
        if golden is not None:
            found[unit] = (*found[unit], golden)
    return found


def _asks(
    query: Query, unit: str, slots: Slots, rules: PoolRules, replies: Mapping[str, Reply]
) -> dict[str, str]:
    """Return the chunks of an open unit that the judge can still be sent, with their texts."""
    if not has_text(query):
        return {}
    return {
        result.id: result.text
        for result in slots.first(unit, depth=rules.depth)
        if result.id not in replies and result.text is not None and result.text.strip()
    }


def _failures(unit: str, slots: Slots, replies: Mapping[str, Reply]) -> list[str]:
    """Return why the judge could not grade a unit's chunks, for those it was asked about."""
    asked = [replies.get(result.id) for result in slots.first(unit, depth=None)]
    return [reply.reason for reply in asked if reply is not None and reply.evidence is None]


def has_text(query: Query) -> bool:
    """Tell whether there is a question to judge by: without one a grade means nothing."""
    return bool((query.text or "").strip())


def unasked(query: Query, *, asked: bool) -> str:
    """Return why a chunk is open of which nobody said anything. asked: it can be judged."""
    if not has_text(query):
        return NO_QUERY
    return NOT_JUDGED if asked else NO_TEXT


def _with_reason(judgment: Judgment, failures: Sequence[str], unasked: str) -> Judgment:
    """Give an open judgment the reason why it is open; a few reasons, so that they add up."""
    narrowed = None if judgment.source is None else _NARROWED.get(judgment.source)
    reason = failures[0] if failures else narrowed or unasked
    return _open(judgment.lo, judgment.hi, judgment.source, reason)


# Many chunks are open for few reasons: they share them.
_open = lru_cache(maxsize=4096)(Judgment)


def _documents(members: Iterable[str], slots: Slots, known: _Known) -> dict[str, str]:
    found = {}
    for unit in members:
        graded = known.get(unit, ())
        document = slots.document(unit) or (graded[0].document_id if graded else None)
        if document is not None and document != unit:
            found[unit] = document
    return found
