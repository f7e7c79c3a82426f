"""The selector of a gate: it asks while the verdict over all measures could still change.

Fail beats undecided beats pass. So it stops as soon as one measure fails whatever is open.
Until then it asks where something could still fail; once nothing can, and some measure is
undecided for good, no grade changes the verdict any more.
"""

from __future__ import annotations

from collections.abc import Sequence

from judge.evidence.pool import QueryPool
from judge.judging.selector import Ask
from judge.measures.names import Measure
from judge.scoring import Scale
from judge.stopping.outcome import Outcome, Rule
from judge.stopping.watching import View, Watched


class SameVerdict:
    """Ask until the verdict is the same under every completion, or no judging can change it.

    measures: those that gate; runs: how many there are, the baseline first
    """

    def __init__(self, measures: Sequence[Measure], *, runs: int, scale: Scale, rule: Rule) -> None:
        self._watched = [
            Watched(measure, runs=runs, scale=scale, rule=rule) for measure in measures
        ]

    def next(self, pools: Sequence[QueryPool], *, limit: int) -> list[Ask]:
        """Return up to `limit` asks; nothing when the verdict is certain."""
        views = [view for one in self._watched if (view := one.view(pools)) is not None]
        if any(view.ruling.outcome is Outcome.FAIL for view in views):
            return []
        # A fail that is likely is looked for first: it ends the asking.
        views.sort(key=lambda view: view.guess.outcome is not Outcome.FAIL)
        for view in views:
            asks = view.asks_whether_it_fails(pools, limit=limit)
            if asks:
                return asks
        return _asks_whether_all_pass(views, pools, limit=limit)


def _asks_whether_all_pass(
    views: Sequence[View], pools: Sequence[QueryPool], *, limit: int
) -> list[Ask]:
    """Return asks that could tell pass from undecided, where no asking can find a fail."""
    waiting = [view for view in views if view.ruling.outcome is not Outcome.PASS]
    found = [view.asks_whether_it_passes(pools, limit=limit) for view in waiting]
    if not all(found):
        # One measure stays undecided, whatever is asked.
        return []
    likely = [view.guess.outcome is Outcome.PASS for view in waiting]
    return min(zip(likely, range(len(found)), found, strict=True), default=(0, 0, []))[2]
