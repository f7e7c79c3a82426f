"""Conflicts in words and as JSON: which of two statements about one chunk stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from judge.grades import Conflict, Evidence

_SHOWN = 3


def conflict_line(conflicts: Sequence[Conflict]) -> str | None:
    """Return the count and the first few, or None where there are none."""
    if not conflicts:
        return None
    named = ", ".join(
        f"{c.id} ({c.query_id}): {c.stands.source} stands over {c.against.source}"
        for c in conflicts[:_SHOWN]
    )
    more = f" and {len(conflicts) - _SHOWN:,} more" if len(conflicts) > _SHOWN else ""
    return f"Conflicts: {len(conflicts):,}: {named}{more}"


def conflict_documents(conflicts: Iterable[Conflict]) -> list[Mapping[str, Any]]:
    """Return each conflict as JSON; a withdrawn pair of a read log has source `preference`."""
    return [
        {
            "query_id": conflict.query_id,
            "id": conflict.id,
            "stands": _evidence(conflict.stands),
            "against": _evidence(conflict.against),
        }
        for conflict in conflicts
    ]


def _evidence(evidence: Evidence) -> Mapping[str, Any]:
    return {
        "source": str(evidence.source),
        "lo": evidence.lo,
        "hi": evidence.hi,
        "detail": evidence.detail,
    }
