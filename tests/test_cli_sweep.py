"""`judge sweep` from the command line: the built-in engine, other programs, and bad usage."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import ROOT

from judge.cli.outside import OutsideSearch
from judge.cli.sweep import command
from judge.errors import UsageError

CORPUS = str(ROOT / "goldens" / "corpus.jsonl")
GOLDENS = str(ROOT / "goldens" / "goldens.jsonl")

# Puts the answer at the rank that --half-life asks for, 0 for the first.
SEARCH = """
import json, sys
flag, rank, flag, out = sys.argv[1:]
if rank == "crash":
    sys.exit("no such index")
results = [{"id": f"other {n}"} for n in range(int(rank))] + [{"id": "a"}]
rows = [{"query_id": "q", "query": "who?", "slice": "s", "results": results}]
if rank != "7":
    open(out, "w").write(json.dumps({"name": "mine", "rows": rows}))
"""


def run(*args: str) -> Result:
    return CliRunner().invoke(command, list(args), catch_exceptions=False)


@pytest.fixture
def outside(tmp_path: Path) -> tuple[str, ...]:
    """Return the arguments that sweep a small program of ours."""
    script = tmp_path / "my search.py"
    script.write_text(SEARCH, encoding="utf-8")
    goldens = tmp_path / "g.jsonl"
    goldens.write_text('{"query_id": "q", "expected": ["a"]}\n', encoding="utf-8")
    template = f"{sys.executable} '{script}' --half-life {{half_life}} --out {{out}}"
    return ("--command", template, "--goldens", str(goldens))


def test_built_in_engine_is_swept_over_the_shipped_goldens(tmp_path: Path) -> None:
    svg = tmp_path / "sweep.svg"
    args = ("--corpus", CORPUS, "--goldens", GOLDENS, "--set", "recency_half_life_days=0,30")
    result = run(*args, "--svg", str(svg), "--runs", str(tmp_path / "runs"))
    assert result.exit_code == 0
    assert "the overall line hides what entity pays" in result.stdout
    assert svg.read_text("utf-8").startswith("<svg ")
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        "run-1.json",
        "run-2.json",
    ]


def test_floor_that_empties_lists_names_the_rows() -> None:
    args = ("--corpus", CORPUS, "--goldens", GOLDENS, "--retriever", "hashed", "--json")
    result = run(*args, "--set", "min_similarity=off,0.4")
    document = json.loads(result.stdout)
    assert "exact-token-01" in document["empty"]["0.4"]
    assert document["measures"]["RR"]["slices"]["exact_token"]["means"][1]["value"] == 0.0


def test_other_program_is_run_once_a_value(outside: tuple[str, ...]) -> None:
    result = run(*outside, "--set", "half_life=0,1,3", "--json")
    document = json.loads(result.stdout)
    means = [mean["value"] for mean in document["measures"]["RR"]["overall"]["means"]]
    assert means == [1.0, 0.5, 0.25]
    assert document["values"] == ["0", "1", "3"]


def test_value_is_one_argument_and_meets_no_shell(tmp_path: Path, outside: tuple[str, ...]) -> None:
    hostile = f"0; touch {tmp_path / 'broken'}"
    with pytest.raises(UsageError, match="ended with 1"):
        run(*outside, "--set", f"half_life=0,{hostile}")
    assert not (tmp_path / "broken").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a named pipe and signals")
def test_whatever_the_program_started_ends_when_we_are_stopped(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    script = tmp_path / "slow.sh"
    # The pipe is held open by the shell and by the sleep that it starts; then we are stopped,
    # not before we are waiting for it.
    lines = 'exec 3>"$1"\nsleep 60 &\nsleep .5\nkill -INT $PPID\nwait\n'
    script.write_text(lines, encoding="utf-8")
    search = OutsideSearch.parse(f"sh '{script}' {{pipe}} {{out}}", knobs={"pipe": ""})
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    # A shell starts what runs in its background with this signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            search.run({"pipe": str(pipe)}, out=tmp_path / "run.json")
        select.select([reader], [], [], 30)
        assert os.read(reader, 1) == b""  # nobody holds it any more
    finally:
        signal.signal(signal.SIGINT, before)
        os.close(reader)


@pytest.mark.parametrize(
    ("value", "message"),
    [("crash", "ended with 1: no such index"), ("7", "ended well but wrote no")],
)
def test_program_that_fails_is_quoted(outside: tuple[str, ...], value: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(*outside, "--set", f"half_life=0,{value}")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--set", "half_life"), "write KNOB=VALUE"),
        (("--set", "half_life=3"), "one knob needs several values, here none"),
        (("--set", "half_life=3,4", "--set", "k=1,2"), "here half_life, k"),
        (("--set", "half_life=3,4", "--set", "half_life=5"), "given twice"),
        (("--set", "speed=3,4"), "no knob 'speed'"),
        (("--set", "out=3,4", "--command", "x {out}"), "--set out"),
        (("--set", "rrf_k=3,4", "--command", "x {out}"), "must say where {rrf_k} goes"),
        (("--set", "rrf_k=3,4", "--command", "x {rrf_k}"), "must say where {out} goes"),
        (("--set", "rrf_k=3,4", "--command", "x {rrf_k} {out} {b}"), "{b} has no value"),
        (("--set", "rrf_k=3,4", "--command", "x '{rrf_k} {out}"), "cannot be split"),
        (("--set", "rrf_k=3,4", "--command", "/no/such/program {rrf_k} {out}"), "cannot be run"),
    ],
)
def test_bad_usage_says_what_to_do(args: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        run("--corpus", CORPUS, "--goldens", GOLDENS, *args)
    assert message in str(caught.value)


def test_goldens_that_stand_with_the_queries_are_enough() -> None:
    result = run("--corpus", CORPUS, "--queries", GOLDENS, "--set", "depth=5,10", "--json")
    assert json.loads(result.stdout)["measures"]["RR"]["slices"]["entity"]["n"] == 14


@pytest.mark.slow
def test_every_figure_of_the_mock_says_so(tmp_path: Path) -> None:
    args = ("--corpus", CORPUS, "--goldens", GOLDENS, "--set", "recency_half_life_days=0,30")
    judged = ("--backend", "mock", "--cache-dir", str(tmp_path), "--quiet", "-m", "nDCG@3")
    lines = [line for line in run(*args, *judged).stdout.splitlines() if line]
    assert [line for line in lines if "word overlap, not a judgment" not in line] == []
    golden = run(*args, *judged[:-2], "-m", "RR").stdout
    assert "word overlap" not in golden


def test_queries_without_answers_measure_nothing(tmp_path: Path) -> None:
    queries = tmp_path / "q.tsv"
    queries.write_text("1\twho?\n", encoding="utf-8")
    with pytest.raises(UsageError, match="no row has what the measures asked for need"):
        run("--corpus", CORPUS, "--queries", str(queries), "--set", "depth=5,10")


def test_sweep_without_evidence_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing to judge by"):
        run("--corpus", CORPUS, "--set", "rrf_k=3,4")


def test_built_in_engine_without_corpus_is_refused() -> None:
    with pytest.raises(UsageError, match="needs --corpus"):
        run("--goldens", GOLDENS, "--set", "rrf_k=3,4")
