"""Shadow judging: ask the judge about a sample of what needs no judge, and compare.

Goldens, labels and earlier grades settle chunks without a call. A judge that contradicts them
often is no judge for this data, or the evidence is stale; either way one wants to know.
What it says here changes no grade.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from judge.evidence.pool import QueryPool
from judge.grades import Source
from judge.judging.judge import Pair, Verdict


@dataclass(frozen=True, slots=True)
class Shadow:
    """How the judge compares with one source on what that source settled.

    n: chunks that the judge graded too
    contradicted: its grade lies outside the interval known
    difference: mean distance from the interval, above it positive
    """

    source: str
    n: int
    contradicted: int
    difference: float


def sample(pools: Sequence[QueryPool], *, share: float) -> Iterator[Pair]:
    """Yield about `share` of the settled chunks, ready to be judged.

    A chunk is in or out by the hash of its ids: a second run asks the same ones again and
    finds them in the cache.
    """
    for pool in pools:
        texts = _texts(pool)
        open_ids = {id for asks in pool.asks for id in asks}
        for id in pool.ids:
            if id in texts and id not in open_ids and _drawn(share, pool.query.key, id):
                yield Pair(pool.query.key, pool.query.text or "", id, texts[id])


def compare(pools: Sequence[QueryPool], shadows: Iterable[Verdict]) -> tuple[Shadow, ...]:
    """Compare shadow verdicts with what each source knows."""
    grades: dict[str, dict[str, int]] = {}
    for verdict in shadows:
        if verdict.grade is not None:
            grades.setdefault(verdict.query_id, {})[verdict.id] = verdict.grade
    found: dict[str, list[int]] = {}
    for pool in pools:
        for source, distance in _distances(pool, grades.get(pool.query.key, {})):
            found.setdefault(source, []).append(distance)
    return tuple(
        Shadow(
            source=source,
            n=len(distances),
            contradicted=sum(distance != 0 for distance in distances),
            difference=sum(distances) / len(distances),
        )
        for source, distances in sorted(found.items())
    )


def _distances(pool: QueryPool, grades: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yield the source of each settled chunk and how far the judge's grade is from it."""
    for id, judgment in zip(pool.ids, pool.judgments, strict=True):
        if id in grades and judgment.source not in (None, Source.JUDGE):
            above = max(0, grades[id] - judgment.hi)
            below = max(0, judgment.lo - grades[id])
            yield str(judgment.source), above - below


def _texts(pool: QueryPool) -> dict[str, str]:
    """Return the texts of the pool's units that a judge could be shown."""
    return {
        result.id: result.text
        for row in pool.query.rows
        for result in (row.results if row else ())
        if result.text is not None and result.text.strip()
    }


def _drawn(share: float, *names: str) -> bool:
    data = "\0".join(names).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big") < share * (1 << 64)
