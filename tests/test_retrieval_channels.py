"""Tokens, feature hash, chunks, and the two channels of the reference engine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import UsageError
from judge.retrieval.chunking import split
from judge.retrieval.embedding import open_embedder
from judge.retrieval.hashing import DIMENSIONS, FeatureHasher, fnv1a
from judge.retrieval.lexical import LexicalIndex
from judge.retrieval.tokens import lexical_tokens, vector_tokens, words
from judge.retrieval.vectors import VectorIndex, nearest


def test_lexical_tokens_keep_identifiers_whole() -> None:
    assert lexical_tokens("See WH-ROT-02, v1.2. LAG_HIGH") == [
        "see",
        "wh-rot-02",
        "v1.2",
        "lag_high",
    ]


def test_vector_tokens_begin_with_a_letter_or_digit_and_lose_trailing_marks() -> None:
    assert vector_tokens("_x -y Orion-R7. a_") == ["x", "y", "orion-r7", "a"]


def test_words_split_at_everything_else() -> None:
    assert words("LAG_HIGH, wh-02") == ["lag", "high", "wh", "02"]


# From the reference implementation's test vectors (Fowler, Noll, Vo: FNV-1a, 32 bit).
@pytest.mark.parametrize(
    ("text", "value"), [("", 0x811C9DC5), ("a", 0xE40C292C), ("foobar", 0xBF9CF968)]
)
def test_fnv1a(text: str, value: int) -> None:
    assert fnv1a(text) == value


def test_one_token_text_has_its_token_and_trigrams() -> None:
    # "ab": t:ab weighs 1, the trigrams ^ab and ab$ .25 each: length sqrt(1 + 2/16) = 1.06066
    vector = FeatureHasher().embed(["ab"])[0]
    assert vector.shape == (DIMENSIONS,)
    assert sorted(np.abs(vector[vector != 0]).round(5)) == [0.2357, 0.2357, 0.94281]


def test_a_feature_counts_once_however_often_it_occurs() -> None:
    once, twice = FeatureHasher().embed(["red fox", "red fox fox red"])
    assert once == pytest.approx(twice)


def test_text_without_tokens_has_a_zero_vector() -> None:
    assert not FeatureHasher().embed(["?!", ""]).any()


def test_unknown_extra_names_how_to_install_it() -> None:
    try:
        import wordllama  # noqa: F401
    except ImportError:
        with pytest.raises(UsageError, match="pip install"):
            open_embedder("wordllama")


@given(text=st.text(max_size=400), size=st.integers(1, 60), overlap=st.integers(0, 59))
def test_chunks_cover_the_text_and_share_the_overlap(text: str, size: int, overlap: int) -> None:
    if overlap >= size:
        with pytest.raises(UsageError):
            split(text, size=size, overlap=overlap)
        return
    chunks = split(text, size=size, overlap=overlap)
    assert all(len(chunk) == size for chunk in chunks[:-1])
    assert chunks[0] + "".join(chunk[overlap:] for chunk in chunks[1:]) == text


def test_text_that_fits_is_one_chunk_and_so_is_every_text_at_size_0() -> None:
    assert split("x" * 1000, size=1000, overlap=200) == ["x" * 1000]
    assert [len(c) for c in split("x" * 1001, size=1000, overlap=200)] == [1000, 201]
    assert split("x" * 5000, size=0, overlap=200) == ["x" * 5000]


TEXTS = ("the red fox", "fox fox den", "a wolf den", "red wolves", "SKU-4711 and SKU-4712")


def test_by_count_wants_every_token_and_ranks_by_occurrences() -> None:
    index = LexicalIndex(TEXTS)
    assert index.by_count("fox", limit=9) == [1, 0]
    assert index.by_count("fox den", limit=9) == [1]
    assert index.by_count("wolf", limit=9) == [2]  # not stemmed: "wolves" is another token
    assert index.by_count("4711", limit=9) == []
    assert index.by_count("sku-4711", limit=9) == [4]
    assert index.by_count("the the red", limit=9) == [0]
    assert index.by_count("?", limit=9) == []


def test_by_count_breaks_ties_in_corpus_order_and_stops_at_the_limit() -> None:
    index = LexicalIndex(["x y", "y x", "x", "x x"])
    assert index.by_count("x", limit=3) == [3, 0, 1]


def test_by_bm25_takes_any_word_and_stems() -> None:
    index = LexicalIndex(TEXTS)
    assert index.by_bm25("running foxes", limit=9) == [1, 0]
    assert set(index.by_bm25("wolves red", limit=9)) == {0, 3}
    assert index.by_bm25("4711", limit=9) == [4]


@pytest.mark.parametrize(
    "query", ['" OR *', "NEAR(a b)", "text:fox AND", "^fox", 'say "fox"', "\0fox"]
)
def test_operators_of_the_index_are_plain_text(query: str) -> None:
    index = LexicalIndex(TEXTS)
    index.by_bm25(query, limit=9)
    index.by_count(query, limit=9)
    index.holding(query)


def test_holding_wants_the_words_in_sequence() -> None:
    index = LexicalIndex(TEXTS)
    assert index.holding("red fox") == [0]
    assert index.holding("fox red") == []


def test_equal_texts_tie_in_corpus_order() -> None:
    index = VectorIndex(["wolf", "fox", "wolf", "wolf"], embedder=FeatureHasher())
    everything = (np.arange(4),)
    assert nearest(index.cosines("wolf"), groups=everything, per_group=4) == [0, 2, 3, 1]


def test_candidates_come_from_each_group_and_merge_by_cosine() -> None:
    cosines = np.array([0.9, 0.8, 0.7, 0.1, 0.85])
    groups = (np.array([0, 1, 2]), np.array([3, 4]))
    assert nearest(cosines, groups=groups, per_group=2) == [0, 4, 1, 3]
    assert nearest(cosines, groups=groups, per_group=2, floor=0.85) == [0, 4]
    assert nearest(cosines, groups=(groups[0], np.array([], dtype=int)), per_group=1) == [0]
