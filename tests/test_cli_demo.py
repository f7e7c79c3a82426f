"""`judge demo`, `python -m judge`, and what the command line does with a word it does not know."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

Run = Callable[..., Ran]


def test_the_demo_writes_nothing_and_says_what_to_try_next(
    run_judge: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run_judge("demo")
    lines = ran.out.splitlines()
    assert ran.code == 0 and list(tmp_path.iterdir()) == []
    assert lines[2].startswith("after: nDCG@10 is ")
    assert "judge doctor run.json" in ran.out
    assert all(len(line) <= 80 for line in lines)


def test_python_m_judge_is_judge(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "judge", "--version"]
    ran = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("judge, version ")


def test_an_unknown_command_is_one_message(run_judge: Run) -> None:
    ran = run_judge("frobnicate")
    assert ran.code == 2 and "No such command 'frobnicate'" in ran.err


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (b"\xff\xfe", "not UTF-8 text"),
        (b'{"reply": 5}\n', ":1: not a step"),
        (b'{"failure": "transient", "retry_after_s": "soon"}\n', ":1: not a step"),
        (b"[]\n", ":1: not a step"),
    ],
)
def test_a_broken_script_of_the_mock_is_one_message(
    run_judge: Run, tmp_path: Path, script: bytes, said: str
) -> None:
    path = tmp_path / "script.jsonl"
    path.write_bytes(script)
    run = tmp_path / "run.json"
    run.write_text('[{"query": "q", "results": [{"id": "a", "text": "t"}]}]')
    ran = run_judge("grade", run, "--backend", f"mock:script={path}")
    assert ran.code == 2 and said in ran.err and "Traceback" not in ran.err
