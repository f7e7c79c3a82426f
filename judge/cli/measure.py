"""`judge measure RUN… QRELS`: evaluate runs against qrels, as trec_eval, fast."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import Any, BinaryIO

import click

from judge.cli import measure_output as output
from judge.cli.notes import note
from judge.cli.printing import print_json
from judge.formats.opening import uncollected
from judge.formats.options import Precision


@click.command("measure")
@click.argument("files", nargs=-1, required=True, metavar="RUN… QRELS")
@click.option(
    "-m",
    "--measure",
    "names",
    multiple=True,
    help="Measure to print, repeatable: nDCG@10, RR, R@100, P(rel=2)@5, AP, ERR@20, … [nDCG@10]",
)
@click.option("--per-query", is_flag=True, help="Print every query's value before the means.")
@click.option(
    "--gain",
    type=click.Choice(["linear", "exponential"]),
    default="linear",
    help="Gain of a grade g in nDCG: g, or 2^g - 1. [linear]",
)
@click.option(
    "--precision",
    type=click.Choice(["single", "double"]),
    default="single",
    help="Compare scores as trec_eval 9 (single) or 10 (double). [single]",
)
@click.option("--run-tag", help="Of a file with several runs, evaluate the one with this tag.")
@click.option(
    "--grade-max",
    type=click.IntRange(1, 1000),
    help="Top of the grade scale, for intervals and ERR. [3, or the highest grade above it]",
)
@click.option(
    "--grade-map",
    "grade_map",
    metavar="VALUE=GRADE,…",
    multiple=True,
    help="Grades of the qrels on your scale, e.g. 0=0,1=1,10=2,100=3. [as written]",
)
@click.option(
    "--map",
    "field_map",
    metavar="THEIRS=OURS,…",
    multiple=True,
    help="Rename fields of files that are not TREC, e.g. question=query; =- leaves one out. [none]",
)
@click.option(
    "--key",
    metavar="FIELD,…",
    default="",
    help="Metadata fields that make a result's id, e.g. file_id,page. [its own id]",
)
@click.option("--intervals", is_flag=True, help="Add columns lo and hi of each value.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON report, always with lo and hi."
)
def command(
    files: tuple[str, ...],
    names: tuple[str, ...],
    per_query: bool,
    gain: str,
    precision: Precision,
    run_tag: str | None,
    grade_max: int | None,
    grade_map: tuple[str, ...],
    field_map: tuple[str, ...],
    key: str,
    intervals: bool,
    as_json: bool,
) -> int:
    """Evaluate runs against qrels, exactly as trec_eval does.

    The last file is the qrels, every other a run; `-` is standard input, gzip is
    recognised. Scores are sorted descending, equal ones by document id descending; the
    rank column is ignored. One run prints `measure TAB value`, several tags in a file put
    the tag first, several files print a table.
    """
    if len(files) < 2:
        raise click.UsageError("two files at least: RUN… QRELS")
    if files.count("-") > 1:
        raise click.UsageError("`-` (standard input) can stand for one file only")
    _spare_start_up()
    asked = [name for text in names for name in text.replace(",", " ").split()]
    with uncollected():
        from judge.measuring import DEFAULT_MEASURES, measure

        evaluations = measure(
            [_source(name) for name in files[:-1]],
            _source(files[-1]),
            asked or DEFAULT_MEASURES,
            gain=gain,
            precision=precision,
            run_tag=run_tag,
            grade_max=grade_max,
            grade_map=_grades(grade_map),
            intervals=True if intervals or as_json else None,
            **_reading(field_map, key),
        )
    if as_json:
        settings: dict[str, object] = {"gain": gain, "precision": precision, "run_tag": run_tag}
        print_json(output.document(evaluations, per_query=per_query, settings=settings))
    else:
        table = len(files) > 2 and not per_query
        lines = (
            output.table_lines(evaluations, intervals=intervals)
            if table
            else output.value_lines(evaluations, per_query=per_query, intervals=intervals)
        )
        sys.stdout.writelines(f"{line}\n" for line in lines)
    for line in output.notice_lines(evaluations):
        note(line)
    return 0


def _spare_start_up() -> None:
    """Leave out what takes time before the first line is read, and helps no measure."""
    # Else numpy starts a thread for every core, for linear algebra.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What is left when all is printed need not be searched for garbage.
    atexit.register(gc.freeze)


def _source(name: str) -> str | BinaryIO:
    return sys.stdin.buffer if name == "-" else name


def _reading(field_map: tuple[str, ...], key: str) -> dict[str, Any]:
    """Return how files that are not TREC are read; most calls need none of it."""
    if not field_map and not key:
        return {}
    from judge.cli.reading import names, renames

    return {"field_map": renames(field_map), "key": names(key)}


def _grades(values: tuple[str, ...]) -> dict[str, int] | None:
    """Return the grade map, or None where the flag was not given."""
    if not values:
        return None
    from judge.cli.reading import pairs

    written = pairs("--grade-map", values)
    wrong = [f"{value}={grade}" for value, grade in written.items() if not grade.isdecimal()]
    if wrong:
        raise click.UsageError(f"--grade-map: {wrong[0]} needs a whole grade, 0 or more")
    return {value: int(grade) for value, grade in written.items()}
