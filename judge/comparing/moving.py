"""Which chunks moved between the two lists of one query."""

from __future__ import annotations

from dataclasses import dataclass

from judge.comparing.comparison import BASELINE, CANDIDATE, RowChange
from judge.evidence.pool import QueryPool
from judge.grades import WORD_OVERLAP


@dataclass(frozen=True, slots=True)
class Moved:
    """A chunk whose rank differs between the lists; None: not in that list's top.

    below: where it stands in the list whose top it is not in, None if not there at all
    by_mock: its grade is the mock's
    """

    id: str
    before: int | None
    after: int | None
    lo: int
    hi: int
    below: int | None = None
    by_mock: bool = False


def moved_chunks(row: RowChange, *, depth: int, count: int = 3) -> list[Moved]:
    """Return the chunks whose rank changed most for this row's lists, best known grade first."""
    pool = row.pool
    ranks: list[dict[int, int]] = [
        {m: rank for rank, m in enumerate(ranking[:depth], 1) if m is not None}
        for ranking in pool.rankings
    ]
    before, after = ranks[BASELINE], ranks[CANDIDATE]
    moved = [
        Moved(
            id=pool.ids[m],
            before=before.get(m),
            after=after.get(m),
            lo=pool.judgments[m].lo,
            hi=pool.judgments[m].hi,
            below=_place_below(pool, m, depth),
            by_mock=pool.judgments[m].reason == WORD_OVERLAP,
        )
        for m in dict.fromkeys((*after, *before))
        if before.get(m) != after.get(m)
    ]
    return sorted(moved, key=lambda chunk: (-chunk.lo, -_leap(chunk, depth)))[:count]


def _place_below(pool: QueryPool, member: int, depth: int) -> int | None:
    places = (ranking.index(member) + 1 for ranking in pool.rankings if member in ranking[depth:])
    return next(places, None)


def _leap(chunk: Moved, depth: int) -> float:
    before, after = chunk.before or depth + 1, chunk.after or depth + 1
    return abs(1.0 / before - 1.0 / after)
