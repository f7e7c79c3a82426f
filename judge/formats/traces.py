"""Traces: OpenInference and OpenTelemetry spans, flat or nested, as runs.

Read: each retriever span is a row of the run `retriever`, each reranker span a row of
`reranker-input` and `reranker-output`; ids are trace/span. Not read: every other span, and
anything a model wrote, so that no answer's text reaches the judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from judge.formats.decoding import Fields, without_halves
from judge.formats.families import Decoded, Items, Readers
from judge.formats.findings import Findings, Place, shown
from judge.formats.ids import id_text
from judge.formats.json_value import json_value
from judge.formats.options import ReadOptions
from judge.formats.records import records_of

_QUERIES = ("gen_ai.retrieval.query.text", "gen_ai.retrieval.query", "input.value")
_RETRIEVED = ("retrieval.documents", "gen_ai.retrieval.documents")
_RERANKED = ("reranker.input_documents", "reranker.output_documents")
_QUERY_IN_JSON = ("query", "question", "input", "str_or_query_bundle", "query_str")
_TRACE_IDS = ("context.trace_id", "trace_id", "traceId")
_SPAN_IDS = ("context.span_id", "span_id", "spanId")
_DOCUMENT = {
    "id": "id",
    "content": "text",
    "text": "text",
    "score": "score",
    "metadata": "metadata",
}


@dataclass(frozen=True, slots=True)
class _Span:
    """What we read of a span; `attributes` as they stand, flat or nested."""

    place: Place
    id: str
    kind: str
    attributes: Fields
    error: str | None


def trace_runs(decoded: Decoded, options: ReadOptions, findings: Findings) -> Mapping[str, Items]:
    """Return the runs in a file of spans: `retriever`, `reranker-input`, `reranker-output`."""
    runs: dict[str, Items] = {}
    for span in _spans(decoded, findings):
        if span.kind == "RETRIEVER":
            lists: dict[str, tuple[str, ...]] = {"retriever": _RETRIEVED}
            query = _query(span, _QUERIES)
        elif span.kind == "RERANKER":
            lists = {"reranker-input": _RERANKED[:1], "reranker-output": _RERANKED[1:]}
            query = _query(span, ("reranker.query", *_QUERIES))
        else:
            findings.count("other span", "spans of other kinds left out", place=span.place)
            continue
        for name, attributes in lists.items():
            row = {"query_id": span.id, "query": query, "error": span.error}
            documents = _documents(span, attributes, findings)
            runs.setdefault(name, []).append((span.place, {**row, "results": documents}))
    if not runs:
        fix = "export spans of kind RETRIEVER or RERANKER"
        findings.problem(decoded.place, "no retriever or reranker span", fix)
    return runs


def _spans(decoded: Decoded, findings: Findings) -> Iterator[_Span]:
    for place, record in records_of(decoded, under="data").items:
        if isinstance(record, dict) and isinstance(record.get("resourceSpans"), list):
            for at, span in _exported(record, place):
                yield _span(span, at)
        elif isinstance(record, dict):
            yield _span(record, place)
        else:
            findings.problem(place, shown(record), "a span is an object")


def _exported(record: Fields, place: Place) -> Iterator[tuple[Place, Fields]]:
    """Yield the spans of an OTLP export: resourceSpans, scopeSpans, spans."""
    inner: list[tuple[Place, object]] = [(place, record)]
    for name in ("resourceSpans", "scopeSpans", "spans"):
        inner = [
            (at.at(f"{name}[{index}]"), value)
            for at, outer in inner
            for index, value in enumerate(_list(outer, name))
        ]
    return ((at, span) for at, span in inner if isinstance(span, dict))


def _span(record: Fields, place: Place) -> _Span:
    attributes = record.get("attributes")
    if isinstance(attributes, list):
        fields = {str(_of(one, "key")): _plain(_of(one, "value")) for one in attributes}
    elif isinstance(attributes, dict):
        fields = attributes
    else:
        prefix = "attributes."
        fields = {n.removeprefix(prefix): v for n, v in record.items() if n.startswith(prefix)}
    ids = [_first(record, *names) for names in (_TRACE_IDS, _SPAN_IDS)]
    named = "/".join(id.removeprefix("0x") for id in map(id_text, ids) if id)
    return _Span(place, named or str(place), _kind(record, fields), fields, _error(record))


def _kind(record: Fields, attributes: Fields) -> str:
    """Return a span's kind; one that names none shows it by the documents it holds."""
    kind = _under(attributes, "openinference.span.kind") or record.get("span_kind")
    if isinstance(kind, str) and kind.upper() not in ("", "UNKNOWN"):
        return kind.upper()
    if _under(attributes, "gen_ai.operation.name") == "retrieval":
        return "RETRIEVER"
    if _holds(attributes, _RERANKED):
        return "RERANKER"
    return "RETRIEVER" if _holds(attributes, _RETRIEVED) else "OTHER"


