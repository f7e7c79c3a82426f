"""How far two sources of grades agree, from the table of grades they gave.

Everything is computed from a table `(..., q, q)`: the weight of the pairs that the first
source (a human) graded i and the second (the judge) graded j, on a scale of q grades
0..q-1. Tables add up, so the tables of queries resampled by a bootstrap are one
matrix product away, and every function here takes a whole stack of them.

An undefined value is NaN *inside* a stack only; `judge.statistics.paired` turns it into None with
the reason that `undefined` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Coefficient: TypeAlias = Callable[[Array], Array]


ERRORS = frozenset({"mae", "bias"})
"""Not agreements: the less the better, and not bounded by 1."""

SHARES = frozenset({"exact", "within_one", "mae"})
"""What cannot fall below 0."""


def table(
    human: Sequence[int],
    judge: Sequence[int],
    *,
    grade_max: int,
    weights: Sequence[float] | None = None,
) -> Array:
    """Return the (q, q) table of paired grades; human in rows, judge in columns.

    >>> table([0, 0, 1], [0, 1, 1], grade_max=1)
    array([[1., 1.],
           [0., 1.]])
    """
    counts = np.zeros((grade_max + 1, grade_max + 1))
    np.add.at(counts, (list(human), list(judge)), 1.0 if weights is None else list(weights))
    return counts


def binarised(tables: Array, *, at: int) -> Array:
    """Return the 2 x 2 tables of "grade >= at" against "grade < at"."""
    by_row = np.stack([tables[..., :at, :].sum(-2), tables[..., at:, :].sum(-2)], axis=-2)
    return np.stack([by_row[..., :at].sum(-1), by_row[..., at:].sum(-1)], axis=-1)


def _grades(tables: Array) -> Array:
    return np.arange(tables.shape[-1], dtype=np.float64)


def _share(part: Array, whole: Array) -> Array:
    """Divide, with NaN where the whole is 0."""
    safe = np.where(whole == 0, 1.0, whole)
    return np.where(whole == 0, np.nan, part / safe)


def _mean(tables: Array, values: Array) -> Array:
    """Return the mean over pairs of a value that depends on the two grades alone."""
    return _share((tables * values).sum((-2, -1)), tables.sum((-2, -1)))


def exact(tables: Array) -> Array:
    """Return the share of pairs with the same grade."""
    return _mean(tables, np.eye(tables.shape[-1]))


def within_one(tables: Array) -> Array:
    """Return the share of pairs at most one grade apart."""
    return _mean(tables, (_distances(tables) <= 1).astype(np.float64))


def mean_absolute_error(tables: Array) -> Array:
    """Return the mean distance in grades."""
    return _mean(tables, _distances(tables))


def bias(tables: Array) -> Array:
    """Return the mean of judge minus human, in grades: above 0 the judge is lenient."""
    return _mean(tables, _grades(tables)[None, :] - _grades(tables)[:, None])


def precision(tables: Array) -> Array:
    """Return per grade: of the pairs the judge gave it, the share the human did too."""
    return _share(np.diagonal(tables, axis1=-2, axis2=-1), tables.sum(-2))


def recall(tables: Array) -> Array:
    """Return per grade: of the pairs the human gave it, the share the judge did too."""
    return _share(np.diagonal(tables, axis1=-2, axis2=-1), tables.sum(-1))


def _distances(tables: Array) -> Array:
    grades = _grades(tables)
    return np.abs(grades[:, None] - grades[None, :])


def _credit(tables: Array, power: int) -> Array:
    """Return the agreement weights: identity for power 0, else 1 - (distance/G)^power."""
    if power == 0:
        return np.eye(tables.shape[-1])
    return np.asarray(1.0 - (_distances(tables) / (tables.shape[-1] - 1)) ** power)


def kappa(tables: Array, *, power: int = 0) -> Array:
    """Return Cohen's kappa in [-1, 1]: plain (power 0), linear (1) or quadratic (2).

    NaN where chance agreement is 1: both used one and the same grade (Cohen 1960, 1968).
    """
    credit = _credit(tables, power)
    observed = _mean(tables, credit)
    by_chance = _mean(tables.sum(-1)[..., :, None] * tables.sum(-2)[..., None, :], credit)
    return _share(observed - by_chance, 1.0 - by_chance)


def gwet(tables: Array, *, power: int = 0) -> Array:
    """Return Gwet's AC1 (power 0) or AC2 (linear 1, quadratic 2) (Gwet 2008).

    Chance agreement counts the grades on the scale, not those observed; it stays defined,
    and 1, where both used a single grade.
    """
    credit = _credit(tables, power)
    q = tables.shape[-1]
    used = _share(tables.sum(-1) + tables.sum(-2), 2 * tables.sum((-2, -1))[..., None])
    by_chance = credit.sum() / (q * (q - 1)) * (used * (1.0 - used)).sum(-1)
    return _share(_mean(tables, credit) - by_chance, 1.0 - by_chance)


def coincidences(units: Sequence[Sequence[int]], *, grade_max: int) -> Array:
    """Return Krippendorff's coincidence matrix of units graded by any number of raters.

    A unit with m >= 2 grades adds 1/(m - 1) per ordered pair of them; others add nothing.
    """
    matrix = np.zeros((grade_max + 1, grade_max + 1))
    for grades in units:
        if len(grades) >= 2:
            used = np.bincount(grades, minlength=grade_max + 1).astype(np.float64)
            matrix += (np.outer(used, used) - np.diag(used)) / (len(grades) - 1)
    return matrix


def alpha(coincidence: Array, *, distance: str) -> Array:
    """Return Krippendorff's alpha, at most 1, of coincidence matrices (Krippendorff 2011).

    distance: "nominal", "ordinal" or "interval". Two sources coincide as `t + t.T` of
    their table. NaN where only one grade was used.
    """
    used = coincidence.sum(-1)
    total = used.sum(-1)
    apart = _APART[distance](used)
    observed = (coincidence * apart).sum((-2, -1))
    expected = (used[..., :, None] * used[..., None, :] * apart).sum((-2, -1))
    return 1.0 - _share((total - 1.0) * observed, expected)


def _nominal(used: Array) -> Array:
    return 1.0 - np.eye(used.shape[-1])


def _interval(used: Array) -> Array:
    grades = np.arange(used.shape[-1], dtype=np.float64)
    return np.asarray((grades[:, None] - grades[None, :]) ** 2)


def _ordinal(used: Array) -> Array:
    # sum_{g=c..k} n_g - (n_c + n_k)/2 is the distance between the mid-ranks of c and k.
    middle = np.cumsum(used, axis=-1) - used / 2.0
    return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)


_APART: Mapping[str, Callable[[Array], Array]] = MappingProxyType(
    {"nominal": _nominal, "ordinal": _ordinal, "interval": _interval}
)


def _alpha_of_table(tables: Array, *, distance: str) -> Array:
    return alpha(tables + np.swapaxes(tables, -2, -1), distance=distance)


def _at(coefficient: Coefficient, at: int, tables: Array) -> Array:
    return coefficient(binarised(tables, at=at))


def coefficients(grade_max: int) -> Mapping[str, Coefficient]:
    """Return every coefficient of a scale by name, each a function of a stack of tables.

    `kappa_at_2` is the kappa of "grade >= 2" against the rest.
    """
    nominal = partial(_alpha_of_table, distance="nominal")
    cuts = range(1, grade_max + 1)
    named: dict[str, Coefficient] = {
        "exact": exact,
        "within_one": within_one,
        "kappa": kappa,
        "kappa_linear": partial(kappa, power=1),
        "kappa_quadratic": partial(kappa, power=2),
        "ac1": gwet,
        "ac2_linear": partial(gwet, power=1),
        "ac2_quadratic": partial(gwet, power=2),
        "alpha_nominal": nominal,
        "alpha_ordinal": partial(_alpha_of_table, distance="ordinal"),
        "alpha_interval": partial(_alpha_of_table, distance="interval"),
        **{f"kappa_at_{cut}": partial(_at, kappa, cut) for cut in cuts},
        **{f"alpha_at_{cut}": partial(_at, nominal, cut) for cut in cuts},
        "mae": mean_absolute_error,
        "bias": bias,
    }
    return MappingProxyType(named)


def undefined(counts: Array) -> str:
    """Say why a coefficient of this one (q, q) table is undefined."""
    used = np.flatnonzero(counts.sum(0) + counts.sum(1))
    if len(used) == 0:
        return "no human-judge pairs"
    if len(used) == 1:
        return f"only grade {used[0]} used; raw agreement 1.000 (n={counts.sum():g})"
    # Two grades and more are in use, so only a cut of the scale can have one side alone.
    return "every grade is on one side of the cut"


def remark(name: str, counts: Array) -> str:
    """Say what makes this coefficient of one table look worse than the agreement is.

    A coefficient of a cut (`kappa_at_3`) sees the two sides of the cut only.
    """
    _, _, cut = name.partition("_at_")
    seen = binarised(counts, at=int(cut)) if cut else counts
    human, judge = (np.count_nonzero(seen.sum(axis)) for axis in (1, 0))
    if min(human, judge) != 1 or max(human, judge) == 1:
        return ""
    who = "judge" if judge == 1 else "human"
    return f"{who} stayed on one side of the cut" if cut else f"{who} used a single grade"
