"""Words of the query, marked in a chunk."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from judge.labelling.marking import mark


def test_words_of_the_query_are_marked():
    assert [part.text for part in mark("Its heights, at 8 km", "HEIGHT of 8?") if part.marked] == [
        "heights",
        "8",
    ]
    assert not any(part.marked for part in mark("of an is", "is it of an age"))


@given(st.text(max_size=80), st.text(max_size=30))
def test_marked_segments_join_to_the_text(text, query):
    assert "".join(part.text for part in mark(text, query)) == text
