"""What a log is mined by."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from judge.errors import UsageError
from judge.readlog.deciding import Rule
from judge.readlog.strategies import STRATEGIES
from judge.readlog.ubi import READ_ACTIONS
from judge.readlog.visits import VisitRules


@dataclass(frozen=True, slots=True)
class MiningOptions:
    """How a log is read and what counts as a vote.

    strategies: names in `strategies.STRATEGIES` for lists that people read from
    opposition: count a read above an unread chunk against the lower one
    one_vote: one vote a session and pair; False (every list votes) shows what that costs
    reformulations: wordings of one session that share most of their words are one query
    chains: let a read in a later wording speak for the earlier one (weak)
    read_actions: UBI `action_name`s that are reads
    """

    rule: Rule = field(default_factory=Rule)
    visits: VisitRules = field(default_factory=VisitRules)
    strategies: tuple[str, ...] = ("skip-above",)
    opposition: bool = True
    one_vote: bool = True
    reformulations: bool = False
    chains: bool = False
    read_actions: Collection[str] = READ_ACTIONS

    def __post_init__(self) -> None:
        for name in self.strategies:
            if name not in STRATEGIES:
                raise UsageError(f"no strategy {name!r}; there are: {', '.join(STRATEGIES)}")
