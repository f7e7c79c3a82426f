"""Worlds and users with a log: `decided` is the answer of judging all, whatever a log says."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
from conftest import ROOT


@pytest.fixture(scope="module")
def simulator() -> Iterator[ModuleType]:
    path = ROOT / "scripts" / "simulate_preferences.py"
    spec = importlib.util.spec_from_file_location("simulate_preferences", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["simulate_preferences"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["simulate_preferences"]


def answered(simulator: ModuleType, seeds: range, right: float) -> None:
    with simulator.truthful(concurrency=1) as one, simulator.truthful(concurrency=64) as many:
        for seed in seeds:
            made = simulator.world(seed, right=right)
            found = simulator.answers(made, one=one, many=many)
            assert found.are_right, f"world {seed}: {found}"
            assert found.are_alike, f"world {seed}: {found}"


def test_decided_is_the_answer_of_judging_all_whatever_the_log_says(simulator: ModuleType) -> None:
    answered(simulator, range(4), 0.8)


@pytest.mark.slow
@pytest.mark.parametrize("right", [0.8, 0.9])
def test_decided_is_right_in_many_worlds(simulator: ModuleType, right: float) -> None:
    answered(simulator, range(150), right)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["20% misleading snippets", "starts below the fold", "careful"])
def test_no_row_is_wrong_without_the_words_and_the_bound_holds(
    simulator: ModuleType, kind: str
) -> None:
    log = simulator.logged(simulator.USERS[kind], 0)
    with simulator.truthful(max_calls=simulator.BUDGET) as judge:
        measures = [simulator.MEASURE]
        report = simulator.grade(log.run, preferences=log.pairs, judge=judge, measures=measures)
    count = simulator.Count()
    count.add(log, report)
    assert count.plain_wrong == 0
    assert count.bounds_hold == count.bounds == 1
