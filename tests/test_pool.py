"""Joining queries, choosing the unit, and what each kind of evidence does to a pool."""

from __future__ import annotations

import pytest

from judge.contrast import Contrast
from judge.errors import InputError
from judge.evidence.goldens import (
    check_any_expected_occurs,
    decide_unit,
    misses,
    returned_nothing,
    stale_ids,
)
from judge.evidence.pool import NO_QUERY, NO_TEXT, NOT_JUDGED, PoolRules, QueryPool, build_pool
from judge.evidence.queries import Query, join
from judge.evidence.units import Reply
from judge.grades import Source
from judge.measures.names import Measure
from judge.run import Golden, KnownGrade, Result, Row, Run
from judge.scoring import Scale


def row(key: str, *ids: str, text: str | None = "words", **fields: object) -> Row:
    results = tuple(Result(id, text=text) for id in ids)
    fields = {"query": "how?", **fields}
    return Row(key=key, query_id=key, results=results, **fields)  # type: ignore[arg-type]


def run(*rows: Row, name: str = "run") -> Run:
    return Run(name, rows)


def only(*rows: Row, golden: Golden | None = None) -> Query:
    """Return the one query that rows (one a run) and a golden make."""
    joined = join(
        [run(each, name=f"run{at}") for at, each in enumerate(rows)], [golden] * bool(golden)
    )  # type: ignore[list-item]
    assert len(joined.queries) == 1
    return joined.queries[0]


def pool_of(query: Query, *, depth: int | None = 10, **evidence: object) -> QueryPool:
    rules = PoolRules(decide_unit([query]), depth, 3)
    return build_pool(query, rules, **evidence)  # type: ignore[arg-type]


def intervals(pool: QueryPool) -> dict[str, tuple[int, int]]:
    return {id: (j.lo, j.hi) for id, j in zip(pool.ids, pool.judgments, strict=True)}


class TestJoining:
    def test_by_id_where_both_have_one(self) -> None:
        golden = Golden(("a",), query_id="q1", query="another wording")
        query = only(row("q1", "a", query="the wording"), golden=golden)
        assert query.golden == golden and query.text == "the wording"

    def test_a_golden_of_another_slice_is_said_and_the_run_stands(self) -> None:
        golden = Golden(("a",), query_id="q1", slice="b")
        joined = join([run(row("q1", "a", slice="a"))], [golden])
        assert joined.queries[0].slice == "a"
        assert [(n.kind, n.count) for n in joined.notices] == [("golden_slice", 1)]
        assert "q1: a, not b" in joined.notices[0].text
        assert not join([run(row("q1", "a", slice="b"))], [golden]).notices

    def test_by_trimmed_text_where_one_has_no_id(self) -> None:
        golden = Golden(("a",), query="  how? ")
        assert only(row("q1", "a", query="how?"), golden=golden).golden == golden

    def test_two_different_ids_are_two_queries_though_the_text_is_the_same(self) -> None:
        golden = Golden(("a",), query_id="q9", query="how?")
        joined = join([run(row("q1", "a", query="how?"))], [golden])
        assert [query.key for query in joined.queries] == ["q1", "q9"]
        assert [notice.kind for notice in joined.notices] == ["golden_without_row"]

    def test_a_golden_that_no_run_asked_is_not_compared(self) -> None:
        golden = Golden(("a",), query="How?", slice="s")
        runs = [run(row("q1", "a", query="how?")), run(row("q1", "b", query="how?"))]
        joined = join(runs, [golden])
        assert [query.key for query in joined.queries] == ["q1"]
        assert joined.notices[0].text == (
            '1 golden asks what no row of any run asks and is left out: "How?"'
            ' (the closest row: "how?")'
        )

    def test_a_text_that_is_two_rows_is_an_error_that_says_where(self) -> None:
        rows = row("q1", "a", query="how?"), row("q2", "b", query="how?")
        with pytest.raises(InputError, match=r"goldens.jsonl:7: .*'how\?' is that of 2 rows"):
            join([run(*rows)], [Golden(("a",), query="how?", where="goldens.jsonl:7")])

    def test_two_goldens_for_one_row_are_an_error_that_names_both(self) -> None:
        goldens = [Golden(("a",), query_id="q1", where=f"g.jsonl:{line}") for line in (1, 2)]
        with pytest.raises(InputError, match=r"g.jsonl:2: a second golden .*g.jsonl:1"):
            join([run(row("q1", "a"))], goldens)

    def test_rows_of_two_runs_meet_and_a_missing_one_is_none(self) -> None:
        joined = join([run(row("q1", "a"), row("q2", "b")), run(row("q2", "c"), name="other")])
        assert [(q.key, [r is not None for r in q.rows]) for q in joined.queries] == [
            ("q1", [True, False]),
            ("q2", [True, True]),
        ]


