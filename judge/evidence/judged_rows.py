"""Rows of which something is known before a judge is asked: few, where qrels cover a part."""

from __future__ import annotations

from collections.abc import Sequence

from judge.errors import InputError, Problem
from judge.evidence.known import GradeIndex
from judge.evidence.queries import Query
from judge.run import Notice

UNGRADED = "rows_without_grades"
ONLY_JUDGED = "only_judged"
_NAMED = 3


def only_judged(
    queries: Sequence[Query], grades: GradeIndex
) -> tuple[tuple[Query, ...], tuple[Notice, ...]]:
    """Return the queries with a golden or a grade, and how many were left out.

    Raises InputError where no query has either.
    """
    kept = tuple(query for query in queries if _is_judged(query, grades))
    if not kept:
        found = f"none of {len(queries):,} rows has a golden or a grade"
        fix = "give --judgments, --labels or --goldens that name its queries"
        raise InputError(Problem("--only-judged", found, fix))
    left = [query.key for query in queries if not _is_judged(query, grades)]
    if not left:
        return kept, ()
    text = (
        f"--only-judged left out {len(left):,} of {_rows(len(queries))} that"
        f" {'has' if len(left) == 1 else 'have'} no grade at all: {_listed(left)}"
    )
    return kept, (Notice(ONLY_JUDGED, len(left), text),)


def ungraded_notice(queries: Sequence[Query], grades: GradeIndex) -> tuple[Notice, ...]:
    """Say how many rows have no grade at all where others have some; no judge is there to ask."""
    bare = [query.key for query in queries if not _is_judged(query, grades)]
    if not bare or len(bare) == len(queries):
        return ()
    text = (
        f"{len(bare):,} of {_rows(len(queries))} {'has' if len(bare) == 1 else 'have'} no grade at"
        f" all ({_listed(bare)}): --only-judged leaves such rows out"
    )
    return (Notice(UNGRADED, len(bare), text),)


def _is_judged(query: Query, grades: GradeIndex) -> bool:
    return query.golden is not None or grades.knows(query)


def _rows(count: int) -> str:
    return f"{count:,} {'row' if count == 1 else 'rows'}"


def _listed(keys: Sequence[str]) -> str:
    return ", ".join(keys[:_NAMED]) + (", …" if len(keys) > _NAMED else "")
