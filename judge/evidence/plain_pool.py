"""The pool of a query where no two sources meet: most of them, and a run may have 100,000.

`pool.build_pool` weighs every source against every other. Where one list of distinct chunks
is known by one statement each at most, that comes to a look-up, and is done here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

from judge.evidence.goldens import CHUNK, Expected
from judge.evidence.intervals import narrow
from judge.evidence.pool import PoolRules, QueryPool, has_text, unasked
from judge.evidence.queries import Query
from judge.evidence.units import BLANK, Reply
from judge.grades import Evidence, Judgment
from judge.run import KnownGrade, Result

Ranking: TypeAlias = tuple[int | None, ...]

_NO_GOLDEN = Expected((), (), ((),))
_NO_DOCUMENTS: Mapping[str, str] = MappingProxyType({})
_NO_TEXTS: Mapping[str, str] = MappingProxyType({})
_NO_FAILURES: frozenset[str] = frozenset()


def plain_known(grades: Sequence[KnownGrade], *, grade_max: int) -> dict[str, Judgment] | None:
    """Return what grades leave of each chunk; None where they meet, differ or name documents."""
    found: dict[str, Judgment] = {}
    for grade in grades:
        if grade.id in found or grade.document_id is not None or grade.lo != grade.hi:
            return None
        said = Evidence(grade.source, grade.lo, grade.hi, grade.detail)
        found[grade.id] = _alone(said, grade_max)
    return found


def plain_pool(
    query: Query,
    rules: PoolRules,
    *,
    known: Mapping[str, Judgment],
    replies: Mapping[str, Reply],
) -> QueryPool | None:
    """Return what `build_pool` would, or None where more is to be weighed than this does.

    known: chunk id to the exact grade that is known of it
    """
    row = query.rows[0]
    if row is None or len(query.rows) != 1 or query.golden is not None or rules.unit != CHUNK:
        return None
    ids = [result.id for result in row.results]
    top = row.results[: rules.depth]
    distinct = set(ids)
    if len(distinct) != len(ids):
        return None
    said = _said(known, _blank(top), replies, ids, rules)
    if said is None:
        return None
    texts: Mapping[str, str] = _NO_TEXTS
    left: Mapping[str, Judgment] = {}
    if distinct <= said.keys():
        members = {id: said[id] for id in ids}
    else:
        waiting = [result for result in top if result.id not in said]
        texts = _texts(query, waiting, replies)
        left = {result.id: _open(query, result.id, texts, replies, rules) for result in waiting}
        members = {id: judgment for id in ids if (judgment := said.get(id) or left.get(id))}
    ranking = _straight(len(ids)) if len(members) == len(ids) else _places(ids, members)
    members.update(said)  # what is known of chunks that were not returned comes last
    return QueryPool(
        query=query,
        ids=tuple(members),
        judgments=tuple(members.values()),
        rankings=(ranking,),
        expected=_NO_GOLDEN,
        asks=tuple((id,) if id in texts else () for id in members)
        if texts
        else _nothing(len(members)),
        texts=texts,
        documents=_documents(row.results, members),
        failed=frozenset(id for id in left if id in replies) if left else _NO_FAILURES,
        grade_max=rules.grade_max,
    )


def _said(
    known: Mapping[str, Judgment],
    blank: Collection[str],
    replies: Mapping[str, Reply],
    ids: Sequence[str],
    rules: PoolRules,
) -> Mapping[str, Judgment] | None:
    """Return what is said of each chunk; None where two speak of one, or one is not exact."""
    if not blank and not replies:
        return known
    said = dict(known)
    for id in ids:
        reply = replies.get(id)
        if id in blank:
            judgment: Judgment | None = _alone(BLANK, rules.grade_max)
        elif reply is not None:
            judgment = _replied(reply.lo, reply.hi, reply.reason, rules.grade_max)
        else:
            continue
        if id in said or (id in blank and reply is not None):
            return None
        if judgment is not None:
            if judgment.lo != judgment.hi:
                return None
            said[id] = judgment
    return said


def _blank(top: Sequence[Result]) -> Collection[str]:
    return [r.id for r in top if r.text is not None and (not r.text or r.text.isspace())]


def _texts(query: Query, waiting: Sequence[Result], replies: Mapping[str, Reply]) -> dict[str, str]:
    """Return the texts of open chunks that the judge can still be sent."""
    if not waiting or not has_text(query):
        return {}
    return {r.id: r.text for r in waiting if r.text is not None and r.id not in replies}


def _open(
    query: Query,
    id: str,
    texts: Collection[str],
    replies: Mapping[str, Reply],
    rules: PoolRules,
) -> Judgment:
    reply = replies.get(id)
    reason = unasked(query, asked=id in texts) if reply is None else reply.reason
    return _left_open(rules.grade_max, reason)


def _places(ids: Sequence[str], members: Collection[str]) -> Ranking:
    place = {id: at for at, id in enumerate(members)}
    return tuple(map(place.get, ids))


def _documents(results: Sequence[Result], members: Collection[str]) -> Mapping[str, str]:
    return {
        r.id: r.document_id
        for r in results
        if r.document_id and r.document_id != r.id and r.id in members
    } or _NO_DOCUMENTS


# A million chunks hold few distinct judgments, and lists of few lengths: they share them.
@lru_cache(maxsize=4096)
def _alone(evidence: Evidence, grade_max: int) -> Judgment:
    return narrow([evidence], grade_max=grade_max).judgment


@lru_cache(maxsize=1024)
def _replied(lo: int | None, hi: int | None, reason: str, grade_max: int) -> Judgment | None:
    evidence = Reply(lo, hi, reason).evidence
    return None if evidence is None else _alone(evidence, grade_max)


@lru_cache(maxsize=1024)
def _left_open(grade_max: int, reason: str) -> Judgment:
    return Judgment(0, grade_max, reason=reason)


@lru_cache(maxsize=1024)
def _straight(n: int) -> Ranking:
    return tuple(range(n))


@lru_cache(maxsize=1024)
def _nothing(n: int) -> tuple[tuple[str, ...], ...]:
    return ((),) * n
