"""Quepid's CSV files: a blank is open, a position orders, a book has a column for each rater."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.formats import Label, ReadOptions, read_grades, read_labels, read_run, read_runs
from judge.run import Result

FIXTURES = Path(__file__).parent / "fixtures"


def test_ratings_are_grades_and_blanks_are_open() -> None:
    file = read_grades(FIXTURES / "quepid_ratings.csv")
    assert [(grade.query, grade.id, grade.lo) for grade in file.grades] == [
        ("reset breaker", "a", 3),
        ("=SUM(A1)", "c", 0),
    ]
    assert {notice.kind: notice.count for notice in file.notices} == {
        "no ratings": 1,
        "open grade": 1,
    }


def test_a_detailed_export_is_a_run_with_texts_and_grades() -> None:
    run = read_run(FIXTURES / "quepid_detailed.csv")
    assert [(row.query, row.results) for row in run.rows] == [
        (
            "reset breaker",
            (
                Result("a", text="Breaker\nPush the lever, twice."),
                Result("b", text="Fuse\nTen ampere."),
            ),
        ),
        ("fuse size", (Result("b", text="Fuse\nTen ampere."),)),
    ]
    assert [(grade.query, grade.id, grade.lo) for grade in run.grades] == [
        ("reset breaker", "a", 3)
    ]
    assert {notice.kind for notice in run.notices} == {"unrateable"}


def test_a_detailed_export_gives_grades_alone_too() -> None:
    file = read_grades(FIXTURES / "quepid_detailed.csv")
    assert [(grade.query, grade.id, grade.lo) for grade in file.grades] == [
        ("reset breaker", "a", 3)
    ]
    assert {notice.kind for notice in file.notices} == {"unrateable", "open grade"}


def test_snapshots_are_runs_ordered_by_position() -> None:
    runs = read_runs(FIXTURES / "quepid_snapshot.csv")
    assert {name: [r.id for r in run.rows[0].results] for name, run in runs.items()} == {
        "before": ["a", "b"],
        "after": ["a"],
    }
    chosen = read_run(FIXTURES / "quepid_snapshot.csv", ReadOptions(run_tag="after"))
    assert chosen.name == "after"


def test_a_book_has_a_label_for_each_rater() -> None:
    file = read_labels(FIXTURES / "quepid_book.csv")
    assert file.labels == (
        Label("reset breaker", "a", 3, "Ann"),
        Label("reset breaker", "a", 2, "ben@example.org"),
        Label("reset breaker", "b", 0, "ben@example.org"),
    )
    assert {notice.kind: notice.count for notice in file.notices} == {"open label": 1}


def test_a_position_that_is_no_number_is_named() -> None:
    text = "Query Text,Doc ID,Doc Position\nq,a,first\nq,b,2\nq\n"
    with pytest.raises(InputError) as caught:
        read_run(io.BytesIO(text.encode()))
    assert [line.split(";")[0] for line in str(caught.value).splitlines()] == [
        "<stream>:2: Doc Position 'first'",
        "<stream>:4: Doc Position null",
    ]


def test_ratings_are_no_run() -> None:
    with pytest.raises(
        InputError, match="Quepid ratings, which holds grades; give a file with a run"
    ):
        read_run(FIXTURES / "quepid_ratings.csv")


def test_a_snapshot_with_ratings_and_texts_keeps_them() -> None:
    text = (
        "Snapshot Name,Query Text,Doc ID,Doc Position,Rating,body\n"
        "s,breaker,b,2,,second\ns,breaker,a,1,3,first\n"
    )
    run = read_run(io.BytesIO(text.encode()))
    assert [(r.id, r.text) for r in run.rows[0].results] == [("a", "first"), ("b", "second")]
    assert [(grade.id, grade.lo) for grade in run.grades] == [("a", 3)]


def test_raters_who_differ_are_sent_to_where_they_may() -> None:
    book = io.BytesIO(b"query,docid,ann,bob\nbreaker,1,3,2\n")
    with pytest.raises(InputError, match=r"another rater \('ann' and 'bob'\); .*--labels"):
        read_grades(book)
