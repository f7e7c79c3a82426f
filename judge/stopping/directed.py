"""The selector that asks what can move the answer most, and stops when it is certain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judge.contrast import Contrast
from judge.evidence.pool import QueryPool
from judge.judging.selector import Ask
from judge.stopping.ahead import LookAhead, OpenRow
from judge.stopping.goals import Goal, Standing


class Directed:
    """Ask about the chunks with the largest expected help towards a goal of one contrast."""

    def __init__(self, contrast: Contrast, goal: Goal) -> None:
        self._ahead = LookAhead(contrast)
        self._goal = goal

    @property
    def open_rows(self) -> Mapping[int, OpenRow]:
        """Return the rows, by position, in which asking could still change something."""
        return self._ahead.open_rows

    def next(self, pools: Sequence[QueryPool], *, limit: int) -> list[Ask]:
        """Return up to `limit` asks, best first; nothing when the goal is reached."""
        standing = self.standing(pools)
        aim = self._goal.aim(standing)
        if aim is None:
            return []
        return self._ahead.asks(pools, standing, aim, limit=limit)

    def standing(self, pools: Sequence[QueryPool]) -> Standing:
        """Return how the question stands with the pools as they are."""
        return self._ahead.standing(pools)
