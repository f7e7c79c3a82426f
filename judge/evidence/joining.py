"""Find the preferences that speak of a query's chunks, however ids and wordings moved.

Queries join by normalised text. A chunk joins by the hash of its text where log and run
both have one, else by id: a chunk whose text changed has lost its votes, and one that was
merely renamed or cut anew with the same text keeps them.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judge.evidence.goldens import CHUNK, DOCUMENT
from judge.evidence.preferences import Pair, Preference
from judge.evidence.queries import Query
from judge.run import Notice


def normalise_query(text: str) -> str:
    """Return what two spellings of one query share: case, width, spacing, final marks.

    >>> normalise_query("  How do I   RESET it? ")
    'how do i reset it'
    """
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return folded.rstrip("?!. ") or folded


def content_hash(text: str) -> str:
    """Return 16 hex digits that name a text, whatever its spacing."""
    data = " ".join(text.split()).encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Joined:
    """The decided pairs of one query, as ids of its results.

    pairs: (winner, loser)
    stale: decided preferences that name a chunk whose text is not what was shown
    """

    pairs: tuple[Pair, ...] = ()
    stale: tuple[Preference, ...] = ()


class PreferenceIndex:
    """Preferences by query, joined with the queries and chunks of runs."""

    def __init__(self, preferences: Iterable[Preference]) -> None:
        self._by_query: dict[str, list[Preference]] = {}
        for preference in preferences:
            wordings = (preference.query, *preference.queries)
            for wording in dict.fromkeys(normalise_query(text) for text in wordings):
                self._by_query.setdefault(wording, []).append(preference)

    def of(self, text: str) -> tuple[Preference, ...]:
        """Return every preference, decided or not, for a query text."""
        return tuple(self._by_query.get(normalise_query(text), ()))

    def join(self, query: Query) -> Joined:
        """Return a query's decided pairs as result ids, and those that no longer hold.

        A row without query text has no preferences: a log knows queries by their text.
        """
        decided = [p for p in self.of(query.text) if p.decided] if query.text else []
        if not decided:
            return Joined()
        chunks = _Chunks(query, decided)
        pairs: dict[Pair, None] = {}
        stale = []
        for preference in decided:
            winners = chunks.find(preference.winner, preference.winner_hash)
            losers = chunks.find(preference.loser, preference.loser_hash)
            if winners is None or losers is None:
                stale.append(preference)
                continue
            pairs.update(dict.fromkeys((a, b) for a in winners for b in losers))
        return Joined(tuple(pairs), tuple(stale))

    def favour(self, query: Query) -> Mapping[str, float]:
        """Return how far votes, decided or not, speak for each chunk of a query, by id.

        The sum over its pairs of how much likelier than not it is to win; for ordering
        what to look at first, not for grading.
        """
        preferences = self.of(query.text) if query.text else ()
        chunks = _Chunks(query, preferences)
        liked: dict[str, float] = {}
        for preference in preferences:
            margin = preference.probability - 0.5
            for id in chunks.find(preference.winner, preference.winner_hash) or ():
                liked[id] = liked.get(id, 0.0) + margin
            for id in chunks.find(preference.loser, preference.loser_hash) or ():
                liked[id] = liked.get(id, 0.0) - margin
        return liked

    def notices(self, queries: Iterable[Query], *, unit: str = CHUNK) -> tuple[Notice, ...]:
        """Say how many decided pairs order units of these queries, and how many do not and why.

        unit: what is graded, "chunk" or "document"
        """
        asked = list(queries)
        joined = [self.join(query) for query in asked]
        ordering = [
            _ordering(found.pairs, query, unit) for found, query in zip(joined, asked, strict=True)
        ]
        used = sum(ordering)
        rows = sum(n > 0 for n in ordering)
        elsewhere = sum(len(found.pairs) for found in joined) - used
        stale = sum(len(found.stale) for found in joined)
        text = f"read logs order {used} pairs of {unit}s in {rows} of {len(joined)} queries"
        notices = [Notice("preferences", used, text)]
        if elsewhere:
            text = f"{elsewhere} decided pairs name an id that is no {unit} in any list of their\
 query: they order nothing by themselves"
            notices.append(Notice("preferences_elsewhere", elsewhere, text))
        if stale:
            text = f"{stale} decided pairs are about texts that have changed since: not used"
            notices.append(Notice("preferences_stale", stale, text))
        return tuple(notices)


def _ordering(pairs: Iterable[Pair], query: Query, unit: str) -> int:
    """Count the pairs of which both ends are graded: those that order something themselves."""
    results = [result for row in query.rows if row for result in row.results]
    winners = losers = {result.id for result in results}
    if unit == DOCUMENT:
        # A winning chunk speaks for its document, a losing one does not (`build_pool`).
        losers = {result.document for result in results}
        winners = winners | losers
    return sum(winner in winners and loser in losers for winner, loser in pairs)


class _Chunks:
    """The chunks of one query by id and, if the preferences know any, by hash of their text."""

    def __init__(self, query: Query, preferences: Sequence[Preference]) -> None:
        self._hash_of: dict[str, str] = {}
        self._ids_of: dict[str, list[str]] = {}
        if not any(p.winner_hash or p.loser_hash for p in preferences):
            return
        for row in query.rows:
            for result in row.results if row else ():
                if result.text is None or result.id in self._hash_of:
                    continue
                name = content_hash(result.text)
                self._hash_of[result.id] = name
                self._ids_of.setdefault(name, []).append(result.id)

    def find(self, id: str, hash: str | None) -> list[str] | None:
        """Return the ids a logged chunk has now; None if its id has another text by now.

        An id that is not in hand stays itself: paths of preferences may lead through it.
        """
        if hash is None:
            return [id]
        if hash in self._ids_of:
            return self._ids_of[hash]
        return [id] if self._hash_of.get(id, hash) == hash else None
