"""Counts of everything a log held and of everything that was not used, by reason."""

from __future__ import annotations

from collections import Counter


class Tally:
    """What was read, and what became of it; filled while a log streams by.

    events: read, by kind ("search", "read", …; for a broken line "line")
    unused: events that gave neither a list nor a read of one, by reason; a citation of
        several ids counts id by id
    sessions: sessions set aside, by reason
    notes: other things worth a line, by what they are
    """

    def __init__(self) -> None:
        self.events: Counter[str] = Counter()
        self.unused: Counter[str] = Counter()
        self.sessions: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()

    def leave_out(self, reason: str, n: int = 1) -> None:
        """Count n unused events; a reason without an event is none."""
        if n:
            self.unused[reason] += n
