"""Labels on disk, where raters stand, marked words, and the terminal's questions."""

from __future__ import annotations

import io
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from judge.errors import InputError, UsageError
from judge.formats import read_labels
from judge.labelling.marking import mark
from judge.labelling.session import Session
from judge.labelling.store import Entry, LabelStore
from judge.labelling.terminal import label_in_terminal
from judge.spotcheck import Item, Queue, Why


def _item(id, *, text="text", pi=0.5, grade=1):
    return Item("q", "query", id, text, Why.CORE, pi=pi, judge_grade=grade, judge_reason="why")


@pytest.fixture
def session(tmp_path):
    queue = Queue((_item("a"), _item("b", pi=None), _item("c")), 3)
    return Session(queue, LabelStore(tmp_path / "labels.csv"))


def test_label_is_on_disk_before_the_next_chunk_and_calibrate_reads_it(session):
    session.label("ann", ("q", "a"), 2, note='a "quoted", note;\nof two lines')
    session.label("ann", ("q", "b"), 0)
    labels = read_labels(session.store.path).labels
    assert [(label.id, label.grade, label.rater, label.pi) for label in labels] == [
        ("a", 2, "ann", 0.5),
        ("b", 0, "ann", None),
    ]
    assert LabelStore(session.store.path).entries()[0].note == 'a "quoted", note;\nof two lines'


def test_reload_goes_on_where_the_labels_end(session):
    session.label("ann", ("q", "a"), 2)
    again = Session(session.queue, LabelStore(session.store.path))
    assert again.next("ann").id == "b"
    assert again.next("ben").id == "a"  # another rater has not begun


def test_skipped_chunks_come_again_at_the_end(session):
    for id in "abc":
        session.label("ann", ("q", id), None if id != "b" else 1)
    assert session.progress("ann").skipped == 2
    assert session.next("ann").id == "a"
    session.label("ann", ("q", "a"), None)  # skipped again: the other one is next
    assert session.next("ann").id == "c"
    session.label("ann", ("q", "c"), 3)
    session.label("ann", ("q", "a"), 3)
    assert session.next("ann") is None
    assert session.progress("ann").left == 0


def test_undo_takes_back_the_rater_s_own_last_label_only(session):
    session.label("ann", ("q", "a"), 2, note="hm")
    session.label("ben", ("q", "a"), 3)
    item, entry = session.undo("ann")
    assert (item.id, entry.grade, entry.note) == ("a", 2, "hm")
    assert [entry.rater for entry in session.store.entries()] == ["ben"]
    assert session.undo("ann") is None


def test_undo_leaves_labels_of_another_queue_alone(session):
    session.store.add(Entry("other", "z", "ann", 3))
    assert session.undo("ann") is None
    assert len(session.store.entries()) == 1


def test_second_word_of_a_rater_on_a_chunk_replaces_the_first(session):
    session.label("ann", ("q", "a"), 2)
    session.label("ann", ("q", "a"), 1)
    assert [(e.id, e.grade) for e in session.store.entries()] == [("a", 1)]


@pytest.mark.parametrize(
    ("pair", "grade", "rater", "message"),
    [
        (("q", "z"), 1, "ann", "not in this queue"),
        (("q", "a"), 4, "ann", r"outside 0\.\.3"),
        (("q", "a"), -1, "ann", r"outside 0\.\.3"),
        (("q", "a"), 1, " ", "needs the name"),
    ],
)
def test_what_cannot_be_a_label_is_refused(session, pair, grade, rater, message):
    with pytest.raises(UsageError, match=message):
        session.label(rater, pair, grade)
    assert session.store.entries() == ()


