"""Ask a command of the user's: one process a query."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field

from judge.errors import UsageError
from judge.running.live import Live
from judge.running.processes import TooMuchOutput, run_process
from judge.running.targets import REPLY_MAX_BYTES, AskFailed, too_long
from judge.running.template import check_placeholders, fill


@dataclass(frozen=True, slots=True)
class CommandTarget:
    """A command that prints its results; it is split into arguments and sees no shell."""

    arguments: tuple[str, ...]
    timeout_s: float = 30.0
    _live: Live = field(default_factory=Live)

    @classmethod
    def parse(cls, command: str, *, timeout_s: float) -> CommandTarget:
        """Return the target of a command line; UsageError where it cannot be one."""
        check_placeholders("--command", command, needed=True)
        try:
            arguments = tuple(shlex.split(command))
        except ValueError as error:
            raise UsageError(f"--command: cannot be split into arguments ({error})") from error
        if "{" not in arguments[0] and shutil.which(arguments[0]) is None:
            raise UsageError(f"--command: there is no program {arguments[0]}")
        return cls(arguments, timeout_s)

    def ask(self, values: Mapping[str, str]) -> str:
        """Return what the command prints for a query."""
        arguments = [fill(part, values) for part in self.arguments]
        try:
            done = run_process(
                arguments, live=self._live, stdout_max=REPLY_MAX_BYTES, timeout_s=self.timeout_s
            )
        except TimeoutError as error:
            raise AskFailed(f"no answer in {self.timeout_s:g} s", worth_a_retry=True) from error
        except TooMuchOutput as error:
            raise too_long() from error
        except (FileNotFoundError, PermissionError) as error:
            raise UsageError(f"--command: {arguments[0]}: cannot be run ({error})") from error
        except (OSError, ValueError) as error:
            # No argument can be this query: a NUL in it, half a character, a book.
            raise AskFailed(f"cannot be asked ({error})", worth_a_retry=False) from error
        if done.status != 0:
            reason = f"ended with {done.status}: {done.complaint}"
            raise AskFailed(reason, worth_a_retry=True)
        return done.stdout.decode("utf-8", "replace")

    def stop(self) -> None:
        """Kill every process that is running, and what it started."""
        self._live.stop()
