"""The slots of all runs for one query, by unit: who stands where first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judge.evidence.goldens import DOCUMENT
from judge.run import KnownGrade, Result, Row


@dataclass(frozen=True, slots=True)
class Slots:
    """Where each unit stands in each run; a unit is a chunk, or a document.

    rankings: by run, at each rank the unit whose first slot this is, None for a repeat
    first_ranks: by run, unit to the 1-based rank of its first slot
    first_results: unit to (rank, result) of its first slot in each run that has it
    unit_of: id of a result to its unit
    blank: ids of results whose text is there but holds nothing, first slots only
    """

    rankings: tuple[tuple[str | None, ...], ...]
    first_ranks: tuple[Mapping[str, int], ...]
    first_results: Mapping[str, tuple[tuple[int, Result], ...]]
    unit_of: Mapping[str, str]
    blank: frozenset[str]

    def first(self, unit: str, *, depth: int | None) -> list[Result]:
        """Return a unit's first slot in each run, those within `depth` only."""
        return [result for rank, result in self.first_results.get(unit, ()) if _within(rank, depth)]

    def document(self, unit: str) -> str | None:
        """Return the document of a unit that has one other than itself."""
        shown = self.first_results.get(unit)
        return shown[0][1].document if shown and shown[0][1].document != unit else None

    def by_unit(
        self, known: Sequence[KnownGrade], *, unit: str
    ) -> dict[str, tuple[KnownGrade, ...]]:
        """Return known grades by the unit that each speaks of."""
        found: dict[str, tuple[KnownGrade, ...]] = {}
        for grade in known:
            name = grade.id
            if unit == DOCUMENT:
                name = self.unit_of.get(grade.id, grade.document_id or grade.id)
            found[name] = (*found.get(name, ()), grade)
        return found


def slots_of(rows: Sequence[Row | None], *, unit: str, depth: int | None) -> Slots:
    """Return the slots of a query's rows, one row a run.

    unit: "chunk" or "document"; depth: how far down a blank text is looked for
    """
    rankings, first_ranks = [], []
    first_results: dict[str, tuple[tuple[int, Result], ...]] = {}
    unit_of: dict[str, str] = {}
    blank: set[str] = set()
    for row in rows:
        ranks: dict[str, int] = {}
        ranking: list[str | None] = []
        for rank, result in enumerate(row.results if row else (), 1):
            name = result.document if unit == DOCUMENT else result.id
            unit_of.setdefault(result.id, name)
            if name in ranks:
                ranking.append(None)
                continue
            ranks[name] = rank
            ranking.append(name)
            first_results[name] = (*first_results.get(name, ()), (rank, result))
            if result.text is not None and not result.text.strip() and _within(rank, depth):
                blank.add(result.id)
        rankings.append(tuple(ranking))
        first_ranks.append(ranks)
    return Slots(tuple(rankings), tuple(first_ranks), first_results, unit_of, frozenset(blank))


def _within(rank: int, depth: int | None) -> bool:
    return depth is None or rank <= depth
