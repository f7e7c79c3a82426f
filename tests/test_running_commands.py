"""Commands that are asked: they end, with all they started, and print no more than fits."""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.errors import UsageError
from judge.running.commands import CommandTarget
from judge.running.live import Live
from judge.running.processes import TooMuchOutput, run_process
from judge.running.targets import AskFailed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="groups of processes are POSIX's")


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """Return a pipe for a grandchild to hold open, and its other end: at its end, it is dead."""
    path = tmp_path / "held"
    os.mkfifo(path)
    end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield path, end
    os.close(end)


def left_behind(path: Path, *, then: str) -> tuple[str, ...]:
    """Return a command whose grandchild outlives it by far and holds a pipe and its stdout."""
    # It says that it holds the pipe, so that the test need not guess.
    script = f"(echo held; exec sleep 600) > {shlex.quote(str(path))} & {then}"
    return ("sh", "-c", script)


def is_dead(end: int) -> bool:
    """Tell whether nobody holds the pipe any more, after its word that somebody did."""
    said = b""
    while select.select([end], [], [], 10)[0]:
        data = os.read(end, 100)
        if not data:
            return said == b"held\n"
        said += data
    return False


def test_what_a_command_leaves_behind_ends_with_it(held: tuple[Path, int]) -> None:
    path, end = held
    arguments = left_behind(path, then="echo a; sleep 0.1")
    assert CommandTarget(arguments).ask({}) == "a\n"
    assert is_dead(end)


def test_all_of_a_command_that_takes_too_long_ends(held: tuple[Path, int]) -> None:
    path, end = held
    target = CommandTarget(left_behind(path, then="wait"), timeout_s=0.3)
    with pytest.raises(AskFailed, match=r"no answer in 0\.3 s"):
        target.ask({})
    assert is_dead(end)


def test_all_that_runs_ends_when_it_is_stopped(held: tuple[Path, int]) -> None:
    path, end = held
    target = CommandTarget(left_behind(path, then="wait"))
    failures: list[str] = []

    def ask() -> None:
        try:
            target.ask({})
        except AskFailed as failure:
            failures.append(str(failure))

    asking = threading.Thread(target=ask)
    asking.start()
    select.select([end], [], [], 10)  # it runs
    target.stop()
    asking.join()
    assert failures == ["ended with -9: nothing on stderr"]
    assert is_dead(end)
    ask()  # what is started afterwards ends at once
    assert len(failures) == 2


def test_output_without_end_is_ended() -> None:
    with pytest.raises(TooMuchOutput):
        run_process(("yes",), live=Live(), stdout_max=1 << 20)
    # Where it is thrown away, only its end is held.
    done = run_process(("sh", "-c", "yes | head -c 5000000; echo e"), live=Live(), stdout_max=None)
    assert len(done.stdout) <= 1 << 16
    assert done.stdout.endswith(b"\ne\n") or done.stdout.endswith(b"ye\n")


def test_a_query_that_no_argument_can_hold_fails_alone() -> None:
    target = CommandTarget(("echo", "{query}"))
    for query in ("a\0b", "half \ud800", "long" * 2**20):
        with pytest.raises(AskFailed, match="cannot be asked") as caught:
            target.ask({"query": query})
        assert not caught.value.worth_a_retry
    assert target.ask({"query": "next"}) == "next\n"


def test_a_program_that_is_not_there_is_said_before_anything_is_asked() -> None:
    with pytest.raises(UsageError, match="there is no program serch"):
        CommandTarget.parse("serch {query}", timeout_s=1)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_run_with_130_and_its_children(
    held: tuple[Path, int], tmp_path: Path, number: signal.Signals
) -> None:
    path, end = held
    queries = tmp_path / "q.tsv"
    queries.write_text("q1\tone\nq2\ttwo\n", encoding="utf-8")
    command = shlex.join((*left_behind(path, then="wait"), "{query}"))
    words = ("run", queries, "--command", command, "-o", tmp_path / "r.json", "--concurrency", 1)
    judge = subprocess.Popen(
        [sys.executable, "-m", "judge", *map(str, words)], stderr=subprocess.PIPE, text=True
    )
    select.select([end], [], [], 30)
    judge.send_signal(number)
    _, said = judge.communicate(timeout=30)
    assert judge.returncode == 130
    assert said.strip() == "judge: interrupted; everything paid for is kept"
    assert is_dead(end)
