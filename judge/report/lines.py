"""The lines of a report, put together from encoded parts: a million of them are few judgments.

A dict and a pass of the JSON encoder for each would take most of the time of a large report.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from json.encoder import encode_basestring as text_of

from judge.evidence.queries import Query
from judge.grades import Judgment
from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.report.model import RowReport
from judge.report.preferences import without_log

# NaN in a report would be a bug of ours: refuse it rather than write it.
dump = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=dict).encode

_REMEMBERED = 4096


class ReportLines:
    """Lines about rows, results and pool members; what judgments have in common is encoded once."""

    def __init__(self) -> None:
        """Begin with nothing encoded."""
        self._of_results = _Encoded(_members)
        self._of_pools = _Encoded(lambda judgment: f"{_members(judgment)}{_reason(judgment)}")

    def row(self, row: RowReport) -> str:
        """Return one row of the report; a slot outside the pool has the whole scale as interval."""
        pool, own = row.pool, row.query.rows[0]
        results = own.results if own else ()
        outside = _outside(pool.grade_max)
        judgments = [
            outside if member is None else pool.judgments[member] for member in pool.rankings[0]
        ]
        lines = [
            f'{{"id": {text_of(result.id)}, "document_id": {_text(result.document_id)},'
            f' "rank": {rank}, {members}}}'
            for rank, (result, members) in enumerate(
                zip(results, self._of_results.all(judgments), strict=True), 1
            )
        ]
        return f'{{{_head(row)}, "results": [{", ".join(lines)}]}}'

    def pool(self, row: RowReport) -> list[str]:
        """Return one JSON object a pool member of a row: what judgments.jsonl and `pool` hold."""
        pool = row.pool
        start, documents = f'{{"query_id": {text_of(row.query.key)}, "id": ', pool.documents
        return [
            f'{start}{text_of(id)}, "document_id": {_text(documents.get(id))}, {members}}}'
            for id, members in zip(pool.ids, self._of_pools.all(pool.judgments), strict=True)
        ]


class _Encoded:
    """Judgments as text, remembered by which object they are: to compare them takes longer."""

    def __init__(self, encode: Callable[[Judgment], str]) -> None:
        self._encode = encode
        self._texts: dict[int, str] = {}
        self._held: list[Judgment] = []  # so that no other object takes the place of one

    def all(self, judgments: Iterable[Judgment]) -> list[str]:
        found = self._texts.get
        return [found(id(judgment)) or self._new(judgment) for judgment in judgments]

    def _new(self, judgment: Judgment) -> str:
        if len(self._held) >= _REMEMBERED:
            self._texts.clear()
            self._held.clear()
        self._held.append(judgment)
        text = self._texts[id(judgment)] = self._encode(judgment)
        return text


def _head(row: RowReport) -> str:
    """Return the members of a row that come before its results, without braces."""
    query = row.query
    scores = ", ".join(
        f"{_name(measure)}: {_bounded(b, row.by_log.get(measure))}"
        for measure, b in row.scores.items()
    )
    head = (
        f'"query_id": {text_of(query.key)}, "query": {_text(query.text)},'
        f' "slice": {_text(query.slice)}, "measures": {{{scores}}},'
        f' "weight": {_number(query.weight)}'
    )
    more = _more(query)
    return f"{head}, {dump(more)[1:-1]}" if more else head


def _more(query: Query) -> Mapping[str, object]:
    """Return what only some rows have: a golden, an error."""
    found: dict[str, object] = {}
    if query.golden is not None:
        found["expected"] = query.golden.expected
        found["match"] = query.golden.match
        found["complete"] = query.golden.complete
    own = query.rows[0]
    if own is not None and own.error is not None:
        found["error"] = own.error
    return found


def _members(judgment: Judgment) -> str:
    """Return a judgment's members, without braces."""
    source = None if judgment.source is None else str(judgment.source)
    members = {"grade": judgment.grade, "lo": judgment.lo, "hi": judgment.hi, "source": source}
    return dump(members)[1:-1]


def _reason(judgment: Judgment) -> str:
    return f', "reason": {text_of(judgment.reason)}'


def _bounded(bounded: Bounded, by_log: Bounded | None = None) -> str:
    """Return a score; where the log narrows it, with what holds without the log beside it."""
    if by_log is not None:
        return f"{_bounded(by_log)[:-1]}, {dump(without_log(bounded))[1:]}"
    value = _number(bounded.value)
    # The same float, not only an equal one: -0.0 and 0.0 are written differently.
    lo = value if bounded.lo is bounded.value else _number(bounded.lo)
    hi = value if bounded.hi is bounded.value else _number(bounded.hi)
    return f'{{"value": {value}, "lo": {lo}, "hi": {hi}}}'


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"a report has no place for {value}")
    return float.__repr__(value) if isinstance(value, float) else int.__repr__(value)


def _text(text: str | None) -> str:
    return "null" if text is None else text_of(text)


@lru_cache(maxsize=16)
def _outside(grade_max: int) -> Judgment:
    return Judgment(0, grade_max)


@lru_cache(maxsize=256)
def _name(measure: Measure) -> str:
    return text_of(str(measure))
