"""The table of plain qrels holds what the careful reader reads; it leaves the rest to that."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.errors import InputError
from judge.evidence.intervals import narrow
from judge.formats import ReadOptions, read_grades
from judge.formats import grades as careful
from judge.formats.qrels_table import plain_qrels
from judge.formats.textfile import TextFile
from judge.grades import Evidence
from judge.run import GradeTable, KnownGrade, KnownGrades

PLAIN = "q1 0 a 3\nq2 0 a 0\n\nq1\tQ0\tb 2\r\n"
LINES = st.tuples(
    st.sampled_from(["q1", "q2", "é"]),
    st.sampled_from(["a", "b", "c", "a\u00a0b", "a\u00a0b x", "a\x1fb", "a\x1c", "b\t"]),
    st.sampled_from(["0", "1", "3", "3", "-1", "4", "1.0", "x", ""]),
).map(lambda parts: f"{parts[0]} 0 {parts[1]} {parts[2]}")


def read(text: str, **given: object) -> object:
    """Return what reading gives, as far as one can see it: grades by query, or the refusal."""
    try:
        file = read_grades(io.BytesIO(text.encode()), ReadOptions(**given))  # type: ignore[arg-type]
    except InputError as error:
        return str(error)
    return sorted(file.grades, key=lambda grade: grade.query_id or ""), file.notices


@settings(max_examples=50)
@given(st.lists(LINES, max_size=6).map("\n".join), st.sampled_from([{}, {"clip": True}]))
def test_fast_and_careful_readers_agree(text: str, given: dict[str, bool]) -> None:
    found = read(text, **given)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(careful, "plain_qrels", lambda file, options: None)
        assert read(text, **given) == found


def test_plain_qrels_make_no_object_a_line() -> None:
    table = plain_qrels(TextFile("f", PLAIN), ReadOptions())
    assert isinstance(table, GradeTable)
    assert list(table) == [
        KnownGrade("a", 3, 3, "q1", detail="f"),
        KnownGrade("b", 2, 2, "q1", detail="f"),
        KnownGrade("a", 0, 0, "q2", detail="f"),
    ]
    assert len({id(one) for grades in table.by_query.values() for one in grades.values()}) == 3


def test_a_line_is_split_at_ascii_white_space_alone() -> None:
    # As trec_eval: a unit separator or a wide blank is a part of the id.
    table = plain_qrels(TextFile("f", "q1 0 a\x1fb 3\nq1 0 a\u3000b 2\n"), ReadOptions())
    assert table is not None
    assert list(table.by_query["q1"]) == ["a\x1fb", "a\u3000b"]
    assert plain_qrels(TextFile("f", "q1 0 a\x1f3\n"), ReadOptions()) is None


def test_a_judgment_of_the_table_is_what_its_grade_alone_leaves() -> None:
    table = plain_qrels(TextFile("f", PLAIN), ReadOptions())
    assert table is not None
    for grade in table:
        evidence = Evidence(grade.source, grade.lo, grade.hi, grade.detail)
        judgment = table.by_query[grade.query_id or ""][grade.id]
        assert narrow([evidence], grade_max=table.grade_max).judgment == judgment


@pytest.mark.parametrize("line", ["q 0 a", "q 0 a -1", "q 0 a 4", "q 0 a 1.0", "q1 0 a 3"])
def test_anything_else_is_left_to_the_careful_reader(line: str) -> None:
    assert plain_qrels(TextFile("f", PLAIN + line), ReadOptions()) is None


def test_parts_of_known_grades_come_one_after_the_other() -> None:
    table = plain_qrels(TextFile("f", PLAIN), ReadOptions())
    assert table is not None
    single = (KnownGrade("z", 1, 1, "q1"),)
    grades = KnownGrades(KnownGrades(single, ()), table)
    assert grades.parts == (single, table)
    assert (len(grades), grades[0], grades[-1].query_id) == (4, *single, "q2")
    assert grades == (*single, *table)
    assert not KnownGrades(())
