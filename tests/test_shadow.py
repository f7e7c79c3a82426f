"""Shadow judging: what evidence settles, shown to the judge all the same."""

from __future__ import annotations

import pytest

from judge.auditing import LogUse
from judge.cascade import Settings, grade_runs
from judge.evidence.joining import PreferenceIndex
from judge.evidence.preferences import Preference
from judge.judging.backends import open_backend
from judge.judging.judge import Judge
from judge.judging.prompt import load_prompt
from judge.measures.names import parse_measure
from judge.run import Golden, Result, Row, Run

# A log that its owner believes without an audit.
BELIEVED = LogUse(error_limit=1.0, audits=False)
SETTINGS = Settings((parse_measure("nDCG@10"),))
# The mock grades by word overlap: a text that repeats the query is a 3, a foreign one a 0.
TEXTS = {"a": "reset the password here", "b": "opening hours", "c": "reset the password here"}


def run(*ids):
    results = tuple(Result(id, text=TEXTS[id]) for id in ids)
    return Run("run", (Row("q", query_id="q", query="reset the password", results=results),))


@pytest.fixture
def graded():
    def grade(*ids, **given):
        with Judge([open_backend("mock")], load_prompt()) as judge:
            return grade_runs([run(*ids)], settings=SETTINGS, judge=judge, **given)

    return grade


def order(winner, loser):
    return PreferenceIndex([Preference("reset the password", winner, loser, 4, 0, 0.96875, True)])


def test_golden_that_the_judge_contradicts_is_reported_and_stands(graded):
    golden = Golden(("b",), query_id="q", complete=True)
    grading = graded("a", "b", goldens=[golden], shadow=1.0)
    [shadow] = grading.shadows
    # a is 0 by the golden, b is 3; word overlap says the reverse of both.
    assert (shadow.source, shadow.n, shadow.contradicted) == ("golden", 2, 2)
    assert [judgment.grade for judgment in grading.pools[0].judgments] == [0, 3]
    assert grading.pools[0].conflicts == ()


def test_without_a_share_nothing_settled_is_sent(graded):
    grading = graded("a", "b", goldens=[Golden(("b",), query_id="q", complete=True)])
    assert (grading.shadows, grading.calls.made) == ((), 0)


def test_share_decides_how_much_is_sent_and_the_same_each_time(graded):
    golden = Golden(("b",), query_id="q", complete=True)
    asked = {graded("a", "b", "c", goldens=[golden], shadow=0.5).calls.made for _ in range(3)}
    assert len(asked) == 1
    assert asked.pop() < 3


def test_each_source_is_credited_with_the_calls_it_saves(graded):
    # Without evidence three calls; a golden on c leaves two; a decided a >= c pins a at 3,
    # and then b alone is open.
    golden = Golden(("c",), query_id="q")
    grading = graded("a", "b", "c", goldens=[golden], preferences=order("a", "c"), log=BELIEVED)
    assert grading.calls_saved == {"golden": 1, "preference": 1}
    assert grading.calls.made == 1


def test_without_known_evidence_no_calls_are_saved(graded):
    assert graded("a", "b").calls_saved == {}


def test_judge_is_compared_with_decided_pairs_even_where_they_were_withdrawn(graded):
    grading = graded("a", "b", preferences=order("b", "a"))
    assert grading.log.pools[0].orders == ()  # the judge says a is a 3 and b a 0: withdrawn
    assert grading.conflicts == grading.log_conflicts != ()
    found = grading.preferred.judge
    assert (found.agree, found.tied, found.against) == (0, 0, 1)


def test_rows_with_nothing_but_preferences_are_measured_by_them():
    grading = grade_runs([run("a", "b")], settings=SETTINGS, preferences=order("b", "a"))
    kept = grading.preferred.run
    assert (kept.ppref, kept.wpref, kept.rows, kept.unordered) == (0.0, 0.0, 1, 0)


def test_chunk_that_searchers_liked_is_asked_about_first():
    from judge.cascade import select_all

    preferences = PreferenceIndex([Preference("reset the password", "b", "a", 2, 0, 0.875, False)])
    grading = grade_runs([run("a", "b", "c")], settings=SETTINGS)
    asks = select_all(SETTINGS, preferences).next(grading.pools, limit=9)
    assert [chunk for _, chunk in asks] == ["b", "c", "a"]


def test_row_whose_order_is_decided_is_settled_by_a_golden_without_a_call(graded):
    # statistics.md B.4: a golden of grade 3 at rank 1 and a decided order of all the rest that
    # agrees with the list leave nDCG at 1 whatever the grades are.
    golden = Golden(("a",), query_id="q")
    assert graded("a", "b", "c", goldens=[golden]).calls.made == 2
    settled = graded("a", "b", "c", goldens=[golden], preferences=order("b", "c"), log=BELIEVED)
    assert settled.calls.made == 0
    assert settled.calls_saved == {"golden": 1, "preference": 2}
