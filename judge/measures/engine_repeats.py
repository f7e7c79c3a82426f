"""Which documents a list, or the judgments of a query, hold more than once."""

from __future__ import annotations

import numpy as np

from judge.measures.engine_text import Ids, Ints, Words, pick

_SLOT_BITS = 2  # slots a line: 4 to 8, so that few lines meet


def repeats(lists: Ints, keys: Words, ids: Ids) -> tuple[Ints, Ints]:
    """Return the lines whose document stands in an earlier line of the same list, and that line.

    keys: equal for equal documents of one list, rarely for others

    Lines are thrown into slots. One that meets a line with the same key is suspect; losers
    with another key are thrown again. Suspects alone are compared as they stand.
    """
    bits = len(keys).bit_length() + _SLOT_BITS
    slots = (keys >> np.uint64(64 - bits)).view(np.int64)
    winners = np.empty(1 << bits, dtype=np.int32)
    waiting = np.arange(len(keys), dtype=np.int32)
    suspects = [waiting[:0]]
    while len(waiting):
        at = pick(slots, waiting)
        winners[at] = waiting
        winner = pick(winners, at)
        lost = np.flatnonzero(winner != waiting)
        waiting, winner = pick(waiting, lost), pick(winner, lost)
        alike = pick(keys, waiting) == pick(keys, winner)
        suspects += [waiting[alike], winner[alike]]
        waiting = waiting[~alike]
    later, first = [], []
    seen: dict[tuple[int, bytes], int] = {}
    for line in np.unique(np.concatenate(suspects)).tolist():
        earliest = seen.setdefault((int(lists[line]), ids.token(line)), line)
        if earliest != line:
            later.append(line)
            first.append(earliest)
    return np.array(later, dtype=np.int64), np.array(first, dtype=np.int64)
