"""Events in order of time, and what is too old for that."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.readlog.events import Event
from judge.readlog.ordering import in_time_order, merged, without_repeats
from judge.readlog.tally import Tally

WINDOW_S = 1800.0


def event(time, rank=2, event_id=None):
    return Event(time, rank, "read", "s", ("a",), event_id=event_id)


def ordered(times, tally=None):
    events = in_time_order(map(event, times), window_s=WINDOW_S, tally=tally or Tally())
    return [event.time for event in events]


@given(st.lists(st.integers(0, 1800).map(float), max_size=50))
def test_disorder_within_the_window_is_put_right(times):
    assert ordered(times) == sorted(times)


def test_long_log_with_disorder_comes_out_sorted_and_whole():
    choose = random.Random(1)
    times = [10.0 * at + choose.uniform(0, 1000) for at in range(30_000)]
    assert ordered(times) == sorted(times)


def test_event_older_than_the_window_is_counted_and_left_out():
    tally = Tally()
    assert ordered([0.0, 10.0, 2000.0, 100.0, 300.0], tally) == [0.0, 10.0, 300.0, 2000.0]
    assert tally.unused == {"more than 1800 s older than the log had come to": 1}


@pytest.mark.parametrize("at", [0, 1, 2, 50, 99])
def test_one_clock_in_the_far_future_costs_nobody_anything(at):
    times = [float(time) for time in range(100)]
    times.insert(at, 4e9)
    assert ordered(times) == sorted(times)


def test_log_may_pause_for_months():
    times = [0.0, 1.0, 2.0, 1e7, 1e7 + 1, 1e7 + 2, 2e7]
    assert ordered(times) == times


def test_search_comes_before_read_of_the_same_moment():
    events = [event(5.0, rank=2), event(5.0, rank=0)]
    found = in_time_order(events, window_s=WINDOW_S, tally=Tally())
    assert [event.rank for event in found] == [0, 2]


def test_streams_are_merged_and_opened_only_when_reached():
    opened = []

    def stream(name, times):
        def events():
            opened.append(name)
            yield from map(event, times)

        return times[0], events

    found = []
    for event_ in merged([stream("late", [50.0, 60.0]), stream("early", [0.0, 1.0, 55.0])]):
        found.append(event_.time)
        if event_.time < 50:
            assert opened == ["early"]
    assert found == [0.0, 1.0, 50.0, 55.0, 60.0]


def test_repeat_of_an_event_id_is_counted_and_left_out():
    tally = Tally()
    events = [event(0.0, event_id="x"), event(1.0), event(2.0), event(1700.0, event_id="x")]
    found = list(without_repeats(events, window_s=WINDOW_S, tally=tally))
    assert [event.time for event in found] == [0.0, 1.0, 2.0]
    assert tally.unused == {"event_id seen before": 1}


def test_memory_of_event_ids_is_that_of_two_windows():
    events = [event(5000.0 * at, event_id="x") for at in range(3)]
    assert len(list(without_repeats(events, window_s=WINDOW_S, tally=Tally()))) == 3
