"""`judge grade RUN`: grade one run and print, or write, its report."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from judge.api.grading import grade_inputs
from judge.api.inputs import Inputs
from judge.cli.judging import JudgingFlags, asked_judge, judging_options, told_forecast
from judge.cli.known import known_options
from judge.cli.output import print_terminal
from judge.cli.printing import data_stream
from judge.cli.reading import source
from judge.cli.shares import share
from judge.cli.writing import code_with, tried
from judge.formats.opening import rarely_collected, uncollected
from judge.report.document import write_report
from judge.report.files import prepare_folder, write_folder
from judge.report.html.rows import ROWS_WITH_TEXT
from judge.report.model import Report
from judge.stopping.until import grading_selector, parse_until


@click.command("grade")
@click.argument("run")
@known_options
@click.option(
    "--shadow",
    type=share,
    metavar="SHARE",
    default="0%",
    help="Share of what needs no judge to show it all the same; changes no grade. [0%]",
)
@click.option("--out", metavar="DIR", help="Write report.json, judgments.jsonl, … there. [nothing]")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON and nothing else.")
@judging_options
def command(
    run: str,
    measures: tuple[str, ...],
    cutoff: int,
    gain: str,
    until: str,
    shadow: float,
    out: str | None,
    as_json: bool,
    inputs: Inputs,
    judging: JudgingFlags,
) -> int:
    """Grade what a search system returned.

    RUN is run.json, JSON lines, a TREC run, … (`-` is standard input). Golden answers
    settle what they can, then labels and grades known before; what is still open goes to
    the judge that --backend names. Every graded number is printed with the interval that
    ungraded chunks leave.

    Exits 0 when nothing asked is open, 3 when something is, 2 for input that cannot be
    used, 4 when the judge cannot be reached; after --dry-run 0.

    \b
    Examples:
      judge grade run.json --backend mock
      judge grade run.json --goldens goldens.jsonl --out out/
      judge grade run.trec --corpus corpus.jsonl --queries topics.tsv --backend mock
    """
    if out is not None and not judging.dry_run:
        prepare_folder(Path(out))
    if not (judging.backends or inputs.goldens or inputs.preferences or inputs.logs):
        # Nobody looks into the texts then; they are shown on pages of few rows.
        inputs = replace(inputs, options=replace(inputs.options, texts_of=ROWS_WITH_TEXT))
    with ExitStack() as stack:
        # Where no judge is asked, little is thrown away before the end.
        stack.enter_context(rarely_collected() if judging.backends else uncollected())
        with asked_judge(judging, grade_max=inputs.options.grade_max) as judge:
            report = grade_inputs(
                source(run),
                inputs,
                judge=judge,
                measures=measures,
                k=cutoff,
                gain=gain,
                selector=partial(grading_selector, parse_until(until)),
                shadow=shadow,
            )
        if told_forecast(judging, judge, as_json=as_json, until=until):
            return 0
        stack.enter_context(uncollected())
        code = _shown(report, None if out is None else Path(out), as_json=as_json)
        del report  # before the collector wakes and looks at all of it
        return code


def _shown(report: Report, folder: Path | None, *, as_json: bool) -> int:
    """Write and print a report; return the exit code."""
    unwritten = None if folder is None else tried(partial(_write, report, folder))
    if as_json:
        write_report(report, data_stream())
    else:
        print_terminal(report)
    return code_with(unwritten, report.exit_code, paid=report.grading.calls.made > 0)


def _write(report: Report, folder: Path) -> None:
    write_folder(report, folder)
    click.echo(f"Wrote {folder}", err=True)
