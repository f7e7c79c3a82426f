"""Pools with the pairs of read logs among what is known, beside those that count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judge.auditing import AuditFirst, LogAudit, LogTrust, LogUse
from judge.evidence.joining import PreferenceIndex
from judge.evidence.pool import QueryPool
from judge.evidence.rebuilding import Evidence
from judge.judging.selector import Selector


@dataclass(frozen=True, slots=True)
class LogReading:
    """What read logs add: each pool with their pairs in it, and what they have earned."""

    pools: tuple[QueryPool, ...]
    trust: LogTrust


class LogPairs:
    """The decided pairs of read logs, and the pools as they would be with them."""

    def __init__(
        self,
        evidence: Evidence,
        preferences: PreferenceIndex | None,
        pools: Sequence[QueryPool],
        use: LogUse,
    ) -> None:
        self._evidence = evidence
        self._use = use
        joined = [preferences.join(q).pairs for q in evidence.queries] if preferences else []
        self._pairs = {at: pairs for at, pairs in enumerate(joined) if pairs}
        self._built: dict[int, tuple[QueryPool, QueryPool]] = {}
        self._audit = LogAudit(pools, self.pools(pools)) if self._pairs else None

    def pools(self, bare: Sequence[QueryPool]) -> list[QueryPool]:
        """Return the pools with the pairs; one without any is the very same object."""
        found = list(bare)
        for at, pairs in self._pairs.items():
            built = self._built.get(at)
            if built is None or built[0] is not bare[at]:
                built = self._built[at] = bare[at], self._evidence.ordered(at, pairs)
            found[at] = built[1]
        return found

    def audited(self, selector: Selector) -> Selector:
        """Return the selector, an audit of the log before it where there is one to make."""
        if self._audit is None:
            return selector
        return AuditFirst(self._audit, selector, self._use, self.pools)

    def reading(self, bare: Sequence[QueryPool]) -> LogReading | None:
        """Return what the log adds to the pools; None where it orders nothing."""
        if self._audit is None:
            return None
        trust = self._audit.trust(bare, limit=self._use.error_limit)
        return LogReading(tuple(self.pools(bare)), trust)

    def saved(self, bare: Sequence[QueryPool], everything: Selector) -> Mapping[str, int]:
        """Return how many calls the log made unnecessary: what would be asked without it."""
        if self._audit is None or not self._use.settles:
            return {}
        return {"preference": len(everything.next(bare, limit=1))}
