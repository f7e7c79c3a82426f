"""Graded measures and their bounds: by hand, and against every completion."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import UsageError
from judge.measures import graded, relevance
from judge.measures.names import Measure, parse_measure
from judge.measures.pool import Bounded, GradePool, Ranking

MONOTONE = ["ERR@3", "ERR", "P@3", "P(rel=2)@3"]
RELEVANCE = ["Hit@2", "R@2", "R(rel=2)@3", "RR", "RR@2", "AP@3", "AP", "ContextPrecision@3"]
RELEVANCE += ["binary_nDCG@2", "binary_nDCG"]


def known(*grades: int) -> GradePool:
    return GradePool(lo=grades, hi=grades)


@pytest.mark.parametrize(
    ("name", "ranking", "value"),
    [
        # R = 7/8, 3/8, 1/8 for grades 3, 2, 1 with G = 3 (Chapelle et al. 2009)
        ("ERR@1", (0,), 7 / 8),
        ("ERR@2", (2, 0), 1 / 8 + (7 / 8) * (7 / 8) / 2),
        ("ERR@3", (0, 1, 2), 7 / 8 + (1 / 8) * (3 / 8) / 2 + (1 / 8) * (5 / 8) * (1 / 8) / 3),
        ("ERR@3", (None, 1), (3 / 8) / 2),
        ("P@10", (0, 1, 3), 0.2),  # divides by k
        ("P(rel=2)@2", (2, 0), 0.5),
        ("Judged@2", (None, 0), 0.5),
        ("Judged@10", (0, None), 0.5),  # divides by what was shown
        ("Judged@10", (), 0.0),
    ],
)
def test_value_worked_by_hand(name: str, ranking: Ranking, value: float) -> None:
    found = graded.evaluate(parse_measure(name), ranking, known(3, 2, 1, 0))
    assert found == Bounded(pytest.approx(value), pytest.approx(value), pytest.approx(value))


def test_judged_is_never_open() -> None:
    pool = GradePool(lo=(0, 1), hi=(3, 1))
    assert graded.evaluate(Measure("Judged", 2), (0, 1), pool) == Bounded(0.5, 0.5, 0.5)


def test_err_refuses_a_grade_above_the_scale() -> None:
    with pytest.raises(UsageError, match="set --grade-max 5"):
        graded.evaluate(Measure("ERR", 10), (0,), known(5))


@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_ndcg_without_cutoff_sees_the_whole_ideal(gain: str) -> None:
    ranking: Ranking = (1,)  # grade 1 found, grade 1 missed: 1 / (1 + 0.6309...)
    found = graded.evaluate(parse_measure("nDCG"), ranking, known(1, 1), gain=gain)
    assert found.value == pytest.approx(0.6131471927654584)


@st.composite
def rows(draw: st.DrawFn) -> tuple[Ranking, GradePool]:
    """A ranking over a pool of at most five members with random intervals."""
    size = draw(st.integers(1, 5))
    ends = [sorted(draw(st.tuples(st.integers(0, 3), st.integers(0, 3)))) for _ in range(size)]
    shown = draw(st.permutations(range(size)))[: draw(st.integers(0, size))]
    ranking: list[int | None] = list(shown)
    for place in draw(st.lists(st.integers(0, len(ranking)), max_size=2)):
        ranking.insert(place, None)
    return tuple(ranking), GradePool(tuple(a for a, _ in ends), tuple(b for _, b in ends))


def completions(pool: GradePool) -> list[GradePool]:
    spans = (range(lo, hi + 1) for lo, hi in zip(pool.lo, pool.hi, strict=True))
    return [known(*grades) for grades in itertools.product(*spans)]


@pytest.mark.parametrize("name", MONOTONE)
@given(row=rows())
def test_graded_bounds_equal_brute_force(name: str, row: tuple[Ranking, GradePool]) -> None:
    ranking, pool = row
    measure = parse_measure(name)
    values = [graded.evaluate(measure, ranking, full).value for full in completions(pool)]
    found = graded.evaluate(measure, ranking, pool)
    assert found.lo == pytest.approx(min(values)) and found.hi == pytest.approx(max(values))
    assert found.value == found.lo


@pytest.mark.slow
@pytest.mark.parametrize("name", RELEVANCE)
@given(row=rows())
def test_relevance_bounds_equal_brute_force(name: str, row: tuple[Ranking, GradePool]) -> None:
    ranking, pool = row
    measure = parse_measure(name)
    values = [relevance.evaluate(measure, ranking, full).value for full in completions(pool)]
    found = relevance.evaluate(measure, ranking, pool)
    assert found.lo == pytest.approx(min(values)) and found.hi == pytest.approx(max(values))
    assert found.lo <= found.value <= found.hi
    assert found.value == relevance.evaluate(measure, ranking, known(*pool.lo)).value
