"""Elasticsearch and OpenSearch: `_search`, `_msearch`, `_rank_eval` requests and responses.

Read: hits with ids, texts, ratings; failures and errors as rows that failed.
Not read: metric scores, which `_rank_eval` takes over the hits alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from judge.formats.decoding import Document, Fields
from judge.formats.families import Decoded, Items, Readers
from judge.formats.findings import Findings, Place, shown
from judge.formats.ids import id_text
from judge.formats.options import ReadOptions
from judge.formats.records import records_of
from judge.formats.spellings import ROW

_TEXT_FIELDS = ("text", "content", "body", "passage", "contents", "chunk", "description")
_TAGS = re.compile(r"</?em>")
_BETWEEN_FRAGMENTS = " … "
_OF_RESPONSE = frozenset({"hits", "results", "error"})
_ONE_SHAPE = "give the response as the server wrote it"


def rank_eval_runs(
    decoded: Decoded, options: ReadOptions, findings: Findings
) -> Mapping[str, Items]:
    """Return the rows of a `_rank_eval` response, each hit with its rating."""
    whole, place = _whole(decoded)
    details, failures = whole["details"], whole.get("failures")
    assert isinstance(details, dict), "the family is recognised by it"
    hits = {query: _list_in(detail, "hits") for query, detail in details.items()}
    spanning = _spans_indices((map(_hit, of_query) for of_query in hits.values()), place, findings)
    items: Items = []
    for query, of_query in hits.items():
        at = place.at(f"details[{shown(query)}]")
        if not isinstance(details[query], dict) or not isinstance(details[query].get("hits"), list):
            findings.problem(at, "no list of hits", _ONE_SHAPE)
        items.append((at, {"query_id": query, "results": [_rated(h, spanning) for h in of_query]}))
        _count_unrated(of_query, spanning, at, findings)
    for query, failure in failures.items() if isinstance(failures, dict) else ():
        at = place.at(f"failures[{shown(query)}]")
        items.append((at, {"query_id": query, "error": _reason(failure)}))
        then = "a row that failed, not an empty list"
        findings.count("failed query", "queries that failed", place=at, consequence=then)
    return {"": items}


def rank_eval_grades(decoded: Decoded, options: ReadOptions, findings: Findings) -> Items:
    """Return the ratings of the hits in a `_rank_eval` response."""
    items: Items = []
    for place, row in rank_eval_runs(decoded, options, findings)[""]:
        for index, result in enumerate(_list_in(row, "results")):
            if isinstance(row, dict) and isinstance(result, dict) and result["grade"] is not None:
                grade = {"id": result["id"], "grade": result["grade"]}
                items.append((place.at(f"hits[{index}]"), {"query_id": row["query_id"], **grade}))
    return items


def request_grades(decoded: Decoded, options: ReadOptions, findings: Findings) -> Items:
    """Return the ratings in a `_rank_eval` request, of documents retrieved or not."""
    whole, place = _whole(decoded)
    requests = [(place.at(f"requests[{i}]"), r) for i, r in enumerate(_list_in(whole, "requests"))]
    ratings = [_list_in(request, "ratings") for _, request in requests]
    spanning = _spans_indices(ratings, place, findings)
    items: Items = []
    for (at, request), of_query in zip(requests, ratings, strict=True):
        if not isinstance(request, dict) or not isinstance(request.get("ratings"), list):
            findings.problem(at, f"no list of ratings in {shown(request)}", _ONE_SHAPE)
            continue
        for index, rating in enumerate(of_query):
            where = at.at(f"ratings[{index}]")
            if isinstance(rating, dict):
                grade = {"id": _id(rating, spanning), "grade": rating.get("rating")}
                items.append((where, {"query_id": request.get("id"), **grade}))
            else:
                findings.problem(where, shown(rating), "a rating has _index, _id and rating")
    return items


def search_runs(decoded: Decoded, options: ReadOptions, findings: Findings) -> Mapping[str, Items]:
    """Return a row for each `_search` response: one, several in a list or lines, or `_msearch`.

    A response that stands beside fields of ours (`{"query": "…", "hits": {…}}`) keeps them.
    """
    responses = list(records_of(decoded, under="responses").items)
    hits = [_list_in(_hits_of(response), "hits") for _, response in responses]
    spanning = _spans_indices(hits, decoded.place, findings)
    items: Items = []
    for (place, response), of_query in zip(responses, hits, strict=True):
        if not isinstance(response, dict):
            findings.problem(place, shown(response), _ONE_SHAPE)
            continue
        row = {name: response[name] for name in _beside(response, options)}
        if "error" in response:
            row["error"] = _reason(response["error"])
        elif isinstance(_hits_of(response).get("hits"), list):
            row["results"] = [_searched(h, spanning, options, place, findings) for h in of_query]
        else:
            findings.problem(place, f"no hits in {shown(response)}", _ONE_SHAPE)
        _count_partial(response, place, findings)
        items.append((place, row))
    return {"": items}


def _beside(response: Fields, options: ReadOptions) -> list[str]:
    """Return the fields of a row that stand beside a response's hits, as they are called there."""
    known = {name for ours, others in ROW.items() for name in (ours, *others)}
    known |= options.map.keys()
    return [name for name in response if name in known and name not in _OF_RESPONSE]


def _whole(decoded: Decoded) -> tuple[Fields, Place]:
    assert isinstance(decoded, Document), "the family is recognised by the object around it"
    assert isinstance(decoded.value, dict), "the family is recognised by the object around it"
    return decoded.value, decoded.place


