"""Exit codes are verdicts: nothing that happens to a stream or inside judge becomes one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, Ran

from judge.cli import main as program

DEMO = ROOT / "goldens" / "demo"
GOLDENS = ("--goldens", str(DEMO / "goldens.jsonl"))


def ends(redirect: str, *argv: object, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Return the exit code of a command under a shell's redirections, and its stderr."""
    script = f'"$0" -m judge "$@" {redirect}'
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script, sys.executable, *map(str, argv)],
        capture_output=True,
        text=True,
        env={**os.environ, "JUDGE_CACHE_DIR": "", **(env or {})},
    )
    return done.returncode, done.stderr


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Return the words of a gate that passes: a run against itself."""
    folder = tmp_path_factory.mktemp("gate")
    one = {"query_id": "q", "query": "q", "expected": ["a"], "ranked": ["a", "b"]}
    run, baseline = folder / "run.json", folder / "baseline.json"
    run.write_text(json.dumps({"name": "r", "rows": [one]}), encoding="utf-8")
    words = ("gate", str(run), "-m", "RR", "--baseline", str(baseline))
    assert ends("", *words, "--update-baseline")[0] == 0
    return words


@pytest.mark.slow
@pytest.mark.parametrize(
    ("redirect", "code", "said"),
    [
        ("", 0, ""),
        ("| true", 0, ""),
        (">&-", 0, ""),
        ("2>&-", 0, ""),
        (">&- 2>&- 0<&-", 0, ""),
        ("2>/dev/full", 0, ""),
        (">/dev/full", 70, "judge: standard output cannot be written (No space left on device)"),
    ],
)
@pytest.mark.parametrize("shown", [(), ("--json",)])
def test_a_passing_gate_passes_whatever_becomes_of_its_output(
    gated: tuple[str, ...], shown: tuple[str, ...], redirect: str, code: int, said: str
) -> None:
    assert ends(redirect, *gated, *shown) == (
        code,
        f"{said}; it is not whole\n" * (code > 0),
    )


@pytest.mark.slow
def test_a_failing_gate_fails_whatever_becomes_of_its_output(
    gated: tuple[str, ...], tmp_path: Path
) -> None:
    one = {"query_id": "q", "query": "q", "expected": ["a"], "ranked": ["b", "a"]}
    worse = tmp_path / "worse.json"
    worse.write_text(json.dumps({"name": "r", "rows": [one]}), encoding="utf-8")
    words = ("gate", worse, *gated[2:], "--strict")
    assert [ends(redirect, *words)[0] for redirect in ("", "| true", ">&-", ">/dev/full")] == [
        1
    ] * 4


@pytest.mark.slow
def test_a_closed_descriptor_is_not_taken_by_the_next_file(tmp_path: Path) -> None:
    words = ("grade", DEMO / "run.json", "--backend", "mock", "--cache-dir", tmp_path / "cache")
    assert ends(">&- 2>&- 0<&-", *words) == (0, "")
    assert ends("| tail -1", "cache", "verify", "--cache-dir", tmp_path / "cache") == (0, "")


@pytest.mark.slow
def test_input_from_a_closed_descriptor_is_an_empty_file() -> None:
    code, said = ends("0<&-", "grade", "-")
    assert (code, said.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    "fault",
    [
        KeyError("x"),
        MemoryError(),
        RecursionError("deep"),
        OSError(24, "Too many"),
        BrokenPipeError(32, "Broken pipe"),
        EOFError("ended"),
    ],
)
def test_a_fault_of_ours_has_a_code_of_its_own_and_one_line(
    fault: Exception, run_judge: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr("judge.judging.prompt.load_prompt", broken)
    monkeypatch.delenv("JUDGE_TRACEBACK", raising=False)
    ran = run_judge("prompts", "relevance")
    assert (ran.code, ran.out) == (70, "")
    assert ran.err.strip().count("\n") == 0
    assert f"no verdict: {type(fault).__name__}: {fault} in test_cli_exits.py:" in ran.err


def test_interrupted_says_so_and_ends_with_130(
    run_judge: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("judge.judging.prompt.load_prompt", interrupted)
    ran = run_judge("prompts", "relevance")
    assert (ran.code, ran.err.strip()) == (130, "judge: interrupted; everything paid for is kept")
    assert program.FAULT == 70
