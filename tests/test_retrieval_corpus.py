"""Reading what the engine searches, and writing what it found."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.formats import read_run
from judge.formats.run_writing import run_lines
from judge.retrieval.corpus import Item, read_items
from judge.retrieval.engine import Engine
from judge.retrieval.knobs import Knobs
from judge.run import Row


def write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_kinds_ages_titles_and_documents_are_read(tmp_path: Path) -> None:
    corpus = write(
        tmp_path / "c.jsonl",
        {"id": 1, "title": "Fox", "text": "in a den"},
        {"_id": "m", "text": "seen today", "kind": "memory", "age_days": 2},
        {"id": "n", "text": "no age", "kind": "memory", "age_days": None},
        {"id": "p", "text": "page", "document_id": "book"},
    )
    assert read_items(corpus).items == (
        Item("1", "Fox\nin a den"),
        Item("m", "seen today", "memory", 2.0),
        Item("n", "no age", "memory", 0.0),
        Item("p", "page", document_id="book"),
    )


def test_every_bad_item_is_named(tmp_path: Path) -> None:
    corpus = write(
        tmp_path / "c.jsonl",
        {"id": "a"},
        {"id": "b", "text": "x", "kind": "memory", "age_days": -1},
        {"id": "c", "text": "x"},
        {"id": "c", "text": "y"},
    )
    with pytest.raises(InputError) as caught:
        read_items(corpus)
    assert [problem.where.rpartition("/")[2] for problem in caught.value.problems] == [
        "c.jsonl:1",
        "c.jsonl:2: age_days",
        "c.jsonl:4",
    ]


def test_other_kinds_are_counted_as_documents(tmp_path: Path) -> None:
    read = read_items(write(tmp_path / "c.jsonl", {"id": "a", "text": "x", "kind": "note"}))
    assert not read.items[0].is_memory
    assert [notice.count for notice in read.notices] == [1]


def test_folder_gives_a_document_a_text_file_named_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.md").write_text("# B\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("A\n", encoding="utf-8")
    (tmp_path / "c.png").write_bytes(b"\x89PNG")
    read = read_items(tmp_path)
    assert read.items == (Item("a.txt", "A\n"), Item("sub/b.md", "# B\n"))
    assert [notice.kind for notice in read.notices] == ["left out"]


def test_empty_files_of_a_folder_are_left_out_and_counted(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("A", encoding="utf-8")
    for name in ("b.md", "c.txt"):
        (tmp_path / name).touch()
    read = read_items(tmp_path)
    assert read.items == (Item("a.md", "A"),)
    assert [(notice.kind, notice.count) for notice in read.notices] == [("left out", 2)]


def test_every_bad_file_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("A", encoding="utf-8")
    (tmp_path / "b.txt").write_bytes(b"x\0y")
    (tmp_path / "c.md").write_bytes("naïve".encode("utf-16"))
    bad_name = os.fsencode(tmp_path) + b"/d\xff.md"
    try:
        Path(os.fsdecode(bad_name)).write_text("D", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes no names that are not UTF-8")
    with pytest.raises(InputError) as caught:
        read_items(tmp_path)
    assert [problem.where.rpartition("/")[2][:1] for problem in caught.value.problems] == [
        "b",
        "c",
        "d",
    ]
    str(caught.value).encode("utf-8")


def test_folder_without_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no texts"):
        read_items(tmp_path)


def test_written_run_is_read_back_the_same(tmp_path: Path) -> None:
    items = (
        Item("a", 'the "fox"\n</script>'),
        Item("b", "fox " * 400),
        Item("m", "fox", "memory", 3),
    )
    asked = (Row("q1", query_id="q1", query="fox", slice="s"), Row("ö", query="ö"))
    run = Engine(items).run(asked, knobs=Knobs(), name="näme")
    lines = list(run_lines(run))
    (tmp_path / "run.json").write_text("\n".join(lines), encoding="utf-8")
    read = read_run(tmp_path / "run.json")
    assert read.name == "näme"
    assert [row.key for row in read.rows] == ["q1", "ö"]
    assert [
        [(r.id, r.document, r.text, r.score, r.metadata) for r in row.results] for row in read.rows
    ] == [
        [(r.id, r.document, r.text, r.score, r.metadata) for r in row.results] for row in run.rows
    ]
    assert len(lines) == 2 + len(asked)


def test_file_without_items_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="no items"):
        read_items(tmp_path / "empty.json")
