"""Where each rater stands in a queue: what to show next, and what their key did.

Nothing is remembered but the store: a rater's place is what they have not labelled yet, so
a reload, a second browser or another day go on where the labels end.
"""

from __future__ import annotations

from dataclasses import dataclass

from judge.errors import UsageError
from judge.labelling.store import Entry, LabelStore
from judge.spotcheck import Item, Pair, Queue


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one rater is: graded + skipped + left == total."""

    graded: int
    skipped: int
    total: int

    @property
    def left(self) -> int:
        """Return how many chunks the rater has not seen."""
        return self.total - self.graded - self.skipped


class Session:
    """A queue, and the store that its labels go to."""

    def __init__(self, queue: Queue, store: LabelStore) -> None:
        self.queue = queue
        self.store = store
        self._items = {item.pair: item for item in queue.items}

    def stamp_drawn(self) -> None:
        """Store the chance of drawn chunks with labels that were given before the draw."""
        drawn = {item.pair: item.pi for item in self.queue.items if item.pi is not None}
        self.store.stamp(drawn)

    def next(self, rater: str) -> Item | None:
        """Return the first chunk that the rater has not seen, then those they skipped."""
        seen = self._seen(rater)
        unseen = (item for item in self.queue.items if item.pair not in seen)
        skipped = (
            self._items[pair]
            for pair, entry in seen.items()
            if entry.grade is None and pair in self._items
        )
        return next(unseen, None) or next(skipped, None)

    def progress(self, rater: str) -> Progress:
        """Return how far the rater is in this queue."""
        entries = [e for pair, e in self._seen(rater).items() if pair in self._items]
        skipped = sum(entry.grade is None for entry in entries)
        return Progress(len(entries) - skipped, skipped, len(self.queue.items))

    def label(self, rater: str, pair: Pair, grade: int | None, *, note: str = "") -> Item:
        """Store a grade, or None for a skip; it is on disk when the graded item is returned.

        A second grade of a chunk stands beside the first and does not replace it.

        Raises UsageError for a chunk that is not queued, a grade off the scale, a name or a
        note that would make the file unreadable.
        """
        item = self._items.get(pair)
        if item is None:
            raise UsageError(f"chunk {pair[1]!r} of query {pair[0]!r} is not in this queue")
        if grade is not None and not 0 <= grade <= self.queue.grade_max:
            raise UsageError(f"grade {grade} is outside 0..{self.queue.grade_max}")
        if not rater.strip():
            raise UsageError("a label needs the name of who gave it")
        if "\0" in rater + note:  # no reader takes a file with one for text
            raise UsageError("a name and a note are text, without zero bytes")
        self.store.add(Entry(*pair, rater, grade, item.pi, note))
        return item

    def undo(self, rater: str) -> tuple[Item, Entry] | None:
        """Take back the rater's last label or skip of this queue; None if there is none.

        The chunk is asked again. A grade stays beside the new one: it was given before the
        judge's was shown.
        """
        entry = self.store.undo(rater, among=self._items)
        return None if entry is None else (self._items[entry.query_id, entry.id], entry)

    def _seen(self, rater: str) -> dict[Pair, Entry]:
        """Return the rater's standing word by chunk; what they took back is to be asked again."""
        mine = (e for e in self.store.entries() if e.rater == rater and not e.taken_back)
        return {(e.query_id, e.id): e for e in mine}
