"""A plain pool is what all the weighing would have come to; where it would not, there is none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.cascade import Settings, grade_runs
from judge.evidence.known import GradeIndex
from judge.evidence.plain_pool import plain_known, plain_pool
from judge.evidence.pool import NOT_JUDGED, PoolRules, build_pool
from judge.evidence.queries import Query, join
from judge.evidence.units import Reply
from judge.grades import Judgment, Source
from judge.measures.names import parse_measure
from judge.run import Golden, GradeTable, KnownGrade, KnownGrades, Result, Row, Run

IDS = st.sampled_from("abcdef")
RESULTS = st.builds(
    Result,
    IDS,
    document_id=st.sampled_from([None, None, "", "doc", "a"]),
    text=st.sampled_from([None, "words", "words", "", " \n"]),
)
GRADES = st.builds(
    lambda chunk, lo, wide, document, source: KnownGrade(
        chunk, lo, min(3, lo + wide), query_id="q", document_id=document, source=source, detail="f"
    ),
    IDS,
    st.integers(0, 3),
    st.sampled_from([0, 0, 0, 0, 1]),
    st.sampled_from([None, None, None, "doc"]),
    st.sampled_from([Source.PRIOR, Source.HUMAN]),
)
REPLIES = st.sampled_from(
    [Reply(2, 2, "fits"), Reply(0, 0), Reply(1, 2), Reply(None, None, "refused"), Reply(None, None)]
)
ROWS = st.builds(
    Row,
    st.just("q"),
    query_id=st.just("q"),
    query=st.sampled_from(["how?", None, " "]),
    results=st.lists(RESULTS, max_size=6).map(tuple),
)


@settings(max_examples=50)
@given(
    ROWS,
    st.lists(GRADES, max_size=6),
    st.dictionaries(IDS, REPLIES, max_size=3),
    st.sampled_from([None, 0, 1, 3, 10]),
)
def test_plain_pools_are_those_of_all_the_weighing(
    row: Row, grades: list[KnownGrade], replies: dict[str, Reply], depth: int | None
) -> None:
    (query,) = join([Run("r", (row,))]).queries
    rules = PoolRules("chunk", depth, 3)
    known = plain_known(grades, grade_max=3)
    found = None if known is None else plain_pool(query, rules, known=known, replies=replies)
    if found is not None:
        assert found == build_pool(query, rules, known=grades, replies=replies)


def plain(*results: Result, **given: object) -> object:
    query = Query("q", (Row("q", results=results),), text="how?", **given)  # type: ignore[arg-type]
    return plain_pool(query, PoolRules("chunk", 10, 3), known={}, replies={})


def test_what_needs_weighing_has_no_plain_pool() -> None:
    assert plain(Result("a"), Result("b")) is not None
    assert plain(Result("a"), Result("a")) is None
    assert plain(Result("a"), golden=Golden(("a",))) is None
    query = Query("q", (Row("q"), Row("q")))
    assert plain_pool(query, PoolRules("chunk", 10, 3), known={}, replies={}) is None
    blank = Query("q", (Row("q", results=(Result("a", text=""),)),))
    rules, known = PoolRules("chunk", 10, 3), {"a": Judgment(2, 2, Source.PRIOR)}
    assert plain_pool(blank, rules, known=known, replies={}) is None
    assert plain_pool(blank, rules, known={}, replies={"a": Reply(2, 2)}) is None


@pytest.mark.parametrize(
    "grades",
    [
        [KnownGrade("a", 1, 1), KnownGrade("a", 1, 1)],
        [KnownGrade("a", 1, 2)],
        [KnownGrade("a", 1, 1, document_id="d")],
    ],
)
def test_grades_that_meet_differ_or_name_documents_are_not_plain(grades: list[KnownGrade]) -> None:
    assert plain_known(grades, grade_max=3) is None


def table(grades: dict[str, dict[str, int]]) -> GradeTable:
    said = {g: Judgment(g, g, Source.PRIOR, "f") for g in range(4)}
    return GradeTable(
        {q: {id: said[g] for id, g in of.items()} for q, of in grades.items()}, grade_max=3
    )


@pytest.mark.slow
@settings(max_examples=50)
@given(st.lists(ROWS, min_size=1, max_size=3), st.booleans(), st.data())
def test_a_table_grades_as_its_single_grades_do(
    rows: list[Row], twice: bool, data: st.DataObject
) -> None:
    by_query = st.dictionaries(
        st.sampled_from(["q0", "q1", "how?", "else"]),
        st.dictionaries(IDS, st.integers(0, 3), min_size=1),
    )
    tables = [table(data.draw(by_query)) for _ in range(1 + twice)]
    run = Run(
        "r",
        tuple(Row(f"q{i}", f"q{i}", row.query, results=row.results) for i, row in enumerate(rows)),
    )
    asked = Settings((parse_measure("nDCG@3"), parse_measure("P@2")))

    def graded(shape: Callable[[GradeTable], object]) -> object:
        known = KnownGrades(*map(shape, tables))  # type: ignore[arg-type]
        found = grade_runs([run], settings=asked, known=known)
        return found.pools, found.notices

    assert graded(lambda one: one) == graded(tuple)


def test_an_index_finds_grades_by_id_key_and_text() -> None:
    index = GradeIndex(
        KnownGrades(
            [KnownGrade("a", 1, 1, query="how?")], table({"q": {"b": 2}, "other": {"c": 0}})
        )
    )
    query = Query("q", (None,), query_id="q", text="how? ")
    assert [grade.id for grade in index.of(query)] == ["b", "a"]
    assert index.plain(query, grade_max=3) is None  # two sources
    alone = Query("q", (None,), query_id="q")
    assert index.plain(alone, grade_max=3) == {"b": Judgment(2, 2, Source.PRIOR, "f")}
    assert index.plain(alone, grade_max=2) is None  # read on another scale
    assert index.plain(Query("x", (None,)), grade_max=3) == {}
    assert [(n.kind, n.count) for n in index.notices([query])] == [("grades_unused", 1)]
    assert not GradeIndex(())


def test_open_chunks_of_plain_pools_share_what_is_said_of_them() -> None:
    rows = tuple(Row(f"q{i}", results=(Result("a", text="t"),), query="how?") for i in range(2))
    grading = grade_runs([Run("r", rows)], settings=Settings((parse_measure("nDCG@3"),)))
    first, second = (pool.judgments[0] for pool in grading.pools)
    assert first is second and first.reason == NOT_JUDGED
