"""How rare the words of a corpus are, counted as the engine's own index counts them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache

from judge.retrieval.corpus import Item
from judge.retrieval.lexical import LexicalIndex
from judge.retrieval.tokens import lexical_tokens, words

_LAST_CHARACTER = "\U0010ffff"


class Vocabulary:
    """Says which items hold a term; items are named by id.

    Rarity is counted in items, not chunks, since neighbouring chunks share text.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self._ids = [item.id for item in items]
        self._index = LexicalIndex(item.text for item in items)
        self._tokens = sorted({(token, item.id) for item in items for token in words(item.text)})
        self.holders = cache(self._holders)

    def _holders(self, term: str) -> frozenset[str]:
        """Return the items in which the term's words follow each other, stemmed."""
        return frozenset(self._ids[place] for place in self._index.holding(term))

    def holders_of_prefix(self, prefix: str) -> frozenset[str]:
        """Return the items with a word that begins so, in lower case."""
        start = bisect_left(self._tokens, (prefix, ""))
        end = bisect_left(self._tokens, (prefix + _LAST_CHARACTER, ""))
        return frozenset(id for _, id in self._tokens[start:end])

    def rarest(self, text: str) -> list[str]:
        """Return the tokens of a text, rarest first; at equal rarity as they stand.

        A token of several words ("sku-4711") comes behind single words of its rarity if
        its parts are more common, because a search for it finds those as well.
        """
        tokens = [token for token in dict.fromkeys(lexical_tokens(text)) if len(token) > 2]
        return sorted((t for t in tokens if self.holders(t)), key=self._rarity)

    def _rarity(self, token: str) -> tuple[int, int]:
        return len(self.holders(token)), max(len(self.holders(word)) for word in words(token))
