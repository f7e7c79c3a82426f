"""Large files stay on the disk: the same lines as from memory, and the same refusals."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import InputError
from judge.formats import opening, read_grades, read_run
from judge.formats.opening import read_text
from judge.formats.textfile import StoredText, TextFile, is_plain_text

TEXTS = st.text(st.sampled_from("aé\u2028 \n\r\t\x0c{}"), max_size=30)


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave every file where it lies, however small."""
    monkeypatch.setattr(opening, "_HELD_BYTES", 0)


@given(TEXTS)
def test_stored_lines_are_those_held_in_memory(tmp_path_factory: object, text: str) -> None:
    path = tmp_path_factory.mktemp("t") / "file"  # type: ignore[attr-defined]
    path.write_bytes(text.encode())
    kept, held = StoredText(path), TextFile(str(path), text)
    assert (kept.name, kept.text) == (held.name, held.text)
    assert list(kept.lines()) == list(held.lines())
    assert kept.first_lines() == held.first_lines()


def test_a_byte_order_mark_is_no_part_of_a_stored_text(stored: None, tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_bytes(b"\xef\xbb\xbfq Q0 d 1 1.0 tag\n")
    assert isinstance(read_text(path), StoredText)
    assert read_run(path).rows[0].key == "q"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"q 0 d 1\n\0", "zero byte at offset 8"),
        (b"q 0 d 1\nq 0 \xff 1\n", "2: byte 0xff at offset 12 is not UTF-8"),
        (b"q 0 d 1\nq 0 \xc3", "is not UTF-8"),
        (b" \n\xe2\x80\xa8\n", "an empty file"),
        (b"BZh" + b"x" * 20, "a bzip2 file"),
    ],
)
def test_what_is_no_text_is_refused_as_ever(
    stored: None, tmp_path: Path, data: bytes, said: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    assert not is_plain_text(io.BytesIO(data)) or data.startswith(b"BZh")
    with pytest.raises(InputError, match=said):
        read_text(path)


@given(st.binary(max_size=12) | TEXTS.map(str.encode))
def test_text_is_told_however_it_is_cut(data: bytes) -> None:
    try:
        text = data.decode("utf-8-sig")
        is_text = "\0" not in text and bool(text.strip())
    except UnicodeDecodeError:
        is_text = False
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("judge.formats.textfile._CHUNK", 2)
        assert is_plain_text(io.BytesIO(data)) == is_text


def test_a_file_that_changes_meanwhile_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("fine\n")
    file = StoredText(path)
    path.write_bytes(b"\xff\n")
    with pytest.raises(InputError, match="changed while it was read"):
        list(file.lines())


def test_stored_files_read_as_held_ones_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    row = {"query_id": "q", "query": "é", "results": [{"id": "a", "text": "x\u2028y"}]}
    lines = "".join(json.dumps({**row, "query_id": f"q{i}"}) + "\n" for i in range(3))
    files = {
        "run.jsonl": lines,
        "run.json": json.dumps({"rows": [row]}),
        "run.trec": "q Q0 a 1 2.0 t\nq Q0 b 2 1.0 t\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        held = read_run(tmp_path / name)
        with monkeypatch.context() as patched:
            patched.setattr(opening, "_HELD_BYTES", 0)
            assert read_run(tmp_path / name) == held
    (tmp_path / "grades.csv").write_text("query_id,id,grade\nq,a,2\n")
    monkeypatch.setattr(opening, "_HELD_BYTES", 0)
    assert [grade.lo for grade in read_grades(tmp_path / "grades.csv").grades] == [2]
