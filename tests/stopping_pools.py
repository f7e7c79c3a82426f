"""Pools of made-up lists, and a judge that answers a selector over them."""

from __future__ import annotations

import random
from typing import TypeAlias

from judge.contrast import Contrast
from judge.evidence.goldens import Expected
from judge.evidence.pool import QueryPool
from judge.evidence.queries import Query
from judge.grades import Judgment, Source
from judge.judging.selector import Selector
from judge.measures.names import Measure
from judge.run import Result, Row
from judge.scoring import Scale

NDCG = Measure("nDCG", 10)
Rows: TypeAlias = list[tuple[list[str], list[str], dict[str, int]]]
"""Of each query: what the baseline returned, what the candidate did, and all grades."""

CONTRAST = Contrast(NDCG, (-1.0, 1.0), Scale("linear", 3))


def pool(key: str, before: list[str], after: list[str], grades: dict[str, int]) -> QueryPool:
    """Return a pool of two lists of chunk ids in which only `grades` are known."""
    ids = tuple(dict.fromkeys((*before, *after)))
    rows = tuple(
        Row(key=key, results=tuple(Result(id, text="text") for id in shown))
        for shown in (before, after)
    )
    judgments = tuple(
        Judgment(grades[id], grades[id], Source.JUDGE) if id in grades else Judgment(0, 3)
        for id in ids
    )
    return QueryPool(
        query=Query(key=key, rows=rows),
        ids=ids,
        judgments=judgments,
        rankings=tuple(tuple(ids.index(id) for id in shown) for shown in (before, after)),
        expected=Expected((), (), ()),
        asks=tuple(() if id in grades else (id,) for id in ids),
        texts=dict.fromkeys(ids, "text"),
    )


class Answering:
    """Drives a selector over rows with known answers; counts what it asks."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.known: list[dict[str, int]] = [{} for _ in rows]
        self.pools = [pool(f"q{i}", b, a, {}) for i, (b, a, _) in enumerate(rows)]
        self.asked = 0

    def run(self, selector: Selector, *, limit: int) -> None:
        while asks := selector.next(self.pools, limit=limit):
            assert len(set(asks)) == len(asks) <= max(limit, 1)
            for i, chunk in asks:
                assert chunk not in self.known[i], "nothing is asked twice"
                self.known[i][chunk] = self.rows[i][2][chunk]
                self.asked += 1
            for i in {i for i, _ in asks}:
                before, after, _ = self.rows[i]
                self.pools[i] = pool(f"q{i}", before, after, self.known[i])


def rows_of(seed: int, *, count: int, gain: float) -> Rows:
    """Return rows in which the candidate sorts by grade with chance `gain`, else at random."""
    drawn = random.Random(seed)
    made = []
    for _ in range(count):
        grades = {f"c{i}": drawn.choice([0, 0, 0, 1, 2, 3]) for i in range(12)}
        before, after = list(grades), list(grades)
        drawn.shuffle(before)
        drawn.shuffle(after)
        if drawn.random() < gain:
            after.sort(key=lambda chunk: -grades[chunk])
        made.append((before[:10], after[:10], grades))
    return made


def hiding_rows(hidden: int) -> Rows:
    """Return rows that all look alike before they are judged, the mean decided by a few.

    In most rows the candidate's ten chunks are a little better than the baseline's ten; in
    `hidden` rows, spread among them, they are worthless below the first. There are as many
    of the other rows as leave the mean just below 0.
    """
    before, after = [f"b{i}" for i in range(10)], [f"a{i}" for i in range(10)]
    good = dict(zip(before + after, [1] * 14 + [2] + [1] * 5, strict=True))
    bad = dict(zip(before + after, [1] + [3] * 9 + [2] + [0] * 9, strict=True))
    step, fall = (
        row.value
        for row in CONTRAST.rows([pool("q", before, after, grades) for grades in (good, bad)])
        if row is not None
    )
    assert fall < 0.0 < step
    count = int(-fall * hidden / step)
    grades = [bad] * hidden + [good] * count
    random.Random(hidden).shuffle(grades)
    return [(before, after, found) for found in grades]


def true_sign(rows: Rows) -> int:
    found = CONTRAST.rows([pool(f"q{i}", b, a, g) for i, (b, a, g) in enumerate(rows)])
    total = sum(row.value for row in found if row is not None)
    return (total > 0) - (total < 0)
