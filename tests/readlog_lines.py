"""Write small read logs for the tests of their miner."""

from __future__ import annotations

import io
import json

from judge.readlog.mining import MiningOptions, mine


def search(time, session, query, ids, **extra):
    """Return a search event."""
    return _event("search", time, session, query=query, ids=list(ids), **extra)


def read(time, session, id, **extra):
    """Return a read event."""
    return _event("read", time, session, id=id, **extra)


def inject(time, session, ids, **extra):
    """Return an inject event."""
    return _event("inject", time, session, ids=list(ids), **extra)


def cite(time, session, ids, **extra):
    """Return a cite event."""
    return _event("cite", time, session, ids=list(ids), **extra)


def _event(kind, time, session, **fields):
    return {"v": 1, "event": kind, "time": time, "session": session, **fields}


def log_file(events):
    """Return events as the bytes of a log, in a stream."""
    return io.BytesIO(b"".join(json.dumps(event).encode() + b"\n" for event in events))


def mined(events, **options):
    """Return what a log of these events says."""
    return mine([log_file(events)], MiningOptions(**options))


def votes(result):
    """Return {(query, winner, loser): (wins, losses)} of a mined log."""
    return {(p.query, p.winner, p.loser): (p.wins, p.losses) for p in result.preferences}


def worked_log():
    """Return the seven sessions of statistics.md A.3.

    Reads of q1 over a b c d e: s1 c, e; s2 c; s3 c, a; s4 a; s5 c; s6 c; s7 z (never shown).
    Then s5 searches q2, sees f c g, reads c, and g at 4,000 s: later than the window.
    """
    events = []
    for session, ids in zip(("s1", "s2", "s3", "s4", "s5", "s6", "s7"),
                            ("ce", "c", "ca", "a", "c", "c", "z"), strict=True):  # fmt: skip
        events.append(search(0, session, "q1", "abcde"))
        events += [read(at, session, id) for at, id in enumerate(ids, 1)]
    events += [search(100, "s5", "q2", "fcg"), read(101, "s5", "c"), read(4000, "s5", "g")]
    return sorted(events, key=lambda event: event["time"])
