"""Labels on disk: one CSV that other tools read, complete after every single label.

A new label is one line appended in one write; any other change rewrites the file beside itself
and puts it in place in one step. Both reach the disk before they count as done, under a lock, so
a crash leaves the file as it was before or after, and two writers lose nothing of each other's.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import threading
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, TypeAlias

from judge.errors import InputError, Problem

try:
    import fcntl
except ImportError:  # Windows: one process at a time is safe there, several are not.
    fcntl = None  # type: ignore[assignment]

_State: TypeAlias = tuple[int, int, int]

COLUMNS = ("query_id", "chunk_id", "grade", "rater", "pi", "note")


@dataclass(frozen=True, slots=True)
class Entry:
    """What one rater said of one chunk; grade None: skipped.

    pi: the probability with which the chunk was drawn; None: it was chosen by looking
    """

    query_id: str
    id: str
    rater: str
    grade: int | None
    pi: float | None = None
    note: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what an entry is about: one rater's word on one chunk, said last counts."""
        return self.query_id, self.id, self.rater


class LabelStore:
    """The labels of one CSV file, in the order in which they were given."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._read: tuple[_State | None, tuple[Entry, ...]] = (None, ())

    @property
    def path(self) -> Path:
        """Return the file that holds the labels."""
        return self._path

    def entries(self) -> tuple[Entry, ...]:
        """Return what is on disk now; InputError where the file is not one of ours.

        A file that has not changed is not parsed again: a key press should not wait for that.
        """
        state, entries = self._read
        now = _state(self._path)
        if now is None:
            return ()
        if now != state:
            entries = self._parsed()
            self._read = now, entries
        return entries

    def add(self, entry: Entry) -> None:
        """Store an entry in place of one on the same key; it is on disk when this returns.

        Raises InputError where the file cannot be written: then nothing was stored.
        """
        with self._changing() as held:
            if held and all(other.key != entry.key for other in held):
                self._append(entry, held)
            else:
                self._write([*(other for other in held if other.key != entry.key), entry])

    def undo(self, rater: str, among: Container[tuple[str, str]]) -> Entry | None:
        """Take back the rater's last entry on a (query id, chunk id) among these; return it."""
        with self._changing() as held:
            for at in reversed(range(len(held))):
                entry = held[at]
                if entry.rater == rater and (entry.query_id, entry.id) in among:
                    self._write([*held[:at], *held[at + 1 :]])
                    return entry
        return None

    def _parsed(self) -> tuple[Entry, ...]:
        try:
            text = self._path.read_bytes().decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise self._problem(f"cannot be read ({error})") from error
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        try:
            if reader.fieldnames is not None and tuple(reader.fieldnames) != COLUMNS:
                raise self._problem(f"the columns are {', '.join(reader.fieldnames)}")
            return tuple(self._entry(line, reader.line_num) for line in reader)
        except csv.Error as error:
            raise self._problem(f"not CSV ({error})") from error

    def _problem(self, found: str) -> InputError:
        fix = f"name another file with --labels; this one is written as {', '.join(COLUMNS)}"
        return InputError(Problem(str(self._path), found, fix))

    def _entry(self, line: dict[str, str], number: int) -> Entry:
        try:
            _check_cells(line)
            grade = int(line["grade"]) if line["grade"] else None
            pi = float(line["pi"]) if line["pi"] else None
            if grade is not None and grade < 0:
                raise ValueError(f"grade {grade}")
            if pi is not None and not 0.0 < pi <= 1.0:
                raise ValueError(f"pi {pi}")
            return Entry(line["query_id"], line["chunk_id"], line["rater"], grade, pi, line["note"])
        except ValueError as error:
            fix = "correct the line, or delete it and label that chunk again"
            found = f"not a label ({error})"
            raise InputError(Problem(f"{self._path}:{number}", found, fix)) from error

    @contextlib.contextmanager
    def _changing(self) -> Iterator[tuple[Entry, ...]]:
        """Yield what is on disk, with nobody else changing it meanwhile."""
        try:
            with self._lock, _locked(self._path.with_name(f".{self._path.name}.lock")):
                yield self.entries()
        except (OSError, UnicodeEncodeError) as error:
            found = f"not saved: the file cannot be written ({error})"
            fix = "make room or name another file with --labels"
            raise InputError(Problem(str(self._path), found, fix)) from error

    def _append(self, entry: Entry, held: tuple[Entry, ...]) -> None:
        data = _line(_cells(entry)).encode()
        with self._path.open("rb+") as stream:
            if stream.seek(-1, os.SEEK_END) >= 0 and stream.read(1) != b"\n":
                data = b"\n" + data  # somebody's editor left out the end of the last line
            stream.write(data)
            _to_disk(stream)
        self._read = _state(self._path), (*held, entry)

    def _write(self, entries: Sequence[Entry]) -> None:
        partial = self._path.with_name(f".{self._path.name}.partial")
        with partial.open("wb") as stream:
            stream.write("".join([_line(COLUMNS), *(_line(_cells(e)) for e in entries)]).encode())
            _to_disk(stream)
        partial.replace(self._path)
        self._read = _state(self._path), tuple(entries)


def _check_cells(line: Mapping[str, str | None]) -> None:
    """Refuse a line with cells too few or too many: a write that a power cut tore, or an edit."""
    if len(line) > len(COLUMNS):
        raise ValueError(f"too many cells of {len(COLUMNS)}")
    cells = sum(cell is not None for cell in line.values())
    if cells < len(COLUMNS):
        raise ValueError(f"{cells} cells of {len(COLUMNS)}")


def _to_disk(stream: IO[bytes]) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def _line(cells: Sequence[object]) -> str:
    line = io.StringIO()
    # A lone carriage return would end a line for readers; csv quotes it only if told to.
    quoted = any("\r" in str(cell) for cell in cells)
    quoting: Literal[0, 1] = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    csv.writer(line, lineterminator="\n", quoting=quoting).writerow(cells)
    return line.getvalue()


def _state(path: Path) -> _State | None:
    """Return what changes whenever the file does, or None if there is none."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _cells(entry: Entry) -> tuple[object, ...]:
    grade = "" if entry.grade is None else entry.grade
    pi = "" if entry.pi is None else repr(entry.pi)
    return entry.query_id, entry.id, grade, entry.rater, pi, entry.note


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock between processes; the system lets go of it if we crash."""
    with path.open("w") as stream:
        if fcntl is not None:
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield
