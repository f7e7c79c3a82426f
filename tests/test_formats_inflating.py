"""Gzip in, by whichever library reads it: whole, in members, cut off, broken."""

from __future__ import annotations

import gzip
import importlib.util
import io

import pytest

from judge.errors import InputError
from judge.formats import inflating
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
