"""Open what the user names: a path or a stream, plain or gzip, and say clearly what is wrong."""

from __future__ import annotations

import gc
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from judge.errors import InputError, Problem
from judge.formats.inflating import BROKEN, inflated
from judge.formats.textfile import StoredText, TextFile, is_plain_text

SourceFile: TypeAlias = str | Path | BinaryIO
"""A path, or a binary stream that the caller opened (standard input) and will close."""

QRELS = ("qrels/test.tsv", "qrels/dev.tsv", "qrels/train.tsv")
"""What a BEIR folder or archive calls its grades."""

UNPACKED_LIMIT = 1 << 30
"""Bytes that a packed file may unpack to in memory: a few kilobytes can be made to fill any."""

# A file of more bytes is left where it lies and read line by line.
_HELD_BYTES = 8 << 20
_CHUNK = 1 << 20
_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_MAGIC_BYTES = 16
_RARELY = (50_000, 20, 1_000)
_EMPTY = ("an empty file", "was the command that wrote it stopped?")
_OTHER_ENCODINGS = {
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
    _ZIP: "a zip archive",
    b"%PDF": "a PDF",
    b"\x28\xb5\x2f\xfd": "a zstd file",
    b"BZh": "a bzip2 file",
    b"PAR1": "a Parquet file",
    b"SQLite format 3": "an SQLite database",
}


def source_name(source: SourceFile) -> str:
    """Return the name of a source for messages: the path as given, or the stream's."""
    if isinstance(source, (str, Path)):
        return str(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


@contextmanager
def open_bytes(source: SourceFile) -> Iterator[BinaryIO]:
    """Yield the source's bytes as a stream: gzip undone, a UTF-8 byte order mark skipped.

    Raises InputError for what cannot be opened, and for a gzip file that proves broken
    while the caller reads it.
    """
    name = source_name(source)
    try:
        if isinstance(source, (str, Path)):
            with Path(source).open("rb") as stream:
                yield _undressed(stream)
        else:
            yield _undressed(source)
    except FileNotFoundError as error:
        raise _unreadable(name, "no such file", "check the path") from error
    except IsADirectoryError as error:
        raise _unreadable(name, "a directory, not a file", "name the file inside it") from error
    except BROKEN as error:
        raise _unreadable(name, f"broken gzip data ({error})", "get the file again") from error
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) or "null byte" in str(error):
            raise _unreadable(name, f"cannot be read: {error}", "check path and rights") from error
        raise


def read_text(source: SourceFile, *, inside: Sequence[str] = ()) -> TextFile:
    """Return a whole source as text; InputError where it is empty, binary or not UTF-8.

    inside: what to read of a folder or zip archive, the first of these that it has
    """
    source = member(source, inside) if inside else source
    if (stored := _stored(source)) is not None:
        return stored
    name = source_name(source)
    with open_bytes(source) as stream:
        data = read_whole(stream, name)
    if not data or data.isspace():
        raise _unreadable(name, *_EMPTY)
    for magic, kind in _OTHER_ENCODINGS.items():
        if data.startswith(magic):
            raise _unreadable(name, f"{kind}, not UTF-8 text", "convert it to UTF-8 text first")
    if (offset := data.find(b"\0")) >= 0:
        found = f"a binary file (zero byte at offset {offset})"
        raise _unreadable(name, found, "give a text file: JSON, JSONL, TREC or CSV")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8"
        fix = "convert the file, e.g. iconv -f latin1 -t utf-8"
        raise _unreadable(f"{name}:{line}", found, fix) from error
    if text.isspace():
        raise _unreadable(name, *_EMPTY)
    return TextFile(name, text)


def _stored(source: SourceFile) -> TextFile | None:
    """Return a large text file to be read line by line; None for all else, right or wrong."""
    if not isinstance(source, (str, Path)):
        return None
    try:
        path = Path(source)
        if not path.is_file() or path.stat().st_size <= _HELD_BYTES:
            return None
        with path.open("rb") as stream:
            start = stream.peek(_MAGIC_BYTES)
            is_other = start.startswith((_GZIP, *_OTHER_ENCODINGS))
            return None if is_other or not is_plain_text(stream) else StoredText(path)
    except (OSError, ValueError):
        return None  # whoever opens it next says what is wrong


