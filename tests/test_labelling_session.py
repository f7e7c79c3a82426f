"""Where raters stand in a queue: next, skips, undo, refusals."""

from __future__ import annotations

import pytest

from judge.errors import UsageError
from judge.formats import read_labels
from judge.labelling.session import Session
from judge.labelling.store import Entry, LabelStore
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
    assert [(e.rater, e.taken_back) for e in session.store.entries()] == [
        ("ann", True),
        ("ben", False),
    ]
    assert session.undo("ann") is None


def test_grade_given_before_the_judge_s_was_shown_is_never_lost(session):
    # "You gave 2, the judge 0"; an undo and a 0: agreement counts the 2, the file has both.
    session.label("ann", ("q", "a"), 2)
    session.undo("ann")
    assert session.next("ann").id == "a"  # asked again, after a reload too
    assert session.progress("ann").graded == 0
    session.label("ann", ("q", "a"), 0)
    (label,) = read_labels(session.store.path).labels
    assert (label.grade, label.revised, label.latest) == (2, 0, 0)
    assert session.next("ann").id == "b"


def test_grade_taken_back_and_left_so_still_counts(session):
    session.label("ann", ("q", "a"), 2)
    session.undo("ann")
    (label,) = read_labels(session.store.path).labels
    assert (label.grade, label.revised) == (2, None)


def test_undo_goes_on_to_the_label_before(session):
    session.label("ann", ("q", "a"), 2)
    session.label("ann", ("q", "b"), 3)
    assert [session.undo("ann")[0].id for _ in range(2)] == ["b", "a"]
    assert session.undo("ann") is None


def test_same_grade_given_again_revises_nothing(session):
    session.label("ann", ("q", "a"), 2)
    session.undo("ann")
    session.label("ann", ("q", "a"), 2)
    (entry,) = session.store.entries()
    assert (entry.grade, entry.revised, entry.taken_back) == (2, None, False)


def test_skip_leaves_nothing_to_keep(session):
    session.label("ann", ("q", "a"), None)
    session.undo("ann")
    assert session.store.entries() == ()


def test_undo_leaves_labels_of_another_queue_alone(session):
    session.store.add(Entry("other", "z", "ann", 3))
    assert session.undo("ann") is None
    assert len(session.store.entries()) == 1


def test_second_word_of_a_rater_on_a_chunk_stands_beside_the_first(session):
    session.label("ann", ("q", "a"), 2)
    session.label("ann", ("q", "a"), 1)
    assert [(e.id, e.grade, e.revised) for e in session.store.entries()] == [("a", 2, 1)]


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


def test_file_changed_by_another_program_is_read_again(session):
    session.label("ann", ("q", "a"), 2)
    with session.store.path.open("a") as stream:
        stream.write("q,b,1,ann,,,\n")
    assert session.next("ann").id == "c"


def test_zero_bytes_are_refused_because_no_reader_takes_the_file_then(session):
    for rater, note in (("a\0n", ""), ("ann", "a\0b")):
        with pytest.raises(UsageError, match="zero bytes"):
            session.label(rater, ("q", "a"), 1, note=note)
    assert session.store.entries() == ()


def test_label_chosen_earlier_counts_as_drawn_once_its_chunk_is_drawn(session):
    # A queue without a core had chunks a and b chosen; later a is drawn, b still is not.
    session.store.add(Entry("q", "a", "ann", 0))
    session.store.add(Entry("q", "b", "ann", 3))
    session.stamp_drawn()
    labels = read_labels(session.store.path).labels
    assert [(label.id, label.pi, label.chosen) for label in labels] == [
        ("a", 0.5, False),
        ("b", None, True),
    ]
