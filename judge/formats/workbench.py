"""OpenSearch Search Relevance Workbench: judgment lists and query sets.

Read: query texts with the ratings of their documents; the texts of a query set, which are
its queries' ids as well. Not read: names, descriptions, reference answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from judge.formats.decoding import Document
from judge.formats.families import Decoded, Items, Readers
from judge.formats.findings import Findings, shown
from judge.formats.options import ReadOptions

_SHAPE = 'a judgment is {"query": "…", "ratings": [{"docId": "…", "rating": "…"}]}'


def judgment_grades(decoded: Decoded, options: ReadOptions, findings: Findings) -> Items:
    """Return the ratings of a judgment list, as written: "100.000" needs a --grade-map."""
    items: Items = []
    for place, judgment in _entries(decoded, "judgmentRatings"):
        ratings = judgment.get("ratings") if isinstance(judgment, dict) else None
        if not isinstance(judgment, dict) or not isinstance(ratings, list):
            findings.problem(place, shown(judgment), _SHAPE)
            continue
        for index, rating in enumerate(ratings):
            at = place.at(f"ratings[{index}]")
            if not isinstance(rating, dict):
                findings.problem(at, shown(rating), _SHAPE)
                continue
            grade = {"id": rating.get("docId"), "grade": rating.get("rating")}
            items.append((at, {"query": judgment.get("query"), **grade}))
    return items


def set_queries(decoded: Decoded, options: ReadOptions, findings: Findings) -> Items:
    """Return the queries of a query set; a query's text is its id too, for it has no other."""
    items: Items = []
    for place, query in _entries(decoded, "querySetQueries"):
        text = query.get("queryText") if isinstance(query, dict) else query
        items.append((place, {"query_id": text, "query": text}))
    return items


def _entries(decoded: Decoded, name: str) -> Items:
    assert isinstance(decoded, Document), "the family is recognised by the object around it"
    assert isinstance(decoded.value, dict), "the family is recognised by the object around it"
    entries = decoded.value[name]
    return [(decoded.place.at(f"{name}[{index}]"), entry) for index, entry in enumerate(entries)]


READERS: Mapping[str, Readers] = MappingProxyType(
    {
        "a Workbench judgment list": Readers(grades=judgment_grades),
        "a Workbench query set": Readers(queries=set_queries),
    }
)
