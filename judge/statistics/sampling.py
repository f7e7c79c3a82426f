"""Which units a person labels, drawn so that estimates from the labels are valid.

Every draw hands back the probability with which each unit was drawn. It is stored with
the label: `correction.inverse_probability` and weighted agreement need nothing else.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Mapping, Sequence

FLOOR = 3
"""Labels that every stratum gets, so that rare grades are not a blind spot."""


def neyman(sizes: Sequence[int], spreads: Sequence[float], *, n: int) -> tuple[float, ...]:
    """Return Neyman's allocation of n labels to strata, in fractions: n_h ~ N_h s_h.

    >>> [round(share, 1) for share in neyman((600, 200, 120, 80), (.3, .6, .8, .5), n=100)]
    [41.3, 27.5, 22.0, 9.2]
    """
    total = math.fsum(size * spread for size, spread in zip(sizes, spreads, strict=True))
    return tuple(n * size * spread / total for size, spread in zip(sizes, spreads, strict=True))


def allocate(
    sizes: Sequence[int], spreads: Sequence[float], *, n: int, floor: int = FLOOR
) -> tuple[int, ...]:
    """Return the whole labels per stratum that make the variance of the total least.

    At least `floor` and at most N_h each, n in all (or all there is). One label at a time
    goes to the largest N_h s_h / sqrt(n_h (n_h + 1)), which is exactly optimal (Wright 2012);
    where n does not reach for the floors, it is dealt out evenly.
    """
    given = [0] * len(sizes)
    for _ in range(min(n, sum(sizes))):
        given[max(range(len(sizes)), key=lambda h: _priority(h, given, sizes, spreads, floor))] += 1
    return tuple(given)


def _priority(
    h: int, given: Sequence[int], sizes: Sequence[int], spreads: Sequence[float], floor: int
) -> tuple[bool, float, float]:
    """Rank what one more label in stratum h is worth: room first, then floors, then variance."""
    has_room, below_floor = given[h] < sizes[h], max(0, floor - given[h])
    worth = sizes[h] * spreads[h]
    return has_room, below_floor, worth / math.sqrt(given[h] * (given[h] + 1) or 0.5)


def stratified(
    strata: Sequence[Hashable],
    *,
    n: int,
    spreads: Mapping[Hashable, float] | None = None,
    floor: int = FLOOR,
    seed: int = 0,
) -> dict[int, float]:
    """Draw n units at random within their strata; return each drawn index with its probability.

    strata: the stratum of each unit; spreads: how much the answers of a stratum vary (default:
    all alike). The same seed and strata give the same draw.
    """
    members: dict[Hashable, list[int]] = {}
    for index, stratum in enumerate(strata):
        members.setdefault(stratum, []).append(index)
    sizes = [len(units) for units in members.values()]
    spread = [1.0 if spreads is None else spreads[stratum] for stratum in members]
    shares = allocate(sizes, spread, n=n, floor=floor)
    generator = random.Random(seed)  # noqa: S311  a reproducible draw, not a secret
    return {
        index: share / len(units)
        for units, share in zip(members.values(), shares, strict=True)
        for index in generator.sample(units, share)
    }


def inclusion_probabilities(
    usefulness: Sequence[float], *, budget: float, uniform_share: float = 0.2
) -> tuple[float, ...]:
    """Return the chance in (0, 1] with which each unit is labelled, by how much it would tell.

    usefulness: e.g. the judge's uncertainty times what the grade can move. A share of the
    budget is spread evenly, so that no unit is left out for good (Zrnic & Candes 2024).
    About `budget` labels in all, fewer where a probability is cut off at 1.
    """
    total, units = math.fsum(usefulness), len(usefulness)
    even = min(1.0, budget / units) if units else 0.0
    if total <= 0.0:
        return (even,) * units
    active = (min(1.0, budget * use / total) for use in usefulness)
    return tuple((1.0 - uniform_share) * chance + uniform_share * even for chance in active)


def poisson_draw(probabilities: Sequence[float], *, seed: int = 0) -> tuple[int, ...]:
    """Draw each unit independently with its own probability; return the indices drawn."""
    generator = random.Random(seed)  # noqa: S311  a reproducible draw, not a secret
    return tuple(i for i, p in enumerate(probabilities) if generator.random() < p)
