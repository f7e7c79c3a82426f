"""Run a command of the user's to its end, or end it: with all it started, within bounds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from judge.running.live import Live

_CHUNK_BYTES = 2**16
_SHOWN_STDERR = 400
_LONGEST_PAUSE_S = 0.05
_DRAIN_S = 1.0


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended: its status, what it printed, and the end of what it complained of."""

    status: int
    stdout: bytes
    complaint: str


class TooMuchOutput(Exception):
    """A command printed more than it may; it was ended."""


def run_process(
    arguments: Sequence[str], *, live: Live, stdout_max: int | None, timeout_s: float | None = None
) -> Finished:
    """Return how a command ended, run as arguments, without a shell and without input.

    It gets a session of its own: all that it started ends when it does, or when `live` is
    stopped. (On Windows only the command itself.)

    stdout_max: bytes; more raises TooMuchOutput; None: only the end of it is kept
    Raises TimeoutError where it takes longer, OSError or ValueError where it cannot be run.
    """
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    process = subprocess.Popen(  # noqa: S603 - the user's own command
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stderr is not None, "pipes were asked for"
    stdout, stderr = _Pipe(process.stdout, stdout_max), _Pipe(process.stderr, None)
    try:
        with live.ended_by(lambda: _end(process)):
            _wait(process, stdout, deadline)
    finally:
        # Before it is waited for: until then nobody else can have its number.
        _end(process)
        status = process.wait()
        stdout.close()
        stderr.close()
    if stdout.is_full:
        raise TooMuchOutput
    return Finished(status, bytes(stdout.data), _tail(stderr.data))


def _wait(process: subprocess.Popen[bytes], stdout: _Pipe, deadline: float | None) -> None:
    """Wait for the command's own end; what it left behind may hold its pipes open for ever."""
    pause_s = 0.001
    while not _has_ended(process) and not stdout.is_full:
        if deadline is not None and time.monotonic() > deadline:
            raise TimeoutError
        if stdout.ended.wait(pause_s):
            time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    if sys.platform == "win32":
        return process.poll() is not None
    # It stays unwaited for, so that its group cannot become another's.
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, options) is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a command and all it started, unless it was waited for already."""
    if process.returncode is not None:
        return
    try:
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # nothing of it is left


class _Pipe:
    """Reads a pipe to its end in a thread; keeps `limit` bytes, or without one the last few."""

    def __init__(self, stream: IO[bytes], limit: int | None) -> None:
        self.data = bytearray()
        self.is_full = False
        self.ended = threading.Event()
        self._stream = stream
        self._limit = limit
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while chunk := os.read(self._stream.fileno(), _CHUNK_BYTES):
            self.data += chunk
            if self._limit is None:
                del self.data[:-_CHUNK_BYTES]
            elif len(self.data) > self._limit:
                self.is_full = True
                break
        self.ended.set()

    def close(self) -> None:
        """Read what is left and close the pipe; whoever left the session may still hold it."""
        self._thread.join(_DRAIN_S)
        if not self._thread.is_alive():
            self._stream.close()


def _tail(data: bytearray) -> str:
    return data.decode("utf-8", "replace").strip()[-_SHOWN_STDERR:] or "nothing on stderr"
