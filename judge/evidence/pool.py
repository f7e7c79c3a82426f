"""The pool of one query: its units, what is known of each, and every run's ranking over them.

A unit is a chunk, or a document where goldens name documents (`goldens.decide_unit`). A
document is known through its graded chunks and through its first slot in each run; later
slots keep their place and gain nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from judge.evidence.goldens import DOCUMENT, Expected, golden_evidence, resolve_expected
from judge.evidence.intervals import narrow
from judge.evidence.preferences import Pair, constrain
from judge.evidence.queries import Query
from judge.grades import GRADE_MAX, Conflict, Evidence, Judgment, Source
from judge.run import KnownGrade, Result

NO_TEXT = "no text"
NOT_JUDGED = "not judged"
BY_PREFERENCE = "ordered by read logs"


@dataclass(frozen=True, slots=True)
class Reply:
    """What the judge said of one chunk: an interval of grades, or None and the reason."""

    lo: int | None
    hi: int | None
    reason: str = ""

    @property
    def evidence(self) -> Evidence | None:
        """Return the reply as evidence, or None for a failure, which narrows nothing."""
        if self.lo is None or self.hi is None:
            return None
        return Evidence(Source.JUDGE, self.lo, self.hi, self.reason)


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


@dataclass(frozen=True, slots=True)
class _Slots:
    """The slots of all runs, by unit."""

    rankings: tuple[tuple[str | None, ...], ...]
    first_ranks: tuple[Mapping[str, int], ...]
    first_results: Mapping[str, tuple[tuple[int, Result], ...]]
    unit_of: Mapping[str, str]


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
    slots = _slots(query, rules)
    expected = resolve_expected(query, first_ranks=slots.first_ranks, unit_of=slots.unit_of)
    by_unit = _known_by_unit(known, slots, rules)
    shown = (unit for ranks in slots.first_ranks for unit in ranks)
    units = tuple(dict.fromkeys((*shown, *expected.ideal, *by_unit)))
    evidence = {
        unit: _unit_evidence(unit, slots, rules, by_unit.get(unit, ()), replies)
        + _golden(query, unit, expected, rules)
        for unit in units
    }
    pairs = [(slots.unit_of.get(a, a), slots.unit_of.get(b, b)) for a, b in preferences]
    judgments, orders, conflicts = _judge_units(query, evidence, pairs, rules.grade_max)
    members = [unit for unit in units if _in_pool(unit, judgments[unit], slots, rules)]
    place = {unit: at for at, unit in enumerate(members)}
    asks = [_asks(unit, judgments[unit], slots, rules, replies) for unit in members]
    texts = {
        result.id: result.text
        for unit, chunks in zip(members, asks, strict=True)
        for _, result in (slots.first_results[unit] if chunks else ())
        if result.text is not None
    }
    return QueryPool(
        query=query,
        ids=tuple(members),
        judgments=tuple(
            _with_reason(judgments[unit], chunks, unit, slots, replies)
            for unit, chunks in zip(members, asks, strict=True)
        ),
        rankings=tuple(
            tuple(None if unit is None else place.get(unit) for unit in ranking)
            for ranking in slots.rankings
        ),
        expected=expected,
        orders=tuple((place[a], place[b]) for a, b in orders if a in place and b in place),
        asks=tuple(asks),
        texts=texts,
        documents=_documents(slots, by_unit),
        conflicts=conflicts,
        failed=frozenset(
            unit for unit in members if judgments[unit].is_open and _failures(unit, slots, replies)
        ),
        grade_max=rules.grade_max,
    )


def _slots(query: Query, rules: PoolRules) -> _Slots:
    rankings, first_ranks = [], []
    first_results: dict[str, tuple[tuple[int, Result], ...]] = {}
    unit_of: dict[str, str] = {}
    for row in query.rows:
        ranks: dict[str, int] = {}
        ranking: list[str | None] = []
        for rank, result in enumerate(row.results if row else (), 1):
            unit = result.document if rules.unit == DOCUMENT else result.id
            unit_of.setdefault(result.id, unit)
            if unit in ranks:
                ranking.append(None)
                continue
            ranks[unit] = rank
            ranking.append(unit)
            first_results[unit] = (*first_results.get(unit, ()), (rank, result))
        rankings.append(tuple(ranking))
        first_ranks.append(ranks)
    return _Slots(tuple(rankings), tuple(first_ranks), first_results, unit_of)


def _known_by_unit(
    known: Sequence[KnownGrade], slots: _Slots, rules: PoolRules
) -> dict[str, tuple[KnownGrade, ...]]:
    by_unit: dict[str, tuple[KnownGrade, ...]] = {}
    for grade in known:
        unit = grade.id
        if rules.unit == DOCUMENT:
            unit = slots.unit_of.get(grade.id, grade.document_id or grade.id)
        by_unit[unit] = (*by_unit.get(unit, ()), grade)
    return by_unit


def _unit_evidence(
    unit: str,
    slots: _Slots,
    rules: PoolRules,
    known: Sequence[KnownGrade],
    replies: Mapping[str, Reply],
) -> tuple[Evidence, ...]:
    """Return what grades, rules and replies say of one unit.

    A grade under the unit's own id speaks for all of it. In a document, grades of its
    chunks and its first slots leave [max lo, max hi].
    """
    chunks: dict[str, list[Evidence]] = {}
    own: list[Evidence] = []
    for grade in known:
        said = Evidence(grade.source, grade.lo, grade.hi, grade.detail)
        is_chunk = grade.id != unit or grade.id in slots.unit_of
        (chunks.setdefault(grade.id, []) if is_chunk else own).append(said)
    for rank, result in slots.first_results.get(unit, ()):
        said_of = chunks.setdefault(result.id, [])
        in_depth = rules.depth is None or rank <= rules.depth
        if in_depth and result.text is not None and not result.text.strip():
            said_of.append(Evidence(Source.RULE, 0, 0, "blank text"))
        reply = replies.get(result.id)
        if reply is not None and reply.evidence is not None and reply.evidence not in said_of:
            said_of.append(reply.evidence)
    if set(chunks) <= {unit}:
        return (*own, *chunks.get(unit, ()))
    return (*own, *_best_of(chunks.values(), rules.grade_max))


def _best_of(chunks: Iterable[Sequence[Evidence]], grade_max: int) -> tuple[Evidence, ...]:
    parts = [narrow(evidence, grade_max=grade_max).judgment for evidence in chunks]
    lo, hi = max(part.lo for part in parts), max(part.hi for part in parts)
    if (lo, hi) == (0, grade_max):
        return ()
    best = next(part for part in parts if (part.lo == lo and part.source is not None) or lo == 0)
    source = best.source if best.source is not None else Source.JUDGE
    return (Evidence(source, lo, hi, best.reason),)


def _golden(query: Query, unit: str, expected: Expected, rules: PoolRules) -> tuple[Evidence, ...]:
    said = golden_evidence(query, unit, expected=expected, grade_max=rules.grade_max)
    return () if said is None else (said,)


def _judge_units(
    query: Query,
    evidence: Mapping[str, tuple[Evidence, ...]],
    pairs: Sequence[Pair],
    grade_max: int,
) -> tuple[dict[str, Judgment], tuple[Pair, ...], tuple[Conflict, ...]]:
    judgments: dict[str, Judgment] = {}
    conflicts: list[Conflict] = []
    for unit, said in evidence.items():
        narrowed = narrow(said, grade_max=grade_max)
        judgments[unit] = narrowed.judgment
        conflicts += [
            Conflict(query.key, unit, stands, against)
            for stands, against in narrowed.contradictions
        ]
    if not pairs:
        return judgments, (), tuple(conflicts)
    constrained = constrain(
        _intervals(evidence, grade_max, judged=False),
        pairs,
        verdicts=_intervals(evidence, grade_max, judged=True),
    )
    for unit, (lo, hi) in constrained.intervals.items():
        if (lo, hi) != (judgments[unit].lo, judgments[unit].hi):
            judgments[unit] = Judgment(lo, hi, Source.PREFERENCE, BY_PREFERENCE)
    for violation in constrained.violations:
        grade = judgments[violation.winner]
        stands = Evidence(grade.source or Source.JUDGE, *violation.winner_interval, grade.reason)
        against = Evidence(
            Source.PREFERENCE, *violation.loser_interval, f"at least {violation.loser}"
        )
        conflicts.append(Conflict(query.key, violation.winner, stands, against))
    return judgments, constrained.orders, tuple(conflicts)


def _intervals(
    evidence: Mapping[str, tuple[Evidence, ...]], grade_max: int, *, judged: bool
) -> dict[str, tuple[int, int]]:
    """Return each unit's interval by the judge alone, or by all other sources."""
    found = {}
    for unit, said in evidence.items():
        of_kind = [item for item in said if (item.source == Source.JUDGE) == judged]
        if judged and not of_kind:
            continue
        judgment = narrow(of_kind, grade_max=grade_max).judgment
        found[unit] = (judgment.lo, judgment.hi)
    return found


