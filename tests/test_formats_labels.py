"""Labels from spreadsheets and lines; a blank cell is an open question, never a 0."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.formats import Label, LabelFile, ReadOptions, read_labels


def read(text: str) -> LabelFile:
    return read_labels(io.BytesIO(text.encode()), ReadOptions())


def refusal(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(text)
    return str(caught.value).splitlines()


LABELS = (
    Label("q1", "c1", 3, "ann", 0.5, "clear, yes"),
    # A file that says how likely labels were says by a blank that this one was chosen.
    Label("q1", "c2", 0, "ben", chosen=True),
)


@pytest.mark.parametrize(
    "text",
    [
        '\ufeffquery_id,chunk_id,grade,rater,pi,note\r\nq1,c1,3,ann,0.5,"clear, yes"\r\n'
        "q1,c2,0,ben,,\r\n",
        "query_id;chunk_id;grade;rater;pi;note\nq1;c1;3;ann;0.5;clear, yes\n\nq1;c2;0;ben;;\n",
        "query_id\tchunk_id\tgrade\trater\tpi\tnote\nq1\tc1\t3\tann\t0.5\tclear, yes\n"
        "q1\tc2\t0\tben\t\t\n",
        '{"query_id":"q1","chunk_id":"c1","grade":3,"rater":"ann","pi":0.5,"note":"clear, yes"}\n'
        '{"query_id":"q1","chunk_id":"c2","grade":0,"rater":"ben"}\n',
    ],
)
def test_commas_semicolons_tabs_and_lines_read_alike(text: str) -> None:
    assert read(text) == LabelFile(LABELS)


def test_any_file_of_grades_is_labels() -> None:
    assert read("q1 0 c1 3").labels == (Label("q1", "c1", 3),)
    assert read('{"reset breaker": {"c1": 3}}').labels == (Label("reset breaker", "c1", 3),)


def test_blank_labels_stay_open_and_are_counted() -> None:
    file = read("query_id,chunk_id,grade\nq,a,\nq,b,1\nq,c,  \n")
    assert file.labels == (Label("q", "b", 1),)
    assert [(notice.kind, notice.count) for notice in file.notices] == [("open label", 2)]


def test_two_raters_may_differ_and_one_may_not() -> None:
    header = "query_id,chunk_id,grade,rater\n"
    assert len(read(header + "q,a,1,ann\nq,a,2,ben\n").labels) == 2
    assert refusal(header + "q,a,1,ann\nq,a,2,ann\n") == [
        "<stream>:3: grade 2 by 'ann' for 'a', but 1 at <stream>:2; "
        "keep one, or name the rater of each in a column `rater`"
    ]
    assert len(read(header + "q,a,1,ann\nq,a,1,ann\n").notices) == 1


@pytest.mark.parametrize("pi", ["0", "5e-324", "1e-310", "1.5", "nan", "often", "-1"])
def test_pi_is_a_probability(pi: str) -> None:
    assert refusal(f"query_id,chunk_id,grade,pi\nq,a,1,{pi}\n") == [
        f"<stream>:2: pi '{pi}'; pi is a probability, 1e-100 to 1"
    ]


def test_grades_off_the_scale_name_the_flags() -> None:
    assert (
        "--grade-max 5"
        in refusal(
            "query_id,chunk_id,grade\n" + "".join(f"q,{grade},{grade}\n" for grade in range(6))
        )[0]
    )


def test_no_labels_at_all_is_an_error() -> None:
    assert refusal("query_id,chunk_id,grade\n") == ["<stream>: no labels; give at least one"]


def test_human_labels_of_llmjudge_are_read(data: Path) -> None:
    file = read_labels(data / "llmjudge" / "human_test_qrels.txt")
    assert len(file.labels) == 4423
    assert len({label.query_id for label in file.labels}) == 25