def _list_in(value: object, name: str) -> list[object]:
    """Return the list under a name; an empty one where there is none."""
    held = value.get(name) if isinstance(value, dict) else None
    return held if isinstance(held, list) else []


def _hits_of(response: object) -> Fields:
    hits = response.get("hits") if isinstance(response, dict) else None
    return hits if isinstance(hits, dict) else {}


def _hit(rated: object) -> object:
    return rated.get("hit") if isinstance(rated, dict) else None


def _spans_indices(queries: Iterable[Iterable[object]], place: Place, findings: Findings) -> bool:
    """Tell whether any query's documents come from several indices: then ids name the index."""
    for documents in queries:
        indices = {d.get("_index") for d in documents if isinstance(d, dict) and _named(d)}
        if len(indices) > 1:
            what = "ids are _index/_id, as a query spans several indices"
            findings.count("guessed field", what, place=place)
            return True
    return False


def _named(document: Fields) -> bool:
    return isinstance(document.get("_index"), str)


def _id(document: Fields, spanning: bool) -> object:
    id = id_text(document.get("_id"))
    if id is None or not spanning:
        return document.get("_id")
    return f"{document.get('_index')}/{id}"


def _rated(rated: object, spanning: bool) -> object:
    """Return a hit of a `_rank_eval` response as a result; null where it is none."""
    hit = _hit(rated)
    if not isinstance(rated, dict) or not isinstance(hit, dict):
        return None
    return {
        "id": _id(hit, spanning),
        "grade": rated.get("rating"),
        "score": hit.get("_score"),
        "metadata": {"_index": hit.get("_index"), "_id": hit.get("_id")},
    }


def _searched(
    hit: object, spanning: bool, options: ReadOptions, place: Place, findings: Findings
) -> object:
    """Return a hit of a `_search` response as a result; null where it is none."""
    if not isinstance(hit, dict):
        return None
    source = hit.get("_source")
    metadata = source if isinstance(source, dict) else {}
    return {
        "id": _id(hit, spanning),
        "text": _text(hit, metadata, options, place, findings),
        "score": hit.get("_score"),
        "metadata": {**metadata, "_index": hit.get("_index"), "_id": hit.get("_id")},
    }


def _text(
    hit: Fields, source: Fields, options: ReadOptions, place: Place, findings: Findings
) -> str | None:
    """Return a hit's text: from `--text-field`, a field that is called so, or its highlights."""
    if options.text_field:
        parts = [_prose(_under(source, hit, name)) for name in options.text_field]
        text = "\n".join(part for part in parts if part)
        if not text:
            what = f"hits without {','.join(options.text_field)}"
            findings.count("no text", what, place=place, consequence="they have no text")
        return text or None
    for name in _TEXT_FIELDS:
        value = _under(source, hit, name)
        if isinstance(value, str) or (isinstance(value, list) and _prose(value)):
            what, then = f"text of hits read from {name!r}", f"--text-field {name} says so"
            findings.count("guessed field", what, place=place, consequence=then)
            title = _prose(_under(source, hit, "title"))
            return "\n".join(part for part in (title, _prose(value)) if part)
    highlight = hit.get("highlight")
    fragments = [
        _TAGS.sub("", fragment)
        for of_field in (highlight.values() if isinstance(highlight, dict) else ())
        for fragment in (of_field if isinstance(of_field, list) else ())
        if isinstance(fragment, str)
    ]
    if fragments:
        then = "fragments are not the whole text: --text-field FIELD is better"
        findings.count(
            "guessed field", "texts joined from highlights", place=place, consequence=then
        )
    return _BETWEEN_FRAGMENTS.join(fragments) or None


def _under(source: Fields, hit: Fields, name: str) -> object:
    """Return a field of the document, also a dotted one or one that came as `fields`."""
    fields = hit.get("fields")
    for held in (source, fields if isinstance(fields, dict) else {}):
        if name in held:
            return held[name]
    value: object = source
    for step in name.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _prose(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(part for part in map(_prose, value) if part)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return str(value).strip()


def _reason(error: object) -> str:
    """Return what the server says of a failure, in one line."""
    while isinstance(error, dict):
        error = error.get("reason") or error.get("error") or error.get("type") or "failed"
    return error if isinstance(error, str) else shown(error)


def _count_unrated(hits: list[object], spanning: bool, place: Place, findings: Findings) -> None:
    unrated = [h for h in hits if isinstance(h, dict) and h.get("rating") is None]
    if unrated:
        hit = _hit(unrated[0])
        first = place.at(shown(_id(hit, spanning) if isinstance(hit, dict) else None))
        then, n = "they are open, not irrelevant", len(unrated)
        findings.count("unrated", "hits without a rating", place=first, consequence=then, n=n)


def _count_partial(response: Fields, place: Place, findings: Findings) -> None:
    shards = response.get("_shards")
    lost = shards.get("failed") if isinstance(shards, dict) else None
    if response.get("timed_out") is True or (isinstance(lost, int) and lost > 0):
        then = "their lists may lack results"
        what = "searches that timed out or lost shards"
        findings.count("partial result", what, place=place, consequence=then)


READERS: Mapping[str, Readers] = MappingProxyType(
    {
        "a _rank_eval response": Readers(runs=rank_eval_runs, grades=rank_eval_grades),
        "a _rank_eval request": Readers(grades=request_grades),
        "an _msearch response": Readers(runs=search_runs),
        "a _search response": Readers(runs=search_runs),
    }
)
