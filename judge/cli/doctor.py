"""`judge doctor RUN …`: what these files can and cannot support, and one next step."""

from __future__ import annotations

from typing import Any

import click

from judge import doctor
from judge.cli.reading import reading_options, source
from judge.formats import read_goldens, read_run
from judge.formats.options import ReadOptions
from judge.report.terminal import clean

MARKS = {doctor.OK: "ok  ", doctor.WARN: "note", doctor.FAIL: "FAIL"}
COLOURS = {doctor.OK: "green", doctor.WARN: "yellow", doctor.FAIL: "red"}


@click.command("doctor")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--goldens", metavar="FILE", help="Answers known in advance. [those in the run]")
@click.option(
    "-k", "depth", type=click.IntRange(1), default=10, help="Depth that will be graded. [10]"
)
@reading_options
def command(
    runs: tuple[str, ...],
    goldens: str | None,
    depth: int,
    options: ReadOptions,
    corpus: Any,
    queries: Any,
) -> int:
    """Say what a file can and cannot support, and the next step.

    Looks for missing texts, rows without goldens, stale and repeated ids, ties at rank 1,
    results that are the query itself, short lists and slices with too few rows. Calls
    nobody and writes nothing. Exits 0 unless a file cannot be read.
    """
    known = read_goldens(source(goldens) or goldens, options) if goldens is not None else None
    for path in runs:
        run = read_run(source(path) or path, options, corpus=corpus, queries=queries)
        diagnosis = doctor.diagnose(run, known.goldens if known else (), path=path, depth=depth)
        click.echo(clean(f"{diagnosis.run} ({path})"))
        for finding in diagnosis.findings:
            mark = click.style(MARKS[finding.level], fg=COLOURS[finding.level])
            click.echo(_hanging(f"  {mark}  {clean(finding.text)}"))
        click.echo(f"Next: {clean(diagnosis.next_step)}\n")
    return 0


def _hanging(line: str) -> str:
    return click.wrap_text(line, width=80, initial_indent="", subsequent_indent=" " * 8)
