"""Kill, damage, starve and misuse judge, and count what it loses.

    python scripts/torture.py [--minutes 2] [--seed 15] [--only kills,damage,company,disks,
                               servers,files]

Seeded and bounded; talks to loopback only. Exits 1 if a reply that was delivered is not in the
cache, a kill -9 makes more than `concurrency` replies be paid again or a signal that can be heard
any at all, an entry that can be read one by one is asked again, processes side by side pay for
more than 2% twice, or anything ends with a traceback or with an exit code that the README does
not name. The full form (500 kills, 500 damages, 3,000 files x commands) runs without `--minutes`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "scripts")]

from hostile_files import COMMANDS, hostile_file  # noqa: E402

CONCURRENCY = 8
CODES = {0, 1, 2, 3, 4, 130}
# A run in a process of its own: argv is url, cache folder, first and last row; a line a verdict.
DRIVER = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(ROOT)!r})
from judge.cli.judging import interruptible
from judge.judging.backends import open_backend
from judge.judging.cache import JudgmentCache
from judge.judging.judge import Judge, Pair
from judge.judging.limits import Limits
from judge.judging.prompt import load_prompt

url, folder, first, last = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
pairs = [Pair(f"q{{i}}", f"why salt {{i}}", "d", f"Salt {{i}}.") for i in range(first, last)]
with interruptible():
    cache, limits = JudgmentCache(folder), Limits(concurrency={CONCURRENCY})
    backend = open_backend("openai:m", base_url=url, api_key="k")
    with Judge([backend], load_prompt(), cache=cache, limits=limits) as judge:
        for verdict in judge.stream(pairs):
            print(verdict.query_id, verdict.grade, flush=True)
"""


