"""From a log to decided pairs: the worked log, and everything a log may do to mislead."""

from __future__ import annotations

import io
import itertools
import json
import random

import pytest
from readlog_lines import cite, inject, log_file, mined, read, search, votes, worked_log

from judge.errors import UsageError
from judge.readlog.deciding import Rule
from judge.readlog.mining import MiningOptions, mine
from judge.readlog.visits import VisitRules

LIST = "abcde"


def decided(result):
    return {(p.query, p.winner, p.loser) for p in result.preferences if p.decided}


def test_worked_log_gives_the_worked_votes():
    # statistics.md A.3 (votes) and A.4: s4 read only a, so c over a is 4 to 1. e over a has
    # s1 for it, s3 and s4 (a read above an unread e) against.
    assert votes(mined(worked_log())) == {
        ("q1", "c", "a"): (4, 1),
        ("q1", "c", "b"): (5, 0),
        ("q1", "e", "a"): (1, 2),
        ("q1", "e", "b"): (1, 0),
        ("q1", "e", "d"): (1, 0),
        ("q2", "c", "f"): (1, 0),
    }


def test_worked_log_decides_what_opposition_leaves():
    result = mined(worked_log())
    assert decided(result) == {("q1", "c", "b")}  # 5-0 is 0.984375, 4-1 only 0.890625
    assert {p.probability for p in result.preferences if p.loser == "a" and p.winner == "c"} == {
        0.890625
    }


def test_without_opposition_the_worked_log_decides_one_more():
    four = Rule(min_sources=4)  # c over a is 4-0 then
    assert decided(mined(worked_log(), opposition=False, rule=four)) == {
        ("q1", "c", "a"),
        ("q1", "c", "b"),
    }


def test_worked_log_counts_the_reads_that_belong_to_no_list():
    unused = mined(worked_log()).tally.unused
    assert unused == {
        "read of an id that was not returned": 1,  # s7, z
        "read without a list in its session before it": 1,  # s5, g at 4,000 s
    }


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        # statistics.md A.3; the list of q2 adds c over f and c over g.
        ("skip-previous", {("q1", "c", "b"): 5, ("q1", "e", "d"): 1, ("q2", "c", "f"): 1}),
        ("no-click-next", {("q1", "c", "d"): 5, ("q1", "a", "b"): 2, ("q2", "c", "g"): 1}),
        # The last reads: e in s1, a in s3 and s4 (nothing above it), else c.
        (
            "last-skip-above",
            {("q1", "c", "a"): 3, ("q1", "c", "b"): 3, ("q1", "e", "a"): 1, ("q1", "e", "b"): 1,
             ("q1", "e", "d"): 1, ("q2", "c", "f"): 1},
        ),
    ],
)  # fmt: skip
def test_other_strategies_give_the_worked_votes(strategy, expected):
    result = mined(worked_log(), strategies=(strategy,), opposition=False)
    assert {ends: wins for ends, (wins, _) in votes(result).items()} == expected


def test_weak_rule_is_labelled():
    result = mined(worked_log(), strategies=("skip-above", "no-click-next"))
    weak = {(p.query, p.winner, p.loser): p.weak for p in result.preferences if p.weak}
    assert weak == {("q1", "c", "d"): 5, ("q1", "a", "b"): 2, ("q2", "c", "g"): 1}


def test_unknown_strategy_names_those_there_are():
    with pytest.raises(UsageError, match="skip-above, last-skip-above"):
        MiningOptions(strategies=("click",))


def test_order_of_lines_within_the_window_changes_nothing():
    *early, last = worked_log()  # the last one stands at 4,000 s, beyond the window
    random.Random(3).shuffle(early)
    assert votes(mined([*early, last])) == votes(mined(worked_log()))


def test_session_that_votes_both_ways_votes_for_neither():
    both = [search(0, "s", "q", "ab"), read(1, "s", "b"), search(2, "s", "q", "ba"),
            read(3, "s", "a")]  # fmt: skip
    assert votes(mined(both)) == {}


