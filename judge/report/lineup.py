"""A line-up of several runs as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judge.calibration.rescoring import SystemOrders
from judge.comparing.lineup import Lineup, Standing
from judge.report.differences import aligned, mean_text, wrapped
from judge.report.phrases import MOCK, number, plural
from judge.report.terminal import shorten
from judge.statistics.estimate import Estimate

_NAME_WIDTH = 30


def lineup_lines(lineup: Lineup) -> Iterator[str]:
    """Yield the lines of the whole text: the sentence first, best runs on top of each table."""
    yield from wrapped(headline(lineup))
    for measure, standings in lineup.standings.items():
        yield ""
        cells = [[str(measure), "rows", "mean", "95% CI"]]
        cells += [_cells(standing) for standing in sorted(standings, key=lambda s: -s.mean.value)]
        yield from aligned(cells)
    if lineup.orders is not None:
        yield ""
        yield from _orders(lineup.orders)


def headline(lineup: Lineup) -> str:
    """Return the one sentence a manager reads."""
    count = len(lineup.grading.runs)
    measure = next(iter(lineup.standings), None)
    if measure is None:
        return "Nothing could be compared: no row has what the measures asked for need."
    best = max(lineup.standings[measure], key=lambda standing: standing.mean.value)
    start = f"Of {plural(count, 'run')} {shorten(best.run, 40)} has the highest {measure}"
    is_open = any(standing.mean.is_open for standing in lineup.standings[measure])
    doubt = " with every open chunk at its lowest grade" if is_open else ""
    by_mock = f" (Graded by the mock: {MOCK}.)" if lineup.grading.by_mock else ""
    return f"{start}, {mean_text(best.mean)}{doubt}; compare two of them for a verdict.{by_mock}"


def _cells(standing: Standing) -> list[str]:
    ci = "-" if standing.ci is None else f"{number(standing.ci[0])}..{number(standing.ci[1])}"
    name = shorten(standing.run, _NAME_WIDTH)
    return [name, str(standing.mean.n), mean_text(standing.mean), ci]


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
        "orders": None
        if orders is None
        else {
            "measure": str(orders.measure),
            "queries": orders.queries,
            "means": {name: list(means) for name, means in orders.means.items()},
            **{name: estimate.as_json() for name, estimate in orders.correlations.items()},
        },
    }
