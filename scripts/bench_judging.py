"""How fast judging is, against the same requests through other clients.

    python scripts/bench_judging.py [--rounds 3] [--litellm]

2,000 distinct pairs at concurrency 64 against a loopback server that answers after 50 ms
(1.56 s at best). Each client runs in a process of its own, in turn, timed from its start to its
end; the claim is the median of the ratios within a round: these machines are noisy. Ours writes
its cache and parses replies; the others do neither. "ours, SDK" goes through OpenAI's client, as
judge does to OpenAI itself, which never answers in 50 ms. Then 100,000 cached judgments are read
again, and memory is compared for 1,000 and 10,000 rows.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAIRS, CONCURRENCY = 2000, 64
CHUNK = "Brine freezes at a lower temperature than water, so salt keeps a road free of ice. " * 4


def pairs(n: int) -> Iterator[tuple[str, str]]:
    return ((f"why is road {i} salted in winter", f"{CHUNK} Note {i}.") for i in range(n))


def ours(url: str, folder: str) -> dict[str, object]:
    from judge.judging.backends import open_backend

    return judged(open_backend("openai:m", base_url=url, api_key="k"), folder)


def ours_over_sdk(url: str, folder: str) -> dict[str, object]:
    from judge.judging.backends.openai import OpenAIBackend
    from judge.judging.backends.wires.sdk import SDKWire

    return judged(OpenAIBackend("m", base_url=url, api_key="k", open_wire=SDKWire), folder)


def start(url: str, folder: str) -> dict[str, object]:
    """Open everything that a run needs, and send nothing."""
    from judge.judging.backends.openai import OpenAIBackend
    from judge.judging.backends.wires.direct import DirectWire
    from judge.judging.cache import JudgmentCache
    from judge.judging.judge import Judge
    from judge.judging.prompt import load_prompt

    backend = OpenAIBackend("m", base_url=url, api_key="k", open_wire=DirectWire)
    with Judge([backend], load_prompt(), cache=JudgmentCache(Path(folder))):
        return {}


def judged(backend: Any, folder: str) -> dict[str, object]:
    from judge.judging.cache import JudgmentCache
    from judge.judging.judge import Judge, Pair
    from judge.judging.limits import Limits
    from judge.judging.prompt import load_prompt

    limits = Limits(concurrency=CONCURRENCY)
    cache = JudgmentCache(Path(folder))
    with Judge([backend], load_prompt(), cache=cache, limits=limits) as judge:
        asked = (Pair(f"q{i}", query, "d", text) for i, (query, text) in enumerate(pairs(PAIRS)))
        grades = [verdict.grade for verdict in judge.stream(asked)]
    assert grades == [2] * PAIRS
    assert judge.calls.made == PAIRS
    return {}


def without_wire(url: str, folder: str) -> dict[str, object]:
    """Judge the same pairs by a model that answers at once: what is left is our own time."""
    from judge.judging.cache import JudgmentCache
    from judge.judging.exchange import Reply, Request
    from judge.judging.judge import Judge, Pair
    from judge.judging.prompt import load_prompt

    class Instant:
        name, settings, remote, recorded = "instant", {"kind": "instant"}, True, False

        async def open(self) -> None:
            pass

        async def answer(self, request: Request) -> Reply:
            return Reply('{"grade": 2}', prompt_tokens=900, completion_tokens=5)

        async def close(self) -> None:
            pass

    with Judge([Instant()], load_prompt(), cache=JudgmentCache(Path(folder))) as judge:
        asked = (Pair(f"q{i}", query, "d", text) for i, (query, text) in enumerate(pairs(PAIRS)))
        begun = time.process_time()
        for _ in judge.stream(asked):
            pass
    return {"own_ms": 1000 * (time.process_time() - begun) / PAIRS}


def openai_default(url: str, folder: str) -> dict[str, object]:
    import openai

    async def run() -> None:
        async with openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as client:

            async def ask(messages: list[dict[str, str]]) -> object:
                return await client.chat.completions.create(model="m", messages=messages)

            await in_workers(ask)

    asyncio.run(run())
    return {}


def litellm(url: str, folder: str) -> dict[str, object]:
    import os

    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.suppress_debug_info = True

    async def ask(messages: list[dict[str, str]]) -> object:
        return await litellm.acompletion(
            model="openai/m", messages=messages, api_base=url, api_key="k", num_retries=0
        )

    asyncio.run(in_workers(ask))
    return {}


async def in_workers(ask: object) -> None:
    """Send every pair from 64 workers, with the messages that ours sends."""
    from judge.judging.prompt import load_prompt

    prompt, todo = load_prompt(), iter(pairs(PAIRS))

    async def work() -> None:
        for query, text in todo:
            turns = prompt.render(query, text)
            await ask([{"role": turn.role, "content": turn.content} for turn in turns])

    await asyncio.gather(*(work() for _ in range(CONCURRENCY)))


def fill(url: str, folder: str) -> dict[str, object]:
    """Put 100,000 graded entries into the cache, as a paid run would have left them."""
    from judge.judging.backends import open_backend
    from judge.judging.cache import JudgmentCache
    from judge.judging.entries import Entry, Keys, sha256
    from judge.judging.prompt import load_prompt

    prompt = load_prompt()
    keys = Keys(open_backend("mock").settings, prompt_sha256=prompt.sha256)
    entries = [
        Entry(
            key=keys.key(query, text),
            status="graded",
            grade=2,
            reason="",
            raw='{"grade": 2}',
            parser=1,
            field="grade",
            grade_max=3,
            model="mock",
            prompt=prompt.label,
            settings_sha256=keys.settings_sha256,
            query_sha256=sha256(query),
            text_sha256=sha256(text),
        )
        for query, text in pairs(100_000)
    ]
    cache = JudgmentCache(Path(folder))
    cache.keep(entries, shared={})
    cache.close()
    return {}


def reread(url: str, folder: str) -> dict[str, object]:
    from judge.judging.backends import open_backend
    from judge.judging.cache import JudgmentCache
    from judge.judging.judge import Judge, Pair
    from judge.judging.prompt import load_prompt

    cache = JudgmentCache(Path(folder))
    with Judge([open_backend("mock")], load_prompt(), cache=cache) as judge:
        asked = (Pair(f"q{i}", query, "d", text) for i, (query, text) in enumerate(pairs(100_000)))
        n = sum(verdict.cached for verdict in judge.stream(asked))
    assert n == 100_000
    return {}


def rows(n: int) -> dict[str, object]:
    from judge.judging.backends import open_backend
    from judge.judging.judge import Judge, Pair
    from judge.judging.prompt import load_prompt

    with Judge([open_backend("mock")], load_prompt()) as judge:
        asked = (Pair(f"q{i}", query, "d", text) for i, (query, text) in enumerate(pairs(n)))
        for _ in judge.stream(asked):
            pass
    return {}


STEPS = {
    "ours": ours,
    "ours, SDK": ours_over_sdk,
    "start": start,
    "without_wire": without_wire,
    "AsyncOpenAI": openai_default,
    "litellm": litellm,
    "fill": fill,
    "reread": reread,
    "rows_1000": lambda url, folder: rows(1000),
    "rows_10000": lambda url, folder: rows(10_000),
}


def measured(step: str, url: str, folder: str) -> dict[str, float]:
    """Run one step in a fresh process; return wall and CPU seconds and peak MiB."""
    command = [sys.executable, __file__, "--step", step, "--url", url, "--folder", folder]
    begun = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    took = time.perf_counter() - begun
    return {"wall_s": took, **json.loads(done.stdout.splitlines()[-1])}


def one_step(step: str, url: str, folder: str) -> None:
    found = STEPS[step](url, folder)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    took = {
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_mib": usage.ru_maxrss / 1024,
        **found,
    }
    print(json.dumps(took))


def compare(clients: list[str], rounds: int) -> float:
    """Print each client's times and their ratios to ours; return our CPU ms a request."""
    server = subprocess.Popen(
        [sys.executable, ROOT / "tests" / "fake_server.py", "--delay", "0.05"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        took: dict[str, list[dict[str, float]]] = {client: [] for client in clients}
        for _ in range(rounds):
            for client in clients:
                with tempfile.TemporaryDirectory() as folder:
                    took[client].append(measured(client, url, folder))
    finally:
        server.terminate()
        server.wait()
    wall = {name: statistics.median(run["wall_s"] for run in took[name]) for name in clients}
    print(f"{PAIRS} pairs, concurrency {CONCURRENCY}, server 50 ms; median of {rounds}")
    for name in clients:
        cpu = statistics.median(run["cpu_s"] for run in took[name])
        peak = max(run["peak_mib"] for run in took[name])
        ratios = [a["wall_s"] / b["wall_s"] for a, b in zip(took[name], took["ours"], strict=True)]
        print(
            f"  {name:<11} {wall[name]:6.2f} s  {1000 * cpu / PAIRS:5.2f} ms CPU a request"
            f"  {peak:4.0f} MiB  {statistics.median(ratios):5.2f}x ours"
        )

    return statistics.median(run["cpu_s"] for run in took["ours"]) * 1000 / PAIRS


def where_it_goes(total_ms: float, rounds: int) -> None:
    """Print what our CPU time is spent on, and what bounds a run."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [measured("without_wire", "", f"{folder}/{n}") for n in range(rounds)]
        own_ms = statistics.median(run["own_ms"] for run in runs)
        starts = [measured("start", "http://127.0.0.1:1/v1", folder) for _ in range(rounds)]
    start_s = statistics.median(run["cpu_s"] for run in starts)
    start_ms = 1000 * start_s / PAIRS
    wire_ms = total_ms - own_ms - start_ms
    print(f"  Of our {total_ms:.2f} ms CPU a request {own_ms:.2f} are judging (rendering, parsing,")
    print(f"  SQLite), {wire_ms:.2f} HTTP, sockets and the event loop, {start_ms:.2f} starting up.")
    print(
        f"  The wall has 1.56 s of the server (2,000 x 50 ms / {CONCURRENCY}), 0.05 s of the first"
    )
    print(
        f"  request, which goes alone, and {start_s:.2f} s of the start. The limit of one process:"
    )
    print(
        f"  about {1000 / (own_ms + wire_ms):,.0f} requests a second, however many are in flight."
    )


def cached(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        measured("fill", "", folder)
        runs = [measured("reread", "", folder) for _ in range(rounds)]
    print(f"100,000 cached judgments read again: {min(run['wall_s'] for run in runs):.2f} s")


def memory() -> None:
    small, large = measured("rows_1000", "", ""), measured("rows_10000", "", "")
    print(f"1,000 rows {small['peak_mib']:.0f} MiB, 10,000 rows {large['peak_mib']:.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--litellm", action="store_true", help="Compare with litellm too.")
    parser.add_argument("--step", choices=list(STEPS), help=argparse.SUPPRESS)
    parser.add_argument("--url", default="", help=argparse.SUPPRESS)
    parser.add_argument("--folder", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        one_step(options.step, options.url, options.folder)
        return
    clients = ["ours", "ours, SDK", "AsyncOpenAI", *(["litellm"] if options.litellm else [])]
    where_it_goes(compare(clients, options.rounds), options.rounds)
    cached(options.rounds)
    memory()


if __name__ == "__main__":
    main()
