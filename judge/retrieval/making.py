"""Goldens made from a corpus, without a person: deterministic, one question a passage.

Each category asks for the same passages in another way, so that its figures can be laid
side by side. What they measure is whether a search finds what it is told to find.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from judge.errors import UsageError
from judge.retrieval.corpus import Item
from judge.retrieval.engine import Chunk
from judge.retrieval.tokens import written_words
from judge.retrieval.vocabulary import Vocabulary
from judge.run import Golden

DEFAULT_CATEGORIES = ("exact", "phrase", "prefix", "noisy")
_PHRASE_WORDS = 5
_SHORTEST_CUT = 6  # letters of a word that may be cut to a prefix
_SHORTEST_MISTYPED = 4
_PREFIX_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class Passage:
    """The piece of an item that a question is made about, and the item it came from."""

    number: int
    chunk: Chunk

    @property
    def item(self) -> Item:
        """Return the item that a search should find."""
        return self.chunk.item

    @property
    def words(self) -> list[str]:
        """Return the passage's words as written, without those that its borders cut."""
        whole = set(written_words(self.item.text))
        return [word for word in written_words(self.chunk.text) if word in whole]


@dataclass(frozen=True, slots=True)
class Question:
    """What a category asks about a passage; `complete`: nothing else can answer it."""

    query: str
    complete: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """Goldens, the passage of each by query id, and how many passages gave none."""

    goldens: tuple[Golden, ...]
    passages: Mapping[str, Chunk]
    passed_over: Mapping[str, int]


Category = Callable[[Passage, Vocabulary, random.Random], Question | None]


def make_goldens(
    chunks: Sequence[Chunk],
    *,
    categories: Iterable[str] = DEFAULT_CATEGORIES,
    per_category: int = 50,
    seed: int = 0,
) -> Made:
    """Return up to `per_category` goldens of each category, the same for the same seed.

    Passages are taken in a seeded order, every item once before any comes again. The
    number in a query id is the passage's: exact-007 and noisy-007 ask for the same one.
    """
    vocabulary = Vocabulary(list(dict.fromkeys(chunk.item for chunk in chunks)))
    passages = [Passage(n, chunk) for n, chunk in enumerate(_shuffled(chunks, seed), start=1)]
    goldens: list[Golden] = []
    asked: dict[str, Chunk] = {}
    passed_over = {}
    for name in dict.fromkeys(categories):
        if name not in CATEGORIES:
            raise UsageError(f"no category {name!r}; there are {', '.join(CATEGORIES)}")
        made, looked_at = 0, 0
        for passage in passages:
            if made == per_category:
                break
            looked_at += 1
            # Seeded by the passage itself, so that one passage's question never
            # depends on how many others were asked for.
            chance = random.Random(f"{seed} {name} {passage.chunk.id}")  # noqa: S311
            question = CATEGORIES[name](passage, vocabulary, chance)
            if question is not None:
                made += 1
                id = f"{name}-{passage.number:03d}"
                goldens.append(_golden(id, name, passage, question))
                asked[id] = passage.chunk
        passed_over[name] = looked_at - made
    return Made(tuple(goldens), asked, passed_over)


def golden_lines(goldens: Iterable[Golden]) -> Iterator[str]:
    """Yield each golden as a line of a golden file."""
    for golden in goldens:
        fields: dict[str, object] = {
            "query_id": golden.query_id,
            "slice": golden.slice,
            "query": golden.query,
            "expected": list(golden.expected),
        }
        complete = {"complete": True} if golden.complete else {}
        yield json.dumps(fields | complete, ensure_ascii=False)


def _shuffled(chunks: Sequence[Chunk], seed: int) -> list[Chunk]:
    chance = random.Random(f"{seed} passages")  # noqa: S311
    mixed = chance.sample(list(chunks), len(chunks))
    seen: dict[str, int] = {}
    turn = {}
    for chunk in mixed:
        turn[chunk.id] = seen[chunk.item.id] = seen.get(chunk.item.id, -1) + 1
    return sorted(mixed, key=lambda chunk: turn[chunk.id])


def _golden(id: str, category: str, passage: Passage, question: Question) -> Golden:
    return Golden(
        expected=(passage.item.id,),
        query_id=id,
        query=question.query,
        slice=category,
        complete=question.complete,
    )


def _exact(passage: Passage, vocabulary: Vocabulary, chance: random.Random) -> Question | None:
    """Ask for the passage's rarest term, if no other item holds it."""
    for term in vocabulary.rarest(passage.chunk.text):
        if vocabulary.holders(term) == {passage.item.id}:
            return Question(term, complete=True)
    return None


def _first_token(
    passage: Passage, vocabulary: Vocabulary, chance: random.Random
) -> Question | None:
    """Ask for the passage's first word: the mistake that `exact` is there to avoid."""
    return Question(passage.words[0]) if passage.words else None


def _phrase(passage: Passage, vocabulary: Vocabulary, chance: random.Random) -> Question | None:
    """Ask with words that follow each other in this item alone."""
    written = passage.words
    starts = range(len(written) - _PHRASE_WORDS + 1)
    for start in chance.sample(starts, len(starts)):
        phrase = " ".join(written[start : start + _PHRASE_WORDS])
        if vocabulary.holders(phrase) == {passage.item.id}:
            return Question(phrase)
    return None


def _prefix(passage: Passage, vocabulary: Vocabulary, chance: random.Random) -> Question | None:
    """Ask with the beginning of a rare word, as somebody does who is still typing."""
    for term in vocabulary.rarest(passage.chunk.text):
        if len(term) < _SHORTEST_CUT or not term.isalpha():
            continue
        prefix = term[: round(len(term) * _PREFIX_SHARE)]
        if vocabulary.holders_of_prefix(prefix) == {passage.item.id}:
            return Question(prefix)
    return None


def _noisy(passage: Passage, vocabulary: Vocabulary, chance: random.Random) -> Question | None:
    """Ask with a phrase in which the two longest words are mistyped, one of them a long one."""
    phrase = _phrase(passage, vocabulary, chance)
    if phrase is None:
        return None
    written = phrase.query.split()
    longest = sorted(range(len(written)), key=lambda at: (-len(written[at]), at))[:2]
    if len(written[longest[0]]) < _SHORTEST_CUT:
        return None
    for at in longest:
        if len(written[at]) >= _SHORTEST_MISTYPED:
            written[at] = _mistyped(written[at], chance)
    return Question(" ".join(written))


CATEGORIES: Mapping[str, Category] = MappingProxyType(
    {
        "exact": _exact,
        "phrase": _phrase,
        "prefix": _prefix,
        "noisy": _noisy,
        "first-token": _first_token,
    }
)
"""By name, how a question is made of a passage; None where the passage gives none."""


def _mistyped(word: str, chance: random.Random) -> str:
    """Return the word with two letters swapped, one left out or one doubled."""
    at = chance.randrange(1, len(word) - 1)
    swapped = word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]
    dropped = word[:at] + word[at + 1 :]
    doubled = word[: at + 1] + word[at:]
    return chance.choice([typo for typo in (swapped, dropped, doubled) if typo != word])
