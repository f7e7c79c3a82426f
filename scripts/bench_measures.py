"""Time `judge measure` and its peers on TREC runs that this script makes, side by side.

Every round runs each program once, as a process of its own that reads the files, so that
a busy minute of the machine hits all of them; a ratio is the median over the rounds of
peer over ours within one round. Peers that are not installed are left out.

    python scripts/bench_measures.py --rounds 5 --out docs/measures-bench.md
    python scripts/bench_measures.py --sizes S,M --rounds 3
"""

from __future__ import annotations

import argparse
import compileall
import importlib.util
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import judge
from judge.measuring import measure

MEASURES = ("nDCG@10", "nDCG@100", "RR", "R@100", "P@10")
JUDGED = 60


@dataclass(frozen=True)
class Size:
    """A run to make: so many queries with so many results each."""

    queries: int
    depth: int
    order: str = "ranked"

    @property
    def lines(self) -> int:
        return self.queries * self.depth


SIZES = {
    "S": Size(100, 100),
    "M": Size(7_000, 100),
    "L": Size(7_000, 1_000),
    "L unsorted": Size(7_000, 1_000, "unsorted"),
    "L shuffled": Size(7_000, 1_000, "shuffled"),
}
ABOUT = {
    "S": "10 thousand lines",
    "M": "0.7 million lines",
    "L": "7 million lines",
    "L unsorted": "7 million lines, every list in random order",
    "L shuffled": "7 million lines in random order, every query all over the file",
}
GROWTH = [Size(100, 100), Size(1_000, 100), Size(10_000, 100), Size(10_000, 1_000)]
GROWTH += [Size(10_000, 3_000)]

# Each reads argv[1] (run) and argv[2] (qrels), and prints the means of MEASURES.
PYTREC_EVAL = """
import sys, pytrec_eval
run, qrels = {}, {}
for line in open(sys.argv[1]):
    query, _, document, _, score, _ = line.split()
    run.setdefault(query, {})[document] = float(score)
for line in open(sys.argv[2]):
    query, _, document, grade = line.split()
    qrels.setdefault(query, {})[document] = int(grade)
asked = {"ndcg_cut.10,100", "recip_rank", "recall.100", "P.10"}
found = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
for name in ("ndcg_cut_10", "ndcg_cut_100", "recip_rank", "recall_100", "P_10"):
    print(name, sum(row[name] for row in found.values()) / len(qrels))
"""
RANX = """
import sys
from ranx import Qrels, Run, evaluate
run, qrels = Run.from_file(sys.argv[1], kind="trec"), Qrels.from_file(sys.argv[2], kind="trec")
print(evaluate(qrels, run, ["ndcg@10", "ndcg@100", "mrr", "recall@100", "precision@10"]))
"""
JUDGE = "from judge.cli.main import main; main()"


def programs(order: str = "ranked") -> dict[str, list[str]]:
    """Return the command of each program that is installed, run and qrels still to be added.

    Runs in another order than by rank are for those that trec_eval's code stands behind.
    """
    python = sys.executable
    names = [word for name in MEASURES for word in ("-m", name)]
    found = {"judge measure": [python, "-c", JUDGE, "measure", *names]}
    if trec_eval := shutil.which("trec_eval"):
        found["trec_eval"] = [trec_eval, "-m", "ndcg_cut.10,100", "-m", "recip_rank"]
        found["trec_eval"] += ["-m", "recall.100", "-m", "P.10"]
    scripts = {
        "pytrec_eval": ("pytrec_eval", ["-c", PYTREC_EVAL]),
        "ir_measures": ("ir_measures", ["-m", "ir_measures"]),
        "ranx": ("ranx", ["-c", RANX]),
    }
    for name, (module, arguments) in scripts.items():
        if importlib.util.find_spec(module) and (order == "ranked" or name == "pytrec_eval"):
            found[name] = [python, *arguments]
    return found


def arguments(name: str, run: Path, qrels: Path) -> list[str]:
    """Return the files in the order that a program wants them."""
    if name == "trec_eval":
        return [str(qrels), str(run)]
    if name == "ir_measures":
        return [str(qrels), str(run), " ".join(MEASURES)]
    return [str(run), str(qrels)]


