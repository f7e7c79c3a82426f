"""The flags that describe a judge, `judge prompts` and `judge cache`."""

from __future__ import annotations

import json
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from conftest import ROOT

import judge
from judge.cli.cache import command as cache_command
from judge.cli.judging import (
    JudgingFlags,
    cache_folder,
    interruptible,
    judging_options,
    open_judge,
)
from judge.cli.prompts import command as prompts_command
from judge.errors import InputError, Interrupted, Problem, UsageError
from judge.judging.judge import Pair

PAIRS = [Pair(f"q{i}", f"why salt roads {i}", f"d{i}", "Salt melts ice.") for i in range(3)]


def invoke(command: click.Command, *arguments: object, **options: object) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments], **options)  # type: ignore[arg-type]


def grade(folder: Path, **flags: object) -> None:
    opened = open_judge(
        JudgingFlags(backends=("mock",), cache_dir=str(folder), **flags),
        environ={},  # type: ignore[arg-type]
    )
    assert opened is not None
    with opened:
        list(opened.stream(PAIRS))


def test_flags_reach_the_command() -> None:
    @click.command()
    @judging_options
    def command(judging: JudgingFlags) -> None:
        click.echo(repr(judging))

    result = invoke(command, "--backend", "mock", "--backend", "replay:x", "--max-cost", "2")
    assert "backends=('mock', 'replay:x')" in result.output
    assert "max_cost=2.0" in result.output
    assert invoke(command, "--help").output.count("  --") > 10


def test_no_backend_is_no_judge() -> None:
    assert open_judge(JudgingFlags(), environ={}) is None


def test_a_prompt_on_another_scale_is_refused(tmp_path: Path) -> None:
    flags = JudgingFlags(backends=("mock",), cache_dir=str(tmp_path))
    with pytest.raises(UsageError, match=r"grades 0\.\.3, the run 0\.\.4"):
        open_judge(flags, grade_max=4, environ={})


def test_max_cost_refuses_to_start_without_a_price(tmp_path: Path) -> None:
    def opened(backend: str, **flags: str) -> None:
        given = JudgingFlags(
            backends=(backend,),
            max_cost=1.0,
            cache_dir=str(tmp_path),
            **flags,  # type: ignore[arg-type]
        )
        open_judge(given, environ={})

    opened("mock")
    opened("openai:gpt-5-mini")
    with pytest.raises(UsageError, match="no price is known for openai:house-model"):
        opened("openai:house-model")
    # At an address of the user's own the same name may cost anything.
    with pytest.raises(UsageError, match="no price is known"):
        opened("openai:gpt-5-mini", base_url="http://127.0.0.1:1/v1")


def test_a_cache_that_cannot_be_used_is_said_and_done_without(
    capsys: pytest.CaptureFixture[str],
) -> None:
    grade(Path("/dev/null/cache"))
    assert "note: cache /dev/null/cache: " in capsys.readouterr().err


def test_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = Path(judge.__file__).resolve().parent.parent
    environ = {"JUDGE_CACHE_DIR": "/from/environment", "XDG_CACHE_HOME": "/xdg"}
    assert cache_folder("/named", environ=environ) == Path("/named")
    assert cache_folder(None, environ=environ) == Path("/from/environment")
    del environ["JUDGE_CACHE_DIR"]
    if (checkout / "pyproject.toml").is_file():
        assert cache_folder(None, environ=environ) == checkout / "cache"
    elsewhere = tmp_path / "site-packages" / "judge" / "judging" / "cache_folder.py"
    monkeypatch.setattr("judge.judging.cache_folder.__file__", str(elsewhere))
    assert cache_folder(None, environ=environ) == Path("/xdg/judge")


def test_signals_become_an_interruption() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Interrupted, match="stopped by SIGTERM"), interruptible():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == before