def test_session_has_one_vote_however_often_it_searches():
    events = [
        event
        for at in range(5)
        for event in (search(10 * at, "s", "q", f"ab{at}"), read(10 * at + 1, "s", "b"))
    ]
    assert votes(mined(events))["q", "b", "a"] == (1, 0)
    assert votes(mined(events, one_vote=False))["q", "b", "a"] == (5, 0)


def test_sessions_of_one_user_have_one_vote():
    events = [
        event
        for at in range(5)
        for event in (search(at, f"s{at}", "q", "ab", user="u"), read(at + 5, f"s{at}", "b"))
    ]
    assert votes(mined(events)) == {("q", "b", "a"): (1, 0)}


def test_cited_beats_uncited_wherever_it_stood():
    events = [search(0, "s", "q", "abc"), inject(1, "s", "abc"), cite(2, "s", "b")]
    assert votes(mined(events)) == {("q", "b", "a"): (1, 0), ("q", "b", "c"): (1, 0)}


def test_injected_list_without_a_citation_says_nothing():
    result = mined([search(0, "s", "q", "abc"), inject(1, "s", "abc")])
    assert result.preferences == ()


def test_cited_id_that_was_never_injected_is_counted_as_unattributed():
    result = mined([inject(1, "s", "ab", query="q"), cite(2, "s", ["z", "a"])])
    assert result.tally.unused["cite of an id that was not injected"] == 1
    assert votes(result) == {("q", "a", "b"): (1, 0)}


def test_injected_list_belongs_to_the_latest_search_that_returned_any_of_it():
    events = [search(0, "s", "q1", "ab"), search(1, "s", "q2", "bc"), search(2, "s", "q3", "xy"),
              inject(3, "s", "ab"), cite(4, "s", "a")]  # fmt: skip
    assert set(votes(mined(events))) == {("q2", "a", "b")}


def test_injection_that_no_search_explains_is_counted():
    result = mined([inject(1, "s", "ab"), cite(2, "s", "a")])
    assert result.preferences == ()
    assert sum(result.tally.unused.values()) == 2


@pytest.mark.parametrize("reads", ["", "ab"], ids=["nothing read", "everything read"])
def test_list_read_not_at_all_or_to_the_end_says_nothing(reads):
    events = [search(0, "s", "q", "ab"), *(read(1, "s", id) for id in reads)]
    assert mined(events).preferences == ()


def test_read_before_its_search_is_no_vote():
    result = mined([read(1, "s", "b"), search(5, "s", "q", "ab")])
    assert result.preferences == ()
    assert result.tally.unused == {"read without a list in its session before it": 1}


def test_read_after_the_window_is_no_vote():
    events = [search(0, "s", "q", "ab"), search(1700, "s", "q2", "xy"), read(1801, "s", "b")]
    assert mined(events).tally.unused == {"read later than the window": 1}


def test_read_belongs_to_the_latest_list_with_its_id():
    events = [search(0, "s", "q1", "ab"), search(1, "s", "q2", "cb"), read(2, "s", "b")]
    assert set(votes(mined(events))) == {("q2", "b", "c")}


def test_same_list_shown_again_is_one_impression():
    # Read as two lists it would be b over a and, below the read of a, a against b.
    events = [search(0, "s", "q", "ab"), read(1, "s", "b"), search(2, "s", "q", "ab"),
              read(3, "s", "a")]  # fmt: skip
    result = mined(events)
    assert result.preferences == ()
    assert [(q.lists, q.read) for q in result.queries] == [(1, 1)]


@pytest.mark.parametrize("actor", ["evaluation", "dashboard", "robot"])
def test_sessions_of_machines_are_set_aside_and_counted(actor):
    events = [search(0, "s", "q", "ab", actor=actor), read(1, "s", "b")]
    result = mined(events)
    assert result.preferences == ()
    assert result.tally.sessions == {f"actor {actor}": 1}


def test_session_that_searches_too_fast_is_a_robot():
    events = [search(at / 10, "s", f"q{at}", "ab") for at in range(31)] + [read(9, "s", "b")]
    result = mined(events)
    assert result.preferences == ()
    assert result.tally.sessions == {"more than 30 searches a minute": 1}


