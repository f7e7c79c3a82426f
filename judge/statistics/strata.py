"""What labelled units say of all units when each stratum was labelled to its own extent.

Any prefix of a random order is a random sample. So what counts is how many units of a stratum
*were* labelled, whatever was planned: n_h of N_h have the chance n_h / N_h (the stratified
estimator, Särndal, Swensson & Wretman 1992, ch. 3 and 7). Planned chances matter within a stratum
only, and only against each other: weights are normalised to the stratum's size.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ONE_SAMPLE = "a slice has no labelled row: the labelled rows were taken as one sample of all"
LENT = "a slice with a single labelled row was lent the spread of the others"


@dataclass(frozen=True, slots=True)
class Stratum:
    """The labelled units of one stratum.

    size: N_h, labelled or not; at: where its labelled units stand among all that are labelled
    shares: their weights within the stratum, adding up to 1
    """

    size: int
    at: NDArray[np.int64]
    shares: Array

    @property
    def unseen(self) -> Array:
        """Return 1 - pi of each labelled unit, by the design as it came to be."""
        return np.clip(1.0 - 1.0 / (self.size * self.shares), 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Design:
    """How a set of units came to be labelled.

    degrees: of freedom of the estimated variance; notes: what had to be assumed, in words
    """

    strata: tuple[Stratum, ...]
    units: int
    degrees: int
    notes: tuple[str, ...] = ()

    @property
    def is_simple(self) -> bool:
        """Tell whether this is one random sample, all units with the same chance."""
        return len(self.strata) == 1 and bool(np.ptp(self.strata[0].shares) < 1e-12)

    @property
    def weights(self) -> list[float]:
        """Return how many of all units each labelled one stands for."""
        found = {
            int(at): s.size * float(share)
            for s in self.strata
            for at, share in zip(s.at, s.shares, strict=True)
        }
        return [found[at] for at in sorted(found)]

    def mean(self, values: Array) -> float:
        """Return the estimated mean over all units of what the labelled ones have."""
        return math.fsum(s.size * float(s.shares @ values[s.at]) for s in self.strata) / self.units

    def variance(self, values: Array) -> float | None:
        """Return the variance of `mean`; None where no stratum has two labelled units.

        A stratum with one lends the pooled variance of the others. Where all units are labelled
        it is 0: nothing is left to chance.
        """
        squares = [self._squares(stratum, values) for stratum in self.strata]
        freedom = sum(len(s.at) - 1 for s in self.strata)
        lent = sum(map(math.fsum, squares)) / freedom if freedom else None
        found = 0.0
        for stratum, of_units in zip(self.strata, squares, strict=True):
            n, unseen = len(stratum.at), stratum.unseen
            if n > 1:
                part = n / (n - 1) * float((unseen * stratum.shares**2) @ of_units)
            elif not unseen.any():
                part = 0.0
            elif lent is None:
                return None
            else:
                part = float(unseen[0]) * lent
            found += (stratum.size / self.units) ** 2 * part
        return found

    def spread(self, values: Array) -> float:
        """Return the estimated variance of a value among all units, the strata's means included."""
        centred = values - self.mean(values)
        n = len(values)
        return self.mean(centred**2) * n / (n - 1) if n > 1 else 0.0

    @staticmethod
    def _squares(stratum: Stratum, values: Array) -> Array:
        of_stratum = values[stratum.at]
        return np.asarray((of_stratum - stratum.shares @ of_stratum) ** 2)


def realised_design(
    labelled: Sequence[int],
    *,
    units: int,
    strata: Sequence[Hashable] = (),
    chances: Sequence[float] = (),
) -> Design:
    """Return the design that labelling `labelled` of all units amounts to.

    strata: of every unit, none: all alike. chances: of every unit, planned with whatever
    factor; none: alike within a stratum. A stratum without a label, or none with two, makes it
    one sample of all: nothing else could speak for that stratum.
    """
    of_unit = tuple(strata) or (None,) * units
    weights = np.array([1.0 / chances[i] for i in labelled] if chances else [1.0] * len(labelled))
    members: dict[Hashable, list[int]] = {stratum: [] for stratum in of_unit}
    for at, unit in enumerate(labelled):
        members[of_unit[unit]].append(at)
    notes: tuple[str, ...] = ()
    if len(members) > 1 and (not all(members.values()) or max(map(len, members.values())) < 2):
        members, of_unit, notes = {None: list(range(len(labelled)))}, (None,) * units, (ONE_SAMPLE,)
    sizes = {stratum: of_unit.count(stratum) for stratum in members}
    found = tuple(
        Stratum(sizes[name], np.array(at), weights[at] / weights[at].sum())
        for name, at in members.items()
        if at
    )
    if any(len(s.at) == 1 < s.size for s in found) and len(found) > 1:
        notes = (*notes, LENT)
    return Design(found, units, max(1, len(labelled) - len(found)), notes)
