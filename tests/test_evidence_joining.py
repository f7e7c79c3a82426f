"""Which preferences speak of a query's chunks, when ids, texts and wordings have moved."""

from __future__ import annotations

import pytest

from judge.evidence.joining import Joined, PreferenceIndex, content_hash, normalise_query
from judge.evidence.pool import PoolRules, build_pool
from judge.evidence.preferences import Preference
from judge.evidence.queries import Query
from judge.run import Golden, Result, Row


def query(text="How to reset?", **texts):
    results = tuple(Result(id, text=body) for id, body in texts.items())
    return Query("q", (Row("q", results=results),), text=text)


def prefers(winner, loser, *, text="how to reset", decided=True, **fields):
    return Preference(text, winner, loser, 4, 0, 0.96875, decided, **fields)


@pytest.mark.parametrize(
    "text", ["how to reset", "How  to RESET?", "how to reset!", " How to reset "]
)
def test_wordings_that_differ_in_spelling_alone_are_one_query(text):
    index = PreferenceIndex([prefers("a", "b")])
    assert index.join(query(text, a="A", b="B")).pairs == (("a", "b"),)


def test_further_wordings_of_a_cluster_join_as_well():
    index = PreferenceIndex([prefers("a", "b", queries=("forgot password",))])
    assert index.join(query("Forgot password?", a="A", b="B")).pairs == (("a", "b"),)


def test_undecided_pair_is_no_constraint():
    assert PreferenceIndex([prefers("a", "b", decided=False)]).join(query(a="A", b="B")) == Joined()


def test_row_without_query_text_has_no_preferences():
    assert PreferenceIndex([prefers("a", "b", text="q")]).join(query(None, a="A")) == Joined()


def test_chunk_that_was_renamed_is_found_by_its_text():
    pair = prefers("old", "b", winner_hash=content_hash("A text"), loser_hash=content_hash("B"))
    index = PreferenceIndex([pair])
    assert index.join(query(new="A  text\n", b="B")).pairs == (("new", "b"),)


def test_chunk_whose_text_changed_has_lost_its_votes():
    pair = prefers("a", "b", winner_hash=content_hash("before"), loser_hash=content_hash("B"))
    assert PreferenceIndex([pair]).join(query(a="after", b="B")) == Joined((), (pair,))


def test_chunk_without_text_in_the_run_joins_by_id():
    pair = prefers("a", "b", winner_hash=content_hash("A"))
    assert PreferenceIndex([pair]).join(query(a=None, b=None)).pairs == (("a", "b"),)


def test_chunk_that_is_not_in_hand_stays_so_that_paths_may_lead_through_it():
    assert PreferenceIndex([prefers("a", "gone")]).join(query(a="A")).pairs == (("a", "gone"),)


def test_favour_sums_what_all_votes_say_for_each_chunk():
    index = PreferenceIndex([prefers("a", "b"), prefers("a", "c", decided=False)])
    # 0.96875 - 0.5 for each pair, against the losers.
    assert index.favour(query(a="A", b="B", c="C")) == {"a": 0.9375, "b": -0.46875, "c": -0.46875}


def test_notices_count_pairs_and_what_no_longer_holds():
    stale = prefers("x", "y", winner_hash="0" * 16)
    index = PreferenceIndex([prefers("a", "b"), stale])
    texts = [notice.text for notice in index.notices([query(a="A", b="B", x="X"), query("other")])]
    assert texts == [
        "read logs order 1 pairs of chunks in 1 of 2 queries",
        "1 decided pairs are about texts that have changed since: not used",
    ]


def test_notices_tell_pairs_whose_ids_the_lists_do_not_have():
    # The log names documents d and e; chunks are graded unless something names documents.
    results = (Result("d1", document_id="d"), Result("e1", document_id="e"))
    asked = [Query("q", (Row("q", results=results),), text="how to reset")]
    by_document = PreferenceIndex([prefers("d", "e")])
    counts = {n.kind: (n.count, n.text) for n in by_document.notices(asked)}
    assert counts["preferences"] == (0, "read logs order 0 pairs of chunks in 0 of 1 queries")
    assert counts["preferences_elsewhere"] == (
        1,
        "1 decided pairs name an id that is no chunk in any list of their query:"
        " they order nothing by themselves",
    )
    assert [n.count for n in by_document.notices(asked, unit="document")] == [1]
    # The losing chunk is not its document.
    by_chunk = PreferenceIndex([prefers("d1", "e1")])
    assert [n.count for n in by_chunk.notices(asked)] == [1]
    assert [n.count for n in by_chunk.notices(asked, unit="document")] == [0, 1]


@pytest.mark.parametrize(("text", "normal"), [("ＡＢ ｃ?", "ab c"), ("?", "?"), ("", "")])
def test_normal_form_ignores_width_case_spacing_and_final_marks(text, normal):
    assert normalise_query(text) == normal


def test_losing_chunk_does_not_speak_for_its_document():
    # Document e has a second chunk, which may be why the golden expects it.
    results = (
        Result("d1", document_id="d", text="x"),
        Result("e1", document_id="e", text="y"),
        Result("w", text="z"),
    )
    row = Row("q", query="q", results=results)
    golden = Golden(("e",), query="q")
    rules = PoolRules("document", 10, 3)
    pairs = [("d1", "e1"), ("d1", "w")]
    pool = build_pool(Query("q", (row,), text="q", golden=golden), rules, preferences=pairs)
    known = dict(zip(pool.ids, pool.judgments, strict=True))
    assert (known["e"].lo, known["d"].lo) == (3, 0)
    assert [(pool.ids[a], pool.ids[b]) for a, b in pool.orders] == [("d", "w")]