def test_session_that_reads_everything_is_a_robot():
    events = []
    for at in range(3):
        events += [search(10 * at, "s", f"q{at}", "ab"), read(10 * at + 1, "s", "a"),
                   read(10 * at + 2, "s", "b")]  # fmt: skip
    assert mined(events).tally.sessions == {"read every result of every search": 1}


def test_wordings_of_one_query_vote_together():
    events = []
    for at, wording in enumerate(["Reset  password?", "reset password", "RESET PASSWORD", "reset password!"]):  # fmt: skip  # noqa: E501
        events += [search(at, f"s{at}", wording, "ab"), read(at + 5, f"s{at}", "b")]
    assert votes(mined(events)) == {("Reset  password?", "b", "a"): (4, 0)}


def test_chunk_with_another_text_has_other_votes_and_a_renamed_one_keeps_them():
    events = [
        search(0, "s1", "q", ["a", "b"], hashes=["h1", "h2"]), read(1, "s1", "b"),
        search(0, "s2", "q", ["a", "b-renamed"], hashes=["h1", "h2"]), read(1, "s2", "b-renamed"),
        search(0, "s3", "q", ["a", "b"], hashes=["h1", "h3"]), read(1, "s3", "b"),
    ]  # fmt: skip
    found = {(p.winner_hash, p.loser_hash): p.wins for p in mined(events).preferences}
    assert found == {("h2", "h1"): 2, ("h3", "h1"): 1}


def test_reformulations_of_a_session_are_one_query_when_asked():
    def session(name, first, second, read_id):
        return [search(0, name, first, "xy"), search(5, name, second, "ab"),
                read(6, name, read_id)]  # fmt: skip

    events = session("s1", "reset password", "reset my password", "b")
    events += session("s2", "reset my password", "reset password", "b")
    result = mined(events, reformulations=True)
    assert votes(result) == {("reset password", "b", "a"): (2, 0)}
    assert [(a.queries, a.n_pairs, a.n_agreeing) for a in result.agreement] == [
        (("reset password", "reset my password"), 1, 1)
    ]
    assert result.preferences[0].queries == ("reset my password",)
    assert len(mined(events).queries) == 2


def test_chain_votes_for_the_earlier_wording_and_lists_what_it_never_found():
    # A.2: a read in q' beats the first two results of q, which got no read; z is a hole.
    events = [search(0, "s", "reset password", "abc"), search(5, "s", "reset my password", "zc"),
              read(6, "s", "z")]  # fmt: skip
    result = mined(events, chains=True)
    weak = {(p.query, p.winner, p.loser) for p in result.preferences if p.weak}
    assert weak == {("reset password", "z", "a"), ("reset password", "z", "b")}
    assert result.holes == (("reset password", "z"),)
    assert votes(mined(events)) == {}


def sessions(pairs):
    """Return a log in which n sessions each read the second of two chunks, skipping the first."""
    events = []
    for (winner, loser), n in pairs.items():
        for at in range(n):
            name = f"{winner}{loser}{at}"
            events += [search(0, name, "q", [loser, winner]), read(1, name, winner)]
    return events


def test_pair_follows_from_two_decided_ones_with_the_weaker_ones_probability():
    result = mined(sessions({("a", "b"): 6, ("b", "c"): 5, ("c", "d"): 5}))
    concluded = {(p.winner, p.loser): (p.hops, p.probability) for p in result.preferences if p.hops > 1}  # fmt: skip  # noqa: E501
    assert concluded == {("a", "c"): (2, 0.984375), ("b", "d"): (2, 0.984375)}  # not a over d
    one = mined(sessions({("a", "b"): 6, ("b", "c"): 5}), rule=Rule(hops=1))
    assert decided(one) == {("q", "a", "b"), ("q", "b", "c")}
    far = mined(sessions({("a", "b"): 6, ("b", "c"): 5, ("c", "d"): 5}), rule=Rule(hops=3))
    assert ("q", "a", "d") in decided(far)


def test_pairs_that_go_in_a_circle_are_set_aside():
    result = mined(sessions({("a", "b"): 5, ("b", "c"): 5, ("c", "a"): 5, ("c", "d"): 5}))
    assert decided(result) == {("q", "c", "d")}
    assert result.contradictory == 3


