"""The preferences file: what goes out comes back, and what is wrong is said at once."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import InputError
from judge.evidence.preferences import Preference
from judge.readlog.pairs import preference_lines, read_preferences

IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
QUERIES = IDS.filter(lambda text: text.strip() != "")
PREFERENCES = st.builds(
    Preference,
    query=QUERIES, winner=IDS, loser=IDS, wins=st.integers(0, 99), losses=st.integers(0, 99),
    probability=st.floats(0, 1).map(lambda p: round(p, 6)), decided=st.booleans(),
    hops=st.integers(1, 3), weak=st.integers(0, 3), winner_hash=st.none() | IDS,
    loser_hash=st.none() | IDS, queries=st.lists(QUERIES).map(tuple),
).filter(lambda pair: pair.winner != pair.loser)  # fmt: skip


def read(text):
    return read_preferences(io.BytesIO(text.encode())).preferences


@pytest.mark.slow
@given(st.lists(PREFERENCES, min_size=1, max_size=5))
def test_what_is_written_is_read_back(pairs):
    assert list(read("\n".join(preference_lines(pairs)))) == pairs


def test_line_has_the_documented_fields():
    pair = Preference("q", "a", "b", 4, 0, 0.96875, True)
    assert json.loads(next(preference_lines([pair]))) == {
        "query": "q", "winner": "a", "loser": "b", "wins": 4, "losses": 0,
        "probability": 0.96875, "decided": True,
    }  # fmt: skip


def test_line_written_by_hand_counts_as_decided():
    assert read('{"query":"q","winner":17,"loser":"b"}') == (
        Preference("q", "17", "b", 0, 0, 1.0, True),
    )


def test_half_surrogate_is_written_so_that_a_file_can_hold_it():
    pair = Preference("\ud800", "a", "b", 1, 0, 0.75, False)
    next(preference_lines([pair])).encode("utf-8")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"winner":"a","loser":"b"}', "without a query"),
        ('{"query":"q","winner":"a"}', "two different chunk ids"),
        ('{"query":"q","winner":"a","loser":"a"}', "two different chunk ids"),
        ('{"query":"q","winner":"a","loser":"b","wins":-1}', "whole number"),
        ('{"query":"q","winner":"a","loser":"b","probability":2}', "from 0 to 1"),
        ("[1]", "one JSON object a line"),
    ],
)
def test_bad_line_is_named_with_what_to_do(line, found):
    good = '{"query":"q","winner":"a","loser":"b"}\n'
    with pytest.raises(InputError, match=found) as error:
        read(good + line + "\n" + good)
    assert ":2" in str(error.value)
