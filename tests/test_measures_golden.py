"""Golden measures against values worked by hand and trec_eval's definitions."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.measures.golden import evaluate
from judge.measures.names import parse_measure

GOLDEN = ["Hit@5", "R@5", "RR", "RR@5", "ContextPrecision@5", "AP@5", "AP", "binary_nDCG@5"]


@pytest.mark.parametrize(
    ("name", "ranks", "value"),
    [
        ("Hit@3", [4, 3], 1.0),
        ("Hit@2", [4, 3], 0.0),
        ("R@5", [1, 6, None, 5], 0.5),  # 2 of 4
        ("RR", [7, 4, None], 0.25),
        ("RR@3", [4], 0.0),
        ("ContextPrecision@1", [1], 1.0),  # RAGAS prints .9999999999
        ("ContextPrecision@3", [1, 3], 0.8333333333333333),  # (1/1 + 2/3) / 2
        ("ContextPrecision@3", [1, 3, None], 0.8333333333333333),  # only what was found divides
        ("AP@3", [1, 3, None], 0.5555555555555555),  # (1/1 + 2/3) / 3
        ("AP@2", [1, 3], 0.5),  # 1 / 2
        ("AP", [2, 4], 0.5),  # (1/2 + 2/4) / 2
        ("binary_nDCG@2", [2, 3, 4], 0.6309297535714575 / 1.6309297535714575),
        ("binary_nDCG", [1, None], 1 / 1.6309297535714575),
        ("binary_nDCG@1", [1, None], 1.0),  # the ideal is cut at the same k
    ],
)
def test_value_worked_by_hand(name: str, ranks: list[int | None], value: float) -> None:
    assert evaluate(parse_measure(name), ranks) == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.parametrize("found", [1, 3, 5])
def test_perfect_list_is_exactly_one(name: str, found: int) -> None:
    assert evaluate(parse_measure(name), list(range(1, found + 1))) == 1.0


@pytest.mark.parametrize("name", GOLDEN)
def test_nothing_returned_is_zero(name: str) -> None:
    assert evaluate(parse_measure(name), [None, None]) == 0.0


@pytest.mark.parametrize("name", GOLDEN)
@given(ranks=st.sets(st.integers(1, 12), min_size=1, max_size=6), missed=st.integers(0, 3))
def test_value_is_a_share_and_a_better_rank_never_costs(
    name: str, ranks: set[int], missed: int
) -> None:
    measure = parse_measure(name)
    value = evaluate(measure, [*ranks, *[None] * missed])
    assert 0.0 <= value <= 1.0 and math.isfinite(value)
    for rank in ranks:
        if rank > 1 and rank - 1 not in ranks and not name.startswith("ContextPrecision"):
            better = evaluate(measure, [*(ranks - {rank}), rank - 1, *[None] * missed])
            assert better >= value