def test_file_that_is_not_ours_is_not_overwritten(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("query;grade\nq;1\n")
    with pytest.raises(InputError, match="name another file"):
        LabelStore(path).add(Entry("q", "a", "ann", 1))
    assert path.read_text() == "query;grade\nq;1\n"


def test_line_that_is_no_label_is_named(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("query_id,chunk_id,grade,rater,pi,note\nq,a,good,ann,,\n")
    with pytest.raises(InputError, match=r"labels\.csv:2: not a label"):
        LabelStore(path).entries()


def test_file_changed_by_another_program_is_read_again(session):
    session.label("ann", ("q", "a"), 2)
    with session.store.path.open("a") as stream:
        stream.write("q,b,1,ann,,\n")
    assert session.next("ann").id == "c"


def test_two_stores_on_one_file_lose_nothing(tmp_path):
    # Two browsers are two threads of one server, or a page and a terminal: two stores.
    path = tmp_path / "labels.csv"
    stores = [LabelStore(path), LabelStore(path)]
    entries = [Entry("q", f"c{i}", "ann", i % 4) for i in range(60)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda at: stores[at % 2].add(entries[at]), range(60)))
    assert {entry.id for entry in LabelStore(path).entries()} == {f"c{i}" for i in range(60)}


CRASHING = """
import itertools, pathlib, sys
from judge.labelling.store import Entry, LabelStore
store = LabelStore(pathlib.Path(sys.argv[1]))
for i in itertools.count():
    store.add(Entry("q", f"c{i}", "ann", 1))
    print(i, flush=True)
"""


@pytest.mark.slow
def test_killed_at_any_moment_the_file_holds_every_label_that_was_confirmed(tmp_path):
    for attempt in range(5):
        path = tmp_path / f"labels{attempt}.csv"
        with subprocess.Popen(
            [sys.executable, "-c", CRASHING, str(path)], stdout=subprocess.PIPE, text=True
        ) as writer:
            confirmed = [writer.stdout.readline() for _ in range(20 + attempt)]
            writer.kill()
        held = {entry.id for entry in LabelStore(path).entries()}
        assert {f"c{line.strip()}" for line in confirmed} <= held


def test_label_that_cannot_be_saved_raises(tmp_path):
    with pytest.raises(FileNotFoundError):
        LabelStore(tmp_path / "gone" / "labels.csv").add(Entry("q", "a", "ann", 1))


def test_words_of_the_query_are_marked():
    assert [part.text for part in mark("Its heights, at 8 km", "HEIGHT of 8?") if part.marked] == [
        "heights",
        "8",
    ]
    assert not any(part.marked for part in mark("of an is", "is it of an age"))


@given(st.text(max_size=80), st.text(max_size=30))
def test_marked_segments_join_to_the_text(text, query):
    assert "".join(part.text for part in mark(text, query)) == text


def _converse(session, lines):
    stream = io.StringIO()
    console = Console(file=stream, width=80, highlight=False)
    label_in_terminal(session, "ann", read=iter([*lines, ""]).__next__, console=console)
    return stream.getvalue()


def test_terminal_grades_skips_undoes_and_ends(session):
    said = _converse(session, ["2 a note\n", "u\n", "1\n", "s\n", "x\n", "9\n", "3\n", "0\n"])
    assert [(e.id, e.grade, e.note) for e in session.store.entries()] == [
        ("a", 1, ""),
        ("c", 3, ""),
        ("b", 0, ""),
    ]
    assert "You gave 2, the judge 1: why (random core)." in said
    assert "'x' is no grade." in said
    assert "grade 9 is outside 0..3" in said
    assert "Every chunk is graded." in said


def test_terminal_says_the_judge_s_grade_only_afterwards(session):
    said = _converse(session, [])
    assert "the judge" not in said and "why" not in said and "core" not in said


def test_terminal_obeys_no_escape_of_a_chunk(tmp_path):
    queue = Queue((_item("a", text="\x1b[2Jgone [bold]not markup[/bold]"),), 3)
    said = _converse(Session(queue, LabelStore(tmp_path / "l.csv")), [])
    assert "\x1b" not in said
    assert "[bold]not markup[/bold]" in said
