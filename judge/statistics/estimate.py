"""A number with its interval, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic and its 95% interval; what is undefined is None with a reason, never NaN.

    value: None when the statistic is undefined; `reason` then says why
    lo, hi: both None when no interval can be given; `reason` then says why
    """

    value: float | None
    lo: float | None = None
    hi: float | None = None
    reason: str = ""

    def as_json(self) -> dict[str, float | str | None]:
        """Return the JSON form: null where undefined, `reason` only where there is one."""
        fields: dict[str, float | str | None] = {"value": self.value, "lo": self.lo, "hi": self.hi}
        return fields | ({"reason": self.reason} if self.reason else {})