HOSTILE = [
    b"",
    b"\n\n",
    b'{"v":1,"event":"read"',
    b"\xff\xfe\x00garbage\n\x80\x81\n",
    b"[1,2]\nnull\n17\n\"text\"\n",
    b'{"v":2,"event":"read","time":1,"session":"s","id":"a"}\n',
    b'{"v":1,"event":"dance","time":1,"session":"s"}\n',
    b'{"v":1,"event":["read"],"time":1,"session":"s","id":"a"}\n',
    b'{"v":1,"event":"read","time":"yesterday","session":"s","id":"a"}\n',
    b'{"v":1,"event":"read","time":NaN,"session":"s","id":"a"}\n',
    b'{"v":1,"event":"read","time":-5,"session":"s","id":"a"}\n',
    b'{"v":1,"event":"read","time":1,"id":"a"}\n',
    b'{"v":1,"event":"search","time":1,"session":"s","query":7,"ids":["a"]}\n',
    b'{"v":1,"event":"search","time":1,"session":"s","query":"q","ids":"a"}\n',
    b'{"v":1,"event":"search","time":1,"session":"s","query":"q","ids":["a",null,{}]}\n',
    b'{"v":1,"event":"search","time":1,"session":"s","query":"  ","ids":["a"]}\n',
    b'{"v":1,"event":"search","time":1,"session":"s","query":"' + b"q" * 1_000_000 + b'","ids":["a"]}\n',  # noqa: E501
    b"[" * 100_000 + b"\n",
]  # fmt: skip


