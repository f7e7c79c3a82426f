"""`judge`: find the command, run it, turn errors into one message and an exit code."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import traceback
from itertools import chain
from pathlib import Path

import click

from judge.cli.notes import error_line
from judge.cli.printing import degrade_text
from judge.cli.streams import guarded_streams
from judge.errors import InputError, JudgeError
from judge.masking import Mask, secrets_in_environment, secrets_in_url

FAULT = 70
"""What ends in no verdict by a fault of ours, or with results that could not be written."""

# One line a command: (module, help). The module is imported only when its command runs,
# so `judge --help` stays fast and `measure` never pays for the judge.
COMMANDS: dict[str, tuple[str, str]] = {
    "grade": ("judge.cli.grade", "Grade what a search system returned; report bounded nDCG."),
    "compare": ("judge.cli.compare", "Say whether a candidate ranks better than a baseline."),
    "gate": ("judge.cli.gate", "Say whether a change may go in, against a stored baseline."),
    "measure": ("judge.cli.measure", "Evaluate runs against qrels, exactly as trec_eval does."),
    "demo": ("judge.cli.demo", "Show the whole thing on a built-in example, offline."),
    "retrieve": (
        "judge.cli.retrieve",
        "Search a corpus with the built-in engine; write a run.",
    ),
    "mine": ("judge.cli.mine", "Mine read logs: which chunk was preferred to which."),
    "sweep": ("judge.cli.sweep", "Turn one knob of a search and read, per slice, what it does."),
    "goldens": ("judge.cli.goldens", "Make goldens from your corpus, or check a golden set."),
    "rrf-cost": ("judge.cli.rrf_cost", "Say how many ranks a multiplier costs on fused scores."),
    "calibrate": ("judge.cli.calibrate", "Say how far a judge agrees with people's labels."),
    "spotcheck": ("judge.cli.spotcheck", "Let people grade the chunks that tell most."),
    "run": ("judge.cli.run", "Ask a search system every query; keep what it returned."),
    "export": ("judge.cli.export", "Write grades or a run in the format of another tool."),
    "prompts": ("judge.cli.prompts", "List the judge's prompts, or show one."),
    "cache": ("judge.cli.cache", "Look after the judgments that were paid for."),
    "doctor": ("judge.cli.doctor", "Say what a file can support, and the next step."),
}


class _BrokenInside(Exception):
    """A pipe broke that is none of our streams: those never fail."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return command names in the order people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command, or None if there is no such name."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = importlib.import_module(entry[0]).command
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; click would end a broken pipe with 1, the code of a failed gate."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _BrokenInside(error) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 80}


@click.group(cls=LazyGroup, context_settings=CONTEXT)
@click.version_option(package_name="context-judge", prog_name="judge")
def app() -> None:
    """Did this ranking change make retrieval better, and how sure are we?

    judge grades what a search or RAG system returned, from golden answers first,
    then from read logs, then with a cached LLM judge, and prints graded nDCG with
    honest intervals. Start with: judge demo
    """


def main(argv: list[str] | None = None) -> None:
    """Run `judge` and exit with its code; a user's mistake is a message, not a traceback."""
    if argv is None:
        _end_as_by_ctrl_c()
    with guarded_streams() as streams:
        degrade_text()
        code = _code(argv)
        if (error := streams.failure()) is not None:
            error_line(f"standard output cannot be written ({error.strerror}); it is not whole")
            code = code or FAULT
    if argv is None:
        # What is left is to end: a further Ctrl-C does that, without a traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(code)


def _end_as_by_ctrl_c() -> None:
    """Let a signal to end, or the end of the session, be like Ctrl-C: what runs for us ends too."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # Who started us with `nohup` wants us to go on.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def _code(argv: list[str] | None) -> int:
    """Run a command and return its exit code, whatever happens in it."""
    try:
        code = app.main(args=argv, prog_name="judge", standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt) as error:
        if isinstance(error.__cause__, EOFError):
            return _fault(error.__cause__)
        error_line("interrupted; everything paid for is kept")
        return 130
    except click.ClickException as error:
        if isinstance(error, click.UsageError) and error.ctx is not None:
            hint = f"Try `{error.ctx.command_path} --help`."
            click.echo(f"{error.ctx.get_usage()}\n{hint}\n", err=True)
        error_line(error.format_message())
        return 2
    except InputError as error:
        click.echo(_masked(f"judge: {error}"), err=True)  # a line a problem, each made printable
        return error.exit_code
    except JudgeError as error:
        error_line(_masked(str(error)))
        return error.exit_code
    except _BrokenInside as error:
        return _fault(error.args[0])
    except PermissionError as error:
        if error.filename is None:
            return _fault(error)
        # `Path.is_file` and its like raise it for what lies in a folder that cannot be entered.
        what = f"{os.fspath(error.filename)}: {error.strerror}; check path and rights"
        error_line(_masked(what))
        return 2
    except Exception as error:  # noqa: BLE001 - whatever it is, it is no verdict
        return _fault(error)
    return code if isinstance(code, int) else 0


def _fault(error: BaseException) -> int:
    """Say what went wrong that nobody foresaw, and where; return the code for it."""
    if os.environ.get("JUDGE_TRACEBACK"):
        click.echo(_masked("".join(traceback.format_exception(error))), err=True)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    what = f"{type(error).__name__}: {_masked(str(error))}{where}"
    error_line(
        f"a fault of its own, no verdict: {what}; everything "
        "paid for is kept. Please report it; JUDGE_TRACEBACK=1 shows more"
    )
    return FAULT


def _masked(text: str) -> str:
    """Return a message without what we were given in secret, whoever wrote the message."""
    urls = [word[max(word.find("http"), 0) :] for word in sys.argv if "@" in word]
    return Mask.of([*secrets_in_environment(os.environ), *chain(*map(secrets_in_url, urls))])(text)
