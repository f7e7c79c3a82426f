"""Files that are none: what `scripts/torture.py` gives to every command."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable

ROW = {"query_id": "q1", "query": "why salt", "results": [{"id": "d1", "text": "Salt melts ice."}]}
VALUES: tuple[object, ...] = (
    *(None, True, -1, 1e308, 2**70, "", "\x00", "\ud800", "a\u2028b", "\x1b[31m", [], {}, [[]]),
    *({"x": 1}, "9" * 500, "=cmd|'x'!A1", [None], 0.5, "1e999", ["\ud800"]),
)
KINDS: dict[str, Callable[[random.Random], bytes]] = {
    "deep JSON": lambda chance: b"[" * chance.choice([500, 5000, 200_000]),
    "deep objects": lambda chance: b'{"rows":' * chance.choice([500, 50_000]),
    "NaN": lambda chance: b'{"query": "q", "results": [{"id": "d", "score": NaN}]}\n',
    "a long number": lambda chance: b'{"query": "q", "weight": ' + b"9" * 5000 + b"}",
    "NULs": lambda chance: bytes(chance.choice([1, 5000])),
    "noise": lambda chance: chance.randbytes(3000),
    "nothing": lambda chance: b"",
    "a line of a megabyte": lambda chance: b"x" * 1_000_000,
    "half a gzip": lambda chance: gzip.compress(json.dumps(ROW).encode() * 99)[:60],
    "a gzip of nothing": lambda chance: gzip.compress(b""),
    "UTF-16": lambda chance: json.dumps(ROW).encode("utf-16"),
    "open quotes": lambda chance: b'query_id,chunk_id,grade\n"q1,d1,2\nq2,"d""2,1\n',
    "odd columns": lambda chance: b"query_id,chunk_id,grade\nq1,d1\nq1,d1,2,3,4\n,,\n",
    "odd qrels": lambda chance: b"q1 0 d1 x\nq1 0 d2 1e400\nq1 0\n\x00 0 d 1\n",
    "odd TREC": lambda chance: b"q1 Q0 d1 1 nan t\nq1 Q0 d1 1 inf t\nq1 Q0 d1 1 1e999 t\n",
    "bare CR": lambda chance: b'{"query": "a"}\r{"query": "b"}\r',
    "a word": lambda chance: json.dumps(chance.choice(VALUES)).encode(),
}
COMMANDS: tuple[list[str], ...] = (
    ["grade", "{file}"],
    ["grade", "{file}", "--backend", "mock", "--cache-dir", "{folder}/cache"],
    ["grade", "{run}", "--goldens", "{file}"],
    ["grade", "{run}", "--labels", "{file}"],
    ["grade", "{run}", "--judgments", "{file}"],
    ["grade", "{run}", "--read-log", "{file}"],
    ["grade", "{run}", "--preferences", "{file}"],
    ["grade", "{run}", "--corpus", "{file}", "--queries", "{file}"],
    ["grade", "{run}", "--backend", "mock:script={file}", "--cache-dir", "{folder}/cache"],
    ["grade", "{run}", "--backend", "replay:{file}", "--cache-dir", "{folder}/cache"],
    ["grade", "{run}", "--backend", "mock", "--prices", "{file}", "--cache-dir", "{folder}/cache"],
    ["grade", "{run}", "--backend", "mock", "--prompt", "{file}", "--cache-dir", "{folder}/cache"],
    ["compare", "{run}", "{file}"],
    ["compare", "{file}", "{file}"],
    ["gate", "{run}", "--baseline", "{file}"],
    ["gate", "{file}", "--baseline", "{demo}/run.json"],
    ["measure", "{file}", "{file}"],
    ["measure", "{run}", "{file}"],
    ["calibrate", "{file}", "{file}"],
    ["calibrate", "{run}", "--labels", "{file}"],
    ["doctor", "{file}"],
    ["export", "{file}", "--format", "trec"],
    ["export", "{file}"],
    ["mine", "{file}"],
    ["goldens", "check", "{file}", "--corpus", "{file}"],
    ["retrieve", "{file}", "{file}"],
    ["cache", "import", "{file}", "--cache-dir", "{folder}/cache"],
    ["cache", "explain", "@{file}", "x", "--cache-dir", "{folder}/cache"],
)


def hostile_file(chance: random.Random) -> tuple[str, bytes]:
    """Return what a file is, and its content: one of the kinds, or rows with a wrong value."""
    if chance.random() < 0.4:
        kind = chance.choice(list(KINDS))
        return kind, KINDS[kind](chance)
    value = chance.choice(VALUES)
    place = chance.choice(["query_id", "query", "results", "weight", "expected", "id", "text"])
    if place in ("id", "text"):
        row = {**ROW, "results": [{**ROW["results"][0], place: value}]}  # type: ignore[index]
    else:
        row = {**ROW, place: value}
    lines = [json.dumps(row), json.dumps(ROW)]
    if chance.random() < 0.3:
        return f"{place} {value!r}, as an array", f"[{','.join(lines)}]".encode()
    return f"{place} {str(value)[:30]!r}", "\n".join(lines).encode()
