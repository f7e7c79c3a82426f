"""What is wrong with a golden set, seen from its corpus: before anything is measured by it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from judge.evidence.quotes import folded
from judge.retrieval.corpus import Item
from judge.retrieval.engine import Engine, SearchIndex
from judge.retrieval.knobs import RETRIEVERS, Knobs
from judge.retrieval.tokens import lexical_tokens
from judge.retrieval.vocabulary import Vocabulary
from judge.run import Golden

FEWEST_ROWS = 10
_NEAR = 0.85  # cosine of feature hashes; a sentence with one fact changed reaches it
_COPIED_WORDS = 4
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of fault, and every row it was found in.

    is_error: measures are wrong with it; otherwise they only say less than they seem to
    rows: the goldens' query ids, or their queries where they have none
    """

    kind: str
    is_error: bool
    text: str
    rows: tuple[str, ...] = ()

    def __str__(self) -> str:
        more = f", … {len(self.rows) - _SHOWN} more" if len(self.rows) > _SHOWN else ""
        rows = f" ({', '.join(self.rows[:_SHOWN])}{more})" if self.rows else ""
        return f"{'error' if self.is_error else 'warning'}: {self.text}{rows}"


def check_goldens(goldens: Sequence[Golden], engine: Engine) -> tuple[Finding, ...]:
    """Return every fault found in the goldens, errors first, each with its rows.

    Where a golden quotes a passage, every item that holds it is expected.
    """
    corpus = _Corpus(engine)
    goldens = [corpus.with_quoted(golden) for golden in goldens]
    found = [finding for check in _CHECKS for finding in check(goldens, corpus)]
    return tuple(sorted(found, key=lambda finding: not finding.is_error))


class _Corpus:
    """What checks ask of a corpus; each part is made when first asked for."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.items = {item.id: item for item in engine.items}
        self.documents = {item.document for item in engine.items}

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.engine.items)

    def twins(self, id: str) -> Iterator[str]:
        """Yield the other items that say almost the same."""
        cosines = self._whole.vectors.cosines_of_text(self._places[id])
        for place in np.flatnonzero(cosines >= _NEAR):
            if place != self._places[id]:
                yield self._whole.chunks[place].id

    @cached_property
    def _whole(self) -> SearchIndex:
        return self.engine.index(Knobs(chunk_size=0))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {chunk.id: place for place, chunk in enumerate(self._whole.chunks)}

    def known(self, id: str) -> bool:
        return id in self.items or id in self.documents

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {item.id: folded(item.text) for item in self.engine.items}

    def holding(self, quote: str) -> list[str]:
        wanted = folded(quote)
        return [id for id, text in self._folded.items() if wanted in text]

    def with_quoted(self, golden: Golden) -> Golden:
        ids = (id for quote in golden.quotes for id in self.holding(quote))
        return replace(golden, expected=tuple(dict.fromkeys((*golden.expected, *ids))))

    def expected_items(self, golden: Golden) -> list[Item]:
        return [self.items[id] for id in golden.expected if id in self.items]


def _missing_ids(goldens: Sequence[Golden], corpus: _Corpus) -> Iterator[Finding]:
    missing = [(g, id) for g in goldens for id in g.expected if not corpus.known(id)]
    if missing:
        ids = ", ".join(dict.fromkeys(id for _, id in missing[:_SHOWN]))
        text = f"{len(missing)} expected ids are not in the corpus: {ids}"
        yield Finding("missing id", True, text, _named(golden for golden, _ in missing))


def _stale_quotes(goldens: Sequence[Golden], corpus: _Corpus) -> Iterator[Finding]:
    stale = [(g, quote) for g in goldens for quote in g.quotes if not corpus.holding(quote)]
    if stale:
        shown = ", ".join(dict.fromkeys(repr(quote) for _, quote in stale[:_SHOWN]))
        text = f"{len(stale)} quotes are in no text of the corpus: {shown}"
        yield Finding("stale quote", True, text, _named(golden for golden, _ in stale))


def _two_answers(goldens: Sequence[Golden], corpus: _Corpus) -> Iterator[Finding]:
    by_query: dict[str, list[Golden]] = {}
    for golden in goldens:
        if golden.query is not None:
            by_query.setdefault(" ".join(golden.query.casefold().split()), []).append(golden)
    for same in by_query.values():
        if len({frozenset(golden.expected) for golden in same}) > 1:
            text = f"the query {same[0].query!r} has {len(same)} different answers"
            yield Finding("two answers", True, text, _named(same))


def _incomplete(goldens: Sequence[Golden], corpus: _Corpus) -> Iterator[Finding]:
    for golden in goldens:
        if not golden.complete or not golden.expected:
            continue
        identifier = _identifier(golden.query or "", corpus.vocabulary)
        if identifier is None:
            continue
        elsewhere = {
            id
            for id in corpus.vocabulary.holders(identifier)
            if not {id, corpus.items[id].document} & set(golden.expected)
        }
        if elsewhere:
            others = ", ".join(sorted(elsewhere)[:_SHOWN])
            text = f"said to be complete, but {identifier!r} also stands in {others}"
            yield Finding("not complete", True, text, _named([golden]))


def _identifier(query: str, vocabulary: Vocabulary) -> str | None:
    """Return the query's rarest token if it names one thing, and is no word of a question."""
    tokens = lexical_tokens(query)
    rarest = next(iter(vocabulary.rarest(query)), None)
    is_name = rarest is not None and (len(tokens) == 1 or not rarest.isalpha())
    return rarest if is_name else None


