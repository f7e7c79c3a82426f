"""Read a run, whatever shape its file has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePath

from judge.errors import UsageError
from judge.formats.decoding import Document
from judge.formats.families import Decoded, decode_any, recognised
from judge.formats.findings import Findings, Place, shown
from judge.formats.ids import id_text
from judge.formats.opening import SourceFile, read_text, source_name, uncollected
from judge.formats.options import DEFAULTS, ReadOptions
from judge.formats.records import records_of
from judge.formats.rows import read_rows
from judge.formats.scored import is_scored, scored_rows
from judge.formats.textfile import TextFile
from judge.formats.texts import (
    Corpus,
    CorpusSource,
    Queries,
    QueriesSource,
    filled,
    read_corpus,
    read_queries,
)
from judge.formats.trec import Scored, trec_runs
from judge.run import Result, Row, Run


def read_run(
    source: SourceFile,
    options: ReadOptions = DEFAULTS,
    *,
    corpus: CorpusSource | None = None,
    queries: QueriesSource | None = None,
) -> Run:
    """Return the one run of a file, recognised by content.

    Shapes: `run.json` (`name`, `rows`), a JSON array or JSON lines of rows, short rows with
    `ranked`, RAG rows, `{query: {doc: score}}`, TREC. `corpus` and `queries` fill in texts
    that the run lacks. Results keep their order, except that `{doc: score}` and TREC are
    ordered by score. Everything guessed, counted or set aside is in `Run.notices`.

    Raises InputError naming every bad place (the first twenty), and UsageError where a TREC
    file holds several runs and `options.run_tag` is none of them.
    """
    with uncollected():
        runs = _runs(read_text(source), options)
        run = _chosen(runs, options.run_tag, source_name(source))
        return filled(run, _corpus(corpus, options), _queries(queries, options))


def read_runs(
    source: SourceFile,
    options: ReadOptions = DEFAULTS,
    *,
    corpus: CorpusSource | None = None,
    queries: QueriesSource | None = None,
) -> dict[str, Run]:
    """Return every run of a file by name: one a tag of a TREC file, else the only one."""
    with uncollected():
        runs = _runs(read_text(source), options)
        texts, asked = _corpus(corpus, options), _queries(queries, options)
        return {name: filled(run, texts, asked) for name, run in runs.items()}


def _runs(file: TextFile, options: ReadOptions) -> dict[str, Run]:
    findings = Findings()
    decoded = decode_any(file, findings)
    if decoded is None:
        return _trec_runs(file, options, findings)
    runs = _decoded_runs(decoded, file.name, options, findings)
    goldens = (row.golden for run in runs.values() for row in run.rows if row.golden is not None)
    if options.texts_of is not None and any(golden.quotes for golden in goldens):
        return _runs(file, replace(options, texts_of=None))  # they look into every text
    return runs


def _corpus(source: CorpusSource | None, options: ReadOptions) -> Corpus | None:
    return source if source is None or isinstance(source, Corpus) else read_corpus(source, options)


def _queries(source: QueriesSource | None, options: ReadOptions) -> Queries | None:
    if source is None or isinstance(source, Queries):
        return source
    return read_queries(source, options)


def _chosen(runs: dict[str, Run], tag: str | None, file: str) -> Run:
    """Return the run of this name, or the only one, whatever it is called."""
    if tag in runs:
        return runs[tag]
    if len(runs) == 1 and tag is None:
        return next(iter(runs.values()))
    tags = ", ".join(list(runs)[:20]) + (", …" if len(runs) > 20 else "")
    wrong = "name one with --run-tag" if tag is None else f"none is called {shown(tag)}"
    raise UsageError(f"{file}: {len(runs)} runs; {wrong}: {tags}")


def _trec_runs(file: TextFile, options: ReadOptions, findings: Findings) -> dict[str, Run]:
    runs = trec_runs(file, options=options, findings=findings)
    return {
        tag: Run(tag, tuple(_row(*ranked) for ranked in run.lists.items()), notices=run.notices)
        for tag, run in runs.items()
    }


def _row(query: str, scored: list[Scored]) -> Row:
    return Row(query, query, results=tuple(Result(id, score=score) for id, score in scored))


def _decoded_runs(
    decoded: Decoded, file: str, options: ReadOptions, findings: Findings
) -> dict[str, Run]:
    """Return the runs of JSON, or of another tool's file, by name."""
    family = recognised(decoded)
    if family is not None:
        named = family.runs(decoded, options, findings)
        findings.check_some(named, "rows", file)
        runs = (
            _run(name or _stem(file), items, file, options, Findings())
            for name, items in named.items()
        )
        # What the family noted is of all of them, what the reader of rows notes is of each.
        return {run.name: replace(run, notices=(*findings.notices(), *run.notices)) for run in runs}
    if isinstance(decoded, Document) and is_scored(decoded.value):
        rows = scored_rows(decoded.value, place=decoded.place, options=options, findings=findings)
        findings.check_some(rows, "rows", file)
        return {_stem(file): Run(_stem(file), rows, notices=findings.notices())}
    held = records_of(decoded, under="rows")
    for field in held.around:
        if field not in ("name", "rows"):
            what = f"file field {shown(field)} ignored"
            findings.count("ignored field", what, place=Place(file))
    name = id_text(held.around.get("name")) or _stem(file)
    return {name: _run(name, held.items, file, options, findings)}


def _run(
    name: str,
    items: Iterable[tuple[Place, object]],
    file: str,
    options: ReadOptions,
    findings: Findings,
) -> Run:
    read = read_rows(items, options=options, findings=findings)
    findings.check_some(read.rows, "rows", file)
    return Run(name, read.rows, read.grades, notices=findings.notices())


def _stem(file: str) -> str:
    return PurePath(file).name.removesuffix(".gz").rpartition(".")[0] or file
