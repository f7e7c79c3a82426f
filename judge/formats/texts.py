"""Texts that stand apart from the run: the corpus and the queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeAlias

from judge.formats.decoding import Document, Fields
from judge.formats.families import Decoded, Kind, decode_any, recognised
from judge.formats.fields import FieldReader
from judge.formats.findings import Findings, Place, shown
from judge.formats.ids import id_text, key_id
from judge.formats.opening import SourceFile, read_text, source_name
from judge.formats.options import DEFAULTS, ReadOptions
from judge.formats.records import records_of
from judge.formats.spellings import PLAIN_OF_BEIR, QUERY, TEXT, Spellings
from judge.formats.textfile import TextFile
from judge.formats.values import words
from judge.run import Notice, Result, Row, Run

_CORPUS = ("corpus.jsonl", "corpus.jsonl.gz")
QUERY_FILES = ("queries.jsonl", "queries.jsonl.gz")
"""What a BEIR folder or archive calls them."""


UNMATCHED = "texts_unmatched"
"""Kind of the notice that a corpus or queries given with a run name nothing of it."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts by chunk id; a text may be None. `documents` has the document of some chunks."""

    texts: Mapping[str, str | None]
    documents: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Queries:
    """Texts of queries by query id."""

    texts: Mapping[str, str]
    notices: tuple[Notice, ...] = ()


CorpusSource: TypeAlias = SourceFile | Corpus
QueriesSource: TypeAlias = SourceFile | Queries


def read_corpus(source: SourceFile, options: ReadOptions = DEFAULTS) -> Corpus:
    """Return a corpus from JSON lines, a JSON array, `{id: text}` or lines `id<TAB>text`.

    A `title` goes before its text, on a line of its own. Raises InputError for every record
    without an id, and for an id with two different texts (with `--key`, where chunks of one
    page share an id, the first text stands and the rest are counted).
    """
    findings = Findings()
    texts: dict[str, str | None] = {}
    documents: dict[str, str] = {}
    for place, record, fields in text_records(
        read_text(source, inside=_CORPUS), TEXT, options, findings
    ):
        id = key_id(_flat(record), options.key) if options.key else id_text(fields.get("id"))
        if id is None:
            missing = ",".join(options.key) if options.key else "id"
            findings.problem(place, f"a text without {missing}", "name it: --map FIELD=id")
            continue
        text = _titled(fields, place, findings)
        if id in texts:
            _again(id, place, same=text == texts[id], keyed=bool(options.key), findings=findings)
            continue
        texts[id] = text
        document = id_text(fields.get("document_id"))
        if document is not None:
            documents[id] = document
    findings.check_some(texts, "texts", source_name(source))
    return Corpus(texts, documents, findings.notices())


def read_queries(source: SourceFile, options: ReadOptions = DEFAULTS) -> Queries:
    """Return queries from JSON lines, a JSON array, `{id: text}` or lines `id<TAB>text`."""
    findings = Findings()
    texts: dict[str, str] = {}
    for place, _, fields in text_records(
        read_text(source, inside=QUERY_FILES), QUERY, options, findings
    ):
        id, text = id_text(fields.get("query_id")), words(fields, "query", place, findings)
        if id is None or text is None or not text.strip():
            fix = "name them: --map FIELD=query_id, --map FIELD=query"
            findings.problem(place, "a query without id or text", fix)
        elif id in texts:
            same = text.strip() == texts[id]
            _again(id, place, same=same, keyed=False, findings=findings)
        else:
            texts[id] = text.strip()
    findings.check_some(texts, "queries", source_name(source))
    return Queries(texts, findings.notices())


def filled(run: Run, corpus: Corpus | None, queries: Queries | None) -> Run:
    """Return the run with the texts it lacked, and with the corpus' ids."""
    rows = run.rows
    if queries is not None:
        rows = tuple(_with_query(row, queries.texts) for row in rows)
    if corpus is not None:
        rows = tuple(
            replace(row, results=tuple(_with_text(result, corpus) for result in row.results))
            for row in rows
        )
    return replace(
        run,
        rows=rows,
        corpus_ids=run.corpus_ids if corpus is None else frozenset(corpus.texts),
        corpus=run.corpus if corpus is None else corpus.texts,
        notices=(
            *run.notices,
            *_unmatched(run, corpus, queries),
            *(() if corpus is None else corpus.notices),
            *(() if queries is None else queries.notices),
        ),
    )