class Server:
    """The test suite's server in a process of its own: every answer is grade 2."""

    def __init__(self) -> None:
        command = [sys.executable, str(ROOT / "tests" / "fake_server.py"), "--delay", "0.01"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.root = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    @property
    def wire(self) -> int:
        with urllib.request.urlopen(f"{self.root}/count") as response:
            return int(json.load(response)["count"])

    def run(self, folder: Path, first: int, last: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", DRIVER, f"{self.root}/v1", folder, first, last]
        words = [str(word) for word in command]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Pace:
    """So many cases, or as many as fit into a number of seconds."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds

    def cases(self, most: int) -> Iterator[int]:
        begun = time.monotonic()
        for case in range(most):
            if self.seconds is not None and case and time.monotonic() - begun > self.seconds:
                return
            yield case


def in_cache(folder: Path) -> set[str]:
    """Return the texts of the queries that have a grade in a cache, read as any program could."""
    with contextlib.closing(sqlite3.connect(folder / "cache.db")) as connection:
        rows = connection.execute("SELECT key, value FROM Cache").fetchall()
    texts = {key: json.loads(value) for key, value in rows if key.startswith("text:")}
    entries = [json.loads(value) for key, value in rows if len(key) == 64]
    graded = [entry["query_sha256"] for entry in entries if entry["status"] == "graded"]
    return {texts[f"text:{digest}"]["text"] for digest in graded}


def kills(pace: Pace, chance: random.Random, folder: Path) -> list[str]:
    """Stop runs at random moments, half of them by kill -9, half in a way that can be heard.

    What is in flight dies with a killed process; one that hears a signal waits for all of it.
    """
    faults, server, delivered, kept, first = [], Server(), set[str](), set[str](), 0
    stops, unkept = Counter[str](), Counter[str]()
    graceful = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
    for n in pace.cases(500):
        before = server.wire - len(kept)  # read late: a killed run's last requests are in it
        process = server.run(folder, first, first + 400)
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        time.sleep(chance.uniform(0, 0.3))
        number = chance.choice([signal.SIGKILL] * 3 + graceful)
        process.send_signal(number)
        lines += process.stdout.readlines()  # communicate() would drop what readline() read ahead
        _, said = process.communicate(timeout=60)
        delivered |= {f"why salt {line.split()[0][1:]}" for line in lines if line.endswith("2\n")}
        kept = in_cache(folder)
        if lost := delivered - kept:
            some = sorted(lost)[:3]
            faults.append(f"kill {n} ({number.name}): {len(lost)} delivered lost, as {some}")
        paid_again = server.wire - len(kept) - before
        if paid_again > (CONCURRENCY if number is signal.SIGKILL else 0):
            faults.append(f"kill {n} ({number.name}): {paid_again} replies paid and not kept")
        if number is not signal.SIGKILL and said.count("Traceback") > 1:
            faults.append(f"kill {n} ({number.name}): {said[-300:]}")
        stops[number.name] += 1
        unkept[number.name] += paid_again
        if f"why salt {first + 399}" in kept:
            first += 400
    server.process.terminate()
    print(f"kills: {stops.total()}, {len(delivered)} replies delivered")
    for name, times in sorted(stops.items()):
        print(f"  {name}: {times} times, {unkept[name]} replies paid and not kept")
    return faults


def company(pace: Pace, chance: random.Random, folder: Path) -> list[str]:
    """Let two to four processes grade the same pairs at once."""
    faults, server = [], Server()
    for case in pace.cases(20):
        n, before = chance.randint(2, 4), server.wire
        runs = [server.run(folder / str(case), 0, 500) for _ in range(n)]
        ended = [run.communicate(timeout=300) for run in runs]
        if len({frozenset(out.split("\n")) for out, _ in ended}) != 1:
            said = "; ".join(f"{len(out.splitlines())} lines, {err[-300:]!r}" for out, err in ended)
            codes = [run.returncode for run in runs]
            faults.append(f"{n} processes do not agree, or one failed: exits {codes}: {said}")
        if (calls := server.wire - before) > 510:
            faults.append(f"{n} processes, 500 pairs: {calls} calls")
        print(f"company: {n} processes, 500 pairs, {calls} calls")
    server.process.terminate()
    return faults


def damage(pace: Pace, chance: random.Random, folder: Path) -> list[str]:
    """Damage copies of a cache, and ask for everything that it held."""
    from judge.judging.backends import open_backend
    from judge.judging.cache import JudgmentCache
    from judge.judging.judge import Judge, Pair
    from judge.judging.prompt import load_prompt

    def judged(path: Path, asked: list[Pair]) -> set[str]:
        """Grade pairs and return the queries that were served from the cache."""
        cache = JudgmentCache(path)
        with Judge([open_backend("mock")], load_prompt(), cache=cache) as judge:
            verdicts = list(judge.stream(asked))
        assert len(verdicts) == len(asked)
        assert all(verdict.grade is not None for verdict in verdicts)
        return {verdict.query_id for verdict in verdicts if verdict.cached}

    pairs = [
        Pair(f"why salt {i}", f"why salt {i}", "d", "Salt melts ice. " * 9) for i in range(200)
    ]
    judged(folder / "whole", pairs[:100])
    reader = JudgmentCache(folder / "whole")  # as long as it is open, the log stays
    judged(folder / "whole", pairs)
    shutil.copytree(folder / "whole", folder / "killed")
    reader.close()
    faults, n, served = [], 0, 0
    for n in pace.cases(500):
        path = folder / "damaged"
        shutil.copytree(folder / chance.choice(["whole", "killed"]), path)
        what = spoil(path, chance)
        reachable = one_by_one(path, folder / "copy")
        found = judged(path, pairs)
        served += len(found)
        if lost := reachable - found:
            faults.append(f"damage {n}: {what}: {len(lost)} readable ones asked again")
        for left in (path, folder / "copy"):
            shutil.rmtree(left, ignore_errors=True)
    print(f"damage: {n + 1} caches, {served} of {200 * (n + 1)} entries served")
    return faults


def spoil(path: Path, chance: random.Random) -> str:
    """Do something to a cache folder, and say what."""
    names = sorted(file.name for file in path.glob("cache.db*"))
    name = chance.choice(names)
    data = bytearray((path / name).read_bytes())
    kind = chance.choice(["zero", "noise", "bits", "bits", "truncate", "delete"])
    if kind == "zero" or kind == "noise":
        at = chance.randrange(max(1, len(data) // 4096)) * 4096
        size = min(4096, len(data) - at)
        data[at : at + size] = bytes(size) if kind == "zero" else chance.randbytes(size)
    elif kind == "bits" and data:
        for _ in range(chance.randint(1, 20)):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == "truncate":
        del data[chance.randrange(len(data) + 1) :]
    if kind == "delete":
        (path / name).unlink()
    else:
        (path / name).write_bytes(data)
    return f"{kind} {name}"


def one_by_one(path: Path, copy: Path) -> set[str]:
    """Return the queries whose entries SQLite gives out one at a time, as they were stored."""
    from judge.judging.entries import read_stored, sha256

    shutil.copytree(path, copy)
    of_digest = {sha256(f"why salt {i}"): f"why salt {i}" for i in range(200)}
    found: set[str] = set()
    with contextlib.closing(sqlite3.connect(copy / "cache.db")) as connection:
        connection.text_factory = bytes
        for rowid in range(1, 1000):
            with contextlib.suppress(sqlite3.Error, ValueError, TypeError):
                row = connection.execute("SELECT key, value FROM Cache WHERE rowid = ?", (rowid,))
                key, value = row.fetchone()
                if len(key) == 64:
                    found.add(of_digest[read_stored(key.decode(), value).query_sha256])
    return found


def disks(pace: Pace, chance: random.Random, folder: Path) -> list[str]:
    """Let the disk be full after so many bytes: for the cache, the report, or both."""
    faults, server = [], Server()
    run = folder / "run.jsonl"
    run.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"query": f"why {i}", "results": [{"id": "d", "text": "Salt."}]} for i in range(200)]
    run.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for case in pace.cases(40):
        before = server.wire
        most = chance.choice([10_000, 60_000, 200_000, 400_000])
        command = [sys.executable, "-m", "judge", "grade", run, "--backend", "openai:m", "--quiet"]
        command += ["--base-url", f"{server.root}/v1", "--cache-dir", folder / f"c{case}"]
        command += ["--out", folder / f"out{case}"]
        done = subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={"OPENAI_API_KEY": "k", "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),  # noqa: B023
            check=False,
        )
        # Refused before anything is paid for, or graded and said to be incomplete.
        fits = (0, 3) if server.wire > before else (0, 2, 3)
        if "Traceback" in done.stderr or done.returncode not in fits:
            faults.append(f"disk full at {most}: exit {done.returncode}: {done.stderr[-300:]}")
    server.process.terminate()
    print(f"disks: {case + 1} full ones")
    return faults


def servers(pace: Pace, chance: random.Random, folder: Path) -> list[str]:
    """Let servers answer in every way but the right one."""
    import fake_server as fake

    ways = {
        "reset": fake.Reset(),
        "cut": fake.Cut(),
        "no HTTP": fake.Raw(b"\x00\xff nothing \r\n\r\n"),
        "no JSON": fake.Answer(200, b"<html>", {"content-type": "text/html"}),
        "deep JSON": fake.Answer(200, b"[" * 100_000, {"content-type": "application/json"}),
        "a list": fake.answer(200, []),
        "no choices": fake.answer(200, {"choices": []}),
        "surrogates": fake.completion("\ud800"),
        "nothing": fake.completion(None),
        "a long number": fake.completion('{"grade": ' + "9" * 5000 + "}"),
        "401": fake.error(401),
        "429 for an hour": fake.error(429, retry_after="3600"),
    }
    faults = []
    run = folder / "run.jsonl"
    run.parent.mkdir(parents=True, exist_ok=True)
    run.write_text('{"query": "why", "results": [{"id": "d", "text": "Salt."}]}\n')
    for case in pace.cases(len(ways)):
        name, act = list(ways.items())[case]
        with fake.FakeServer(lambda seen, act=act: act) as server:
            command = ["grade", run, "--backend", "openai:m", "--base-url", server.url, "--quiet"]
            command += ["--cache-dir", folder / "cache", "--timeout", "1", "--max-calls", "3"]
            done = subprocess.run(
                [sys.executable, "-m", "judge", *map(str, command)],
                capture_output=True,
                text=True,
                cwd=ROOT,
                env={"OPENAI_API_KEY": "k", "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
                check=False,
            )
        if "Traceback" in done.stderr or done.returncode not in CODES:
            faults.append(f"server, {name}: exit {done.returncode}: {done.stderr[-300:]}")
    print(f"servers: {case + 1} ways")
    return faults


def files(pace: Pace, chance: random.Random, folder: Path) -> list[str]:
    """Give every command files that are none."""
    from judge.cli.main import main

    faults, n = [], 0
    folder.mkdir(parents=True)
    demo = ROOT / "goldens" / "demo"
    for n in pace.cases(3000):  # noqa: B007 - how many there were is told
        what, data = hostile_file(chance)
        path = folder / "file"
        path.write_bytes(data)
        words = chance.choice(COMMANDS)
        places = {"file": path, "run": demo / "run.json", "folder": folder, "demo": demo}
        argv = [word.format(**places) for word in words]
        out, err = io.StringIO(), io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main(argv)
            code: object = 0
        except SystemExit as ended:
            code = ended.code
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is a fault
            code = repr(error)
        if code not in CODES or "Traceback" in err.getvalue():
            faults.append(f"{' '.join(words)} with {what}: exit {code}: {err.getvalue()[-300:]}")
    print(f"files: {n + 1} files x commands")
    return faults


PARTS: dict[str, Callable[[Pace, random.Random, Path], list[str]]] = {
    "kills": kills,
    "damage": damage,
    "company": company,
    "disks": disks,
    "servers": servers,
    "files": files,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, help="Stop in time. [all cases]")
    parser.add_argument("--seed", type=int, default=15)
    parser.add_argument("--only", default=",".join(PARTS))
    options = parser.parse_args()
    names = options.only.split(",")
    pace = Pace(None if options.minutes is None else 60 * options.minutes / len(names))
    faults = []
    with tempfile.TemporaryDirectory(prefix="judge-torture-") as folder:
        for name in names:
            faults += PARTS[name](pace, random.Random(options.seed), Path(folder, name))
    print(*dict.fromkeys(faults), sep="\n")
    print(f"{len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
