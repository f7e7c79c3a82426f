"""The throttle: how many at once, how fast, and what a 429 does to everybody."""

from __future__ import annotations

import asyncio
import random

import pytest
from fake_server import FakeClock
from hypothesis import given
from hypothesis import strategies as st

from judge.judging.exchange import RateLimited, StopAsking
from judge.judging.limits import Limits, Throttle


def throttle(clock: FakeClock, **limits: float) -> Throttle:
    return Throttle(Limits(**limits), clock, random.Random(3))


async def admitted(line: Throttle, clock: FakeClock, n: int, *, tokens: int = 0) -> list[float]:
    """Send n requests that end at once; return when each went out."""
    times = []

    async def one() -> None:
        await line.admit(tokens)
        times.append(clock.now())
        line.release()

    await asyncio.gather(*(one() for _ in range(n)))
    return times


def test_requests_a_minute_are_spaced_evenly() -> None:
    clock = FakeClock()
    times = asyncio.run(admitted(throttle(clock, rpm=120), clock, 5))
    assert times == pytest.approx([0, 0.5, 1, 1.5, 2])


def test_tokens_a_minute_are_spaced_by_their_number() -> None:
    clock = FakeClock()
    # 600 tokens a minute are 10 a second: 20 tokens take two.
    times = asyncio.run(admitted(throttle(clock, tpm=600), clock, 3, tokens=20))
    assert times == pytest.approx([0, 2, 4])


@given(st.integers(1, 5), st.integers(1, 20))
def test_no_more_than_the_width_are_in_flight(concurrency: int, n: int) -> None:
    line = throttle(FakeClock(), concurrency=concurrency)
    most = 0

    async def one() -> None:
        nonlocal most
        await line.admit(0)
        most = max(most, line.in_flight)
        await asyncio.sleep(0)
        line.replied()
        line.release()

    async def run() -> None:
        await asyncio.gather(*(one() for _ in range(n)))

    asyncio.run(run())
    assert most == min(concurrency, n)
    assert line.in_flight == 0


def test_a_pause_holds_everybody_back() -> None:
    clock = FakeClock()
    line = throttle(clock, concurrency=4)
    line.slow_down(RateLimited("429", retry_after_s=7), sent_at=0)
    times = asyncio.run(admitted(line, clock, 4))
    assert min(times) >= 7


def test_a_burst_of_429s_halves_the_width_once() -> None:
    clock = FakeClock()
    line = throttle(clock, concurrency=16)
    clock.time = 5.0
    for _ in range(10):
        line.slow_down(RateLimited("429"), sent_at=4.0)
    assert line.width == 8
    line.slow_down(RateLimited("429"), sent_at=5.0)
    assert line.width == 4


def test_replies_widen_again_up_to_the_concurrency() -> None:
    line = throttle(FakeClock(), concurrency=4)
    line.slow_down(RateLimited("429"), sent_at=0)
    assert line.width == 2
    for _ in range(20):
        line.replied()
    assert line.width == 4


def test_a_wait_over_the_cap_and_a_stall_stop_the_run() -> None:
    clock = FakeClock()
    line = throttle(clock, wait_cap_s=60, stall_s=100)
    with pytest.raises(StopAsking, match="come back in 61 s"):
        line.slow_down(RateLimited("429", retry_after_s=61), sent_at=0)
    line.replied()
    clock.time = 500  # nothing was asked meanwhile: that is no stall
    line.slow_down(RateLimited("429"), sent_at=500)
    clock.time = 601
    with pytest.raises(StopAsking, match="no reply for 101 s"):
        line.slow_down(RateLimited("429"), sent_at=600)
