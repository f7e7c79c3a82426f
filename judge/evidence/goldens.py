"""What a golden says: which unit it speaks of, its evidence, its ranks, what was missed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from judge.errors import InputError, Problem
from judge.evidence.queries import Query
from judge.grades import Evidence, Source
from judge.run import Row

CHUNK = "chunk"
DOCUMENT = "document"


def decide_unit(
    queries: Iterable[Query],
    graded: Callable[[Query], Collection[str]] = lambda query: (),
) -> str:
    """Return "document" if any expected or graded id names a document rather than a chunk.

    One unit holds for all runs in hand. An expected id that equals a result's
    `document_id` but not that result's own id can only mean the document. So can the id
    of an earlier grade (`graded` returns a query's), unless some result has it as its own.
    """
    for query in queries:
        results = [result for row in query.rows if row for result in row.results]
        documents = {r.document_id for r in results if r.document_id and r.document_id != r.id}
        if not documents:
            continue
        expected = frozenset(query.golden.expected) if query.golden else frozenset()
        known = frozenset(graded(query))
        if expected & documents or (known & documents) - {result.id for result in results}:
            return DOCUMENT
    return CHUNK


def check_any_expected_occurs(queries: Sequence[Query], corpus_ids: frozenset[str]) -> None:
    """Raise InputError if goldens exist but none of their ids occurs anywhere.

    Then nothing was measured: ids were minted anew, or the wrong files were joined. Runs
    that are empty in every row are not an argument; the caller looks at those first.
    """
    expected = {id for query in queries if query.golden for id in query.golden.expected}
    if not expected or expected & corpus_ids:
        return
    for query in queries:
        for row in query.rows:
            for result in row.results if row else ():
                if result.id in expected or result.document in expected:
                    return
    raise InputError(
        Problem(
            "goldens",
            f"0 of {len(expected)} expected ids occur in the run or the corpus",
            "were ids re-minted? Compare one expected id with one returned id, or make ids"
            " from metadata with --key",
        )
    )


def stale_ids(queries: Sequence[Query], corpus_ids: frozenset[str]) -> tuple[str, ...]:
    """Return expected ids that no corpus entry and no result has, in order; needs a corpus."""
    if not corpus_ids:
        return ()
    returned = {
        name
        for query in queries
        for row in query.rows
        for result in (row.results if row else ())
        for name in (result.id, result.document)
    }
    expected = (id for query in queries if query.golden for id in query.golden.expected)
    return tuple(dict.fromkeys(id for id in expected if id not in corpus_ids | returned))


@dataclass(frozen=True, slots=True)
class Expected:
    """A golden's expected ids as units of one query.

    ideal: those that graded measures see (for match "any": the returned ones, or one)
    ranks: by run, for each unit of `all_units`, the 1-based rank of its first slot or None
    """

    all_units: tuple[str, ...]
    ideal: tuple[str, ...]
    ranks: tuple[tuple[int | None, ...], ...]

    def golden_ranks(self, run: int, *, match: str) -> tuple[int | None, ...]:
        """Return the ranks that golden measures see in one run.

        For "any" only the best-ranked expected id counts, so R@k is 0 or 1.
        """
        ranks = self.ranks[run]
        if match == "all" or not ranks:
            return ranks
        found = [rank for rank in ranks if rank is not None]
        return (min(found) if found else None,)


def resolve_expected(
    query: Query, *, first_ranks: Sequence[Mapping[str, int]], unit_of: Mapping[str, str]
) -> Expected:
    """Return a query's expected ids as units, with their first ranks in each run.

    first_ranks: by run, unit to the 1-based rank of its first slot
    unit_of: chunk id to unit, for ids that are not themselves units of some slot
    """
    golden = query.golden
    if golden is None:
        return Expected((), (), tuple(() for _ in first_ranks))
    returned = {unit for ranks in first_ranks for unit in ranks}
    units = tuple(
        dict.fromkeys(id if id in returned else unit_of.get(id, id) for id in golden.expected)
    )
    ideal = units
    if golden.match == "any":
        ideal = tuple(unit for unit in units if unit in returned) or units[:1]
    ranks = tuple(tuple(run.get(unit) for unit in units) for run in first_ranks)
    return Expected(units, ideal, ranks)


def golden_evidence(
    query: Query, unit: str, *, expected: Expected, grade_max: int
) -> Evidence | None:
    """Return what the golden says of one unit: the top grade, 0 if complete, or nothing."""
    if query.golden is None:
        return None
    if unit in expected.ideal:
        return Evidence(Source.GOLDEN, grade_max, grade_max, "expected")
    if query.golden.complete and unit not in expected.all_units:
        return Evidence(Source.GOLDEN, 0, 0, "not in the complete expected set")
    return None


@dataclass(frozen=True, slots=True)
class Miss:
    """An expected id that the deepest cutoff did not reach.

    rank: where it stands below the cutoff (misranked), or None (missing from the list)
    """

    query_id: str
    id: str
    rank: int | None

    @property
    def kind(self) -> str:
        """Return "missing" or "misranked"."""
        return "missing" if self.rank is None else "misranked"


def misses(query: Query, expected: Expected, *, run: int, depth: int) -> tuple[Miss, ...]:
    """Return each missed expected id ("all"), or one miss for a row without a hit ("any")."""
    if query.golden is None or not expected.all_units:
        return ()
    ranks = expected.golden_ranks(run, match=query.golden.match)
    named = expected.all_units
    if query.golden.match == "any":
        of_best = [
            unit for unit, rank in zip(named, expected.ranks[run], strict=True) if rank == ranks[0]
        ]
        named = (of_best[0],)
    return tuple(
        Miss(query.key, unit, rank)
        for unit, rank in zip(named, ranks, strict=True)
        if rank is None or rank > depth
    )


def returned_nothing(rows: Iterable[Row | None]) -> bool:
    """Tell whether a run is empty in every row, so that it did not really run."""
    return all(row is None or not row.results for row in rows)
