"""Repeats and sought documents are found exactly, however many documents share a key."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.measures.engine_slots import Documents, settle
from judge.measures.engine_text import Ids

LISTS, IDS = 3, 12
PAIR = st.tuples(st.integers(0, LISTS - 1), st.integers(1, IDS))
# A key for each pair, out of few: most pairs share theirs with another one.
KEYS = st.lists(st.integers(0, 4), min_size=LISTS * IDS, max_size=LISTS * IDS)


def documents(pairs: list[tuple[int, int]], keys: list[int]) -> Documents:
    """Return documents whose keys differ in their highest bits alone, as slots need them."""
    lists = np.array([of for of, _ in pairs], dtype=np.int64)
    found = [keys[of * IDS + number - 1] << 61 for of, number in pairs]
    words = np.array([number + ord("a") for _, number in pairs], dtype=np.uint64)
    return Documents(lists, np.array(found, dtype=np.uint64), Ids((words,)))


@pytest.mark.slow
@given(st.lists(PAIR, min_size=1, max_size=40), st.sets(PAIR), KEYS)
def test_what_shares_a_key_is_told_apart(
    pairs: list[tuple[int, int]], wanted: set[tuple[int, int]], keys: list[int]
) -> None:
    sought = sorted(wanted)
    settled = settle(documents(pairs, keys), documents(sought, keys))
    repeats = [(n, pairs.index(pair)) for n, pair in enumerate(pairs) if pair in pairs[:n]]
    assert list(zip(settled.later.tolist(), settled.first.tolist(), strict=True)) == repeats
    places = [pairs.index(pair) if pair in pairs else -1 for pair in sought]
    assert settled.places.tolist() == places
