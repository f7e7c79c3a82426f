"""`judge demo`: the whole thing on a built-in example, offline, in a second."""

from __future__ import annotations

import tempfile
from importlib.resources import as_file
from pathlib import Path

import click

from judge.api import grading as api
from judge.cli.judging import JudgingFlags, open_judge
from judge.cli.output import print_terminal
from judge.formats.temporary import temporary_root
from judge.shipped import shipped

TRY_NEXT = """\
That was an invented help centre, graded by word overlap. With your own files:
  judge doctor run.json                       what your file can support
  judge grade run.json --backend mock         the same report about your run
  judge grade run.json --goldens goldens.jsonl --backend openai:MODEL --out out/
"""


@click.command("demo")
def command() -> int:
    """Show the whole thing on a built-in example, offline.

    Grades the demo's run with its goldens and the mock judge. Writes nothing outside a
    temporary folder, calls nobody, and says what to try next.
    """
    with (
        tempfile.TemporaryDirectory(prefix="judge-demo-", dir=temporary_root()) as folder,
        as_file(shipped("goldens", "demo", "run.json")) as path,
    ):
        flags = JudgingFlags(backends=("mock",), cache_dir=str(Path(folder) / "cache"), quiet=True)
        with open_judge(flags) as asked:  # type: ignore[union-attr]
            report = api.grade(path, judge=asked)
    click.echo("$ judge grade goldens/demo/run.json --backend mock\n")
    print_terminal(report)
    click.echo("\n" + TRY_NEXT, nl=False)
    return report.exit_code
