"""OpenSearch User Behavior Insights: everything in, nothing overwritten, the rest counted."""

from __future__ import annotations

import json

import pytest
from readlog_lines import votes

from judge.readlog.deciding import Rule
from judge.readlog.mining import MiningOptions, mine
from judge.readlog.summary import decision_line


def query_record(id="q1", text="ps4", hits=(), time="2025-01-24T07:31:55.649+0000", **extra):
    return {"query_id": id, "user_query": text, "client_id": "c", "timestamp": time,
            "query_response_hit_ids": list(hits), **extra}  # fmt: skip


def action(name, object_id, *, query_id="q1", ordinal=None, time="2025-01-24T07:32:00Z",
           session="s1", **extra):  # fmt: skip
    attributes = {"object": {"object_id": object_id}}
    if ordinal is not None:
        attributes["position"] = {"ordinal": ordinal}
    return {"action_name": name, "query_id": query_id, "session_id": session, "client_id": "c",
            "timestamp": time, "event_attributes": attributes, **extra}  # fmt: skip


@pytest.fixture
def mined(tmp_path):
    def run(*records, **options):
        path = tmp_path / "ubi.ndjson"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return mine([path], MiningOptions(**options))

    return run


def test_click_on_a_recorded_list_votes(mined):
    result = mined(query_record(hits="abc"), action("click", "b"))
    assert votes(result) == {("ps4", "b", "a"): (1, 0)}


def test_positions_of_impressions_make_the_list_where_the_record_has_none(mined):
    shown = [action("impression", id, ordinal=at) for at, id in ((2, "c"), (0, "a"), (1, "b"))]
    result = mined(query_record(), *shown, action("click", "c", time="2025-01-24T07:32:05Z"))
    assert set(votes(result)) == {("ps4", "c", "a"), ("ps4", "c", "b")}


def test_position_that_gets_another_id_begins_another_list(mined):
    shown = [action("impression", id, ordinal=at, time=f"2025-01-24T07:32:0{n}Z")
             for n, (at, id) in enumerate([(0, "a"), (1, "b"), (0, "x"), (1, "y")])]  # fmt: skip
    result = mined(query_record(), *shown, action("click", "y", time="2025-01-24T07:32:05Z"))
    assert set(votes(result)) == {("ps4", "y", "x")}


def test_which_actions_are_reads_is_a_setting(mined):
    records = query_record(hits="abc"), action("add_to_cart", "b")
    assert mined(*records).tally.unused["action add_to_cart"] == 1
    assert votes(mined(*records)) == {}
    assert votes(mined(*records, read_actions=frozenset({"add_to_cart"})))


def test_older_and_newer_schemas_are_read_alike(mined):
    # 1.0: epoch milliseconds, the session inside the attributes, no application.
    click = action("click", "b", time=1737703920000)
    click["event_attributes"]["session_id"] = click.pop("session_id")
    old = query_record(time=1737703915000)
    old["query_response_object_ids"] = old.pop("query_response_hit_ids") or ["a", "b"]
    new = query_record("q2", hits="ab", application="shop", object_id_field="asin")
    assert votes(mined(old, click)) == {("ps4", "b", "a"): (1, 0)}
    assert votes(mined(new, action("click", "b", query_id="q2", application="shop")))


def test_bulk_lines_and_wrapped_documents_are_read_alike(mined):
    records = query_record(hits="ab"), action("click", "b")
    bulk = [line for record in records for line in ({"index": {"_index": "ubi"}}, record)]
    wrapped = [{"_index": "ubi", "_id": "1", "_source": record} for record in records]
    assert votes(mined(*bulk)) == votes(mined(*wrapped)) == votes(mined(*records))


def test_click_belongs_to_the_query_it_names_not_to_the_latest(mined):
    result = mined(
        query_record("q1", "first", "ab"),
        query_record("q2", "second", "xb", time="2025-01-24T07:31:58Z"),
        action("click", "b", query_id="q1"),
    )
    assert set(votes(result)) == {("first", "b", "a")}


def test_visits_of_one_client_have_one_vote(mined):
    records = []
    for at in range(5):
        records += [query_record(f"q{at}", hits="ab"),
                    action("click", "b", query_id=f"q{at}", session=f"s{at}")]  # fmt: skip
    assert votes(mined(*records)) == {("ps4", "b", "a"): (1, 0)}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (action("click", "b", query_id="nowhere"), "no query record"),
        (action("click", None), "no object_id"),
        (action("click", "b", time="soon"), "no readable time"),
        (action("click", "z"), "read of an id that was not returned"),
        ({"action_name": "click"}, "no query record"),
        ({"user_query": "x", "timestamp": 1}, "no query_id"),
        (query_record("q9", text=None), "no user_query"),
        (17, "no query_id"),
    ],
)
def test_what_cannot_be_used_is_counted_by_reason(mined, record, reason):
    result = mined(query_record(hits="ab"), action("click", "b"), record)
    assert votes(result) == {("ps4", "b", "a"): (1, 0)}
    assert result.tally.unused == {reason: 1}


def test_published_sample_is_imported_without_loss(data):
    result = mine([data / "esci_ubi" / "ubi_queries_events.ndjson"])
    # data/README.md and the file itself (jq): 473 query records, 3,448 events, of which 946
    # have no query record with their query_id.
    assert result.tally.events == {"query record": 473, "event": 3448}
    assert result.tally.unused["no query record"] == 946


def test_published_sample_decides_what_little_it_can(data):
    result = mine([data / "esci_ubi" / "ubi_queries_events.ndjson"])
    decided = [pair for pair in result.preferences if pair.decided]
    # Counted from the clicks on "gold" by hand: B07SS88BWT was read in 4 sessions that skipped
    # the same 7 above it, B077VQYJQ9 in 5 that skipped one.
    assert len(decided) == 1
    assert {pair.query for pair in decided} == {"gold"}
    assert decision_line(result, Rule()).startswith("the log decided 1 pairs in 1 of 149 queries")
