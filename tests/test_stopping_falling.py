"""`judge.stopping.falling`: slices at zero, against every completion of small rows."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from judge.evidence.pool import PoolRules, QueryPool, build_pool
from judge.evidence.queries import Query
from judge.measures.names import parse_measure
from judge.run import Golden, KnownGrade, Result, Row
from judge.scoring import Scale
from judge.stopping.falling import fallen, may_fall, zeros

GRADE_MAX = 2
Lists = tuple[tuple[str, ...], ...]
Known = dict[str, tuple[int, int]]


def pool(lists: Lists, known: Known, *, orders: Sequence[tuple[str, str]] = ()) -> QueryPool:
    rows = tuple(Row("q", results=tuple(Result(id, text="t") for id in ids)) for ids in lists)
    grades = [KnownGrade(id, lo, hi, query_id="q") for id, (lo, hi) in known.items()]
    rules = PoolRules("chunk", 3, GRADE_MAX)
    return build_pool(Query("q", rows, text="what"), rules, known=grades, preferences=orders)


def completions(
    lists: Lists, known: Known, orders: Sequence[tuple[str, str]]
) -> Iterator[dict[str, int]]:
    ids = list(dict.fromkeys((*known, *(id for shown in lists for id in shown))))
    ranges = [range(known.get(id, (0, 0))[0], known.get(id, (0, GRADE_MAX))[1] + 1) for id in ids]
    for grades in itertools.product(*ranges):
        found = dict(zip(ids, grades, strict=True))
        if all(found[above] >= found[below] for above, below in orders):
            yield found


def is_zero(name: str, shown: Sequence[str], grades: dict[str, int]) -> bool:
    """Tell whether a list scores 0: nDCG@2 and ERR@3 with only grades 0, P by its threshold."""
    k, least = {"nDCG@2": (2, 1), "ERR@3": (3, 1), "P(rel=2)@2": (2, 2)}[name]
    return all(grades[id] < least for id in shown[:k])


def drawn(seed: int, *, runs: int) -> tuple[Lists, Known, list[tuple[str, str]]]:
    """Return lists of few chunks, of which some are known, known to be low or in an order."""
    of = random.Random(seed)
    lists = tuple(tuple(of.sample("abcd", of.randint(1, 3))) for _ in range(runs))
    shown = sorted({id for ids in lists for id in ids})
    ranges = [(0, 0), (0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]
    known = {id: of.choice(ranges) for id in shown if of.random() < 0.6}
    orders = []
    waiting = [id for id in shown if id not in known]
    if len(waiting) > 1 and of.random() < 0.5:
        orders.append((waiting[0], waiting[1]))
    return lists, known, orders


@pytest.mark.parametrize("name", ["nDCG@2", "ERR@3", "P(rel=2)@2"])
def test_zeros_equal_those_of_every_completion(name: str) -> None:
    for seed in range(150):
        lists, known, orders = drawn(seed, runs=2 + seed % 2)
        (found,) = zeros(
            parse_measure(name), [pool(lists, known, orders=orders)], scale=Scale("linear", 2)
        )
        sides = [
            (not is_zero(name, lists[0], g), all(is_zero(name, ids, g) for ids in lists[1:]))
            for g in completions(lists, known, orders)
        ]
        assert found is not None
        assert found.had == all(had for had, _ in sides), seed
        assert found.gone == all(gone for _, gone in sides), seed
        assert found.can_go == any(gone for _, gone in sides), seed
        assert found.can_fall == any(had and gone for had, gone in sides), seed


@pytest.mark.parametrize("seed", range(60))
def test_slices_fall_as_in_every_completion(seed: int) -> None:
    both = [drawn(3 * seed + i, runs=2) for i in range(3)]
    pools = [pool(lists, known, orders=orders) for lists, known, orders in both]
    rows = [row for row in zeros(parse_measure("nDCG@2"), pools, scale=Scale("linear", 2)) if row]
    slices = ["one", "one", "two"]
    for name, at in {"one": (0, 1), "two": (2,)}.items():
        falls = {
            any(not is_zero("nDCG@2", both[i][0][0], g) for i, g in zip(at, chosen, strict=True))
            and all(is_zero("nDCG@2", both[i][0][1], g) for i, g in zip(at, chosen, strict=True))
            for chosen in itertools.product(*(list(completions(*both[i])) for i in at))
        }
        assert (name in fallen(rows, slices)) == (falls == {True})
        assert (name in may_fall(rows, slices)) == (falls == {True, False})


def test_a_chunk_that_only_moved_down_cannot_leave_a_slice_at_zero() -> None:
    # Where the candidate scores 0, chunk a has grade 0, and so does the baseline.
    (row,) = zeros(
        parse_measure("nDCG@2"),
        [pool((("a",), ("b", "a")), {"b": (0, 0)})],
        scale=Scale("linear", 2),
    )
    assert row is not None and row.can_go and not row.can_fall


@pytest.mark.parametrize(("failed", "can_go", "had"), [(0, False, False), (1, True, True)])
def test_a_row_that_failed_could_be_at_zero_and_above(failed: int, can_go: bool, had: bool) -> None:
    whole = pool((("a",), ("a",)), {"a": (2, 2)})
    rows = [row for row in whole.query.rows if row is not None]
    rows[failed] = replace(rows[failed], error="timeout")
    (row,) = zeros(
        parse_measure("nDCG@2"),
        [replace(whole, query=replace(whole.query, rows=tuple(rows)))],
        scale=Scale("linear", 2),
    )
    assert row is not None
    assert (row.had, row.gone, row.can_go, row.can_fall) == (had, False, can_go, can_go)


def test_golden_measures_fall_by_their_positions() -> None:
    golden = Golden(("a",), query_id="q")
    base = pool((("a",), ("b",)), {})
    lost = build_pool(replace(base.query, golden=golden), PoolRules("chunk", 3, GRADE_MAX))
    (row,) = zeros(parse_measure("RR"), [lost], scale=Scale("linear", 2))
    assert row is not None and row.had and row.gone
    assert zeros(parse_measure("RR"), [base], scale=Scale("linear", 2)) == [None]