class TestGoldens:
    def test_expected_is_the_top_grade_and_the_rest_stays_open(self) -> None:
        pool = pool_of(only(row("q", "a", "b"), golden=Golden(("b",), query_id="q")))
        assert intervals(pool) == {"a": (0, 3), "b": (3, 3)}
        assert pool.asks == (("a",), ())

    def test_complete_settles_every_other_chunk_at_0(self) -> None:
        golden = Golden(("b",), query_id="q", complete=True)
        assert intervals(pool_of(only(row("q", "a", "b"), golden=golden))) == {
            "a": (0, 0),
            "b": (3, 3),
        }

    def test_an_expected_id_that_was_not_returned_is_in_the_ideal(self) -> None:
        pool = pool_of(only(row("q", "a"), golden=Golden(("z",), query_id="q")))
        assert intervals(pool) == {"a": (0, 3), "z": (3, 3)}
        assert pool.rankings == ((0,),)

    def test_any_leaves_unreturned_ids_out_of_the_ideal(self) -> None:
        golden = Golden(("y", "b", "z"), query_id="q", match="any")
        assert set(pool_of(only(row("q", "a", "b"), golden=golden)).ids) == {"a", "b"}

    def test_any_keeps_one_id_in_the_ideal_if_none_was_returned(self) -> None:
        golden = Golden(("y", "z"), query_id="q", match="any")
        assert set(pool_of(only(row("q", "a"), golden=golden)).ids) == {"a", "y"}

    def test_any_in_two_runs_keeps_what_either_returned(self) -> None:
        golden = Golden(("y", "z"), query_id="q", match="any")
        pool = pool_of(only(row("q", "y"), row("q", "z"), golden=golden))
        assert set(pool.ids) == {"y", "z"}
        assert [pool.expected.golden_ranks(at, match="any") for at in (0, 1)] == [(1,), (1,)]

    def test_a_prior_against_a_golden_is_a_conflict_and_the_golden_stands(self) -> None:
        golden = Golden(("a",), query_id="q")
        pool = pool_of(only(row("q", "a"), golden=golden), known=[KnownGrade("a", 1, 1, "q")])
        assert intervals(pool) == {"a": (3, 3)}
        (conflict,) = pool.conflicts
        assert (conflict.stands.source, conflict.against.source) == (Source.GOLDEN, Source.PRIOR)

    @pytest.mark.parametrize(
        ("match", "expected", "missed"),
        [
            ("all", ("a", "l", "z"), [("l", 12), ("z", None)]),
            ("any", ("a", "l", "z"), []),
            ("any", ("l", "z"), [("l", 12)]),
            ("any", ("z", "y"), [("z", None)]),
        ],
    )
    def test_missing_and_misranked_are_told_apart(
        self, match: str, expected: tuple[str, ...], missed: list[tuple[str, int | None]]
    ) -> None:
        query = only(row("q", *"abcdefghijkl"), golden=Golden(expected, query_id="q", match=match))
        found = misses(query, pool_of(query).expected, run=0, depth=10)
        assert [(miss.id, miss.rank) for miss in found] == missed

    def test_no_expected_id_anywhere_is_an_error_with_the_count(self) -> None:
        query = only(row("q", "a"), golden=Golden(("x", "y"), query_id="q"))
        with pytest.raises(InputError, match="0 of 2 expected ids occur in the run or the corpus"):
            check_any_expected_occurs([query], frozenset())
        check_any_expected_occurs([query], frozenset({"y"}))

    def test_stale_ids_need_a_corpus(self) -> None:
        query = only(row("q", "a"), golden=Golden(("a", "y"), query_id="q"))
        assert stale_ids([query], frozenset()) == ()
        assert stale_ids([query], frozenset({"b"})) == ("y",)

    def test_a_question_without_an_answer_is_known_as_such(self) -> None:
        assert only(row("q", "a"), golden=Golden((), query_id="q", complete=True)).is_answerless
        assert not only(row("q", "a"), golden=Golden((), query_id="q")).is_answerless

    def test_a_run_that_is_empty_in_every_row_did_not_run(self) -> None:
        assert returned_nothing([row("q1"), None]) and not returned_nothing([row("q", "a")])


