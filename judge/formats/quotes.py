"""Goldens that quote a span of text: the chunks that contain it are expected.

Such goldens survive re-chunking: they name no chunk until the run and the corpus are at hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from judge.formats.findings import Findings, Place, shown
from judge.run import Golden, Notice, Row, Run


@dataclass(frozen=True, slots=True)
class Resolved:
    """Goldens whose quotes have become ids, and what was counted on the way."""

    goldens: tuple[Golden, ...]
    notices: tuple[Notice, ...] = ()


def folded(text: str) -> str:
    """Return what two spellings of one span share: case and white space folded.

    >>> folded("  Push the\\nLEVER ")
    'push the lever'
    """
    return " ".join(text.casefold().split())


def resolve_quotes(
    goldens: Iterable[Golden], runs: Sequence[Run], *, texts: Mapping[str, str | None]
) -> Resolved:
    """Return the goldens with the ids of the chunks that contain their quotes.

    texts: the corpus, if there is one; chunks that a run returned count as well

    A quote that stands in several chunks, overlapping ones, is answered by any of them: for a
    golden of one quote `match` becomes "any"; where all of several are wanted, each is stood
    for by the chunk best ranked for its query. A quote in no chunk stands for itself, is never
    found and is counted as stale.
    """
    goldens = tuple(goldens)
    if not any(golden.quotes for golden in goldens):
        return Resolved(goldens)
    findings = Findings()
    chunks = _Chunks(runs, texts)
    resolved = [
        _resolved(golden, chunks, findings) if golden.quotes else golden for golden in goldens
    ]
    return Resolved(tuple(resolved), findings.notices())


class _Chunks:
    """Folded texts of chunks by id: those a query was answered with, best first, and all."""

    def __init__(self, runs: Sequence[Run], texts: Mapping[str, str | None]) -> None:
        self._rows: dict[str, list[Row]] = {}
        self._all: dict[str, str] = {}
        for row in (row for run in runs for row in run.rows):
            for name in {row.query_id, row.query} - {None}:
                self._rows.setdefault(str(name), []).append(row)
            for result in row.results:
                if result.text is not None:
                    self._all.setdefault(result.id, folded(result.text))
        for id, text in texts.items():
            if text is not None:
                self._all.setdefault(id, folded(text))

    def containing(self, quote: str, golden: Golden) -> list[str]:
        """Return ids of chunks with the quote: those returned for the query first, by rank."""
        wanted = folded(quote)
        found = (id for id in self._ranked(golden) if wanted in self._all.get(id, ""))
        rest = (id for id, text in self._all.items() if wanted in text)
        return list(dict.fromkeys((*found, *rest)))

    def _ranked(self, golden: Golden) -> Iterator[str]:
        named = golden.query_id if golden.query_id in self._rows else golden.query
        rows = self._rows.get(named or "", [])
        slots = sorted((rank, result.id) for row in rows for rank, result in enumerate(row.results))
        return (id for _, id in slots)


def _resolved(golden: Golden, chunks: _Chunks, findings: Findings) -> Golden:
    place = Place(golden.where or "goldens")
    named = [(quote, chunks.containing(quote, golden)) for quote in golden.quotes]
    alone = len(golden.quotes) == 1 and not golden.expected
    ids: list[str] = list(golden.expected)
    for quote, found in named:
        if not found:
            then = "the passage is gone or was changed: mend the golden"
            findings.count("stale quote", "quotes in no chunk", place=place, consequence=then)
            ids.append(f"quote {shown(quote)}")
        elif alone or golden.match == "any":
            ids += found
        else:
            ids.append(found[0])
            if len(found) > 1:
                then = "the best-ranked stands for each"
                what = "quotes in several chunks"
                findings.count("quote", what, place=place, consequence=then)
    several = alone and len(ids) > 1
    match = "any" if several else golden.match
    return replace(golden, expected=tuple(dict.fromkeys(ids)), quotes=(), match=match)
