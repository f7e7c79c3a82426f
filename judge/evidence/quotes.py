"""Goldens that quote a span of text: the chunks that contain it are expected.

Such goldens survive re-chunking: they name no chunk until the runs and the corpus are at hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from judge.formats.findings import Findings, Place, shown
from judge.run import Golden, Notice, Row, Run

Rows: TypeAlias = Sequence[Row | None]
"""The rows of one query, one a run."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """Goldens whose quotes have become ids, in their order, and what was counted on the way."""

    goldens: tuple[Golden, ...]
    notices: tuple[Notice, ...] = ()


def folded(text: str) -> str:
    """Return what two spellings of one span share: case and white space folded.

    >>> folded("  Push the\\nLEVER ")
    'push the lever'
    """
    return " ".join(text.casefold().split())


def resolve_quotes(goldens: Iterable[tuple[Golden, Rows]], runs: Sequence[Run]) -> Resolved:
    """Return goldens with the ids of the chunks that contain their quotes.

    goldens: each with the rows of its query
    runs: all runs in hand; chunks that they returned count, and those of their corpora

    A quote that stands in several chunks, overlapping ones, is answered by any of them: for a
    golden of one quote `match` becomes "any"; where all of several are wanted, each is stood
    for by the chunk best ranked for its query. A quote in no chunk stands for itself, is never
    found and is counted as stale.
    """
    findings = Findings()
    texts = _folded_texts(runs)
    resolved = [_resolved(golden, rows, texts, findings) for golden, rows in goldens]
    return Resolved(tuple(resolved), findings.notices())


def _folded_texts(runs: Sequence[Run]) -> dict[str, str]:
    """Return the folded text of every chunk by id: those returned, then those of the corpora."""
    texts: dict[str, str] = {}
    for result in (result for run in runs for row in run.rows for result in row.results):
        if result.text is not None and result.id not in texts:
            texts[result.id] = folded(result.text)
    for run in runs:
        for id, text in run.corpus.items():
            if text is not None and id not in texts:
                texts[id] = folded(text)
    return texts


def _resolved(golden: Golden, rows: Rows, texts: dict[str, str], findings: Findings) -> Golden:
    place = Place(golden.where or "goldens")
    alone = len(golden.quotes) == 1 and not golden.expected
    ids: list[str] = list(golden.expected)
    for quote in golden.quotes:
        found = _containing(folded(quote), rows, texts)
        if not found:
            then = "the passage is gone or was changed: mend the golden"
            findings.count("stale quote", "quotes in no chunk", place=place, consequence=then)
            ids.append(f"quote {shown(quote)}")
        elif alone or golden.match == "any":
            ids += found
        else:
            ids.append(found[0])
            if len(found) > 1:
                what, then = "quotes in several chunks", "the best-ranked stands for each"
                findings.count("quote", what, place=place, consequence=then)
    match = "any" if alone and len(ids) > 1 else golden.match
    return replace(golden, expected=tuple(dict.fromkeys(ids)), quotes=(), match=match)


def _containing(wanted: str, rows: Rows, texts: dict[str, str]) -> list[str]:
    """Return ids of the chunks that hold a span: those returned for the query first, by rank."""
    slots = sorted(
        (rank, result.id)
        for row in rows
        if row is not None
        for rank, result in enumerate(row.results)
    )
    returned = (id for _, id in slots if wanted in texts.get(id, ""))
    return list(dict.fromkeys((*returned, *(id for id, text in texts.items() if wanted in text))))
