"""Which judge's grades a verdict hangs on: the few that, if wrong, could turn it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from judge.calibration.correcting import RowScores
from judge.evidence.pool import QueryPool
from judge.grades import Judgment, Source
from judge.statistics.weights import shares_of


def flipping(
    score_rows: RowScores, pools: Sequence[QueryPool], *, threshold: float = 0.0
) -> tuple[tuple[str, str], ...]:
    """Return the fewest (query, chunk) whose judge's grades could carry the mean past threshold.

    For each grade of the judge: how far towards the threshold could any other grade move the
    mean? The farthest come first, as many as together reach it; none where all of them do
    not. Within a row the moves are added up as if they were independent, so this says where
    to look, not what is proved.
    """
    before = score_rows(pools)
    having = [at for at, score in enumerate(before) if score is not None]
    if not having:
        return ()
    of_each = shares_of(len(having), [pools[at].query.weight for at in having])
    shares = dict(zip(having, of_each, strict=True))
    mean = math.fsum(
        shares[at] * score.value for at, score in enumerate(before) if score is not None
    )
    direction = -1.0 if mean >= threshold else 1.0
    changed = [
        (at, member, pool) for at in range(len(pools)) for member, pool in _changed(pools[at])
    ]
    reach: dict[tuple[str, str], float] = {}
    after = score_rows([pool for _, _, pool in changed])
    for (at, member, pool), score in zip(changed, after, strict=True):
        was = before[at]
        if was is None or score is None:
            continue
        moved = direction * (score.value - was.value) * shares[at]
        pair = pool.query.key, pool.ids[member]
        reach[pair] = max(reach.get(pair, 0.0), moved)
    return _fewest(reach, distance=abs(mean - threshold))


def _changed(pool: QueryPool) -> Iterator[tuple[int, QueryPool]]:
    """Yield the pool with each grade of the judge replaced by each other grade."""
    for member, judgment in enumerate(pool.judgments):
        if judgment.source is not Source.JUDGE or judgment.is_open:
            continue
        for grade in range(pool.grade_max + 1):
            if grade != judgment.lo:
                other = Judgment(grade, grade, Source.JUDGE)
                judgments = (*pool.judgments[:member], other, *pool.judgments[member + 1 :])
                # An order from logs held for the old grade only.
                yield member, replace(pool, judgments=judgments, orders=())


def _fewest(reach: dict[tuple[str, str], float], *, distance: float) -> tuple[tuple[str, str], ...]:
    chosen: list[tuple[str, str]] = []
    left = distance
    for pair, moved in sorted(reach.items(), key=lambda item: -item[1]):
        if moved <= 0.0:
            return ()
        chosen.append(pair)
        left -= moved
        if left <= 0.0:
            return tuple(chosen)
    return ()
