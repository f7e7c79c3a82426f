"""The simulator: seeded, the same in both formats, and honest about what a log decides."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter

import pytest
from conftest import ROOT
from readlog_lines import votes

from judge.readlog.mining import MiningOptions, mine


@pytest.fixture(scope="module")
def simulator():
    spec = importlib.util.spec_from_file_location(
        "simulate_logs", ROOT / "scripts" / "simulate_logs.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["simulate_logs"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["simulate_logs"]


@pytest.fixture(scope="module")
def world(simulator):
    """Return 60 queries with ten chunks each, of which three are good, at other ranks each."""
    grades = {
        f"query {n}": {f"{n}-{(n * 3 + at * 4) % 10}": 3 - at for at in range(3)} for n in range(60)
    }
    lists = {query: tuple(f"{n}-{at}" for at in range(10)) for n, query in enumerate(grades)}
    return simulator.World(lists, grades, best=3)


def test_same_seed_gives_the_same_log(simulator, world):
    first, again, other = (
        simulator.simulate(world, simulator.Searcher(), impressions=5, seed=seed)
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_every_query_is_searched_as_often_as_asked(simulator, world):
    events = simulator.simulate(world, simulator.Searcher(), impressions=5, seed=1)
    searches = Counter(event["query"] for event in events if event["event"] == "search")
    assert set(searches.values()) == {5}


def test_both_formats_say_the_same(simulator, world, tmp_path):
    events = simulator.simulate(world, simulator.Searcher(returns=0), impressions=8, seed=1)
    (tmp_path / "ubi.ndjson").write_text("\n".join(simulator.ubi_lines(events)))
    ubi = mine([tmp_path / "ubi.ndjson"])
    ours = simulator.mined(events, MiningOptions())
    assert votes(ubi) == votes(ours)
    assert votes(ours)


@pytest.mark.slow
@pytest.mark.parametrize("impressions", [5, 8, 12, 20, 50])
def test_decided_pairs_agree_with_the_human_order(simulator, world, impressions):
    for searcher in (simulator.Searcher(), simulator.Agent()):
        events = simulator.simulate(world, searcher, impressions=impressions, seed=1)
        found = simulator.figures(simulator.mined(events, MiningOptions()), world)
        assert found.agree >= 0.95 * found.differ


@pytest.mark.slow
@pytest.mark.parametrize("impressions", [8, 12, 20, 50])
def test_random_reading_decides_at_most_what_tau_allows(simulator, world, impressions):
    events = simulator.simulate(world, simulator.RandomSearcher(), impressions=impressions, seed=1)
    found = simulator.figures(simulator.mined(events, MiningOptions()), world)
    assert found.voted_thrice_decided <= 0.05 * found.voted_thrice


@pytest.mark.slow
def test_each_precaution_is_worth_its_price(simulator, world):
    events = simulator.simulate(world, simulator.Searcher(), impressions=50, seed=1)

    def agreement(**options):
        found = simulator.figures(simulator.mined(events, MiningOptions(**options)), world)
        return found.agree / found.differ

    careful, neither = agreement(), agreement(opposition=False, one_vote=False)
    assert careful >= agreement(opposition=False) > neither
