"""Another program's search, run once a value of a knob."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.errors import UsageError
from judge.running.template import fill

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_SHOWN_STDERR = 400


@dataclass(frozen=True, slots=True)
class OutsideSearch:
    """A command line with `{out}` and the names of knobs as placeholders.

    It is split into arguments once and never sees a shell, so a value is always one
    argument or a part of one, whatever it holds.
    """

    arguments: tuple[str, ...]

    @classmethod
    def parse(cls, command: str, *, knobs: Mapping[str, object]) -> OutsideSearch:
        """Return the search of a command; UsageError where its placeholders do not fit."""
        try:
            arguments = tuple(shlex.split(command))
        except ValueError as error:
            raise UsageError(f"--command: cannot be split into arguments ({error})") from error
        if "out" in knobs:
            raise UsageError(
                "--set out: {out} is where the run is written; name the knob otherwise"
            )
        named = set(_PLACEHOLDER.findall(command))
        if unknown := sorted(named - {"out", *knobs}):
            raise UsageError(f"--command: {{{unknown[0]}}} has no value; give --set {unknown[0]}=…")
        if missing := [name for name in ("out", *knobs) if name not in named]:
            raise UsageError(f"--command: it must say where {{{missing[0]}}} goes")
        return cls(arguments)

    def run(self, settings: Mapping[str, str], *, out: Path) -> None:
        """Run the command, which is to write its run to `out`; UsageError if it does not."""
        values = {**settings, "out": str(out)}
        arguments = [fill(part, values) for part in self.arguments]
        shown = shlex.join(arguments)
        try:
            status, stderr = _finished(arguments)
        except (OSError, ValueError) as error:
            raise UsageError(f"--command: {shown}: cannot be run ({error})") from error
        if status != 0:
            said = stderr.decode("utf-8", "replace").strip()[-_SHOWN_STDERR:]
            because = said or "nothing on stderr"
            raise UsageError(f"--command: {shown}: ended with {status}: {because}")
        if not out.is_file():
            raise UsageError(f"--command: {shown}: ended well but wrote no {out}")


def _finished(arguments: Sequence[str]) -> tuple[int, bytes]:
    """Return the exit status of a command and what it wrote to stderr.

    It gets a session of its own, so that all it started goes with it when we are stopped.
    """
    # The user's own command, as arguments and without a shell.
    with subprocess.Popen(  # noqa: S603
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            _, stderr = process.communicate()
        finally:
            if process.poll() is None:
                _kill(process)
    return process.returncode, stderr


def _kill(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
