"""Grades on their way out: what is known of each pair, who said so, and how queries are called."""

from __future__ import annotations

from dataclasses import dataclass

from judge.formats.findings import Findings
from judge.formats.grades import placed_statements
from judge.formats.opening import SourceFile
from judge.formats.options import DEFAULTS, ReadOptions
from judge.formats.texts import Queries
from judge.run import Notice


@dataclass(frozen=True, slots=True)
class Judged:
    """What is known of one (query, chunk).

    query_id, query: at least one of them is there
    source, reason: as the file has them, "" where it names none
    """

    query_id: str | None
    query: str | None
    id: str
    lo: int
    hi: int
    source: str = ""
    reason: str = ""

    @property
    def grade(self) -> int | None:
        """Return the grade when only one is possible, else None."""
        return self.lo if self.lo == self.hi else None


@dataclass(frozen=True, slots=True)
class JudgedFile:
    """What a file knows of each pair, in its order, and what was counted on the way."""

    judged: tuple[Judged, ...]
    notices: tuple[Notice, ...] = ()


def read_judged(
    source: SourceFile, options: ReadOptions = DEFAULTS, *, queries: Queries | None = None
) -> JudgedFile:
    """Return the grades of any file that `read_grades` reads, with their provenance.

    queries: gives a query its text by its id, and its id by its text, where the file lacks one
    """
    findings = Findings()
    texts = {} if queries is None else dict(queries.texts)
    ids = {text: id for id, text in texts.items()}
    judged: list[Judged] = []
    for statement, (lo, hi) in placed_statements(source, options, findings):
        query_id, query = statement.query_id, statement.query
        if query_id == query and query is not None:
            # `{query: {doc: grade}}` does not say which of the two its keys are.
            query_id = ids.get(query, query if " " not in query else None)
            query = texts.get(query, query)
        source_name, reason = statement.fields.get("source"), statement.fields.get("reason")
        judged.append(
            Judged(
                query_id=query_id or ids.get(query or ""),
                query=query or texts.get(query_id or ""),
                id=statement.id,
                lo=lo,
                hi=hi,
                source=source_name if isinstance(source_name, str) else "",
                reason=reason if isinstance(reason, str) else "",
            )
        )
    return JudgedFile(tuple(judged), findings.notices())
