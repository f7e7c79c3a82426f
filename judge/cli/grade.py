"""`judge grade RUN`: grade one run and print, or write, its report."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

import click

from judge.api import grading as api
from judge.cli.judging import (
    JudgingFlags,
    interruptible,
    judging_options,
    open_judge,
    told_forecast,
)
from judge.cli.output import print_terminal
from judge.cli.reading import reading_options, refuse_two_streams, source
from judge.cli.shares import share
from judge.errors import InputError
from judge.formats.opening import rarely_collected, uncollected
from judge.formats.options import ReadOptions
from judge.report.document import write_report
from judge.report.files import prepare_folder, write_folder
from judge.report.html.rows import ROWS_WITH_TEXT
from judge.report.model import Report
from judge.stopping.until import grading_selector, parse_until


@click.command("grade")
@click.argument("run")
@click.option("--goldens", metavar="FILE", help="Answers known in advance. [those in the run]")
@click.option(
    "--judgments",
    metavar="FILE",
    multiple=True,
    help="Grades known before: qrels, judgments.jsonl, …; repeatable. [none]",
)
@click.option("--labels", metavar="FILE", help="Human labels; they outrank all else. [none]")
@click.option(
    "--exclude-from-settling",
    "exclude_labels",
    is_flag=True,
    help="Keep --labels out of settling, to calibrate the judge with them. [they settle]",
)
@click.option(
    "--preferences",
    metavar="FILE",
    help="Pairs mined from read logs, as `judge mine` writes them. [none]",
)
@click.option(
    "--read-log",
    "read_logs",
    metavar="LOG",
    multiple=True,
    help="Read log to mine for pairs, with the defaults of `judge mine`; repeatable. [none]",
)
@click.option(
    "-k", "cutoff", type=click.IntRange(1), default=10, help="Cutoff of the default measures. [10]"
)
@click.option(
    "-m",
    "--measure",
    "names",
    multiple=True,
    help="Measure, repeatable: nDCG@10, ERR@10, RR, R@5, … [nDCG@10; with goldens RR, R@5, R@10]",
)
@click.option(
    "--gain",
    type=click.Choice(["linear", "exponential"]),
    default="linear",
    help="Gain of a grade g in nDCG: g, or 2^g - 1. [linear]",
)
@click.option(
    "--shadow",
    type=share,
    metavar="SHARE",
    default="0%",
    help="Share of what needs no judge to show it all the same; changes no grade. [0%]",
)
@click.option(
    "--until",
    default="all",
    metavar="HOW",
    help="Judge all, or only until decided or width=W, the mean nDCG to within W. [all]",
)
@click.option("--out", metavar="DIR", help="Write report.json, judgments.jsonl, … there. [nothing]")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON and nothing else.")
@reading_options
@judging_options
def command(
    run: str,
    goldens: str | None,
    judgments: tuple[str, ...],
    labels: str | None,
    exclude_labels: bool,
    preferences: str | None,
    read_logs: tuple[str, ...],
    cutoff: int,
    names: tuple[str, ...],
    gain: str,
    shadow: float,
    until: str,
    out: str | None,
    as_json: bool,
    options: ReadOptions,
    corpus: str | BinaryIO | None,
    queries: str | BinaryIO | None,
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
    known = (*judgments, goldens, labels, preferences, *read_logs)
    refuse_two_streams(run, *known, corpus, queries)
    if out is not None and not judging.dry_run:
        prepare_folder(Path(out))
    if not (judging.backends or goldens or preferences or read_logs):
        # Nobody looks into the texts then; they are shown on pages of few rows.
        options = replace(options, texts_of=ROWS_WITH_TEXT)
    with ExitStack() as stack:
        # Where no judge is asked, little is thrown away before the end.
        stack.enter_context(rarely_collected() if judging.backends else uncollected())
        with interruptible():
            judge = open_judge(judging, grade_max=options.grade_max)
            try:
                report = api.grade(
                    source(run) or run,
                    goldens=source(goldens),
                    judgments=[source(path) or path for path in judgments],
                    labels=source(labels),
                    exclude_labels=exclude_labels,
                    preferences=source(preferences),
                    read_log=[source(path) or path for path in read_logs] or None,
                    corpus=corpus,
                    queries=queries,
                    judge=judge,
                    measures=names,
                    k=cutoff,
                    gain=gain,
                    options=options,
                    shadow=shadow,
                    selector=partial(grading_selector, parse_until(until)),
                )
            finally:
                if judge is not None:
                    judge.close()
        if told_forecast(judging, judge, as_json=as_json, until=until):
            return 0
        stack.enter_context(uncollected())
        code = _shown(report, None if out is None else Path(out), as_json=as_json)
        del report  # before the collector wakes and looks at all of it
        return code


def _shown(report: Report, folder: Path | None, *, as_json: bool) -> int:
    """Write and print a report; return the exit code."""
    unwritten = None if folder is None else _write(report, folder)
    if as_json:
        write_report(report, sys.stdout)
    else:
        print_terminal(report)
    if unwritten is not None:
        raise unwritten
    return report.exit_code


def _write(report: Report, folder: Path) -> InputError | None:
    """Write the folder before anything is printed: a closed pipe must not cost the report.

    Returns the error where that fails, for after the report is printed.
    """
    try:
        write_folder(report, folder)
    except InputError as error:
        return error
    click.echo(f"Wrote {folder}", err=True)
    return None
