"""Replies on their way to disk."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from judge.judging.cache import JudgmentCache
from judge.judging.entries import Entry
from judge.judging.exchange import Reply, Request
from judge.judging.judge import Judge, Pair
from judge.judging.ledger import Ledger
from judge.judging.limits import Limits
from judge.judging.prompt import load_prompt

ENTRY = Entry(
    key="0" * 64,
    status="graded",
    grade=1,
    reason="",
    raw="1",
    parser=1,
    field="grade",
    grade_max=3,
    model="m",
    prompt="p@1",
    settings_sha256="s",
    query_sha256="q",
    text_sha256="t",
)


def test_a_value_that_cannot_be_stored_is_raised_and_awaited_by_nobody(tmp_path: Path) -> None:
    ledger = Ledger(JudgmentCache(tmp_path))

    async def keep() -> Entry:
        return await asyncio.wait_for(ledger.keep(ENTRY, shared={"text:t": {1, 2}}), timeout=5)

    with pytest.raises(TypeError, match="set"):
        asyncio.run(keep())


def test_a_redacted_entry_keeps_no_words_of_the_server(tmp_path: Path) -> None:
    reason = "the server rejected the request (400 cannot read 'Salt melts ice')"
    entry = Entry(**{**ENTRY.plain(), "key": "1" * 64, "status": "failed", "grade": None})
    cache = JudgmentCache(tmp_path, redact=True)
    cache.keep([Entry(**{**entry.plain(), "key": entry.key, "reason": reason})], shared={})
    (stored,) = cache.entries()
    assert stored.reason == "the server rejected the request"


class InOrder:
    """A backend that remembers in which order it was asked."""

    name = "in-order"
    settings: Mapping[str, object] = MappingProxyType({"kind": "in-order"})
    remote = False
    recorded = False

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def open(self) -> None:
        """Do nothing."""

    async def answer(self, request: Request) -> Reply:
        self.asked.append(request.pair.id)
        return Reply('{"grade": 1}')

    async def close(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize("has_company", [False, True])
def test_processes_that_share_a_cache_do_not_ask_in_step(has_company: bool, tmp_path: Path) -> None:
    pairs = [Pair("q", "why", f"d{i}", f"Because {i}.") for i in range(32)]
    cache, backend = JudgmentCache(tmp_path), InOrder()
    if has_company:
        JudgmentCache(tmp_path).keep([ENTRY], shared={})
    limits, chance = Limits(concurrency=1), random.Random(4)
    with Judge([backend], load_prompt(), cache=cache, limits=limits, chance=chance) as judge:
        verdicts = list(judge.stream(pairs))
    assert len(verdicts) == len(backend.asked) == 32
    assert (backend.asked == [pair.id for pair in pairs]) != has_company
