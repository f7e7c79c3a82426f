"""Runs as `{query: {doc: score}}`, ordered as a TREC file is."""

from __future__ import annotations

from typing import TypeGuard

from judge.formats.decoding import Fields
from judge.formats.findings import Findings, Place, shown
from judge.formats.options import ReadOptions
from judge.formats.rows import keyed
from judge.formats.trec import Scored, ordered
from judge.formats.values import number
from judge.run import Result, Row


def is_scored(value: object) -> TypeGuard[Fields]:
    """Tell `{query: {doc: score}}` from a row: every value is an object of plain values."""
    return (
        isinstance(value, dict)
        and bool(value)
        and all(
            isinstance(held, dict) and not any(isinstance(v, (dict, list)) for v in held.values())
            for held in value.values()
        )
    )


def scored_rows(
    value: Fields, *, place: Place, options: ReadOptions, findings: Findings
) -> tuple[Row, ...]:
    """Return the rows of `{query: {doc: score}}`.

    The keys are query ids, or, if any of them has a space in it, the queries' texts.
    """
    are_texts = any(" " in query.strip() for query in value)
    what = f"keys read as the queries' {'texts' if are_texts else 'ids'}"
    findings.count("guessed field", what, place=place, n=len(value))
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
    return keyed(read, findings)


def _scores(scores: object, place: Place, findings: Findings) -> list[Scored]:
    scored = []
    for document, score in scores.items() if isinstance(scores, dict) else ():
        real = number(score)
        if real is None:
            findings.problem(place.at(shown(document)), shown(score), "a score is a number")
        else:
            scored.append((document, real))
    return scored
