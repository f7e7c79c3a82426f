"""The columnar score reader returns what `float()` returns, or says that it cannot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.measures.engine_scores import parse_scores
from judge.measures.engine_text import PADDING, Column, Text

BEFORE = b"q Q0 d 1 "


def column(texts: list[str]) -> Column:
    """Return texts as the scores of lines, which begin with at least four fields."""
    data = b"".join(BEFORE + text.encode() + b" t\n" for text in texts)
    lengths = np.array([len(text) for text in texts])
    sizes = lengths + len(BEFORE) + len(b" t\n")
    starts = np.cumsum(sizes) - sizes + len(BEFORE)
    return Column(Text(data + PADDING, len(data)), starts, lengths)


@st.composite
def alike(draw: st.DrawFn) -> list[str]:
    """Return scores with the same number of decimals, or nearly: one byte may be another."""
    decimals = draw(st.integers(0, 14))
    digits = st.text("0123456789", max_size=11)
    tails = st.text("0123456789", min_size=decimals, max_size=decimals)
    texts = draw(st.lists(st.builds("{}.{}".format, digits, tails), min_size=1, max_size=6))
    if draw(st.booleans()):
        changed = draw(st.integers(0, len(texts) - 1))
        at = draw(st.integers(0, len(texts[changed]) - 1))
        sign = draw(st.sampled_from("0.-+e/:;,_x"))
        texts[changed] = texts[changed][:at] + sign + texts[changed][at + 1 :]
    return texts


def value(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


@pytest.mark.slow
@given(alike())
def test_scores_of_one_shape_are_what_float_says(texts: list[str]) -> None:
    wanted = [value(text) for text in texts]
    found = parse_scores(column(texts), single=False)
    assert (None if None in wanted else wanted) == (None if found is None else found.tolist())


@given(st.lists(st.floats(allow_nan=False).map(repr), min_size=1, max_size=6))
def test_scores_of_any_shape_are_what_float_says(texts: list[str]) -> None:
    found = parse_scores(column(texts), single=False)
    assert found is not None
    assert found.tolist() == [float(text) for text in texts]
