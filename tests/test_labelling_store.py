"""Labels on disk: nothing lost by a crash, a second writer or a foreign file."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from judge.errors import InputError
from judge.labelling.store import Entry, LabelStore


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


ODD = 'a "b", c;\n\r\u2028 \x00,'


def test_odd_characters_come_back_as_they_were(tmp_path):
    store = LabelStore(tmp_path / "labels.csv")
    entries = [Entry(f"q{ODD}", f"c{i}{ODD}", "ann, of x", i, 0.125, ODD) for i in range(3)]
    for entry in entries:
        store.add(entry)
    assert LabelStore(store.path).entries() == tuple(entries)


def test_text_that_has_no_utf8_is_refused_with_nothing_stored(tmp_path):
    store = LabelStore(tmp_path / "labels.csv")
    with pytest.raises(InputError, match="not saved"):
        store.add(Entry("q", "\ud800", "ann", 1))
    assert store.entries() == ()


def test_last_line_without_an_end_is_kept_whole(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("query_id,chunk_id,grade,rater,pi,note\nq,a,1,ann,,")
    LabelStore(path).add(Entry("q", "b", "ann", 2))
    assert [(e.id, e.grade) for e in LabelStore(path).entries()] == [("a", 1), ("b", 2)]


def test_label_given_again_keeps_the_first_and_stands_once_at_the_end(tmp_path):
    store = LabelStore(tmp_path / "labels.csv")
    for id, grade in (("a", 1), ("b", 2), ("a", 3)):
        store.add(Entry("q", id, "ann", grade))
    held = LabelStore(store.path).entries()
    assert [(e.id, e.grade, e.revised, e.latest) for e in held] == [
        ("b", 2, None, 2),
        ("a", 1, 3, 3),
    ]


def test_older_file_without_revised_grades_is_read_and_gets_the_column(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("query_id,chunk_id,grade,rater,pi,note\nq,a,1,ann,0.5,so\n")
    LabelStore(path).add(Entry("q", "b", "ann", 2))
    assert path.read_text().splitlines() == [
        "query_id,chunk_id,grade,rater,pi,note,revised",
        "q,a,1,ann,0.5,so,",
        "q,b,2,ann,,,",
    ]


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
    with pytest.raises(InputError, match="not saved: the file cannot be written"):
        LabelStore(tmp_path / "gone" / "labels.csv").add(Entry("q", "a", "ann", 1))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b'query_id,chunk_id,grade\n"open,1\n'])
def test_file_that_is_no_table_is_named(tmp_path, content):
    path = tmp_path / "labels.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match="name another file with --labels"):
        LabelStore(path).entries()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("q,b", "2 cells of 6"),  # a write that a power cut tore
        ("q,b,1,ann,0.2", "5 cells of 6"),
        ("q,b,1,ann,0.25,a note, not quoted", "too many cells of 6"),
        ("q,b,-1,ann,,", "grade -1"),
        ("q,b,1,ann,nan,", "pi nan"),
        ("q,b,1,ann,0,", "pi 0.0"),
    ],
)
def test_line_that_is_torn_or_edited_is_named_and_not_written_over(tmp_path, line, found):
    path = tmp_path / "labels.csv"
    text = f"query_id,chunk_id,grade,rater,pi,note\nq,a,1,ann,0.5,\n{line}"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"labels\.csv:3: not a label \({found}\); correct"):
        LabelStore(path).add(Entry("q", "c", "ann", 2))
    assert path.read_text() == text