def test_prompts_are_listed_and_shown(tmp_path: Path) -> None:
    listed = invoke(prompts_command).output
    assert "relevance@1" in listed
    assert "(default)" in listed
    shown = invoke(prompts_command, "relevance@2").output
    assert "grades 0..3 in field 'grade'" in shown
    assert "{chunk}" in shown
    (tmp_path / "bad.md").write_text("no front matter")
    result = invoke(prompts_command, tmp_path / "bad.md")
    assert isinstance(result.exception, InputError)


def test_a_cache_is_counted_checked_shared_and_pruned(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    grade(mine)
    here = ("--cache-dir", mine)
    assert "3 entries, 4 texts, $0.00 paid" in invoke(cache_command, "stats", *here).output
    assert invoke(cache_command, "verify", *here).output == (
        "OK 3 entries, 0 unreadable, 0 misfiled\n"
    )
    lines = invoke(cache_command, "export", *here).output
    assert len(lines.splitlines()) == 3
    there = ("--cache-dir", theirs)
    assert "3 added" in invoke(cache_command, "import", "-", *there, input=lines).output
    assert "3 there already" in invoke(cache_command, "import", "-", *there, input=lines).output
    pruned = invoke(cache_command, "prune", "--model", "mock", *here).output
    assert pruned == "3 entries and 4 texts deleted\n"
    with pytest.raises(UsageError, match="say what to delete"):
        invoke(cache_command, "prune", *here, catch_exceptions=False)


def test_explain_shows_what_a_pair_was_graded_under(tmp_path: Path) -> None:
    grade(tmp_path)
    chunk = tmp_path / "chunk.txt"
    chunk.write_text("Salt melts ice.")
    result = invoke(
        cache_command, "explain", "why salt roads 1", f"@{chunk}", "--cache-dir", tmp_path
    )
    assert "mock  relevance@1  grade" in result.output
    settings = next(line for line in result.output.splitlines() if "settings" in line)
    assert json.loads(settings.split(None, 1)[1])["backend"]["kind"] == "mock"
    missing = invoke(cache_command, "explain", "other", "x", "--cache-dir", tmp_path)
    assert "No reply is recorded" in missing.output


def test_a_redacted_run_says_nothing_of_its_texts(tmp_path: Path) -> None:
    grade(tmp_path, redact=True)
    assert "0 texts" in invoke(cache_command, "stats", "--cache-dir", tmp_path).output
    assert "keys not checked" in invoke(cache_command, "verify", "--cache-dir", tmp_path).output


def test_a_hang_up_stops_a_run_and_what_follows_changes_nothing() -> None:
    ended = []
    with pytest.raises(Interrupted, match="stopped by SIGHUP"), interruptible():
        try:
            signal.raise_signal(signal.SIGHUP)
        finally:  # what is in flight is being kept
            for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
                signal.raise_signal(number)
            ended.append("kept")
    assert ended == ["kept"]


def test_a_signal_that_is_ignored_stays_so_as_under_nohup() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible():
            signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_more_requests_than_open_files_are_fewer_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (256, 256))
    monkeypatch.setattr(resource, "setrlimit", lambda which, limits: None)
    flags = JudgingFlags(backends=("mock",), concurrency=256)
    judge = open_judge(flags, environ={"JUDGE_CACHE_DIR": "/dev/null/none"})
    assert judge is not None
    assert judge.limits.concurrency == 192  # 256 files, 64 of them for other things
    assert "256 open files" in capsys.readouterr().err
    judge.close()


def test_a_report_that_cannot_be_written_is_incomplete_not_refused(
    run_judge: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*given: object) -> None:
        raise InputError(Problem("out", "cannot be written (No space left on device)"))

    monkeypatch.setattr("judge.cli.grade.write_folder", full)
    run = ROOT / "goldens" / "demo" / "run.json"
    done = run_judge("grade", run, "--backend", "mock", "--out", tmp_path / "out")
    assert done.code == 3
    assert "No space left on device); what was paid for is in the cache" in done.err
