"""`judge doctor RUN …`: what these files can and cannot support, and one next step."""

from __future__ import annotations

import shlex
from typing import Any

import click

from judge import doctor
from judge.cli.reading import reading_options, refuse_two_streams, source
from judge.formats import read_goldens, read_run
from judge.formats.options import ReadOptions
from judge.report.terminal import WIDTH, clean, shorten

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
    refuse_two_streams(*runs, goldens, corpus, queries)
    known = read_goldens(source(goldens), options) if goldens is not None else None
    flags = _flags(click.get_current_context())
    for path in runs:
        run = read_run(source(path), options, corpus=corpus, queries=queries)
        given = " ".join([shlex.quote(path), *flags])
        found = doctor.diagnose(run, known.goldens if known else (), given=given, depth=depth)
        click.echo(shorten(f"{found.run} ({path})", WIDTH))
        for finding in found.findings:
            mark = click.style(MARKS[finding.level], fg=COLOURS[finding.level])
            click.echo(_hanging(f"  {mark}  {clean(finding.text)}"))
        click.echo(_hanging(f"Next: {clean(found.next_step)}") + "\n")
    return 0


def _flags(context: click.Context) -> list[str]:
    """Return the options that say how files are read, as they were given."""
    found = []
    for option in context.command.params:
        value = context.params.get(option.name or "")
        if isinstance(option, click.Option) and option.name != "depth" and value != option.default:
            values = value if isinstance(value, tuple) else (value,)
            for one in values:
                text = one if isinstance(one, (str, int, float)) else "-"
                word = [] if option.is_flag else [shlex.quote(str(text))]
                found += [option.opts[-1], *word] if one not in (None, False) else []
    return found


def _hanging(line: str) -> str:
    return click.wrap_text(line, width=WIDTH, initial_indent="", subsequent_indent=" " * 8)
