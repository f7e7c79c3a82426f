"""A line-up of several runs as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from judge.calibration.rescoring import SystemOrders
from judge.comparing.lineup import Lineup, Standing
from judge.measures.names import Measure
from judge.report.differences import aligned, wrapped
from judge.report.estimates import INTERVAL_METHOD, in_cell, in_words, span_cell
from judge.report.phrases import MOCK, number, plural, said_first
from judge.report.terminal import shorten
from judge.statistics.estimate import Estimate
from judge.statistics.plus_two import METHOD

_NAME_WIDTH = 30


def lineup_lines(lineup: Lineup) -> Iterator[str]:
    """Yield the lines of the whole text: the sentence first, best runs on top of each table."""
    yield from wrapped(headline(lineup))
    for measure, standings in lineup.standings.items():
        yield ""
        cells = [[str(measure), "rows", "mean", "95% CI"]]
        cells += [_cells(standing) for standing in sorted(standings, key=lambda s: -s.mean.value)]
        yield from aligned(cells)
    yield ""
    yield from wrapped(f"95% CI over queries like these: {INTERVAL_METHOD}.")
    if lineup.orders is not None:
        yield ""
        yield from _orders(lineup.orders)


def headline(lineup: Lineup) -> str:
    """Return the one sentence a manager reads."""
    count = len(lineup.grading.runs)
    measure = next(iter(lineup.standings), None)
    if measure is None:
        return "Nothing could be compared: no row has what the measures asked for need."
    by_mock = f" (Graded by the mock: {MOCK}.)" if lineup.grading.by_mock else ""
    found = _highest(measure, lineup.standings[measure])
    first = said_first(lineup.grading.notices)
    return f"Of {plural(count, 'run')} {found}; compare two of them for a verdict.{by_mock}{first}"


def _highest(measure: Measure, standings: Sequence[Standing]) -> str:
    """Return which run is ahead, and whether open grades could make it another one."""
    best = max(standings, key=lambda standing: standing.mean.value)
    others = [other.mean for other in standings if other is not best]
    level = 1 + sum(math.isclose(other.value, best.mean.value) for other in others)
    name, value = shorten(best.run, 40), in_words(best.mean)
    is_open = any(standing.mean.is_open for standing in standings)
    if is_open and not all(other.hi < best.mean.lo for other in others):
        leads = f"{name} has it" if level == 1 else f"{level} of them share it"
        return (
            f"none is sure to have the highest {measure}: grades are open. With every open chunk at"
            f" its lowest grade {leads}, {number(best.mean.value)}"
        )
    if level > 1:
        return f"{level} share the highest {measure}, {value}"
    return f"{name} has the highest {measure}, {value}" + ", whatever is open" * is_open


def _cells(standing: Standing) -> list[str]:
    name = shorten(standing.run, _NAME_WIDTH)
    return [name, str(standing.mean.n), in_cell(standing.mean), span_cell(standing.ci)]


def _orders(orders: SystemOrders) -> Iterator[str]:
    yield (
        f"Two sources of grades over the chunks that both graded ({plural(orders.queries, 'row')}):"
    )
    cells = [[str(orders.measure), "these", "the other"]]
    cells += [
        [shorten(name, _NAME_WIDTH), number(first), number(second)]
        for name, (first, second) in sorted(orders.means.items(), key=lambda item: -item[1][0])
    ]
    yield from aligned(cells)
    for name, estimate in orders.correlations.items():
        yield f"{_CORRELATIONS[name]} {_estimate(estimate)}"


_CORRELATIONS = {"tau_b": "Kendall's tau-b", "tau_ap": "tau-ap", "spearman": "Spearman's rho"}


def _estimate(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"undefined: {estimate.reason}"
    if estimate.lo is None or estimate.hi is None:
        return f"{estimate.value:.4f} ({estimate.reason})"
    return f"{estimate.value:.4f} (95% CI {estimate.lo:.3f}..{estimate.hi:.3f})"


def lineup_document(lineup: Lineup) -> dict[str, Any]:
    """Return what `judge compare A B C --json` prints."""
    orders = lineup.orders
    return {
        "schema": 1,
        "runs": [run.name for run in lineup.grading.runs],
        "measures": {
            str(measure): [
                {
                    "run": standing.run,
                    "value": standing.mean.value,
                    "lo": standing.mean.lo,
                    "hi": standing.mean.hi,
                    "n": standing.mean.n,
                    "ci95": None if standing.ci is None else list(standing.ci),
                }
                for standing in standings
            ]
            for measure, standings in lineup.standings.items()
        },
        "ci95_method": METHOD,
        "orders": None
        if orders is None
        else {
            "measure": str(orders.measure),
            "queries": orders.queries,
            "means": {name: list(means) for name, means in orders.means.items()},
            **{name: estimate.as_json() for name, estimate in orders.correlations.items()},
        },
    }