def _holds(attributes: Fields, names: tuple[str, ...]) -> bool:
    """Tell whether there are documents under any of these names, flat or nested."""
    flat = tuple(f"{name}." for name in names)
    return any(_under(attributes, name) is not None for name in names) or any(
        name.startswith(flat) for name in attributes
    )


def _error(record: Fields) -> str | None:
    """Return what a span that ended in an error says of it."""
    status = record.get("status")
    held = status if isinstance(status, dict) else record
    code = _first(held, "code", "status_code", "statusCode")
    if code not in ("ERROR", "STATUS_CODE_ERROR", 2):
        return None
    message = _first(held, "message", "description", "status_message", "statusMessage")
    return message if isinstance(message, str) and message else "the span ended in an error"


def _query(span: _Span, names: tuple[str, ...]) -> object:
    """Return the query's text; out of a JSON input, the field that is called so."""
    value = next((v for name in names if (v := _under(span.attributes, name)) is not None), None)
    if isinstance(value, str) and value.lstrip().startswith("{"):
        inner = _json(value)
        held = _first(inner, *_QUERY_IN_JSON) if isinstance(inner, dict) else None
        return held if isinstance(held, str) else value
    return value


def _documents(span: _Span, names: tuple[str, ...], findings: Findings) -> object:
    """Return the documents under the first of these attributes that the span has."""
    for name in names:
        value = _under(span.attributes, name)
        listed = _json(value) if isinstance(value, str) else value
        if isinstance(listed, list):
            return [_document(one) for one in listed]
        if value is not None and not isinstance(value, dict):
            findings.problem(span.place.at(name), shown(value), "documents are a list")
            return []
        flat = _flat(value if isinstance(value, dict) else span.attributes, name)
        if flat:
            return flat
    return []


def _flat(attributes: Fields, name: str) -> list[object]:
    """Return documents written as `retrieval.documents.0.document.id`, or nested by index."""
    pattern = re.compile(rf"(?:{re.escape(name)}\.)?(\d{{1,6}})(?:\.(.+))?")
    found: dict[int, Fields] = {}
    for key, value in attributes.items():
        match = pattern.fullmatch(key)
        if match and match[2]:
            found.setdefault(int(match[1]), {})[match[2]] = value
        elif match and isinstance(value, dict):
            found[int(match[1])] = value
    return [_document(found[index]) for index in sorted(found)]


def _document(held: object) -> object:
    """Return a document under our names; ResultReader says what is wrong with it."""
    if not isinstance(held, dict):
        return held
    inner = held.get("document")
    fields = inner if isinstance(inner, dict) else held
    result: Fields = {}
    for name, value in fields.items():
        ours = _DOCUMENT.get(name.removeprefix("document."))
        if ours is not None and value is not None:
            result[ours] = value
    if isinstance(result.get("metadata"), str):
        metadata = _json(str(result.pop("metadata")))
        if isinstance(metadata, dict):
            result["metadata"] = metadata
    return result


def _first(fields: Fields, *names: str) -> object:
    return next((v for name in names if (v := _under(fields, name)) is not None), None)


def _under(fields: Fields, name: str) -> object:
    """Return what stands under a dotted name, whether it is one key or several levels."""
    if name in fields:
        return fields[name]
    for end in (i for i, letter in enumerate(name) if letter == "."):
        inner = fields.get(name[:end])
        if isinstance(inner, dict):
            found = _under(inner, name[end + 1 :])
            if found is not None:
                return found
    return None


def _plain(value: object) -> object:
    """Return an OTLP value (`{"stringValue": "x"}`) as a plain one."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, held),) = value.items()
    if kind == "arrayValue":
        return [_plain(one) for one in _list(held, "values")]
    if kind == "kvlistValue":
        return {str(_of(one, "key")): _plain(_of(one, "value")) for one in _list(held, "values")}
    return held if kind.endswith("Value") else value


def _of(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _list(value: object, name: str) -> list[object]:
    held = _of(value, name)
    return held if isinstance(held, list) else []


def _json(text: str) -> object:
    """Return JSON written inside a string, or None where it is none."""
    try:
        return without_halves(json_value(text))
    except ValueError:
        return None


READERS: Mapping[str, Readers] = MappingProxyType({"a trace": Readers(runs=trace_runs)})