def _in_pool(unit: str, judgment: Judgment, slots: _Slots, rules: PoolRules) -> bool:
    if not judgment.is_open:
        return True
    ranks = [rank for rank, _ in slots.first_results.get(unit, ())]
    return any(rules.depth is None or rank <= rules.depth for rank in ranks)


def _asks(
    unit: str,
    judgment: Judgment,
    slots: _Slots,
    rules: PoolRules,
    replies: Mapping[str, Reply],
) -> tuple[str, ...]:
    if not judgment.is_open:
        return ()
    return tuple(
        dict.fromkeys(
            result.id
            for rank, result in slots.first_results.get(unit, ())
            if (rules.depth is None or rank <= rules.depth)
            and result.id not in replies
            and result.text is not None
            and result.text.strip()
        )
    )


def _with_reason(
    judgment: Judgment,
    asks: tuple[str, ...],
    unit: str,
    slots: _Slots,
    replies: Mapping[str, Reply],
) -> Judgment:
    """Give an open judgment the reason why it is open."""
    if not judgment.is_open:
        return judgment
    failed = _failures(unit, slots, replies)
    reason = failed[0] if failed else NOT_JUDGED if asks else NO_TEXT
    if judgment.source is not None and not failed:
        return judgment
    return Judgment(judgment.lo, judgment.hi, judgment.source, reason)


def _failures(unit: str, slots: _Slots, replies: Mapping[str, Reply]) -> list[str]:
    """Return why the judge could not grade a unit's chunks, for those it was asked about."""
    asked = [replies.get(result.id) for _, result in slots.first_results.get(unit, ())]
    return [reply.reason for reply in asked if reply is not None and reply.evidence is None]


def _documents(slots: _Slots, known: Mapping[str, tuple[KnownGrade, ...]]) -> Mapping[str, str]:
    """Return the document of each unit that has one other than itself."""
    documents = {
        unit: results[0][1].document
        for unit, results in slots.first_results.items()
        if results[0][1].document != unit
    }
    for unit, grades in known.items():
        document = grades[0].document_id
        if document is not None and document != unit:
            documents.setdefault(unit, document)
    return documents
