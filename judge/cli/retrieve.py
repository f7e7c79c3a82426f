"""`judge retrieve CORPUS QUERIES`: search with the reference engine, write a run."""

from __future__ import annotations

import sys
from typing import Any

import click

from judge.cli.engine_options import engine_options, map_option
from judge.cli.notes import note
from judge.cli.writing import write_lines
from judge.formats.options import ReadOptions


@click.command("retrieve")
@click.argument("corpus", type=click.Path())
@click.argument("queries", type=click.Path(allow_dash=True))
@click.option("-o", "--out", default="-", help="File to write the run to. [stdout]")
@click.option("--name", help="Name of the run. [the knobs that were turned]")
@map_option
@engine_options
def command(
    corpus: str, queries: str, out: str, name: str | None, options: ReadOptions, **knobs: Any
) -> None:
    """Search CORPUS for QUERIES with a small built-in engine; write a run.json.

    The engine is for demos, tests and sweeps; it is not a search product. CORPUS is a
    file of texts (id and text; "kind": "memory" with "age_days" where decay matters)
    or a folder of .md, .rst and .txt files. QUERIES are queries or goldens.

    \b
    judge retrieve docs/ goldens.jsonl -o run.json
    judge retrieve corpus.jsonl queries.tsv --retriever bm25 --depth 100 -o run.json
    """
    from judge.formats.run_writing import run_lines
    from judge.retrieval.corpus import read_items
    from judge.retrieval.engine import Engine
    from judge.retrieval.knobs import Knobs
    from judge.running.asked import read_asked

    turned = Knobs(**knobs)
    asked = read_asked(sys.stdin.buffer if queries == "-" else queries, options)
    rows = [one.row for one in asked.asked]
    items = read_items(corpus, options)
    run = Engine(items.items).run(rows, knobs=turned, name=name)
    write_lines(run_lines(run), out)
    for notice in (*asked.notices, *items.notices):
        note(notice.text)
    empty = [row.key for row in run.rows if not row.results]
    if empty:
        shown = ", ".join(empty[:10]) + (", …" if len(empty) > 10 else "")
        note(f"{len(empty)} of {len(run.rows)} lists are empty: {shown}")
    done = f"{len(run.rows)} queries over {len(items.items)} items"
    note(f"{done} with {turned}")
