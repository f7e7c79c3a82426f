"""Ask the judge about what is open, until a selector is content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias

from judge.errors import BackendUnavailable
from judge.evidence.pool import NOT_JUDGED, QueryPool
from judge.evidence.units import Reply
from judge.grades import WORD_OVERLAP
from judge.judging.exchange import Pair, Verdict
from judge.judging.judge import Judge
from judge.judging.selector import Selector

Rebuild: TypeAlias = Callable[[int, Mapping[str, Reply]], QueryPool]
"""Builds the pool at a place anew from what is known and the replies about its chunks."""

_ASKED = Reply(None, None, NOT_JUDGED)


def inquire(
    pools: list[QueryPool], rebuild: Rebuild, *, judge: Judge, selector: Selector
) -> tuple[list[Verdict], BackendUnavailable | None]:
    """Ask the judge until the selector is content; `pools` are replaced as replies come.

    A judge that becomes unusable ends the asking; what it said before counts, and so does what
    was known. Raises BackendUnavailable where that is nothing.
    """
    verdicts: list[Verdict] = []
    replies: dict[int, dict[str, Reply]] = {}
    place = {pool.query.key: at for at, pool in enumerate(pools)}
    grade_max = judge.prompt.grade_max
    stopped: BackendUnavailable | None = None
    while stopped is None and (asks := selector.next(pools, limit=judge.batch_size)):
        for at, chunk in asks:
            replies.setdefault(at, {})[chunk] = _ASKED
        try:
            asked = (_pair(pools[at], chunk) for at, chunk in asks)
            for verdict in judge.stream(asked, total=len(asks)):
                verdicts.append(verdict)
                replies[place[verdict.query_id]][verdict.id] = _reply(verdict, grade_max)
        except BackendUnavailable as error:
            if not verdicts and not any(_is_graded(pool) for pool in pools):
                raise
            stopped = error
        for at in {at for at, _ in asks}:
            pools[at] = rebuild(at, replies[at])
    return sorted(verdicts, key=lambda verdict: (place[verdict.query_id], verdict.id)), stopped


def _is_graded(pool: QueryPool) -> bool:
    return any(not judgment.is_open for judgment in pool.judgments)


def _pair(pool: QueryPool, chunk: str) -> Pair:
    query = pool.query
    return Pair(query.key, query.text if query.text is not None else "", chunk, pool.texts[chunk])


def _reply(verdict: Verdict, grade_max: int) -> Reply:
    # A panel that lacks a vote may have narrowed all the same.
    if verdict.lo > 0 or verdict.hi < grade_max:
        return Reply(verdict.lo, verdict.hi, WORD_OVERLAP if _is_mock(verdict) else verdict.reason)
    return Reply(None, None, verdict.reason or verdict.status)


def _is_mock(verdict: Verdict) -> bool:
    models = [vote.model for vote in verdict.votes] if verdict.votes else [verdict.model]
    return any(map(_names_mock, models))


@lru_cache(maxsize=64)
def _names_mock(model: str) -> bool:
    return model.partition(":")[0] == "mock"
