"""Exact bounds of one row under different intervals and under orders (statistics.md B.4).

Open members fall into components that no order connects. Of a component we need, for
every tuple of level sizes (|U_1|, ..., |U_G|) it can have, the best numerator: U_t is an
up-set of the orders, holds every member with lo >= t and none with hi < t, and
U_G ⊆ ... ⊆ U_1. Components are then added up in a grid over level sizes; sizes above k
count as k, because the ideal stops there, so the grid has at most (k+1)^G cells
however many members are open. At the end each cell is divided by its ideal.

Maximum and minimum are computed together: `sign` is the leading axis of every table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judge.measures.bounds_ratio import Ratio, Scale

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Pass = tuple[Counts, Counts]
Sizes = tuple[int, ...]
Table = dict[Sizes, Floats]
"""(|U_1|, ..., |U_G|) of a component -> its best numerator, for both signs."""

SIGNS = np.array([[1.0], [-1.0]])
TABLE_CELLS_MAX = 1 << 20
"""A component whose table needs more is relaxed; 13 members above a 14th fit, in .4 s."""
GRID_WORK_MAX = 1 << 23
"""Grid cells times open members; 200 open members at k = 10 are a thirtieth of it."""


@dataclass(frozen=True, slots=True)
class Found:
    """Bounds of one row; `exact` is False where orders or intervals had to be dropped."""

    lo: float
    hi: float
    exact: bool


def ordered_bounds(ratio: Ratio, scale: Scale) -> Found:
    """Return the bounds of a row with open members, exact unless the row is too large."""
    shape = _grid_shape(ratio, scale)
    if math.prod(shape) * len(ratio.weights) > GRID_WORK_MAX:
        return _loose_bounds(ratio, scale)
    parts, exact = _parts(ratio, scale)
    grid = _add_up((_table(part, ratio, scale) for part in parts), shape)
    grid += (SIGNS * ratio.known).reshape(2, *[1] * len(shape))
    best = _divide(grid, ratio, scale)
    return Found(lo=-float(best[1]), hi=float(best[0]), exact=exact)


@dataclass(frozen=True, slots=True)
class Part:
    """A component of the orders: members, who must stand above each, and its up-sets.

    members: highest first, so that `above` of a member comes before it
    up_sets: as bit masks over the places in `members`
    """

    members: tuple[int, ...]
    above: dict[int, set[int]]
    up_sets: tuple[int, ...]


def _parts(ratio: Ratio, scale: Scale) -> tuple[list[Part], bool]:
    """Return the components; False where one had to lose orders to be small enough.

    Sound: with fewer orders more completions are allowed. The member with the least
    weight is set free first, because it can move the numerator least.
    """
    above = closure(len(ratio.weights), ratio.orders)
    waiting, parts, exact = _components(list(above), above), [], True
    while waiting:
        members = waiting.pop()
        up_sets = _up_sets(members, above, scale)
        if up_sets is not None:
            parts.append(Part(tuple(members), {m: above[m] for m in members}, tuple(up_sets)))
            continue
        freed = min(members, key=lambda m: abs(ratio.weights[m]))
        above = {m: set() if m == freed else up - {freed} for m, up in above.items()}
        waiting += _components(members, above)
        exact = False
    return parts, exact


def closure(count: int, orders: Iterable[tuple[int, int]]) -> dict[int, set[int]]:
    """Return, per member, all members that must be graded at least as high."""
    above: dict[int, set[int]] = {m: set() for m in range(count)}
    for a, b in orders:
        above[b].add(a)
    for middle in range(count):
        for up in above.values():
            if middle in up:
                up |= above[middle]
    return above


def _components(members: Iterable[int], above: dict[int, set[int]]) -> list[list[int]]:
    """Return the members in groups that orders connect, highest first in each."""
    # In a transitive order whoever stands above a member has fewer above itself.
    groups: list[list[int]] = []
    for member in sorted(members, key=lambda m: len(above[m])):
        joined = [member]
        apart = []
        for group in groups:
            if above[member].isdisjoint(group):
                apart.append(group)
            else:
                joined = group + joined
        groups = [*apart, joined]
    return [sorted(group, key=lambda m: len(above[m])) for group in groups]


def _up_sets(members: Sequence[int], above: dict[int, set[int]], scale: Scale) -> list[int] | None:
    """Return every up-set as a bit mask over `members`, or None if they are too many."""
    levels = scale.grade_max - 1
    most = TABLE_CELLS_MAX // math.comb(len(members) + levels, levels)
    place = {m: i for i, m in enumerate(members)}
    sets = [0]
    for member in members:
        needed = sum(1 << place[a] for a in above[member])
        bit = 1 << place[member]
        sets += [s | bit for s in sets if s & needed == needed]
        if len(sets) > max(most, 2):
            return None
    return sets


def _table(part: Part, ratio: Ratio, scale: Scale) -> Table:
    if len(part.members) == 1:
        return _single(part.members[0], ratio, scale)
    return _nested(part, ratio, scale)


def _single(member: int, ratio: Ratio, scale: Scale) -> Table:
    weight = SIGNS[:, 0] * ratio.weights[member]
    return {
        tuple(1 if level < grade else 0 for level in range(scale.grade_max)): (
            weight * scale.gains[grade]
        )
        for grade in range(ratio.lo[member], ratio.hi[member] + 1)
    }


def _nested(part: Part, ratio: Ratio, scale: Scale) -> Table:
    """Return the best numerator for each tuple of level sizes, from level G down to 1."""
    masks = np.array(part.up_sets, dtype=np.int64)
    bits = (masks[:, None] >> np.arange(len(part.members))) & 1
    count = bits.sum(axis=1)
    weight = SIGNS * (bits @ np.array([ratio.weights[m] for m in part.members]))
    passes = _subset_passes(part)
    table: Table = {(): np.zeros((2, len(masks)))}
    for level in range(scale.grade_max, 0, -1):
        must = sum(1 << i for i, m in enumerate(part.members) if ratio.lo[m] >= level)
        may = sum(1 << i for i, m in enumerate(part.members) if ratio.hi[m] >= level)
        allowed = ((masks & must) == must) & ((masks | may) == may)
        term = np.where(allowed, weight * scale.steps[level - 1], -np.inf)
        table = _next_level(table, term, count, passes if level > 1 else [])
    return {sizes: best.max(axis=1) for sizes, best in table.items()}


def _next_level(table: Table, term: Floats, count: Counts, passes: list[Pass]) -> Table:
    """Choose this level's set, split by its size, and hand the best on to its supersets."""
    keys: list[Sizes] = []
    tables: list[Floats] = []
    for sizes, above in table.items():
        total = above + term
        for size in np.unique(count[total[0] > -np.inf]).tolist():
            keys.append((size, *sizes))
            tables.append(np.where(count == size, total, -np.inf))
    stacked = np.stack(tables)
    for larger, smaller in passes:
        stacked[:, :, larger] = np.maximum(stacked[:, :, larger], stacked[:, :, smaller])
    return dict(zip(keys, stacked, strict=True))


