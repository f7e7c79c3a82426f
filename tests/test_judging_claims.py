"""Claims: what one process asks for, another one waits for."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from judge.judging.cache import JudgmentCache
from judge.judging.claim_table import LEASE_S
from judge.judging.claims import Claims
from judge.judging.entries import Entry
from judge.judging.exchange import Refused, Reply, Request
from judge.judging.judge import Judge, Pair
from judge.judging.limits import Limits
from judge.judging.prompt import load_prompt

KEYS = [f"{n:064}" for n in range(4)]
PAIRS = [Pair("q", "why", f"d{i}", f"Because {i}.") for i in range(60)]


@pytest.fixture
def caches(tmp_path: Path) -> Iterator[tuple[JudgmentCache, JudgmentCache]]:
    both = JudgmentCache(tmp_path), JudgmentCache(tmp_path)
    yield both
    for cache in both:
        cache.close()


def test_a_claim_is_the_first_ones_until_it_is_given_back(
    caches: tuple[JudgmentCache, JudgmentCache],
) -> None:
    one, other = caches
    assert one.claim(KEYS[:2]) == set()
    assert other.claim(KEYS) == set(KEYS[:2])
    assert one.claim(KEYS) == set(KEYS[2:])
    one.release(KEYS[:1])
    assert other.claim(KEYS) == {KEYS[1]}
    one.release()
    assert other.claim(KEYS) == set()


@pytest.mark.parametrize(
    "change",
    [
        "until = 0",  # its owner did not renew it
        f"until = until + {LEASE_S + 2}",  # no claim lasts that long: a clock was wrong
        "owner = replace(owner, ' {pid} ', ' 99999999 ')",  # its process is gone
    ],
)
def test_a_claim_that_runs_out_or_whose_owner_died_is_free(
    change: str, caches: tuple[JudgmentCache, JudgmentCache], tmp_path: Path
) -> None:
    one, other = caches
    one.claim(KEYS)
    assert other.claim(KEYS) == set(KEYS)
    with sqlite3.connect(tmp_path / "cache.db") as connection:
        changed = connection.execute(f"UPDATE Claims SET {change.format(pid=os.getpid())}")
        assert changed.rowcount == len(KEYS)
    assert other.claim(KEYS) == set()


def test_an_owner_elsewhere_whose_process_cannot_be_seen_keeps_its_claims(
    caches: tuple[JudgmentCache, JudgmentCache], tmp_path: Path
) -> None:
    one, other = caches
    one.claim(KEYS)
    with sqlite3.connect(tmp_path / "cache.db") as connection:
        connection.execute("UPDATE Claims SET owner = 'elsewhere 99999999 x'")
    assert other.claim(KEYS) == set(KEYS)


class Said:
    """A backend that says the same to all, or refuses, and counts."""

    name = "said"
    settings: Mapping[str, object] = MappingProxyType({"kind": "said"})
    remote = True
    recorded = False

    def __init__(self, *, refuses: bool = False) -> None:
        self.refuses = refuses
        self.asked = 0

    async def open(self) -> None:
        """Do nothing."""

    async def answer(self, request: Request) -> Reply:
        self.asked += 1
        await asyncio.sleep(0)
        if self.refuses:
            raise Refused("no")
        return Reply('{"grade": 1}', prompt_tokens=900, completion_tokens=5)

    async def close(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize("refuses", [False, True])
def test_judges_side_by_side_pay_for_a_pair_once_and_a_refusal_holds_nobody_up(
    refuses: bool, tmp_path: Path
) -> None:
    backends = [Said(), Said(refuses=refuses)]
    limits = Limits(concurrency=4)
    judges = [
        Judge([said], load_prompt(), cache=JudgmentCache(tmp_path), limits=limits)
        for said in reversed(backends)
    ]
    streams = [judge.stream(PAIRS) for judge in judges]
    begun = [next(stream) for stream in streams]
    for judge, stream in zip(judges, streams, strict=True):
        list(stream)
        judge.close()
    assert len(begun) == 2
    asked = sum(backend.asked for backend in backends)
    assert asked == 60 if not refuses else 60 <= asked <= 120
    assert backends[0].asked + len(begun) > 0
    assert len(list(JudgmentCache(tmp_path).entries())) == 60


def test_of_a_panels_pair_all_keys_are_claimed_or_none(
    caches: tuple[JudgmentCache, JudgmentCache],
) -> None:
    one, other = caches
    one.claim(KEYS[:1])

    async def take() -> bool:
        claims = Claims(other)
        taken = claims.take((KEYS[0], KEYS[1]))
        claims.close()
        return taken

    assert asyncio.run(take()) is False
    assert one.claim(KEYS[1:2]) == set()


def test_what_another_has_stored_is_not_waited_for(
    caches: tuple[JudgmentCache, JudgmentCache],
) -> None:
    one, other = caches
    one.claim(KEYS[:2])
    entry = Entry(KEYS[0], "graded", 1, "", "1", 1, "grade", 3, "m", "p@1", "s", "q", "t")
    failed = replace(entry, key=KEYS[1], status="failed", grade=None, raw=None)
    one.keep([entry, failed], shared={})
    assert other.still_asked(KEYS) == ({KEYS[1]}, {KEYS[0]})
