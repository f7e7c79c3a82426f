"""Another program's search, run once a value of a knob."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from judge.errors import UsageError
from judge.running.live import Live
from judge.running.processes import run_process
from judge.running.template import fill

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


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
            done = run_process(arguments, live=Live(), stdout_max=None)
        except (OSError, ValueError) as error:
            raise UsageError(f"--command: {shown}: cannot be run ({error})") from error
        if done.status != 0:
            raise UsageError(f"--command: {shown}: ended with {done.status}: {done.complaint}")
        if not out.is_file():
            raise UsageError(f"--command: {shown}: ended well but wrote no {out}")