def _near_duplicates(goldens: Sequence[Golden], corpus: _Corpus) -> Iterator[Finding]:
    doubtful = {}
    for golden in goldens:
        twins = {id for item in corpus.expected_items(golden) for id in corpus.twins(item.id)}
        others = sorted(twins - set(golden.expected))
        if others:
            doubtful[golden.query_id or golden.query or golden.where] = others[0]
    if doubtful:
        name, twin = next(iter(doubtful.items()))
        text = (
            f"{len(doubtful)} rows expect an item that has a near duplicate, so theirs may not be "
            f"the one answer: {name} has {twin}; list both if both answer"
        )
        yield Finding("near duplicate", False, text, tuple(doubtful))


def _copied(goldens: Sequence[Golden], corpus: _Corpus) -> Iterator[Finding]:
    copied = [
        golden
        for golden in goldens
        if len(lexical_tokens(golden.query or "")) >= _COPIED_WORDS
        and corpus.vocabulary.holders(golden.query or "") & set(golden.expected)
    ]
    if copied:
        text = (
            f"{len(copied)} queries are copied from the text that answers them; "
            "they reward search by words"
        )
        yield Finding("copied query", False, text, _named(copied))


def _small_slices(goldens: Sequence[Golden], corpus: _Corpus) -> Iterator[Finding]:
    for name, rows in _by_slice(goldens).items():
        if len(rows) < FEWEST_ROWS:
            text = (
                f"the slice {name} has {len(rows)} rows; below {FEWEST_ROWS} one row that moves "
                "a place changes the mean more than most ranking changes do"
            )
            yield Finding("small slice", False, text)


def _never_missed(goldens: Sequence[Golden], corpus: _Corpus) -> Iterator[Finding]:
    """Find rows whose answer every retriever puts first: they can get worse, never better."""
    for name, rows in _by_slice(goldens).items():
        easy = [golden for golden in rows if golden.expected and _always_first(golden, corpus)]
        if easy:
            text = (
                f"{len(easy)} of {len(rows)} rows of the slice {name} are answered first by "
                f"{', '.join(RETRIEVERS)} alike; they can show a loss, never a gain"
            )
            yield Finding("never missed", False, text, _named(easy))


def _always_first(golden: Golden, corpus: _Corpus) -> bool:
    for retriever in RETRIEVERS:
        knobs = Knobs(retriever=retriever, depth=1)
        best = corpus.engine.index(knobs).search(golden.query or "", knobs=knobs)
        if not best or not {best[0].id, best[0].document} & set(golden.expected):
            return False
    return True


_CHECKS: tuple[Callable[[Sequence[Golden], _Corpus], Iterator[Finding]], ...] = (
    _missing_ids,
    _stale_quotes,
    _two_answers,
    _incomplete,
    _near_duplicates,
    _copied,
    _small_slices,
    _never_missed,
)


def _by_slice(goldens: Iterable[Golden]) -> dict[str, list[Golden]]:
    slices: dict[str, list[Golden]] = {}
    for golden in goldens:
        slices.setdefault(golden.slice or "(none)", []).append(golden)
    return slices


def _named(goldens: Iterable[Golden]) -> tuple[str, ...]:
    names = (golden.query_id or golden.query or golden.where for golden in goldens)
    return tuple(dict.fromkeys(names))