@pytest.mark.parametrize("data", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_lines_are_counted_and_never_vote(data, tmp_path):
    path = tmp_path / "log.jsonl"
    good = b"".join(json.dumps(event).encode() + b"\n" for event in sessions({("a", "b"): 4}))
    path.write_bytes(good + data)
    result = mine([path])
    assert votes(result) == {("q", "a", "b"): (4, 0)}
    assert bool(result.tally.unused) == bool(data.strip())


def test_line_longer_than_memory_should_hold_is_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr("judge.readlog.reading.LONGEST_LINE", 200)
    path = tmp_path / "log.jsonl"
    events = log_file(sessions({("a", "b"): 4})).read()
    path.write_bytes(b"x" * 1000 + b"\n" + events + b"y" * 1000)
    result = mine([path])
    assert result.tally.unused == {"line too long": 2}
    assert votes(result) == {("q", "a", "b"): (4, 0)}


def test_half_surrogate_in_a_log_breaks_nothing():
    data = b'{"v":1,"event":"search","time":1,"session":"\\ud800","query":"\\udfff q","ids":["\\ud800","b"]}\n'  # noqa: E501
    data += b'{"v":1,"event":"read","time":2,"session":"\\ud800","id":"b"}\n'
    assert len(mine([io.BytesIO(data)]).preferences) == 1


def test_repeated_event_id_is_ignored_and_counted():
    events = [search(0, "s", "q", "ab", event_id="1"), read(1, "s", "b", event_id="2")]
    result = mined([*events, *events, read(2, "s", "a", event_id="2")])
    assert result.tally.unused == {"event_id seen before": 3}
    assert votes(result) == {("q", "b", "a"): (1, 0)}


def test_clock_that_runs_backwards_gives_no_vote():
    events = [search(10_000, "s", "q", "ab"), read(9_000, "s", "b")]
    assert mined(events).preferences == ()


def test_one_event_from_the_far_future_does_not_make_the_rest_too_late():
    events = worked_log()
    events.insert(3, search(4e9, "other", "q", "ab"))
    assert votes(mined(events)) == votes(mined(worked_log()))
    assert votes(mined([events[3], *worked_log()])) == votes(mined(worked_log()))


def test_event_older_than_the_window_is_counted_and_does_not_vote():
    events = [*worked_log()[:-1], search(9000, "s9", "q", "ab"), read(50, "s4", "e")]
    result = mined(events)
    assert result.tally.unused["more than 1800 s older than the log had come to"] == 1
    assert votes(result) == votes(mined(worked_log()))


@pytest.mark.slow
def test_endless_session_is_worked_off_in_parts():
    # 10,000 searches of one session, one a minute, with a read of the second chunk (a win over
    # the first) or of the third (two wins) in turn.
    events = []
    for at in range(10_000):
        events += [search(60 * at, "s", f"q{at}", "abc"), read(60 * at + 1, "s", "bc"[at % 2])]
    result = mined(events)
    assert len(result.preferences) == 15_000
    assert {(p.wins, p.losses) for p in result.preferences} == {(1, 0)}


def test_lists_of_one_moment_end_one_visit_once():
    # Lists of one session in one millisecond, before a pause and at the end of the log.
    events = []
    for n in range(4):
        for time in (10_000 * n, 10_000 * n + 5_000):
            events += [search(time, f"s{n}", "q", "ab"), search(time, f"s{n}", "q2", "cd")]
            events += [inject(time, f"s{n}", "ab"), read(time, f"s{n}", "b")]
    result = mined(events)
    assert votes(result) == {("q", "b", "a"): (4, 0)}
    # Three lists at each of eight moments.
    assert sum(query.lists for query in result.queries) == 24


@pytest.mark.slow
def test_ten_thousand_searches_at_once_are_a_robot():
    events = [search(at / 1000, "s", f"q{at}", "ab") for at in range(10_000)]
    result = mined([*events, read(11, "s", "b")])
    assert result.preferences == ()
    assert result.tally.sessions == {"more than 30 searches a minute": 1}


def test_list_of_ten_thousand_ids_is_cut_and_counted():
    ids = [f"c{at}" for at in range(10_000)]
    result = mined([search(0, "s", "q", ids), read(1, "s", "c9999"), read(2, "s", "c1")])
    assert result.tally.notes == {"lists cut to their first 1000 ids": 1}
    assert votes(result) == {("q", "c1", "c0"): (1, 0)}


def test_id_twice_in_a_list_counts_where_it_first_stood():
    result = mined([search(0, "s", "q", "aba"), read(1, "s", "b")])
    assert votes(result) == {("q", "b", "a"): (1, 0)}


def test_every_event_is_used_or_counted_as_unused():
    events = [*worked_log(), cite(5, "s1", "a"), inject(6, "s1", "c"), read(7, "nobody", "x"),
              search(8, "m", "q", "ab", actor="robot"), read(9, "m", "b")]  # fmt: skip
    result = mined(sorted(events, key=lambda event: event["time"]))
    n_used = 8 + 9 + 1  # searches, reads of shown ids, the injection
    assert result.tally.events.total() == len(events) == n_used + result.tally.unused.total()


def test_several_files_are_merged_by_time(tmp_path):
    events = worked_log()
    for number in range(3):
        (tmp_path / f"log.{number}").write_bytes(log_file(events[number::3]).read())
    paths = sorted(tmp_path.iterdir(), reverse=True)
    assert votes(mine(paths)) == votes(mined(events))


def test_window_is_a_setting():
    events = [search(0, "s", "q", "ab"), read(100, "s", "b")]
    assert mined(events, visits=VisitRules(window_s=50)).preferences == ()


def test_random_order_of_a_shuffled_log_is_deterministic():
    events = list(itertools.chain(worked_log(), sessions({("a", "b"): 5})))
    assert mined(events).preferences == mined(events).preferences


def test_session_without_any_result_is_a_person_with_bad_luck():
    events = [search(at, "s", f"q{at}", "") for at in range(5)]
    result = mined(events)
    assert (result.tally.sessions, len(result.queries)) == ({}, 5)


def test_session_that_opens_the_only_result_each_time_is_a_person():
    events = []
    for at in range(4):
        events += [search(10 * at, "s", f"q{at}", "a"), read(10 * at + 1, "s", "a")]
    assert mined(events).tally.sessions == {}


def test_same_ids_with_another_text_are_another_list():
    events = [search(0, "s", "q", "ab", hashes=["h1", "h2"]),
              search(1, "s", "q", "ab", hashes=["h1", "h9"]), read(2, "s", "b")]  # fmt: skip
    assert {p.winner_hash for p in mined(events).preferences} == {"h9"}
