"""Results out of a system's reply: JSON of any search API, or lines of ids."""

from __future__ import annotations

from judge.formats.decoding import Document, without_halves
from judge.formats.elastic import search_runs
from judge.formats.findings import Findings, Place, shown
from judge.formats.json_value import json_value
from judge.formats.options import ReadOptions

_LISTS = ("results", "hits", "documents", "matches", "items", "data", "chunks", "value")


class NoResults(Exception):
    """A reply in which no list of results can be found; the message says why."""


def results_of(reply: str, *, path: str | None, options: ReadOptions) -> list[object]:
    """Return the results in a reply, as the readers of runs take them.

    path: where they stand in JSON ("data.hits"); None: a list, or the first list that is
        called so; hits of Elasticsearch and OpenSearch are known by their `_id`. A reply
        that is no JSON holds one id a line, and after a tab its text.
    """
    text = reply.strip()
    if not text:
        return []
    if text[0] not in "{[":
        return [_line(line) for line in text.split("\n") if line.strip()]
    try:
        value = without_halves(json_value(text))
    except ValueError as error:
        raise NoResults(f"a reply that is no JSON: {shown(text)}") from error
    results = _at(value, path) if path is not None else _found(value)
    if any(isinstance(one, dict) and "_id" in one for one in results):
        return _of_elastic(results, options)
    return results


def _line(line: str) -> object:
    id, tab, text = line.partition("\t")
    return {"id": id.strip(), "text": text} if tab else id.strip()


def _at(value: object, path: str) -> list[object]:
    for step in path.split("."):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isascii() and step.isdigit():
            value = value[int(step)] if int(step) < len(value) else None
        else:
            value = None
    if not isinstance(value, list):
        raise NoResults(f"no list at {path}: {shown(value)}")
    return value


def _found(value: object) -> list[object]:
    if isinstance(value, list):
        return value
    assert isinstance(value, dict), "the reply starts as an object or a list does"
    hits = value.get("hits")
    if isinstance(hits, dict):
        value = hits
    found = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), None)
    if found is None:
        raise NoResults(f"no list of results in {shown(value)}; say where: --hits PATH")
    return list(found)


def _of_elastic(hits: list[object], options: ReadOptions) -> list[object]:
    findings = Findings()
    response = Document(Place("reply"), {"hits": {"hits": hits}})
    ((_, row),) = search_runs(response, options, findings)[""]
    results = row.get("results") if isinstance(row, dict) else None
    return results if isinstance(results, list) else []
