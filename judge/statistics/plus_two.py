"""The 95% interval of a mean of values in [0, 1]: "plus two".

Student's interval of the n values together with one 0 and one 1, cut to [0, 1]: Agresti and
Coull's interval of a share (1998, The American Statistician 52(2)), carried over to values
between. Student's own takes few values near 1 for proof that all are: it covers 79% on eleven
rows like the demo's. docs/statistics.md has the table of both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from judge.statistics.noninferiority import Interval, lower_bound, upper_bound
from judge.statistics.significance import moments
from judge.statistics.signs import ALPHA
from judge.statistics.student import t_quantile
from judge.statistics.weights import shares_of

FEWEST_OF_A_PART = 5
"""Below this many rows no interval is given for a part of a run, such as a slice."""

METHOD = "plus two"
_EXACT_ROWS = 1000


def plus_two(
    rows: Sequence[Interval], *, weights: Sequence[float] | None = None
) -> tuple[float, float] | None:
    """Return the 95% interval of the mean over queries like these; None for fewer than two.

    rows: [lo, hi] of each value in [0, 1]; the interval holds wherever in these the values lie.

    With weights, 0 and 1 each weigh Σw²/Σw, so that n values which tell as much as n_eff equal
    ones (Kish: n_eff = (Σw)²/Σw²) become n_eff + 2. Equal weights give the plain formula.

    >>> [round(end, 4) for end in plus_two([(1, 1)] * 3)]
    [0.2447, 1.0]
    """
    if len(rows) < 2:
        return None
    shares = shares_of(len(rows), weights)
    own = math.fsum(p * p for p in shares)
    extended = [*shares, own, own]
    if all(lo == hi for lo, hi in rows):
        found = moments([*(lo for lo, _ in rows), 0.0, 1.0], weights=extended)
        assert found.se is not None, "0 and 1 share the weight with the rows"
        reach = t_quantile(1.0 - ALPHA / 2, df=found.df) * found.se
        low, high = found.mean - reach, found.mean + reach
    elif len(rows) <= _EXACT_ROWS:
        values = [*rows, (0.0, 0.0), (1.0, 1.0)]
        low = lower_bound(values, weights=extended, alpha=ALPHA / 2).lo
        high = upper_bound(values, weights=extended, alpha=ALPHA / 2).hi
    else:
        # No values in [0, 1] have a larger standard error than half zeros and half ones.
        df = 1.0 / own + 1.0
        reach = t_quantile(1.0 - ALPHA / 2, df=df) * 0.5 / math.sqrt(df)
        low = (math.fsum(p * lo for p, (lo, _) in zip(shares, rows, strict=True)) + own) / (
            1.0 + 2.0 * own
        )
        high = (math.fsum(p * hi for p, (_, hi) in zip(shares, rows, strict=True)) + own) / (
            1.0 + 2.0 * own
        )
        low, high = low - reach, high + reach
    return max(low, 0.0), min(high, 1.0)
