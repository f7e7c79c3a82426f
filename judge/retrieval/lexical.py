"""Lexical search in an in-memory SQLite FTS5 index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from judge.errors import UsageError
from judge.retrieval.tokens import lexical_tokens, words

# `stemmed` is FTS5's own pipeline. `whole` gets tokens that are already cut, joined by
# blanks: the ascii tokenizer with these extra characters splits at the blanks alone.
_TABLES = """
CREATE VIRTUAL TABLE stemmed USING fts5(text, content='', tokenize='porter unicode61');
CREATE VIRTUAL TABLE whole USING fts5(text, content='', tokenize="ascii tokenchars '-_.'");
CREATE VIRTUAL TABLE whole_terms USING fts5vocab(whole, 'instance');
"""
_BY_BM25 = "SELECT rowid FROM stemmed WHERE stemmed MATCH ? ORDER BY rank, rowid LIMIT ?"
_MATCHES = "SELECT rowid FROM stemmed WHERE stemmed MATCH ?"
_OCCURRENCES = "SELECT doc, count(*) FROM whole_terms WHERE term = ? GROUP BY doc"


class LexicalIndex:
    """Finds texts by their words; a text is named by its place in the corpus, from 0."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        try:
            self._db.executescript(_TABLES)
        except sqlite3.OperationalError as error:
            raise UsageError(
                f"this Python's SQLite {sqlite3.sqlite_version} cannot search text ({error}); "
                "use a build with FTS5, or the retriever `hashed`"
            ) from error
        self._count = 0
        for place, text in enumerate(texts):
            self._count += 1
            self._db.execute("INSERT INTO stemmed(rowid, text) VALUES (?, ?)", (place, text))
            tokens = " ".join(lexical_tokens(text))
            self._db.execute("INSERT INTO whole(rowid, text) VALUES (?, ?)", (place, tokens))

    def by_bm25(self, query: str, *, limit: int) -> list[int]:
        """Return texts with any word of the query, stemmed, best BM25 first."""
        terms = dict.fromkeys(words(query))
        if not terms:
            return []
        # SQLite's integers end at 63 bits; no list is longer than the corpus.
        limit = min(limit, self._count)
        return self._places(_BY_BM25, (" OR ".join(map(_quoted, terms)), limit))

    def by_count(self, query: str, *, limit: int) -> list[int]:
        """Return texts with every token of the query, unstemmed, most occurrences first."""
        terms = dict.fromkeys(lexical_tokens(query))
        found = [dict(self._db.execute(_OCCURRENCES, (term,))) for term in terms]
        if not found:
            return []
        shared = set(found[0]).intersection(*found[1:])
        times = {place: sum(counts[place] for counts in found) for place in shared}
        return sorted(times, key=lambda place: (-times[place], place))[:limit]

    def holding(self, phrase: str) -> list[int]:
        """Return every text in which the phrase's words follow each other, stemmed."""
        terms = words(phrase)
        return self._places(_MATCHES, (_quoted(" ".join(terms)),)) if terms else []

    def _places(self, statement: str, values: Sequence[object]) -> list[int]:
        return [place for (place,) in self._db.execute(statement, values)]


def _quoted(terms: str) -> str:
    """Return an FTS5 string: inside quotes no word is an operator."""
    return f'"{terms}"'
