"""Opening files: gzip by content, byte order marks, streams, and clear refusals."""

from __future__ import annotations

import gc
import gzip
import io
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.formats import opening
from judge.formats.opening import open_bytes, read_text
from judge.formats.textfile import TextFile


def refusal(source: object) -> str:
    with pytest.raises(InputError) as caught:
        read_text(source)  # type: ignore[arg-type]
    return str(caught.value)


def test_plain_gzip_and_byte_order_mark_read_alike(tmp_path: Path) -> None:
    text = "grün\n"
    for name, data in {
        "plain": text.encode(),
        "bom": b"\xef\xbb\xbf" + text.encode(),
        "gzip with another name": gzip.compress(text.encode()),
        "gzip and bom": gzip.compress(b"\xef\xbb\xbf" + text.encode()),
    }.items():
        path = tmp_path / name
        path.write_bytes(data)
        assert read_text(path) == TextFile(str(path), text)


def test_a_stream_is_read_and_stays_open() -> None:
    stream = io.BytesIO(gzip.compress(b"q Q0 d 1 1 t"))
    assert read_text(stream) == TextFile("<stream>", "q Q0 d 1 1 t")
    assert not stream.closed


def test_an_unbuffered_file_stays_open(tmp_path: Path) -> None:
    path = tmp_path / "raw"
    path.write_bytes(b"text")
    with path.open("rb", buffering=0) as stream:
        assert read_text(stream).text == "text"  # type: ignore[arg-type]
        assert not stream.closed


def test_lines_are_numbered_and_split_at_line_feeds_alone() -> None:
    # U+2028 and form feeds stand inside texts; str.splitlines would cut there.
    file = TextFile("f", "a\u2028b\x0c\n\nc")
    assert list(file.lines()) == [(1, "a\u2028b\x0c"), (2, ""), (3, "c")]
    assert file.first_lines() == ["a\u2028b\x0c", "c"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "an empty file"),
        (b" \r\n\t", "an empty file"),
        (gzip.compress(b"", mtime=0), "an empty file"),
        (b"\xef\xbb\xbf", "an empty file"),
        (b"\x1c\x1d", "an empty file"),
        (b"{}\0", "a binary file (zero byte at offset 2)"),
        (b"PK\x03\x04rest", "a zip archive, not UTF-8 text"),
        ('{"a": 1}'.encode("utf-16"), "UTF-16 text, not UTF-8 text"),
        (b"abc\nd\xffg", "f:2: byte 0xff at offset 5 is not UTF-8; convert the file, e.g. iconv"),
        (b"\xed\xa0\x80", "byte 0xed at offset 0 is not UTF-8"),
        (b"\x1f\x8bno gzip", "broken gzip data"),
        (gzip.compress(b"x" * 9999, mtime=0)[:-12], "broken gzip data"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "f"
    path.write_bytes(data)
    message = refusal(path)
    assert message.startswith(str(path))
    assert said in message


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none") == f"{tmp_path / 'none'}: no such file; check the path"
    assert "a directory, not a file" in refusal(tmp_path)
    assert "cannot be read" in refusal("a\0b")


def test_gzip_that_breaks_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(bytes(range(256)) * 999)[:-20])
    with pytest.raises(InputError, match="broken gzip data"), open_bytes(path) as stream:
        while stream.read(4096):
            pass


def test_the_collector_is_as_before_when_files_are_done() -> None:
    before = gc.isenabled(), gc.get_threshold()
    with opening.rarely_collected(), opening.uncollected():
        with opening.uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()  # the outer one still holds
        assert gc.get_threshold() > before[1]
    assert (gc.isenabled(), gc.get_threshold()) == before
