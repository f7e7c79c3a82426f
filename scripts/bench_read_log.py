"""Measure the read log: mining a large log, writing one event, many writers into one file.

python scripts/bench_read_log.py            # 1,000,000 events, 8 processes x 10,000
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from judge.readlog.mining import MiningOptions, mine
from judge.readlog.summary import summary_lines
from judge.readlog.writer import ReadLog

_MINE = "import sys; sys.argv.pop(0); from bench_read_log import report_mining; report_mining()"


def write_log(path: Path, *, n_events: int, seed: int) -> None:
    """Write a log of searches and reads over a month: 5,000 queries, some far more often.

    Lines are up to half a minute out of order, as those of several writers are.
    """
    choose = random.Random(seed)
    weights = [1 / (rank + 10) for rank in range(5000)]
    dump = json.JSONEncoder(separators=(",", ":")).encode
    lines: list[tuple[float, str]] = []
    time_s, session = 1_700_000_000.0, 0
    while len(lines) < n_events:
        session += 1
        time_s += choose.expovariate(1 / 8)
        query = choose.choices(range(5000), weights)[0]
        ids = [f"chunk-{query}-{at}" for at in choose.sample(range(14), 10)]
        events: list[dict[str, object]] = [
            {"event": "search", "query": f"words of query number {query}", "ids": ids}
        ]
        read = choose.sample(ids, choose.choice((0, 1, 1, 2, 2, 3)))
        events += [{"event": "read", "id": id} for id in read]
        for step, event in enumerate(events):
            stamp = round(time_s + 7 * step, 3)
            line = dump({"v": 1, "time": stamp, "session": f"s{session}", **event})
            lines.append((stamp + choose.uniform(0, 30), line))
    lines.sort()
    path.write_text("".join(f"{line}\n" for _, line in lines[:n_events]), encoding="utf-8")


def report_mining() -> None:
    """Mine the log named in argv; print seconds and peak memory."""
    began, began_cpu = time.perf_counter(), time.process_time()
    mined = mine([sys.argv[1]])
    seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for line in summary_lines(mined, MiningOptions().rule):
        print(f"  {line}")
    print(
        f"mined in {seconds:.1f} s ({cpu:.1f} s of processor), peak {peak:.0f} MiB,"
        f" {len(mined.preferences)} pairs"
    )


def time_writer(folder: Path, *, n_events: int) -> None:
    """Print what one event costs its caller."""
    ids = [f"chunk-{at}" for at in range(10)]
    for hashed in (False, True):
        with ReadLog(folder / f"writer-{hashed}.jsonl", hash_sessions=hashed) as log:
            began = time.perf_counter()
            for at in range(n_events):
                log.search("how do I reset a password", log.shuffle(ids), session=f"s{at}")
                log.read("chunk-3", session=f"s{at}")
            each = (time.perf_counter() - began) / (2 * n_events) * 1e6
            print(f"one event: {each:.1f} microseconds, hash_sessions={hashed}")
            assert not log.failures, log.last_failure


def _write_many(path: str, worker: int, n_events: int) -> None:
    with ReadLog(path, rotate_bytes=None) as log:
        for at in range(n_events):
            log.search(f"query {at}", ["a" * (at % 50 + 1), "b"], session=f"w{worker}")


def count_lines(folder: Path, *, n_workers: int, n_events: int) -> None:
    """Let processes write into one log at once; print how many whole lines came out."""
    path = folder / "shared.jsonl"
    workers = [
        multiprocessing.Process(target=_write_many, args=(str(path), worker, n_events))
        for worker in range(n_workers)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    # A writer that meets another one's line half done begins with an empty one, to be safe.
    lines = [line for line in path.read_bytes().split(b"\n") if line]
    whole = sum("session" in json.loads(line) for line in lines)
    print(f"{n_workers} processes x {n_events} events: {whole} whole lines of {len(lines)}")


def main() -> None:
    """Run all three."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "log.jsonl"
        write_log(log, n_events=options.events, seed=options.seed)
        print(f"{options.events} events, {log.stat().st_size / 1e6:.0f} MB")
        here = Path(__file__).resolve().parent
        # A process of its own: the peak is that of mining alone.
        subprocess.run([sys.executable, "-c", _MINE, "", str(log)], check=True, cwd=here)
        time_writer(folder, n_events=50_000)
        count_lines(folder, n_workers=8, n_events=10_000)


if __name__ == "__main__":
    main()
