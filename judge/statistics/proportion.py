"""How large a share may be of which some cases were drawn and counted."""

from __future__ import annotations

from judge.statistics.incomplete_beta import incomplete_beta

UPPER_LEVEL = 0.975
"""How sure an upper bound is: the upper end of a 95% interval."""

_HALVINGS = 60


def upper_share(found: int, drawn: int, *, level: float = UPPER_LEVEL) -> float:
    """Return what a share lies below with that confidence, after `found` of `drawn` had it.

    Exact (Clopper & Pearson 1934) for independent draws, and wider than need be for draws
    without return. 1 where nothing was drawn.

    >>> round(upper_share(2, 40), 4), round(upper_share(0, 20), 4), upper_share(0, 0)
    (0.1692, 0.1684, 1.0)
    """
    assert 0 <= found <= drawn, "a share of what was drawn"
    if found == drawn:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        below = incomplete_beta(found + 1.0, float(drawn - found), middle, 1.0 - middle)
        low, high = (middle, high) if below < level else (low, middle)
    return high
