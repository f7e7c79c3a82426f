"""Grades of every kind: on the scale or refused with the flag to write; qrels as measure wants."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.formats import GradeFile, Qrels, ReadOptions, read_grades, read_qrels
from judge.run import KnownGrade


def options(**given: object) -> ReadOptions:
    return ReadOptions(**given)  # type: ignore[arg-type]


def stream(content: object) -> io.BytesIO:
    return io.BytesIO((content if isinstance(content, str) else json.dumps(content)).encode())


def grades(content: object, **given: object) -> GradeFile:
    return read_grades(stream(content), options(**given))


def qrels(content: object, **given: object) -> Qrels:
    return read_qrels(stream(content), options(**given))


def refusal(content: object, **given: object) -> list[str]:
    with pytest.raises(InputError) as caught:
        grades(content, **given)
    return str(caught.value).splitlines()


def stated(file: GradeFile) -> list[tuple[str | None, str, int, int]]:
    return [(grade.query_id, grade.id, grade.lo, grade.hi) for grade in file.grades]


def noticed(file: GradeFile | Qrels) -> dict[str, int]:
    return {notice.kind: notice.count for notice in file.notices}


@pytest.mark.parametrize(
    "content",
    [
        "q 0 a 2\nq 0 b 0\n",
        "q\t0\ta\t2\r\nq  0 b 0",
        "query-id\tcorpus-id\tscore\nq\ta\t2\nq\tb\t0\n",
        "query_id;chunk_id;grade\r\nq;a;2\r\nq;b;0\r\n",
        {"q": {"a": 2, "b": 0.0}},
        '{"query_id": "q", "id": "a", "grade": 2}\n{"query_id": "q", "id": "b", "grade": 0}',
        [{"qid": "q", "docid": "a", "grade": "2"}, {"qid": "q", "docid": "b", "grade": 0}],
    ],
)
def test_every_shape_gives_the_same_grades(content: object) -> None:
    assert stated(grades(content)) == [("q", "a", 2, 2), ("q", "b", 0, 0)]
    assert qrels(content).grades == {"q": {"a": 2, "b": 0}}


def test_grades_keep_where_they_came_from() -> None:
    assert grades("q 0 a 2").grades == (KnownGrade("a", 2, 2, "q", detail="<stream>"),)


def test_keys_of_nested_grades_may_be_ids_or_texts() -> None:
    (grade,) = grades({"reset breaker": {"a": 1}}).grades
    assert (grade.query_id, grade.query) == ("reset breaker", "reset breaker")


def test_our_judgments_keep_their_intervals() -> None:
    lines = [
        {"query_id": "q", "id": "a", "grade": 3, "lo": 3, "hi": 3, "source": "golden"},
        {"query_id": "q", "id": "b", "grade": None, "lo": 1, "hi": 3, "source": "preference"},
        {"query_id": "q", "id": "c", "grade": None, "lo": 0, "hi": 3, "source": None},
    ]
    file = grades("\n".join(json.dumps(line) for line in lines))
    assert stated(file) == [("q", "a", 3, 3), ("q", "b", 1, 3)]
    assert noticed(file) == {"open grade": 1, "ignored field": 3} or noticed(file) == {
        "open grade": 1
    }
    assert qrels("\n".join(json.dumps(line) for line in lines)).grades == {"q": {"a": 3}}


def test_a_grade_that_is_not_both_ends_is_refused_with_its_place() -> None:
    lines = [
        {"query_id": "q", "id": "a", "grade": 2, "lo": 0, "hi": 3},
        {"query_id": "q", "id": "b", "grade": 2, "lo": 2, "hi": 2},
        {"query_id": "q", "id": "c", "grade": 2, "hi": 1},
    ]
    said = refusal("\n".join(map(json.dumps, lines)))
    assert len(said) == 2
    assert "<stream>:1" in said[0] and "grade 2 beside lo 0, hi 3" in said[0]
    assert "<stream>:3" in said[1] and "grade 2 beside lo None, hi 1" in said[1]


def test_a_grade_given_twice_is_fine_and_two_grades_are_an_error() -> None:
    assert noticed(grades("q 0 a 1\nq 0 a 1")) == {"repeated grade": 1}
    assert refusal("q 0 a 1\nq 0 b 2\nq 0 a 3") == [
        "<stream>:3: 'a' of query 'q' has another grade at <stream>:1; keep one of the two"
    ]


def test_fractions_name_their_lines() -> None:
    said = [
        "<stream>:1: grades that are no whole number: 0.9 (first at <stream>:1), "
        "1.9 (first at <stream>:2), 2 in all; values in the file: 0.9, 1.9; "
        "write whole grades, or map each value with --grade-map VALUE=GRADE,…"
    ]
    with pytest.raises(InputError) as caught:
        qrels("q 0 a 0.9\nq 0 b 1.9")
    assert str(caught.value).splitlines() == said


def test_negative_grades_are_kept_for_measure_and_counted_as_0_elsewhere() -> None:
    assert qrels("q 0 a -1\nq 0 b 2").grades == {"q": {"a": -1, "b": 2}}
    file = grades("q 0 a -1\nq 0 b 2\nq 0 c -1")
    assert stated(file) == [("q", "a", 0, 0), ("q", "b", 2, 2), ("q", "c", 0, 0)]
    assert [notice.text for notice in file.notices] == [
        "negative grade -1 read as 0: 2 (first at <stream>:1)"
    ]


def test_grades_off_the_scale_need_a_flag_and_the_error_writes_it() -> None:
    esci = {"q": {"a": "100.000", "b": "10.000", "c": "1.000", "d": "0.000"}}
    (message,) = refusal(esci)
    assert message == (
        "<stream>: 'q'.'a': grades that are no whole number 0..3: 10 (first at <stream>: 'q'.'b'), "
        "100 (first at <stream>: 'q'.'a'), 2 in all; values in the file: 0, 1, 10, 100; "
        "write --grade-map 0=0,1=1,10=2,100=3 if that is their order of worth"
    )
    mapped = grades(esci, grade_map={"0": 0, "1": 1, "10": 2, "100": 3})
    assert [grade.lo for grade in mapped.grades] == [3, 2, 1, 0]
    clipped = grades(esci, clip=True)
    assert [grade.lo for grade in clipped.grades] == [3, 3, 1, 0]
    assert noticed(clipped) == {"clipped grade": 1}
    assert len(clipped.notices) == 2


def test_a_longer_scale_is_offered_where_values_are_whole() -> None:
    five = "\n".join(f"q 0 d{grade} {grade}" for grade in range(6))
    assert "set --grade-max 5 if that is the scale, or --clip" in refusal(five)[0]
    assert [grade.hi for grade in grades(five, grade_max=5).grades] == [0, 1, 2, 3, 4, 5]


def test_words_as_grades_need_a_map() -> None:
    content = {"q": {"a": "Exact", "b": "Irrelevant", "c": True}}
    assert "--grade-map Exact=?,Irrelevant=?,true=? with a grade 0..3" in refusal(content)[0]
    mapped = grades(content, grade_map={"Exact": 3, "Irrelevant": 0, "true": 1})
    assert [grade.lo for grade in mapped.grades] == [3, 0, 1]
    assert refusal(content, grade_map={"Exact": 3, "true": 1}) == [
        "<stream>: 'q'.'b': grades that --grade-map does not name: "
        "Irrelevant (first at <stream>: 'q'.'b'), 1 in all; add them to --grade-map"
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "q 0 a",
            "<stream>:1: 3 columns instead of 4: 'q 0 a'; a qrels line is: query 0 document grade",
        ),
        (
            "q Q0 a 1 2.0 t",
            "<stream>:1: 6 columns instead of 4: 'q Q0 a 1 2.0 t'; a qrels line is: query 0 "
            "document grade; six columns are a run",
        ),
        (
            "q 0 a nan",
            "<stream>:1: grades that are no whole number 0..3: nan (first at <stream>:1)",
        ),
        ([3], "<stream>: [0]: 3; a grade is an object with query_id, id, grade"),
        ([{"id": "a", "grade": 1}], "<stream>: [0]: a grade without query_id or query; say which"),
        ([{"query_id": "a", "grade": 1}], "<stream>: [0]: a grade without id; say which fields"),
        ([{"query_id": "q", "id": "a", "lo": 2, "hi": 1}], "<stream>: [0]: lo 2, hi 1; they are"),
        ([{"query_id": "q", "id": "a", "lo": 0, "hi": 9}], "<stream>: [0]: lo 0, hi 9; they are"),
        ("query_id,id,grade\nq,a", "<stream>:2: 2 cells under a header of 3; quote cells that"),
        ("query_id,id,grade,id\nq,a,1,b", "<stream>:1: the header names 'id' twice; rename one"),
        ('query_id,id,grade\nq,"a,1', "<stream>:2: not CSV: unexpected end of data; correct the l"),
    ],
)
def test_bad_grades_name_the_place_and_what_to_do(content: object, said: str) -> None:
    (message,) = refusal(content)
    assert message.startswith(said)


@pytest.mark.parametrize("content", ["[]", "{}", "query_id,id,grade\n"])
def test_a_file_without_grades_is_an_error(content: str) -> None:
    assert refusal(content) == ["<stream>: no grades; give at least one"]
    with pytest.raises(InputError, match="no grades"):
        qrels(content)


def test_nist_grades_of_dl19_are_read(data: Path) -> None:
    found = read_qrels(data / "dl19" / "human_dl19.qrels.gz")
    assert len(found.grades) == 43
    assert sum(len(documents) for documents in found.grades.values()) == 9260
    assert found.notices == ()


def test_dev_labels_of_llmjudge_hold_a_stray_grade_that_is_clipped_on_request(data: Path) -> None:
    # data/README.md: 7,263 pairs; real label files hold stray values above the scale.
    file = read_grades(data / "llmjudge" / "human_dev_qrels.txt", options(clip=True))
    assert len(file.grades) == 7263
    assert set(Counter(grade.hi for grade in file.grades)) == {0, 1, 2, 3}
