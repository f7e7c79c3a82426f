"""Gzip in, by whichever library reads it: whole, in members, cut off, broken."""

from __future__ import annotations

import gzip
import importlib.util
import io
import zipfile
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.formats import inflating, opening
from judge.formats.opening import open_bytes

TEXT = b"".join(b"line %d\n" % n for n in range(50_000))
PACKED = gzip.compress(TEXT)


@pytest.fixture(params=["standard", "isal"], autouse=True)
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read with each library in turn."""
    if request.param == "isal" and importlib.util.find_spec("isal") is None:
        pytest.skip("isal is not installed (extra: fast)")
    if request.param == "standard":
        monkeypatch.setattr(inflating, "_READER", gzip.GzipFile)


def read(packed: bytes) -> bytes:
    with open_bytes(io.BytesIO(packed)) as stream:
        return stream.read()


def test_members_are_read_as_one() -> None:
    assert read(PACKED) == TEXT
    assert read(PACKED + gzip.compress(b"more\n")) == TEXT + b"more\n"


@pytest.mark.parametrize(
    "packed",
    [PACKED[:-10], PACKED[:30] + b"xxxxx" + PACKED[35:], PACKED[:-8] + b"12345678", b"\x1f\x8bxx"],
    ids=["cut off", "broken in the middle", "wrong checksum", "broken head"],
)
def test_broken_data_are_an_error(packed: bytes) -> None:
    with pytest.raises(InputError, match="broken gzip data"):
        read(packed)


@pytest.mark.slow
def test_what_unpacks_without_end_is_an_error_before_it_fills_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(opening, "UNPACKED_LIMIT", 4 << 20)
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(bytes(64 << 20)))
    with pytest.raises(InputError, match=r"bomb\.gz: it unpacks to more than 0\.00391 GiB"):
        opening.read_text(bomb)
    packed = tmp_path / "bomb.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("qrels/test.tsv", bytes(64 << 20))
    with pytest.raises(InputError, match=r"bomb\.zip: qrels/test\.tsv: it unpacks to more than"):
        opening.read_text(packed, inside=opening.QRELS)


def test_a_file_that_is_not_packed_has_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "UNPACKED_LIMIT", 10)
    assert opening.read_text(io.BytesIO(b"x" * 100)).text == "x" * 100
