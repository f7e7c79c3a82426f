"""How judge and run keep decided preferences, in words and as JSON; never an accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge.auditing import Checked, LogTrust
from judge.measures.pool import Bounded
from judge.preferred import OrdersKept, Preferred
from judge.scoring import Mean
from judge.statistics.preferred import OrderAgreement
from judge.statistics.proportion import UPPER_LEVEL


def preference_lines(preferred: Preferred | None) -> list[str]:
    """Return a line on the judge and one on rows known by preferences alone, where there are."""
    if preferred is None:
        return []
    lines = []
    if preferred.judge is not None:
        lines.append(_judge_line(preferred.judge))
    kept = preferred.run
    if kept is not None and kept.ppref is not None and kept.wpref is not None:
        lines.append(
            f"Known by preferences alone: {kept.rows:,} rows, ppref@{kept.k} {kept.ppref:.3f},"
            f" wpref@{kept.k} {kept.wpref:.3f}"
        )
    return lines


def _judge_line(found: OrderAgreement) -> str:
    line = (
        f"Preferences: of {found.n:,} decided pairs of {found.queries:,} queries, the judge grades"
        f" {found.agree:,} the same way, {found.tied:,} equal, {found.against:,} the other way"
    )
    if found.agreement is not None:
        line += f"; agreement {found.agreement:.3f}"
    if found.interval is not None:
        line += f" [{found.interval[0]:.3f}, {found.interval[1]:.3f}]"
    if found.balanced is not None:
        line += f", {found.balanced:.3f} balanced over the order shown"
    return line


def preferences_document(preferred: Preferred | None) -> Mapping[str, Any] | None:
    """Return the same as JSON; None without preferences."""
    if preferred is None:
        return None
    return {"judge": _judge(preferred), "run": _run(preferred.run)}


def trust_document(trust: LogTrust) -> Mapping[str, Any]:
    """Return what a read log has earned as JSON: how it was checked, and the bound of its error."""
    return {
        "trusted": trust.is_trusted,
        "condition": trust.condition,
        "audited": _checked(trust.audited),
        "drawn_from": trust.waiting,
        "known": _checked(trust.known),
        "at_most": trust.at_most,
        "level": UPPER_LEVEL,
        "limit": trust.limit,
    }


def without_log(bare: Bounded | Mean) -> Mapping[str, float]:
    """Return what stands beside `lo` and `hi` where these hold only if the log is right."""
    return {
        "value_without_log": bare.value,
        "lo_without_log": bare.lo,
        "hi_without_log": bare.hi,
    }


def _checked(checked: Checked) -> Mapping[str, int]:
    return {"pairs": checked.pairs, "contradicted": checked.contradicted}


def _judge(preferred: Preferred) -> Mapping[str, Any] | None:
    found = preferred.judge
    if found is None:
        return None
    return {
        "pairs": found.n,
        "queries": found.queries,
        "agree": found.agree,
        "tied": found.tied,
        "against": found.against,
        "agreement": found.agreement,
        "interval": found.interval,
        "half_credit": found.half_credit,
        "winner_above": found.winner_above,
        "winner_below": found.winner_below,
        "balanced": found.balanced,
        "pairs_right": preferred.pairs_right,
        "corrected": preferred.corrected,
    }


def _run(kept: OrdersKept | None) -> Mapping[str, Any] | None:
    if kept is None:
        return None
    return {
        "k": kept.k,
        "ppref": kept.ppref,
        "wpref": kept.wpref,
        "rows": kept.rows,
        "unordered": kept.unordered,
    }
