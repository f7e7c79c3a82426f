"""Votes by independent source, and sources that read by rank alone."""

from __future__ import annotations

import random

import numpy as np
import pytest
from readlog_lines import cite, inject, mined, read, search, votes

from judge.readlog.deciding import Rule
from judge.readlog.ranks import by_rank_alone
from judge.readlog.summary import summary_lines, summary_record


def readers(n: int, **who: str):
    """Return n sessions that see a b and read b."""
    events = []
    for at in range(n):
        events += [search(100 * at, f"s{at}", "q", "ab", **who), read(100 * at + 1, f"s{at}", "b")]
    return events


@pytest.mark.parametrize("who", [{"agent": "helper 2"}, {"model": "m-5"}, {"actor": "agent"}])
def test_one_agent_has_one_vote_in_any_number_of_sessions(who: dict[str, str]) -> None:
    assert votes(mined(readers(40, **who))) == {("q", "b", "a"): (1, 0)}


def test_model_versions_are_sources_of_their_own() -> None:
    late = {"agent": "helper", "model": "m-6"}
    events = [*readers(3, agent="helper", model="m-5"),
              search(900, "t", "q", "ab", **late), read(901, "t", "b")]  # fmt: skip
    assert votes(mined(events)) == {("q", "b", "a"): (2, 0)}


def test_model_that_cites_for_many_people_has_one_vote() -> None:
    events = []
    for at in range(6):
        who = {"user": f"u{at}"}
        events += [inject(100 * at, f"s{at}", "ab", query="q", **who),
                   cite(100 * at + 1, f"s{at}", "b", model="m-5")]  # fmt: skip
    assert votes(mined(events)) == {("q", "b", "a"): (1, 0)}


def test_people_are_sources_of_their_own() -> None:
    assert votes(mined(readers(5, actor="human"))) == {("q", "b", "a"): (5, 0)}


def test_sessions_that_name_nobody_are_sources_and_it_is_said() -> None:
    result = mined(readers(5))
    assert votes(result) == {("q", "b", "a"): (5, 0)}
    told = "\n".join(summary_lines(result, Rule()))
    assert "5 sessions with reads name no user, agent or model" in told
    assert summary_record(result, Rule())["sources"] == {
        "named": 0, "sessions": 5, "least_for_a_pair": 5, "by_rank_alone": []}  # fmt: skip


def third_of_every_list(session: str, **who: str):
    return [
        event
        for at in range(20)
        for event in (
            search(100 * at, session, f"q{at}", [f"{at}{x}" for x in "abcde"], **who),
            read(100 * at + 1, session, f"{at}c"),
        )
    ]


def test_bot_that_reads_one_rank_decides_nothing_and_is_named() -> None:
    events = [event for n in range(12) for event in third_of_every_list(f"bot{n}")]
    result = mined(sorted(events, key=lambda event: event["time"]))
    assert not [pair for pair in result.preferences if pair.decided]
    assert [reader.name for reader in result.rank_readers][:2] == ["session bot0", "session bot1"]
    told = "\n".join(summary_lines(result, Rule()))
    assert "it reads by rank alone: session bot0 (100% of its 20 reads at position 3)" in told


def test_named_source_is_found_over_all_its_sessions() -> None:
    # One search a session: no session alone shows the habit.
    events = []
    for at, event in enumerate(third_of_every_list("x", user="crawler")):
        events.append(event | {"session": f"c{at // 2}"})
    result = mined([*readers(1, user="ann"), *events])
    assert votes(result) == {("q", "b", "a"): (1, 0)}
    assert [reader.name for reader in result.rank_readers] == ["user crawler"]


def test_few_reads_are_no_habit() -> None:
    assert by_rank_alone(np.array([2] * 9, np.uint16), np.zeros(9, np.uint16)) is None
    assert by_rank_alone(np.array([2] * 10, np.uint16), np.zeros(10, np.uint16)) is not None


@pytest.mark.slow
@pytest.mark.parametrize(("leans", "found"), [(True, True), (False, False)])
def test_over_shuffled_lists_reads_that_lean_to_some_ranks_are_by_rank(
    leans: bool, found: bool
) -> None:
    # scipy 1.12: chisquare([30, 0, 0, 30]).pvalue = 5e-13; an even spread is no evidence.
    choose = random.Random(1)
    positions = [choose.choice([0, 3]) if leans else at % 4 for at in range(60)]
    lengths = np.full(60, 4, np.uint16)
    assert (by_rank_alone(np.array(positions, np.uint16), lengths) is not None) is found
    # In the order of the ranking the same reads may well follow what is good.
    assert by_rank_alone(np.array(positions, np.uint16), np.zeros(60, np.uint16)) is None
