"""Pools built anew from all that is known of their queries, whenever a reply comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judge.evidence.known import GradeIndex
from judge.evidence.plain_pool import plain_pool
from judge.evidence.pool import PoolRules, QueryPool, build_pool
from judge.evidence.preferences import Pair
from judge.evidence.queries import Query
from judge.evidence.units import Reply


class Evidence:
    """What is known before the judge, and how a pool is built from it and replies."""

    def __init__(self, queries: Sequence[Query], rules: PoolRules, grades: GradeIndex) -> None:
        self.queries = queries
        self._rules = rules
        self._grades = grades
        self._replies: dict[int, Mapping[str, Reply]] = {}

    def pool(self, at: int, replies: Mapping[str, Reply]) -> QueryPool:
        """Return the pool at a place by all replies about it so far, which are kept."""
        query, rules = self.queries[at], self._rules
        self._replies[at] = replies
        known = self._grades.plain(query, grade_max=rules.grade_max)
        if known is not None:
            plain = plain_pool(query, rules, known=known, replies=replies)
            if plain is not None:
                return plain
        return self.ordered(at, ())

    def ordered(self, at: int, pairs: Sequence[Pair]) -> QueryPool:
        """Return the pool at a place with these pairs among what is known."""
        query = self.queries[at]
        known, replies = self._grades.of(query), self._replies[at]
        return build_pool(query, self._rules, known=known, preferences=pairs, replies=replies)
