"""How long `judge grade` takes on large runs, as a whole process.

    python scripts/bench_grade.py [CASE …] [--rows 100000] [--rounds 3] [--folder DIR]

known   rows x 10 results, JSON lines, every one of them graded in qrels
texts   the same with texts of 200 characters
trec    the same as a TREC run
cached  a tenth of the rows with texts, graded by a judge whose replies are all in the cache
memory  `cached` with a tenth of its rows, for the growth of memory

Inputs are made from a seed. Each case prints wall and CPU seconds (user + system) and the peak
of memory; all of --out is written. What must hold for 100,000 rows: the first three under 10 s
and 500 MiB, `cached` under 4 s, and under 10 times the memory of `memory`. Other work on the
machine shows in the wall time first, so that CPU is the figure to compare.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEED, PER_ROW = 20, 10
WORDS = ("brine", "salt", "road", "ice", "winter", "vault", "copy", "owner", "error", "reset")
LIMITS = {"known": (10.0, 500.0), "texts": (10.0, 500.0), "trec": (10.0, 500.0), "cached": (4.0, 0)}


@dataclass(frozen=True, slots=True)
class Took:
    """What one process took."""

    wall_s: float
    cpu_s: float
    peak_mib: float


def lists(n_rows: int) -> Iterator[tuple[str, list[str]]]:
    """Yield query ids with ten distinct ids each, drawn from a million."""
    draw = random.Random(SEED)
    for at in range(n_rows):
        yield f"q{at}", [f"d{number}" for number in draw.sample(range(1_000_000), PER_ROW)]


def text_of(draw: random.Random) -> str:
    """Return about 200 characters that no other chunk has."""
    return f"{' '.join(draw.choices(WORDS, k=35))} {draw.getrandbits(32)}."


def write_rows(path: Path, n_rows: int, *, texts: bool) -> None:
    """Write a run as JSON lines."""
    draw = random.Random(SEED)
    with path.open("w") as stream:
        for at, (query, ids) in enumerate(lists(n_rows)):
            results = [{"id": id, **({"text": text_of(draw)} if texts else {})} for id in ids]
            row = {"query_id": query, "query": f"what is {at}", "slice": f"s{at % 5}"}
            stream.write(json.dumps({**row, "results": results}) + "\n")


def write_trec(path: Path, n_rows: int) -> None:
    """Write the same run as TREC."""
    with path.open("w") as stream:
        for query, ids in lists(n_rows):
            for rank, id in enumerate(ids, 1):
                stream.write(f"{query} Q0 {id} {rank} {20 - rank}.5 bench\n")


def write_qrels(path: Path, n_rows: int) -> None:
    """Write a grade for every result."""
    draw = random.Random(SEED + 1)
    with path.open("w") as stream:
        for query, ids in lists(n_rows):
            stream.writelines(f"{query} 0 {id} {draw.choice((0, 0, 1, 1, 2, 3))}\n" for id in ids)


def fill_cache(folder: Path, run: Path) -> None:
    """Put a grade for every result into the cache, as a paid run would have left them."""
    from judge.judging.backends import open_backend
    from judge.judging.cache import JudgmentCache
    from judge.judging.entries import Entry, Keys, sha256
    from judge.judging.prompt import load_prompt

    prompt = load_prompt()
    keys = Keys(open_backend("openai:bench", api_key="k").settings, prompt_sha256=prompt.sha256)
    draw = random.Random(SEED + 2)

    def entry(query: str, text: str) -> Entry:
        grade = draw.choice((0, 1, 2, 3))
        return Entry(
            key=keys.key(query, text),
            status="graded",
            grade=grade,
            reason="",
            raw=json.dumps({"grade": grade}),
            parser=1,
            field="grade",
            grade_max=3,
            model="bench",
            prompt=prompt.label,
            settings_sha256=keys.settings_sha256,
            query_sha256=sha256(query),
            text_sha256=sha256(text),
        )

    with run.open() as stream:
        rows = [json.loads(line) for line in stream]
    cache = JudgmentCache(folder)
    cache.keep([entry(row["query"], r["text"]) for row in rows for r in row["results"]], shared={})
    cache.close()


def inputs(case: str, folder: Path, n_rows: int) -> list[str]:
    """Have another process make what a case needs; return the arguments of `judge grade`.

    A process begins with the peak of the one that starts it: this one must stay small.
    """
    make = [sys.executable, __file__, case, "--rows", str(n_rows), "--folder", str(folder)]
    made = subprocess.run([*make, "--make"], check=True, capture_output=True, text=True, cwd=ROOT)
    return made.stdout.splitlines()


def made(case: str, folder: Path, n_rows: int) -> list[str]:
    """Make what a case needs, unless it is there; return the arguments of `judge grade`."""
    if case in ("cached", "memory"):
        n_rows //= 10 if case == "cached" else 100
        run, cache = folder / f"texts-{n_rows}.jsonl", folder / f"cache-{n_rows}"
        if not cache.exists():
            write_rows(run, n_rows, texts=True)
            fill_cache(cache, run)
        return [str(run), "--backend", "openai:bench", "--cache-dir", str(cache), "--quiet"]
    run = folder / f"{case}-{n_rows}{'.trec' if case == 'trec' else '.jsonl'}"
    qrels = folder / f"qrels-{n_rows}.trec"
    if not run.exists():
        write_trec(run, n_rows) if case == "trec" else write_rows(
            run, n_rows, texts=case == "texts"
        )
    if not qrels.exists():
        write_qrels(qrels, n_rows)
    return [str(run), "--judgments", str(qrels)]


def measured(arguments: list[str]) -> Took:
    """Run `judge grade` in a process of its own."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "judge", "grade", *arguments, "--out", out]
        begun = time.perf_counter()
        child = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "OPENAI_API_KEY": "k"},
        )
        assert child.stderr is not None
        said = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begun
    if os.waitstatus_to_exitcode(status):
        sys.exit(said)
    return Took(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def main() -> None:
    """Measure the cases asked for and print a line each."""
    cases = ["known", "texts", "trec", "cached", "memory"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(cases))
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="Keep the inputs there. [a temporary folder]")
    parser.add_argument("--make", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        print(*made(options.cases[0], options.folder, options.rows), sep="\n")
        return
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; medians of {options.rounds}")
    with tempfile.TemporaryDirectory() as passing:
        folder = options.folder or Path(passing)
        folder.mkdir(parents=True, exist_ok=True)
        for case in options.cases or cases:
            arguments = inputs(case, folder, options.rows)
            runs = [measured(arguments) for _ in range(options.rounds)]
            wall, cpu, peak = (
                statistics.median(getattr(run, name) for run in runs)
                for name in ("wall_s", "cpu_s", "peak_mib")
            )
            limit, most = LIMITS.get(case, (0, 0))
            must = (
                f"  (limit {limit:.0f} s" + (f", {most:.0f} MiB)" if most else ")") if limit else ""
            )
            print(f"{case:<8} wall {wall:6.2f} s  CPU {cpu:6.2f} s  peak {peak:5.0f} MiB{must}")


if __name__ == "__main__":
    main()