class TestPool:
    def test_open_chunks_below_the_depth_are_outside_and_graded_ones_inside(self) -> None:
        known = [KnownGrade("c", 2, 2, "q"), KnownGrade("z", 1, 1, "q")]
        pool = pool_of(only(row("q", "a", "b", "c", "d")), depth=2, known=known)
        assert pool.ids == ("a", "b", "c", "z")
        assert pool.rankings == ((0, 1, 2, None),)

    def test_a_repeated_id_keeps_its_slot_and_gains_nothing(self) -> None:
        assert pool_of(only(row("q", "a", "b", "a"))).rankings == ((0, 1, None),)

    def test_a_chunk_without_text_stays_open_and_is_not_asked(self) -> None:
        pool = pool_of(only(row("q", "a", text=None)))
        assert pool.judgments[0].reason == NO_TEXT and pool.asks == ((),)

    @pytest.mark.parametrize("query", [None, "", " \n"])
    def test_without_a_question_there_is_nothing_to_judge_by(self, query: str | None) -> None:
        pool = pool_of(only(row("q", "a", query=query)))
        assert pool.judgments[0].reason == NO_QUERY and pool.asks == ((),)

    def test_raters_who_differ_leave_a_range_with_one_reason(self) -> None:
        known = [KnownGrade("a", 1, 2, "q", source=Source.HUMAN, detail="ann 1, bob 2")]
        pool = pool_of(only(row("q", "a")), known=known)
        assert (pool.judgments[0].lo, pool.judgments[0].hi) == (1, 2)
        assert pool.judgments[0].reason == "raters differ"

    def test_a_blank_text_is_0_by_rule(self) -> None:
        pool = pool_of(only(row("q", "a", text=" \n ")))
        assert (pool.judgments[0].grade, pool.judgments[0].source) == (0, Source.RULE)

    def test_a_reply_narrows_and_a_failure_leaves_open_with_its_reason(self) -> None:
        replies = {"a": Reply(2, 2), "b": Reply(None, None, "timed out")}
        pool = pool_of(only(row("q", "a", "b", "c")), replies=replies)
        assert intervals(pool) == {"a": (2, 2), "b": (0, 3), "c": (0, 3)}
        assert [j.reason for j in pool.judgments] == ["", "timed out", NOT_JUDGED]
        assert pool.asks == ((), (), ("c",)) and pool.failed == {"b"}

    def test_the_judge_does_not_overrule_a_prior(self) -> None:
        known = [KnownGrade("a", 1, 1, "q")]
        pool = pool_of(only(row("q", "a")), known=known, replies={"a": Reply(3, 3)})
        assert intervals(pool) == {"a": (1, 1)} and len(pool.conflicts) == 1


class TestDocuments:
    def documents(self, *slots: tuple[str, str]) -> Row:
        results = tuple(Result(id, document_id=document, text="t") for id, document in slots)
        return Row(key="q", query_id="q", query="how?", results=results)

    def test_an_expected_document_makes_documents_the_unit(self) -> None:
        shown = self.documents(("d1#2", "d1"), ("d2#1", "d2"), ("d1#1", "d1"))
        pool = pool_of(only(shown, golden=Golden(("d1",), query_id="q")))
        # The document's first slot is its hit; the later one keeps its place, gains nothing.
        assert pool.ids == ("d1", "d2")
        assert pool.rankings == ((0, 1, None),)
        assert pool.expected.ranks == ((1,),)

    def test_an_expected_chunk_keeps_the_chunk_as_unit(self) -> None:
        shown = self.documents(("d1#2", "d1"), ("d2#1", "d2"))
        assert pool_of(only(shown, golden=Golden(("d1#2",), query_id="q"))).ids == ("d1#2", "d2#1")

    def test_a_graded_document_makes_documents_the_unit(self) -> None:
        query = only(self.documents(("d1#2", "d1"), ("d2#1", "d2")))
        assert decide_unit([query], lambda query: ["d1"]) == "document"
        assert decide_unit([query], lambda query: ["d1#2", "d9"]) == "chunk"

    def test_a_grade_of_a_chunk_named_like_its_document_is_the_chunks(self) -> None:
        query = only(self.documents(("d1", "d1"), ("d1#2", "d1")))
        assert decide_unit([query], lambda query: ["d1"]) == "chunk"

    def test_a_result_without_document_is_its_own_document(self) -> None:
        shown = Row(
            key="q",
            query_id="q",
            results=(Result("d2", text="t"), Result("d1#1", document_id="d1", text="t")),
        )
        pool = pool_of(only(shown, golden=Golden(("d1", "d2"), query_id="q")))
        assert intervals(pool) == {"d2": (3, 3), "d1": (3, 3)}

    def test_a_document_is_as_good_as_its_best_chunk_could_be(self) -> None:
        shown = self.documents(("d1#1", "d1"), ("d1#2", "d1"), ("d2#1", "d2"))
        golden = Golden(("d2",), query_id="q")
        known = [KnownGrade("d1#2", 2, 2, "q")]
        # first slot open [0,3], later chunk graded 2: [max lo, max hi] = [2, 3]
        pool = pool_of(only(shown, golden=golden), known=known)
        assert intervals(pool)["d1"] == (2, 3)
        assert pool.asks[0] == ("d1#1",)
        judged = pool_of(only(shown, golden=golden), known=known, replies={"d1#1": Reply(0, 0)})
        assert intervals(judged)["d1"] == (2, 2)

    def test_a_later_slot_is_neither_asked_nor_in_the_pool(self) -> None:
        shown = self.documents(("d1#1", "d1"), ("d1#2", "d1"), ("d2#1", "d2"))
        pool = pool_of(only(shown, golden=Golden(("d2",), query_id="q")))
        assert pool.asks == (("d1#1",), ())

    def test_each_runs_first_slot_is_asked(self) -> None:
        one = self.documents(("d1#1", "d1"), ("d1#2", "d1"), ("d2#1", "d2"))
        two = self.documents(("d1#2", "d1"), ("d1#1", "d1"))
        pool = pool_of(only(one, two, golden=Golden(("d2",), query_id="q")))
        assert pool.asks[0] == ("d1#1", "d1#2")

    def test_a_grade_of_the_document_itself_speaks_for_all_of_it(self) -> None:
        shown = self.documents(("d1#1", "d1"), ("d2#1", "d2"))
        golden = Golden(("d2",), query_id="q")
        pool = pool_of(only(shown, golden=golden), known=[KnownGrade("d1", 1, 1, "q")])
        assert intervals(pool) == {"d1": (1, 1), "d2": (3, 3)}


