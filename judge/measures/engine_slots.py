"""Documents thrown into slots by their keys: which stand twice in a list, which are sought."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from judge.measures.engine_text import Flags, Ids, Ints, Words, equal, pick

_SLOT_BITS = 2  # slots a line: 4 to 8, so that few lines meet


class Documents(NamedTuple):
    """Documents of lists as columns.

    keys: equal for equal documents of one list, rarely for others
    """

    lists: Ints
    keys: Words
    ids: Ids

    def token(self, index: int) -> tuple[int, bytes]:
        """Return list and id of one document."""
        return int(self.lists[index]), self.ids.token(index)


class Settled(NamedTuple):
    """What became of documents that were thrown into slots.

    later, first: lines whose document stands in an earlier line of its list, and that line
    places: of each sought document the first line that has it, -1 for none
    """

    later: Ints
    first: Ints
    places: Ints


def settle(lines: Documents, sought: Documents) -> Settled:
    """Find repeats among lines, and the lines of sought documents, none of which repeats.

    Lines are thrown into slots. One that meets a line with the same key is suspect; losers
    with another key are thrown again. Whoever is sought must be what won its slot in one of
    the rounds, or suspect. All are compared as they stand, so two documents with one key
    cost time and nothing else.
    """
    shift = np.uint64(64 - len(lines.keys).bit_length() - _SLOT_BITS)
    slots, sought_slots = ((of.keys >> shift).view(np.int64) for of in (lines, sought))
    winners = np.full(1 << (64 - int(shift)), -1, dtype=np.int32)
    waiting = np.arange(len(lines.keys), dtype=np.int32)
    suspects = [waiting[:0]]
    places = np.full(len(sought.keys), -1, dtype=np.int32)
    seeking, before = np.arange(len(places)), np.full_like(places, -1)
    while len(waiting):
        at = slots if len(waiting) == len(slots) else pick(slots, waiting)
        winners[at] = waiting
        met = pick(winners, pick(sought_slots, seeking))
        # A slot that holds what it held before will not change any more.
        changed = np.flatnonzero(met != before)
        seeking, met = pick(seeking, changed), pick(met, changed)
        found = _same(lines, met, sought, seeking)
        places[seeking[found]] = met[found]
        seeking, before = seeking[~found], met[~found]
        winner = pick(winners, at)
        lost = np.flatnonzero(winner != waiting)
        waiting, winner = pick(waiting, lost), pick(winner, lost)
        alike = pick(lines.keys, waiting) == pick(lines.keys, winner)
        suspects += [waiting[alike], winner[alike]]
        waiting = waiting[~alike]
    return _compared(lines, np.unique(np.concatenate(suspects)), sought, places)


def _same(lines: Documents, at: Ints, others: Documents, other: Ints) -> Flags:
    same = equal(lines.ids[at], others.ids[other])
    same &= pick(lines.lists, at) == pick(others.lists, other)
    return same


def _compared(lines: Documents, suspects: Ints, sought: Documents, places: Ints) -> Settled:
    """Compare the suspects one by one, in the order of their lines."""
    seen: dict[tuple[int, bytes], int] = {}
    firsts = [seen.setdefault(lines.token(line), line) for line in suspects.tolist()]
    first = np.array(firsts, dtype=np.int64)
    repeated = np.flatnonzero(first != suspects)
    if len(suspects):
        # A sought document may be a suspect that never won a slot, or have won as a repeat.
        doubtful = np.isin(sought.keys, lines.keys[suspects])
        for index in np.flatnonzero(doubtful).tolist():
            places[index] = seen.get(sought.token(index), places[index])
    return Settled(suspects[repeated], first[repeated], places)
