"""Read a run, whatever shape its file has."""

from __future__ import annotations

from pathlib import PurePath

from judge.errors import UsageError
from judge.formats.decoding import Document, Fields, decode, looks_like_json
from judge.formats.findings import Findings, Place, shown
from judge.formats.ids import id_text
from judge.formats.opening import SourceFile, TextFile, read_text, uncollected
from judge.formats.options import DEFAULTS, ReadOptions
from judge.formats.records import records_of
from judge.formats.rows import keyed, read_rows
from judge.formats.texts import (
    Corpus,
    CorpusSource,
    Queries,
    QueriesSource,
    filled,
    read_corpus,
    read_queries,
)
from judge.formats.trec import Scored, ordered, trec_runs
from judge.formats.values import number
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
        file = read_text(source)
        if looks_like_json(file):
            run = _json_run(file, options)
        else:
            run = _chosen(_trec_file(file, options), options.run_tag, file.name)
        return filled(run, _corpus(corpus, options), _queries(queries, options))


def read_runs(
    source: SourceFile,
    options: ReadOptions = DEFAULTS,
    *,
    corpus: CorpusSource | None = None,
    queries: QueriesSource | None = None,
) -> dict[str, Run]:
    """Return every run of a file by name: one a tag of a TREC file, else the only one."""
    file = read_text(source)
    if looks_like_json(file):
        run = _json_run(file, options)
        runs = {run.name: run}
    else:
        runs = _trec_file(file, options)
    texts, asked = _corpus(corpus, options), _queries(queries, options)
    return {name: filled(run, texts, asked) for name, run in runs.items()}


def _corpus(source: CorpusSource | None, options: ReadOptions) -> Corpus | None:
    return source if source is None or isinstance(source, Corpus) else read_corpus(source, options)


def _queries(source: QueriesSource | None, options: ReadOptions) -> Queries | None:
    if source is None or isinstance(source, Queries):
        return source
    return read_queries(source, options)


def _chosen(runs: dict[str, Run], tag: str | None, file: str) -> Run:
    """Return the run with this tag, or the only one."""
    if tag in runs:
        return runs[tag]
    if tag is None and len(runs) == 1:
        return next(iter(runs.values()))
    tags = ", ".join(list(runs)[:20]) + (", …" if len(runs) > 20 else "")
    wrong = "name one with --run-tag" if tag is None else f"none is called {shown(tag)}"
    raise UsageError(f"{file}: {len(runs)} runs; {wrong}: {tags}")


def _trec_file(file: TextFile, options: ReadOptions) -> dict[str, Run]:
    findings = Findings()
    runs = trec_runs(file, options=options, findings=findings)
    notices = findings.notices()
    return {
        tag: Run(
            tag, tuple(_row(query, scored) for query, scored in lists.items()), notices=notices
        )
        for tag, lists in runs.items()
    }


def _row(query: str, scored: list[Scored]) -> Row:
    return Row(query, query, results=tuple(Result(id, score=score) for id, score in scored))


def _json_run(file: TextFile, options: ReadOptions) -> Run:
    findings = Findings()
    decoded = decode(file, findings)
    name = PurePath(file.name).name.removesuffix(".gz").rpartition(".")[0] or file.name
    value = decoded.value if isinstance(decoded, Document) else None
    if isinstance(value, dict) and _is_scores(value):
        return Run(
            name, _scored_rows(value, file.name, options, findings), notices=findings.notices()
        )
    held = records_of(decoded, under="rows")
    read = read_rows(held.items, options=options, findings=findings)
    for field in held.around:
        if field not in ("name", "rows"):
            what = f"file field {shown(field)} ignored"
            findings.count("ignored field", what, place=Place(file.name))
    findings.check_some(read.rows, "rows", file.name)
    name = id_text(held.around.get("name")) or name
    return Run(name, read.rows, read.grades, notices=findings.notices())


def _is_scores(value: Fields) -> bool:
    """Tell `{query: {doc: score}}` from a row: every value is an object of plain values."""
    return bool(value) and all(
        isinstance(held, dict) and not any(isinstance(v, (dict, list)) for v in held.values())
        for held in value.values()
    )


def _scored_rows(
    value: Fields, file: str, options: ReadOptions, findings: Findings
) -> tuple[Row, ...]:
    """Return the rows of `{query: {doc: score}}`.

    The keys are query ids, or, if any of them has a space in it, the queries' texts.
    """
    are_texts = any(" " in query.strip() for query in value)
    place = Place(file)
    findings.count(
        "guessed field",
        f"keys read as the queries' {'texts' if are_texts else 'ids'}",
        place=place,
        n=len(value),
    )
    read: list[tuple[Place, Row]] = []
    for query, scores in value.items():
        at = place.at(shown(query))
        scored = _scores(scores, at, findings)
        results = tuple(
            Result(document, score=score)
            for document, score in ordered(scored, options.precision, findings=findings, place=at)
        )
        named, text = (None, query.strip()) if are_texts else (query, None)
        read.append((at, Row(named or "", named, text, results=results)))
    rows = keyed(read, findings)
    findings.check()
    return rows


def _scores(scores: object, place: Place, findings: Findings) -> list[Scored]:
    scored = []
    for document, score in scores.items() if isinstance(scores, dict) else ():
        real = number(score)
        if real is None:
            findings.problem(place.at(shown(document)), shown(score), "a score is a number")
        else:
            scored.append((document, real))
    return scored