def make(size: Size, folder: Path, *, seed: int = 9) -> tuple[Path, Path]:
    """Write a run and qrels: two thirds of the judged documents retrieved, more near the top."""
    rng = np.random.default_rng(seed)
    run = folder / f"{size.queries}x{size.depth}.{size.order}.run"
    qrels = folder / f"{size.queries}x{size.depth}.qrels"
    shown = min(JUDGED * 2 // 3, size.depth)
    scattered: list[str] = []
    with run.open("w") as run_file, qrels.open("w") as qrels_file:
        for query in range(size.queries):
            name = f"q{query:07d}"
            documents = np.unique(rng.integers(0, 9_000_000, size.depth + JUDGED + 60))
            documents = rng.permutation(documents)[: size.depth + JUDGED - shown]
            scores = np.sort(rng.choice(30_000_000, size.depth, replace=False))[::-1] / 1e6
            places = np.unique((rng.random(4 * shown) ** 2 * size.depth).astype(int))[:shown]
            judged = np.concatenate([documents[places], documents[size.depth :]])
            grades = rng.choice(4, len(judged), p=(0.6, 0.2, 0.13, 0.07))
            lines = [
                f"{name} Q0 d{document:07d} {rank} {score:.6f} bench\n"
                for rank, (document, score) in enumerate(zip(documents, scores, strict=False), 1)
            ]
            if size.order == "unsorted":
                rng.shuffle(lines)
            if size.order == "shuffled":
                scattered += lines
            else:
                run_file.writelines(lines)
            qrels_file.writelines(
                f"{name} 0 d{document:07d} {grade}\n"
                for document, grade in zip(judged, grades, strict=True)
            )
        if scattered:
            run_file.writelines(scattered[i] for i in rng.permutation(len(scattered)))
    return run, qrels


@dataclass(frozen=True)
class Usage:
    """What a process took."""

    wall_s: float
    cpu_s: float
    peak_mib: float


# A child is born with the peak memory of its parent: this parent has next to none.
LAUNCHER = """
import json, os, subprocess, sys, time
started = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
wall = time.perf_counter() - started
print(json.dumps([status, wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def use(command: Sequence[str]) -> Usage:
    """Run a command to its end and return what it took; its output goes nowhere."""
    launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, *command]
    printed = subprocess.run(launcher, check=True, capture_output=True, text=True).stdout
    status, *used = json.loads(printed)
    if status:
        raise SystemExit(f"failed with status {status}: {' '.join(command)}")
    return Usage(*used)


def compare(name: str, run: Path, qrels: Path, rounds: int) -> list[str]:
    """Return the lines of the table of one size: every program, and its ratio to ours."""
    heads = programs(SIZES[name].order)
    commands = {peer: [*head, *arguments(peer, run, qrels)] for peer, head in heads.items()}
    taken: dict[str, list[Usage]] = {peer: [] for peer in commands}
    for _ in range(rounds):
        for peer, command in commands.items():
            taken[peer].append(use(command))
    ours = taken["judge measure"]
    lines = []
    for peer, usages in taken.items():
        wall = statistics.median(
            one.wall_s / our.wall_s for one, our in zip(usages, ours, strict=True)
        )
        cpu = statistics.median(
            one.cpu_s / our.cpu_s for one, our in zip(usages, ours, strict=True)
        )
        lines.append(
            f"| {name} | {peer} | {median(usages, 'wall_s'):.2f} | {median(usages, 'cpu_s'):.2f} "
            f"| {median(usages, 'peak_mib'):.0f} | {wall:.1f} | {cpu:.1f} |"
        )
    return lines


def median(usages: Sequence[Usage], field: str) -> float:
    """Return the median of one field."""
    return statistics.median(getattr(usage, field) for usage in usages)


def largest_difference(run: Path, qrels: Path) -> float | None:
    """Return how far any query's nDCG@10 is from pytrec_eval's; None without pytrec_eval."""
    if importlib.util.find_spec("pytrec_eval") is None:
        return None
    import pytrec_eval

    lists: dict[str, dict[str, float]] = {}
    for line in run.open():
        query, _, document, _, score, _ = line.split()
        lists.setdefault(query, {})[document] = float(score)
    judged: dict[str, dict[str, int]] = {}
    for line in qrels.open():
        query, _, document, grade = line.split()
        judged.setdefault(query, {})[document] = int(grade)
    theirs = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10"}).evaluate(lists)
    (ours,) = measure([run], qrels, ["nDCG@10"])
    (column,) = ours.columns.values()
    values = zip(ours.query_ids, column.values, strict=True)
    return max(abs(value - theirs[query]["ndcg_cut_10"]) for query, value in values)


def growth(folder: Path, rounds: int) -> list[tuple[Size, Usage]]:
    """Return what `judge measure` takes from ten thousand to thirty million lines."""
    found = []
    for size in GROWTH:
        run, qrels = make(size, folder)
        command = [*programs()["judge measure"], str(run), str(qrels)]
        usages = [use(command) for _ in range(rounds)]
        fields = ("wall_s", "cpu_s", "peak_mib")
        found.append((size, Usage(*(median(usages, field) for field in fields))))
        run.unlink()
    return found


def plot(points: Sequence[tuple[Size, Usage]]) -> str:
    """Return an SVG of time and memory over lines, all on logarithmic axes."""
    series: Mapping[str, tuple[str, list[float]]] = {
        "CPU seconds": ("#1f6feb", [usage.cpu_s for _, usage in points]),
        "peak GiB": ("#bf5700", [usage.peak_mib / 1024 for _, usage in points]),
    }
    low, high = -2.0, 1.5

    def at(lines: int, value: float) -> tuple[float, float]:
        x = 60 + (np.log10(lines) - 4) / 3.5 * 500
        return x, 290 - (np.log10(value) - low) / (high - low) * 260

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 340" font-family="sans-serif"'
    ]
    parts += [' font-size="12"><rect width="640" height="340" fill="white"/>']
    for value in (0.01, 0.1, 1, 10):
        _, y = at(10_000, value)
        parts.append(
            f'<path d="M60 {y:.1f}H580" stroke="#ddd"/><text x="24" y="{y:.1f}">{value}</text>'
        )
    for size, _ in points:
        x, _ = at(size.lines, 1)
        parts.append(f'<text x="{x - 20:.1f}" y="312">{size.lines / 1e6:g} M</text>')
    for row, (name, (colour, values)) in enumerate(series.items()):
        spots = [at(size.lines, value) for (size, _), value in zip(points, values, strict=True)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="70" y="{30 + 18 * row}" fill="{colour}">{name}</text>')
    return "".join([*parts, '<text x="280" y="332">lines of the run</text></svg>\n'])


def machine() -> str:
    """Return what this was measured on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    python = f"Python {platform.python_version()}, numpy {np.__version__}"
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, {python}"


def report(sizes: Sequence[str], rounds: int, folder: Path, svg: Path | None) -> list[str]:
    """Return the page as lines; the plot goes to a file of its own."""
    lines = [
        "# `judge measure` against its peers",
        "",
        f"Written by `python scripts/bench_measures.py` on: {machine()}.",
        f"Whole processes, reading the files included: {', '.join(MEASURES)}.",
        f"Medians of {rounds} rounds; a ratio is peer over ours within a round.",
        "",
        *(f"- {name}: {ABOUT[name]}" for name in sizes),
        "",
        "| size | program | wall s | CPU s | peak MiB | wall ratio | CPU ratio |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    differences = []
    for name in sizes:
        run, qrels = make(SIZES[name], folder)
        lines += compare(name, run, qrels, rounds)
        difference = largest_difference(run, qrels)
        differences.append(f"{name} {difference:.1e}" if difference is not None else name)
        run.unlink()
    lines += [
        "",
        f"Largest difference of a query's nDCG@10 from pytrec_eval's: {', '.join(differences)}.",
    ]
    missing = {"trec_eval", "pytrec_eval", "ir_measures", "ranx"} - set(programs())
    if missing:
        lines += ["", f"Not installed where this ran: {', '.join(sorted(missing))}."]
    if svg is not None:
        points = growth(folder, rounds)
        svg.write_text(plot(points))
        lines += ["", "## Growth", "", f"![time and memory over lines]({svg.name})", ""]
        lines += ["| lines | wall s | CPU s | peak MiB |", "| --- | --- | --- | --- |"]
        lines += [
            f"| {size.lines:,} | {usage.wall_s:.2f} | {usage.cpu_s:.2f} | {usage.peak_mib:.0f} |"
            for size, usage in points
        ]
    return lines


def main() -> None:
    """Read the options, measure, print the page or write it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sizes", default=",".join(SIZES), help="of: " + ", ".join(SIZES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, help="page to write, with the growth plot beside it")
    options = parser.parse_args()
    # Peers come compiled; a checkout may never have been, and would be so again in every run.
    compileall.compile_dir(Path(judge.__file__).parent, quiet=1)
    svg = options.out.with_name(f"{options.out.stem}-growth.svg") if options.out else None
    with tempfile.TemporaryDirectory() as folder:
        lines = report(options.sizes.split(","), options.rounds, Path(folder), svg)
    page = "\n".join(lines) + "\n"
    if options.out:
        options.out.write_text(page)
    else:
        print(page, end="")


if __name__ == "__main__":
    main()