def _subset_passes(part: Part) -> list[Pass]:
    """Return, per member, the up-sets that hold it and what they are without it.

    Taking the maximum along these pairs, highest members first, spreads every value to
    all supersets: a superset sheds its lowest extra member in the last pass and stays
    an up-set all the way down.
    """
    index = {mask: i for i, mask in enumerate(part.up_sets)}
    passes = []
    for place in range(len(part.members)):
        bit = 1 << place
        pairs = [(i, index[s ^ bit]) for s, i in index.items() if s & bit and s ^ bit in index]
        larger, smaller = np.array(pairs, dtype=np.int64).T
        passes.append((larger, smaller))
    return passes


def _grid_shape(ratio: Ratio, scale: Scale) -> Sizes:
    """Return how many sizes of each level can matter: from the known count up to k."""
    room = [max(0, scale.k - count) for count in ratio.counts]
    can = [sum(high > level for high in ratio.hi) for level in range(scale.grade_max)]
    return tuple(min(r, c) + 1 for r, c in zip(room, can, strict=True))


def _add_up(tables: Iterable[Table], shape: Sizes) -> Floats:
    """Return the best total numerator for each tuple of (capped) level sizes."""
    largest, *others = sorted((_capped(table, shape) for table in tables), key=len, reverse=True)
    grid = np.full((2, *shape), -np.inf)
    for sizes, best in largest.items():
        cell: tuple[int | slice, ...] = (slice(None), *sizes)
        grid[cell] = best
    for table in others:
        total = np.full_like(grid, -np.inf)
        for sizes, best in table.items():
            moved = grid
            for axis, size in enumerate(sizes, start=1):
                moved = _move(moved, axis, size)
            np.maximum(total, moved + best.reshape(2, *[1] * len(shape)), out=total)
        grid = total
    return grid


def _capped(table: Table, shape: Sizes) -> Table:
    """Return a table whose sizes stop where the grid does."""
    capped: Table = {}
    for sizes, best in table.items():
        within = tuple(min(size, length - 1) for size, length in zip(sizes, shape, strict=True))
        capped[within] = np.maximum(capped[within], best) if within in capped else best
    return capped


def _move(grid: Floats, axis: int, by: int) -> Floats:
    """Return the grid moved up along an axis; what leaves it gathers in the last cell."""
    if by == 0:
        return grid
    length = grid.shape[axis]
    by = min(by, length - 1)
    moved = np.full_like(grid, -np.inf)
    source, target = np.moveaxis(grid, axis, 0), np.moveaxis(moved, axis, 0)
    target[by:] = source[: length - by]
    target[-1] = source[length - 1 - by :].max(axis=0)
    return moved


def _divide(grid: Floats, ratio: Ratio, scale: Scale) -> Floats:
    ideal: Floats = np.zeros(grid.shape[1:])
    curve = np.array(scale.ideal)
    for level, length in enumerate(ideal.shape):
        sizes = np.minimum(ratio.counts[level] + np.arange(length), scale.k)
        along = [1] * ideal.ndim
        along[level] = length
        ideal = ideal + scale.steps[level] * curve[sizes].reshape(along)
    # Where every grade is 0 the ideal is 0 and the measure is 0 by convention.
    values = np.where(ideal > 0, grid / np.where(ideal > 0, ideal, 1.0), np.minimum(grid, 0.0))
    best: Floats = values.reshape(2, -1).max(axis=1)
    return best


def _loose_bounds(ratio: Ratio, scale: Scale) -> Found:
    """Return sound bounds of a row too large for a grid: orders and lone intervals dropped."""
    from judge.measures.bounds_free import free_bounds

    count = len(ratio.weights)
    hull = replace(ratio, lo=(min(ratio.lo),) * count, hi=(max(ratio.hi),) * count, orders=())
    lo, hi = free_bounds([hull], scale)
    return Found(lo=float(lo[0]), hi=float(hi[0]), exact=False)