class TestPreferences:
    def test_what_beats_a_golden_is_pinned(self) -> None:
        golden = Golden(("b",), query_id="q")
        pool = pool_of(only(row("q", "b", "c"), golden=golden), preferences=[("c", "b")])
        assert pool.judgments[1].grade == 3 and pool.judgments[1].source == Source.PREFERENCE

    def test_a_verdict_does_not_travel_along_an_order(self) -> None:
        pool = pool_of(
            only(row("q", "b", "c")), preferences=[("c", "b")], replies={"b": Reply(2, 2)}
        )
        assert intervals(pool) == {"b": (2, 2), "c": (0, 3)} and pool.orders == ((1, 0),)

    def test_a_verdict_against_an_order_withdraws_it_with_a_conflict(self) -> None:
        golden = Golden(("b",), query_id="q")
        pool = pool_of(
            only(row("q", "b", "c"), golden=golden),
            preferences=[("c", "b")],
            replies={"c": Reply(0, 0)},
        )
        assert intervals(pool) == {"b": (3, 3), "c": (0, 0)}
        assert pool.orders == () and pool.conflicts[0].against.source == Source.PREFERENCE


class TestTextsThatIdsKeepApart:
    def test_a_text_that_is_two_rows_says_which_and_what_to_write(self) -> None:
        rows = row("t1/s1", "a", query="how?"), row("t2/s9", "b", query="how?")
        said = r"2 rows \(t1/s1, t2/s9\); write a golden for each .*\"query_id\": \"t1/s1\""
        with pytest.raises(InputError, match=said):
            join([run(*rows)], [Golden(("a",), query="how?", where="g:1")])

    def test_goldens_whose_texts_are_rows_with_other_ids_say_how_to_join_by_text(self) -> None:
        golden = Golden(("a",), query_id="q9", query="how?")
        (notice,) = join([run(row("q1", "a", query="how?"))], [golden]).notices
        assert "1 of them ask what rows with other ids ask: leave the ids out" in notice.text

    def test_two_runs_without_a_common_id_say_so_if_their_texts_meet(self) -> None:
        before = run(row("t1", "a", query="how?"))
        after = run(row("t2", "a", query="how? "), name="after")
        (notice,) = join([before, after]).notices
        assert (notice.kind, notice.count) == ("rows_apart", 1)
        assert join([before, run(row("t2", "a", query="why?"), name="after")]).notices == ()

    def test_a_golden_for_rows_of_runs_without_a_common_id_says_how_to_join_by_text(self) -> None:
        runs = run(row("t1", "a", query="how?")), run(row("t2", "a", query="how?"), name="after")
        with pytest.raises(InputError, match=r"2 rows \(t1, t2\); leave the ids out"):
            join(runs, [Golden(("a",), query="how?", where="g:1")])


def test_an_order_that_leads_through_a_chunk_outside_the_pool_binds_its_ends() -> None:
    before, after = run(row("q1", "a", "b")), run(row("q1", "b", "a"), name="after")
    (query,) = join([before, after]).queries
    pool = pool_of(query, preferences=[("a", "m"), ("m", "b")])
    assert pool.orders == ((0, 1),)
    (found,) = Contrast(Measure("nDCG", 10), (-1.0, 1.0), Scale("linear", 3)).rows([pool])
    # a >= b: at worst a = 3, b = 0, and the answer falls from rank 1 to 2: 1/log2(3) - 1.
    assert found is not None
    assert found.exact
    assert (found.lo, found.hi) == (pytest.approx(-0.369070, abs=1e-6), 0.0)