def read_whole(stream: BinaryIO, name: str) -> bytes | bytearray:
    """Return the rest of a stream that `open_bytes` gave; InputError where unpacking has no end."""
    packed = isinstance(getattr(stream, "raw", None), gzip.GzipFile)
    if not packed:
        return stream.read()
    data = bytearray()
    while part := stream.read(_CHUNK):
        data += part
        if len(data) > UNPACKED_LIMIT:
            raise _too_large(name)
    return data


def member(source: SourceFile, inside: Sequence[str]) -> SourceFile:
    """Return the wanted file of a folder or zip archive, or the source if it is neither."""
    if not isinstance(source, (str, Path)):
        return source
    path, wanted = Path(source), " or ".join(inside)
    if path.is_dir():
        found = next((path / name for name in inside if (path / name).is_file()), None)
        if found is None:
            raise _unreadable(str(path), f"a folder without {wanted}", "name the file itself")
        return found
    return _unzipped(path, inside) if _is_zip(path) else source


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the garbage collector while files become, or are written from, millions of objects.

    None of them is garbage, and looking for it again and again takes half of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Let the garbage collector look at new objects only, and at many of them at a time.

    For as long as a judge is asked: a run's objects stay to the end, what a request leaves
    behind does not.
    """
    before = gc.get_threshold()
    gc.set_threshold(*_RARELY)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class _Member(io.BytesIO):
    """A file out of a zip archive, with a name that messages can use."""

    name = ""


def _is_zip(path: Path) -> bool:
    try:
        if not path.is_file():
            return False  # what a pipe gives to a look is gone
        with path.open("rb") as file:
            if file.read(len(_ZIP)) != _ZIP:
                return False
    except (OSError, ValueError):
        return False  # whoever opens it next says what is wrong
    import zipfile  # takes longer to import than most files to read

    return zipfile.is_zipfile(path)


def _unzipped(path: Path, inside: Sequence[str]) -> BinaryIO:
    import zipfile

    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        ends = (n for name in inside for n in names if n == name or n.endswith(f"/{name}"))
        chosen = next(ends, None)
        if chosen is None:
            wanted = " or ".join(inside)
            raise _unreadable(str(path), f"a zip archive without {wanted}", "unpack it first")
        # The size that the archive states is also where reading it stops.
        if archive.getinfo(chosen).file_size > UNPACKED_LIMIT:
            raise _too_large(f"{path}: {chosen}")
        try:
            unpacked = _Member(archive.read(chosen))
        except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError) as error:
            raise _unreadable(str(path), f"cannot unpack {chosen}: {error}", "unpack it") from error
    unpacked.name = f"{path}: {chosen}"
    return unpacked


def _too_large(name: str) -> InputError:
    found = f"it unpacks to more than {UNPACKED_LIMIT / (1 << 30):.3g} GiB"
    return _unreadable(name, found, "if that is meant, unpack it and give the file as it is")


def _undressed(stream: BinaryIO) -> BinaryIO:
    """Return the stream with gzip and byte order mark taken off."""
    peekable = _peekable(stream)
    if peekable.peek(2).startswith(_GZIP):
        peekable = _peekable(inflated(peekable))
    if peekable.peek(3).startswith(_BOM):
        peekable.read(3)
    return peekable


def _peekable(stream: BinaryIO) -> io.BufferedReader:
    if isinstance(stream, io.BufferedReader):
        return stream
    return _Borrowed(cast(io.RawIOBase, stream))


class _Borrowed(io.BufferedReader):
    """A buffer over a stream that belongs to someone else: dropping it leaves that one open."""

    def close(self) -> None:
        """Do nothing: whoever opened the stream closes it."""


def _unreadable(where: str, found: str, fix: str) -> InputError:
    return InputError(Problem(where, found, fix))
