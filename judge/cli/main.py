"""`judge`: find the command, run it, turn errors into one message and an exit code."""

from __future__ import annotations

import importlib
import sys

import click

from judge.errors import JudgeError

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
    try:
        code = app.main(args=argv, prog_name="judge", standalone_mode=False)
    except click.exceptions.Abort:
        code = 130
    except KeyboardInterrupt:
        click.echo("judge: interrupted; everything paid for is kept", err=True)
        code = 130
    except click.ClickException as error:
        error.show()
        code = 2
    except JudgeError as error:
        click.echo(f"judge: {error}", err=True)
        code = error.exit_code
    except BrokenPipeError:
        # The reader of our output went away (`judge … | head`): not an error of ours.
        sys.stderr.close()
        code = 0
    sys.exit(code if isinstance(code, int) else 0)
