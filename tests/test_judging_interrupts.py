"""Whatever stops a run, nothing that was received is lost and nothing is paid twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.judging import cache_care
from judge.judging.cache import JudgmentCache

HERE = Path(__file__).resolve().parent
CONCURRENCY = 16

# A run in a process of its own: argv is url, cache folder, rows; prints one line a verdict.
RUN = """
import sys
from pathlib import Path
from judge.cli.judging import interruptible
from judge.judging.backends import open_backend
from judge.judging.cache import JudgmentCache
from judge.judging.judge import Judge, Pair
from judge.judging.limits import Limits
from judge.judging.prompt import load_prompt

url, folder, rows = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
pairs = [Pair(f"q{i}", f"why salt road {i}", "d", f"Salt melts ice {i}.") for i in range(rows)]
backend = open_backend("openai:m", base_url=url, api_key="k")
cache = JudgmentCache(folder)
judge = Judge([backend], load_prompt(), cache=cache, limits=Limits(concurrency=16))
with interruptible(), judge:
    for verdict in judge.stream(pairs):
        print(verdict.query_id, verdict.grade, int(verdict.cached), flush=True)
print("calls", judge.calls.made, judge.calls.cached, *(n.text for n in judge.notices), flush=True)
"""


class Server:
    """The fake server as a process, with the number of requests that reached it."""

    def __init__(self, delay_s: float) -> None:
        command = [sys.executable, str(HERE / "fake_server.py"), "--delay", str(delay_s)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.root = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    @property
    def wire(self) -> int:
        with urllib.request.urlopen(f"{self.root}/count") as response:
            return int(json.load(response)["count"])


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server(0.02)
    yield server
    server.process.terminate()
    server.process.wait()
    assert server.process.stdout is not None
    server.process.stdout.close()


def start(server: Server, folder: Path, rows: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RUN, f"{server.root}/v1", str(folder), str(rows)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[dict[str, str], list[str]]:
    """Return grades by query and the line with the counts."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    *lines, counts = out.splitlines()
    return {line.split()[0]: line.split()[1] for line in lines}, counts.split()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_15_a_signal_ends_the_run_and_keeps_what_was_received(
    server: Server, tmp_path: Path, number: signal.Signals
) -> None:
    process = start(server, tmp_path, 400)
    assert process.stdout is not None
    for _ in range(100):
        process.stdout.readline()
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode != 0
    assert f"stopped by {number.name}; everything paid for is kept" in err
    kept = cache_care.stats(JudgmentCache(tmp_path)).entries
    assert kept == server.wire  # requests in flight were given time to end
    before = server.wire
    grades, (_, made, cached) = finish(start(server, tmp_path, 400))
    assert set(grades.values()) == {"2"}
    assert (int(made), int(cached)) == (400 - kept, kept)
    assert server.wire == before + int(made)


@pytest.mark.slow
def test_15_fifty_kills_lose_no_more_than_what_was_in_flight(
    server: Server, tmp_path: Path
) -> None:
    rows, kills, chance = 2000, 0, random.Random(15)
    folder = tmp_path / "cache"
    for _ in range(50):
        process = start(server, folder, rows)
        assert process.stdout is not None
        process.stdout.readline()  # it is under way
        time.sleep(chance.uniform(0, 0.15))
        if process.poll() is None:
            process.kill()
            kills += 1
        process.communicate()
    grades, _ = finish(start(server, folder, rows))
    assert kills > 25
    assert len(grades) == rows
    assert set(grades.values()) == {"2"}
    assert server.wire <= rows + kills * CONCURRENCY
    found = cache_care.verify(JudgmentCache(folder))
    assert found.is_sound
    assert found.entries == rows


@pytest.mark.slow
def test_14_four_processes_on_one_cache_agree(server: Server, tmp_path: Path) -> None:
    rows = 2000
    finished = [finish(p) for p in [start(server, tmp_path, rows) for _ in range(4)]]
    grades = [grades for grades, _ in finished]
    assert all(other == grades[0] for other in grades)
    assert len(grades[0]) == rows
    assert not any("lock" in word for _, counts in finished for word in counts)
    made = sum(int(counts[1]) for _, counts in finished)
    assert server.wire == made
    assert rows <= made <= 2040
    assert cache_care.stats(JudgmentCache(tmp_path)).entries == rows
