"""What all sources together say of each unit of one query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from judge.evidence.intervals import narrow
from judge.evidence.preferences import Pair, constrain
from judge.evidence.slots import Slots
from judge.grades import Conflict, Evidence, Judgment, Source
from judge.run import KnownGrade

BY_PREFERENCE = "ordered by read logs"

BLANK = Evidence(Source.RULE, 0, 0, "blank text")
"""What a chunk that is there but says nothing is known by."""

UnitEvidence = Mapping[str, tuple[Evidence, ...]]
"""Unit to everything that is said of it."""


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
class Units:
    """The judgments of a query's units, the orders (a, b) that stand or not, and the conflicts."""

    judgments: Mapping[str, Judgment]
    orders: tuple[Pair, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    withdrawn: tuple[Pair, ...] = ()


def unit_evidence(
    unit: str,
    slots: Slots,
    *,
    known: Sequence[KnownGrade],
    replies: Mapping[str, Reply],
    grade_max: int,
) -> tuple[Evidence, ...]:
    """Return what grades, rules and replies say of one unit.

    A grade under the unit's own id speaks for all of it. In a document, grades of its
    chunks and its first slots leave [max lo, max hi].
    """
    chunks = [result.id for _, result in slots.first_results.get(unit, ())]
    graded = [grade.id for grade in known]
    if all(id == unit for id in chunks) and all(id == unit for id in graded):
        return tuple(_said_of(unit, slots, known, replies))
    # Its own id names the document as a whole, unless a chunk in some list has that id too.
    own = [g for g in known if g.id == unit and unit not in slots.unit_of]
    of_chunks = [
        _said_of(id, slots, [g for g in known if g.id == id], replies)
        for id in dict.fromkeys((*chunks, *graded))
        if id != unit or unit in slots.unit_of
    ]
    return (*map(_evidence_of, own), *_best_of(of_chunks, grade_max))


def _said_of(
    chunk: str, slots: Slots, known: Sequence[KnownGrade], replies: Mapping[str, Reply]
) -> list[Evidence]:
    said = [_evidence_of(grade) for grade in known]
    if chunk in slots.blank:
        said.append(BLANK)
    if replies and chunk in replies and chunk in slots.unit_of:
        reply = replies[chunk].evidence
        said += [] if reply is None else [reply]
    return said


def _evidence_of(grade: KnownGrade) -> Evidence:
    return _known(grade.source, grade.lo, grade.hi, grade.detail)


# A million grades hold few distinct statements: they share them.
_known = lru_cache(maxsize=4096)(Evidence)


def _best_of(chunks: Iterable[Sequence[Evidence]], grade_max: int) -> tuple[Evidence, ...]:
    parts = [narrow(evidence, grade_max=grade_max).judgment for evidence in chunks]
    lo, hi = max(part.lo for part in parts), max(part.hi for part in parts)
    # The source that speaks is the one behind the best chunk; of equals, the first.
    best = next((part for part in parts if part.lo == lo and part.source is not None), None)
    if best is None or best.source is None or (lo, hi) == (0, grade_max):
        return ()
    return (Evidence(best.source, lo, hi, best.reason),)


def judge_units(
    query_id: str, evidence: UnitEvidence, pairs: Sequence[Pair], *, grade_max: int
) -> Units:
    """Return the judgment of every unit, with preferences (winner, loser) among them.

    Goldens, people, earlier grades and rules travel along preferences; the judge's
    replies do not, but they withdraw a preference that they contradict.
    """
    judgments: dict[str, Judgment] = {}
    conflicts: list[Conflict] = []
    for unit, said in evidence.items():
        narrowed = narrow(said, grade_max=grade_max)
        judgments[unit] = narrowed.judgment
        conflicts += [
            Conflict(query_id, unit, stands, against) for stands, against in narrowed.contradictions
        ]
    if not pairs:
        return Units(judgments, (), tuple(conflicts))
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
        conflicts.append(Conflict(query_id, violation.winner, stands, against))
    return Units(judgments, constrained.orders, tuple(conflicts), constrained.withdrawn)


def _intervals(
    evidence: UnitEvidence, grade_max: int, *, judged: bool
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
