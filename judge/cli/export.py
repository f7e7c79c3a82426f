"""`judge export FILE --to FORMAT`: give grades and runs back to the tools they came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click

from judge.cli.notes import note
from judge.cli.reading import pairs, reading_options, source
from judge.cli.writing import write_lines
from judge.errors import UsageError
from judge.formats.findings import Findings
from judge.formats.judged import JudgedFile, read_judged
from judge.formats.options import ReadOptions
from judge.formats.run_writing import ragas_lines, run_lines
from judge.formats.runs import read_run
from judge.formats.texts import Queries, read_queries
from judge.formats.writing import WRITERS, WriteOptions, grade_lines
from judge.run import Notice

_FORMATS = (*WRITERS, "ragas", "run")


@click.command("export")
@click.argument("file")
@click.option(
    "--to",
    "to",
    type=click.Choice(_FORMATS),
    required=True,
    help="The format to write; run writes a run of any tool as run.json.",
)
@click.option("-o", "--output", metavar="FILE", help="Where to write. [standard output]")
@click.option("--run", "run_file", metavar="FILE", help="With ragas: the run. [none]")
@click.option(
    "--rel", type=click.IntRange(1), default=2, help="With ragas: lowest grade of a reference. [2]"
)
@click.option("--index", metavar="NAME", help="With rank-eval: the index. [from ids index/id]")
@click.option("--name", metavar="NAME", default="judge", help="With workbench: a name. [judge]")
@click.option(
    "--values",
    metavar="GRADE=VALUE,…",
    multiple=True,
    help="How grades are written, e.g. 3=100.000,2=10.000. [as they are]",
)
@reading_options
def command(
    file: str,
    to: str,
    output: str | None,
    run_file: str | None,
    rel: int,
    index: str | None,
    name: str,
    values: tuple[str, ...],
    options: ReadOptions,
    corpus: Any,
    queries: Any,
) -> int:
    """Write grades or a run in the format of another tool.

    FILE holds grades of any kind that judge reads: judgments.jsonl of `judge grade --out`,
    qrels, a Workbench list, Quepid ratings, … With --to run it is a run of any kind.
    --queries gives queries their texts where the format needs them. Read again, the file
    gives the same grades. csv and jsonl also say where each grade comes from.

    \b
    Examples:
      judge export out/judgments.jsonl --to beir -o qrels/test.tsv
      judge export out/judgments.jsonl --to workbench --queries queries.jsonl
      judge export trace.jsonl --run-tag reranker-output --to run -o after.json
    """
    if [file, corpus, queries, run_file].count("-") > 1:
        raise click.UsageError("`-` (standard input) can stand for one file only")
    asked = None if queries is None else read_queries(queries, options)
    findings = Findings()
    if to == "run":
        run = read_run(source(file), options, corpus=corpus, queries=asked)
        lines: Iterable[str] = run_lines(run)
        notices: tuple[Notice, ...] = run.notices
    else:
        judged = read_judged(source(file), options, queries=asked)
        written = WriteOptions(values=_values(values), index=index, name=name)
        lines = _grades(judged, to, written, run_file, rel, options, asked, findings)
        notices = judged.notices + findings.notices()
    write_lines(lines, output or "-")
    for notice in notices:
        note(notice.text)
    return 0


def _grades(
    judged: JudgedFile,
    to: str,
    written: WriteOptions,
    run_file: str | None,
    rel: int,
    options: ReadOptions,
    queries: Queries | None,
    findings: Findings,
) -> list[str]:
    if to != "ragas":
        return grade_lines(judged.judged, to=to, options=written, findings=findings)
    if run_file is None:
        raise UsageError("--to ragas needs the run whose rows it writes: --run FILE")
    run = read_run(source(run_file), options, queries=queries)
    return list(ragas_lines(run, judged.judged, rel=rel))


def _values(values: tuple[str, ...]) -> Mapping[int, str]:
    named = pairs("--values", values)
    wrong = next((grade for grade in named if not (grade.isascii() and grade.isdigit())), None)
    if wrong is not None:
        raise UsageError(f"--values: {wrong!r} is no grade; write GRADE=VALUE, e.g. 3=100.000")
    return {int(grade): value for grade, value in named.items()}
