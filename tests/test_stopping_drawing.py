"""`judge.stopping.drawing`: draws come as often as they say, and their payoffs are unbiased."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from stopping_pools import CONTRAST, pool, rows_of

from judge.contrast import Contrast
from judge.evidence.pool import PoolRules, QueryPool, build_pool
from judge.evidence.queries import Query
from judge.evidence.units import Reply
from judge.grades import Judgment, Source
from judge.measures.names import Measure
from judge.run import KnownGrade, Result, Row
from judge.stopping.ahead import LookAhead
from judge.stopping.drawing import Draw, candidates, draw, payoff

ROWS = rows_of(11, count=4, gain=0.6)
SHARE = 1 / len(ROWS)


def open_pools() -> list[QueryPool]:
    """Return the rows with their first two chunks known."""
    return [
        pool(f"q{i}", before, after, {id: grades[id] for id in before[:2]})
        for i, (before, after, grades) in enumerate(ROWS)
    ]


def judged(waiting: QueryPool, grades: dict[str, int], units: tuple[int, ...]) -> QueryPool:
    """Return the pool with these units judged as well."""
    asks, judgments = list(waiting.asks), list(waiting.judgments)
    for unit in units:
        grade = grades[waiting.ids[unit]]
        asks[unit], judgments[unit] = (), Judgment(grade, grade, Source.JUDGE)
    return replace(waiting, asks=tuple(asks), judgments=tuple(judgments))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("contrast", [CONTRAST, replace(CONTRAST, coefficients=(1.0, -1.0))])
def test_the_mean_payoff_is_all_that_judging_still_raises(contrast: Contrast, sign: int) -> None:
    pools = open_pools()
    ahead = LookAhead(contrast)
    standing = ahead.standing(pools)
    offered = candidates(ahead, standing, pools, sign=sign)
    total = sum(candidate.slack for candidate in offered)
    assert {candidate.row for candidate in offered} == {0, 1, 2, 3}
    mean = 0.0
    for candidate in offered:
        chance = candidate.slack / total
        assert candidate.reach[0] == 1.0
        for depth, (reach, deeper) in enumerate(pairwise((*candidate.reach, 0.0)), start=1):
            assert reach >= deeper
            units = candidate.units[:depth]
            found = Draw(
                row=candidate.row,
                sign=sign,
                units=units,
                chances=tuple(chance * reached for reached in candidate.reach[:depth]),
                before=ahead.open_rows[candidate.row],
                pool=pools[candidate.row],
            )
            now = judged(pools[candidate.row], ROWS[candidate.row][2], units)
            paid = payoff(found, contrast, now, share=SHARE)
            assert paid >= 0.0
            mean += chance * (reach - deeper) * paid
    whole = [pool(f"q{i}", b, a, grades) for i, (b, a, grades) in enumerate(ROWS)]
    raised = 0.0
    for before, after in zip(contrast.rows(pools), contrast.rows(whole), strict=True):
        assert before is not None
        assert after is not None
        raised += SHARE * (after.lo - before.lo if sign > 0 else before.hi - after.hi)
    assert mean == pytest.approx(raised, abs=1e-12)


def test_draws_come_as_often_as_they_say() -> None:
    pools = open_pools()
    ahead = LookAhead(CONTRAST)
    offered = candidates(ahead, ahead.standing(pools), pools, sign=1)
    generator, n = random.Random(3), 20_000
    rows: Counter[int] = Counter()
    seen: Counter[tuple[int, int]] = Counter()
    said: dict[tuple[int, int], float] = {}
    for _ in range(n):
        found = draw(offered, ahead.open_rows, pools, sign=1, generator=generator)
        rows[found.row] += 1
        for unit, chance in zip(found.units, found.chances, strict=True):
            seen[found.row, unit] += 1
            said[found.row, unit] = chance
    assert set(rows) == {0, 1, 2, 3}
    assert len(seen) == sum(len(candidate.units) for candidate in offered)
    for place, chance in said.items():
        # Five standard errors of a share of 20,000 draws.
        assert abs(seen[place] / n - chance) < 5 * (chance * (1 - chance) / n) ** 0.5


def test_what_comes_after_a_unit_without_a_reply_pays_nothing() -> None:
    pools = open_pools()
    ahead = LookAhead(CONTRAST)
    offered = candidates(ahead, ahead.standing(pools), pools, sign=1)
    grades = ROWS[offered[0].row][2]
    units = offered[0].units[:3]
    waiting, row = pools[offered[0].row], ahead.open_rows[offered[0].row]
    drawn = Draw(offered[0].row, 1, units, (0.5, 0.25, 0.125), row, waiting)
    first = payoff(drawn, CONTRAST, judged(waiting, grades, units[:1]), share=1.0)
    gap = judged(waiting, grades, (units[0], units[2]))
    assert payoff(drawn, CONTRAST, gap, share=1.0) == first
    failed = replace(gap, failed=frozenset({gap.ids[units[1]]}))
    asks = list(failed.asks)
    asks[units[1]] = ()
    assert payoff(drawn, CONTRAST, replace(failed, asks=tuple(asks)), share=1.0) == first


def test_rows_whose_grades_are_tied_together_are_judged_as_a_whole() -> None:
    pools = [replace(waiting, orders=((2, 3),)) for waiting in open_pools()]
    ahead = LookAhead(CONTRAST)
    for candidate in candidates(ahead, ahead.standing(pools), pools, sign=1):
        assert set(candidate.reach) == {1.0}


def test_a_reply_that_withdraws_a_preference_pays_nothing_and_mixes_up_no_chunks() -> None:
    # x >= b >= y, both graded 2, pin b at 2, so that it is in the pool though shown too deep.
    # a >= b is contradicted by a's reply 1: b is open again, and no member any more.
    known = [KnownGrade(id, 2, 2, query_id="q") for id in ("x", "y")]
    rows = tuple(
        Row("q", "q", "q", results=tuple(Result(id, text=id) for id in ids))
        for ids in ("acdxyb", "defgb")
    )

    def built(replies: dict[str, Reply]) -> QueryPool:
        query = Query(key="q", rows=rows, query_id="q", text="q")
        rules = PoolRules("chunk", 3, 3)
        pairs = [("x", "b"), ("b", "y"), ("a", "b")]
        return build_pool(query, rules, known=known, preferences=pairs, replies=replies)

    contrast = replace(CONTRAST, measure=Measure("nDCG", 3))
    waiting = built({})
    assert waiting.ids == ("a", "c", "d", "x", "y", "b", "e", "f")
    ahead = LookAhead(contrast)
    ahead.standing([waiting])
    drawn = Draw(0, 1, (0, 7), (0.5, 0.25), ahead.open_rows[0], waiting)
    assert drawn.waiting(waiting) == ["a", "f"]
    now = built({"a": Reply(1, 1)})
    assert now.ids == ("a", "c", "d", "x", "y", "e", "f")
    assert drawn.waiting(now) == ["f"]
    assert payoff(drawn, contrast, now, share=1.0) == 0.0
