"""What a gate may say, and what it is asked to say it of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from judge.errors import UsageError

MARGIN = 0.01


class Outcome(StrEnum):
    """What a gate says."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    UNDECIDED = "undecided"


class Claim(StrEnum):
    """Which queries a pass speaks of: those in hand, or others like them too."""

    SET = "set"
    POPULATION = "population"


@dataclass(frozen=True, slots=True)
class Rule:
    """How much lower is still good enough, and of which queries.

    margin: a mean may be this much lower; at 0 any drop fails
    """

    margin: float = MARGIN
    claim: Claim = Claim.SET

    def __post_init__(self) -> None:
        if not 0.0 <= self.margin <= 1.0:
            raise UsageError(f"the margin is {self.margin}; it lies in 0..1, such as {MARGIN}")


def certain(possible: frozenset[Outcome]) -> Outcome:
    """Return the one outcome that is possible; of several, undecided."""
    return next(iter(possible)) if len(possible) == 1 else Outcome.UNDECIDED