def _unmatched(run: Run, corpus: Corpus | None, queries: Queries | None) -> Iterator[Notice]:
    """Yield what to say where none of the texts given is one of the run's."""
    if queries is not None and run.rows:
        asked = [row.query_id for row in run.rows if row.query_id is not None]
        if not any(id in queries.texts for id in asked):
            fix = (
                "are they other ids? --map FIELD=query_id names the field"
                if asked
                else ("its rows have no query_id; --map FIELD=query_id names the field")
            )
            yield _nothing_of("--queries", queries.texts, asked, f"query of {run.name}", fix)
    returned = [result.id for row in run.rows for result in row.results]
    if corpus is not None and returned and not any(id in corpus.texts for id in returned):
        fix = "are they ids of documents? --map FIELD=id or --key names those of chunks"
        yield _nothing_of("--corpus", corpus.texts, returned, f"result of {run.name}", fix)


def _nothing_of(
    flag: str, texts: Mapping[str, object], ids: Sequence[str], of: str, fix: str
) -> Notice:
    theirs = f", whose ids are {_first(ids)}" if ids else ""
    text = f"{flag}: its ids ({_first(list(islice(texts, 2)))}) name no {of}{theirs}; {fix}"
    return Notice(UNMATCHED, len(texts), text)


def _first(ids: Sequence[str]) -> str:
    return shown(ids[0]) + (", …" if len(ids) > 1 else "")


def _with_query(row: Row, texts: Mapping[str, str]) -> Row:
    if row.query is not None or row.query_id is None or row.query_id not in texts:
        return row
    return replace(row, query=texts[row.query_id])


def _with_text(result: Result, corpus: Corpus) -> Result:
    text = corpus.texts.get(result.id) if result.text is None else result.text
    document = result.document_id
    if document is None:
        document = corpus.documents.get(result.id)
    if text is result.text and document is result.document_id:
        return result
    return replace(result, text=text, document_id=document)


def text_records(
    file: TextFile, spellings: Spellings, options: ReadOptions, findings: Findings
) -> Iterator[tuple[Place, Fields, Fields]]:
    """Yield each record of a file of texts: where it stands, as written, under our names."""
    id_name, text_name = list(spellings)[:2]
    reader = FieldReader(
        "text", spellings, findings=findings, renames=options.map, plain=PLAIN_OF_BEIR
    )
    decoded = decode_any(file, findings)
    if decoded is None:
        items: Iterable[tuple[Place, object]] = _lines(file, id_name, text_name, findings)
    else:
        items = _decoded(decoded, spellings, options, findings)
    for place, record in items:
        if isinstance(record, dict):
            yield place, record, reader.read(record, place)
        else:
            findings.problem(place, shown(record), "a text is an object with id and text")
    reader.report()


def _decoded(
    decoded: Decoded, spellings: Spellings, options: ReadOptions, findings: Findings
) -> Iterable[tuple[Place, object]]:
    """Return the records of decoded texts; `{id: text}` becomes one record each."""
    id_name, text_name = list(spellings)[:2]
    family = recognised(decoded)
    if family is not None:
        kind: Kind = "queries" if id_name == "query_id" else "texts"
        return family.records(kind, decoded, options, findings)
    value = decoded.value if isinstance(decoded, Document) else None
    known = {name for ours, others in spellings.items() for name in (ours, *others)}
    if not isinstance(value, dict) or not value or known & value.keys():
        return records_of(decoded, under="documents").items
    return [
        (
            decoded.place.at(shown(id)),
            {id_name: id, **(text if isinstance(text, dict) else {text_name: text})},
        )
        for id, text in value.items()
    ]


def _lines(
    file: TextFile, id_name: str, text_name: str, findings: Findings
) -> Iterator[tuple[Place, object]]:
    for number, line in file.lines():
        if not line.strip():
            continue
        id, tab, text = line.rstrip("\r").partition("\t")
        if tab and id:
            yield Place(file.name, number), {id_name: id, text_name: text}
        else:
            found = f"no tab in {shown(line)}"
            findings.problem(Place(file.name, number), found, "a line is id<TAB>text, or JSON")


def _flat(record: Fields) -> Fields:
    metadata = record.get("metadata")
    return {**record, **metadata} if isinstance(metadata, dict) else record


def _titled(fields: Fields, place: Place, findings: Findings) -> str | None:
    text, title = (words(fields, name, place, findings) for name in ("text", "title"))
    if not title or not title.strip():
        return text
    return title if not text else f"{title}\n{text}"


def _again(id: str, place: Place, *, same: bool, keyed: bool, findings: Findings) -> None:
    if same or keyed:
        then = "the first stands"
        findings.count("repeated text", "ids given again", place=place, consequence=then)
    else:
        fix = "an id has one text; is it the id of a document? name the chunk's: --map FIELD=id"
        findings.problem(place, f"a second text for {shown(id)}", fix)
