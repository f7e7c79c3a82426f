"""What is asked: anything that answers one query at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

REPLY_MAX_BYTES = 64 * 2**20
"""No list of results is longer; what goes on all the same is ended."""


class AskFailed(Exception):
    """One query got no answer; `retry_after_s` is what the system asked us to wait."""

    def __init__(self, reason: str, *, worth_a_retry: bool, retry_after_s: float = 0.0) -> None:
        super().__init__(reason)
        self.worth_a_retry = worth_a_retry
        self.retry_after_s = retry_after_s


class Target(Protocol):
    """A search system that answers one query at a time; safe to call from several threads."""

    def ask(self, values: Mapping[str, str]) -> str:
        """Return the system's reply as text; AskFailed where there is none."""
        ...

    def stop(self) -> None:
        """End what is being asked, so that nobody waits for it."""
        ...


def too_long() -> AskFailed:
    """Return the failure of an answer that passes the bound."""
    limit = f"more than {REPLY_MAX_BYTES // 2**20} MB"
    return AskFailed(f"an answer of {limit}", worth_a_retry=False)
