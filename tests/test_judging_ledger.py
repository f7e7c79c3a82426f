"""Replies on their way to disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from judge.judging.cache import JudgmentCache
from judge.judging.entries import Entry
from judge.judging.ledger import Ledger

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
