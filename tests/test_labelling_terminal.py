"""Labelling in a terminal: keys, what is said when, and no escape obeyed."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from judge.labelling.session import Session
from judge.labelling.store import LabelStore
from judge.labelling.terminal import label_in_terminal
from judge.spotcheck import Item, Queue, Why


def _item(id, *, text="text", pi=0.5, grade=1):
    return Item("q", "query", id, text, Why.CORE, pi=pi, judge_grade=grade, judge_reason="why")


@pytest.fixture
def session(tmp_path):
    queue = Queue((_item("a"), _item("b", pi=None), _item("c")), 3)
    return Session(queue, LabelStore(tmp_path / "labels.csv"))


def _converse(session, lines):
    stream = io.StringIO()
    console = Console(file=stream, width=80, highlight=False)
    label_in_terminal(session, "ann", read=iter([*lines, ""]).__next__, console=console)
    return stream.getvalue()


def test_terminal_grades_skips_undoes_and_ends(session):
    said = _converse(session, ["2 a note\n", "u\n", "1\n", "s\n", "x\n", "9\n", "3\n", "0\n"])
    assert [(e.id, e.grade, e.revised, e.note) for e in session.store.entries()] == [
        ("a", 2, 1, "a note"),
        ("c", 3, None, ""),
        ("b", 0, None, ""),
    ]
    assert "Grade again. Your first grade, 2, is kept beside the new one." in said
    assert "You gave 2, the judge 1: why (random core)." in said
    assert "'x' is no grade." in said
    assert "grade 9 is outside 0..3" in said
    assert "Every chunk is graded." in said


def test_terminal_says_the_judge_s_grade_only_afterwards(session):
    said = _converse(session, [])
    assert "the judge 1" not in said and "why" not in said and "core" not in said


def test_terminal_opens_with_what_to_do_and_names_the_source(tmp_path):
    item = replace(_item("a"), source="Handbook · page 3")
    said = " ".join(_converse(Session(Queue((item,), 3), LabelStore(tmp_path / "l")), []).split())
    assert said.startswith("Read the query, then the chunk. Grade how well")
    assert "Query: query Source: Handbook · page 3 text" in said


def test_terminal_obeys_no_escape_of_a_chunk(tmp_path):
    queue = Queue((_item("a", text="\x1b[2Jgone [bold]not markup[/bold]"),), 3)
    said = _converse(Session(queue, LabelStore(tmp_path / "l.csv")), [])
    assert "\x1b" not in said
    assert "[bold]not markup[/bold]" in said
