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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Literal, TypeAlias

from judge.errors import InputError, Problem
from judge.formats.spreadsheets import defused, restored

try:
    import fcntl
except ImportError:  # Windows: one process at a time is safe there, several are not.
    fcntl = None  # type: ignore[assignment]

_State: TypeAlias = tuple[int, int, int]

COLUMNS = ("query_id", "chunk_id", "grade", "rater", "pi", "note", "revised")
_TAKEN_BACK = "?"  # in `revised`: the rater wants to grade it again


@dataclass(frozen=True, slots=True)
class Entry:
    """What one rater said of one chunk; grade None: skipped.

    grade: the first, given before the judge's was shown: it alone tells how far the two agree
    pi: the probability with which the chunk was drawn; None: it was chosen by looking
    revised: what the rater made of it afterwards, where they changed their mind
    taken_back: the rater took their word back and has not given another yet
    """

    query_id: str
    id: str
    rater: str
    grade: int | None
    pi: float | None = None
    note: str = ""
    revised: int | None = None
    taken_back: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what an entry is about: one rater's word on one chunk."""
        return self.query_id, self.id, self.rater

    @property
    def pair(self) -> tuple[str, str]:
        """Return the (query id, chunk id) it is about."""
        return self.query_id, self.id

    @property
    def latest(self) -> int | None:
        """Return the rater's last word."""
        return self.grade if self.revised is None else self.revised

    def followed_by(self, later: Entry) -> Entry:
        """Return the entry once the rater has spoken of the chunk again.

        A skip is replaced; a grade stays, for the judge's has been shown since.
        """
        if self.grade is None:
            return later
        revised = None if later.grade in (None, self.grade) else later.grade
        return replace(self, note=later.note or self.note, revised=revised, taken_back=False)


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
        """Store an entry, with what was said on the same key before; on disk when this returns.

        Raises InputError where the file cannot be written: then nothing was stored.
        """
        with self._changing() as held:
            before = next((other for other in held if other.key == entry.key), None)
            if before is not None:
                kept = (other for other in held if other.key != entry.key)
                self._write([*kept, before.followed_by(entry)])
            elif held and self._has_our_columns():
                self._append(entry, held)
            else:
                self._write([*held, entry])

    def undo(self, rater: str, among: Container[tuple[str, str]]) -> Entry | None:
        """Take back the rater's last entry on a (query id, chunk id) among these; return it.

        A skip is forgotten. A grade stays and is marked: the judge's was shown after it, so what
        the rater gives next is no longer their own word alone.
        """
        with self._changing() as held:
            for at in reversed(range(len(held))):
                entry = held[at]
                mine = entry.rater == rater and entry.pair in among
                if mine and not entry.taken_back:
                    marked = [] if entry.grade is None else [replace(entry, taken_back=True)]
                    self._write([*held[:at], *marked, *held[at + 1 :]])
                    return entry
        return None

    def stamp(self, chances: Mapping[tuple[str, str], float]) -> None:
        """Give labels without a chance the one with which their chunk has been drawn since.

        A draw does not look at who labelled what. Left out of it, chunks that somebody chose
        earlier, for looking wrong, would be missing from the sample.
        """
        if not any(entry.pi is None and entry.pair in chances for entry in self.entries()):
            return
        with self._changing() as held:
            self._write(
                [
                    replace(entry, pi=chances.get(entry.pair)) if entry.pi is None else entry
                    for entry in held
                ]
            )

    def _has_our_columns(self) -> bool:
        """Tell whether the file has a column for revised grades, as older ones have not."""
        with self._path.open(encoding="utf-8-sig", newline="") as stream:
            return stream.readline().strip() == ",".join(COLUMNS)

    def _parsed(self) -> tuple[Entry, ...]:
        try:
            text = self._path.read_bytes().decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise self._problem(f"cannot be read ({error})") from error
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        try:
            if reader.fieldnames and tuple(reader.fieldnames) not in (COLUMNS, COLUMNS[:-1]):
                raise self._problem(f"the columns are {', '.join(reader.fieldnames)}")
            width = len(reader.fieldnames or ())
            return tuple(self._entry(line, reader.line_num, width) for line in reader)
        except csv.Error as error:
            raise self._problem(f"not CSV ({error})") from error

    def _problem(self, found: str) -> InputError:
        fix = f"name another file with --labels; this one is written as {', '.join(COLUMNS)}"
        return InputError(Problem(str(self._path), found, fix))

    def _entry(self, line: dict[str, str], number: int, width: int) -> Entry:
        try:
            _check_cells(line, width)
            grade = int(line["grade"]) if line["grade"] else None
            revised = line.get("revised", "")
            pi = float(line["pi"]) if line["pi"] else None
            if grade is not None and grade < 0:
                raise ValueError(f"grade {grade}")
            if pi is not None and not 0.0 < pi <= 1.0:
                raise ValueError(f"pi {pi}")
            return Entry(
                query_id=restored(line["query_id"]),
                id=restored(line["chunk_id"]),
                rater=restored(line["rater"]),
                grade=grade,
                pi=pi,
                note=restored(line["note"]),
                revised=None if revised in ("", _TAKEN_BACK) else int(revised),
                taken_back=revised == _TAKEN_BACK,
            )
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


def _check_cells(line: Mapping[str, str | None], width: int) -> None:
    """Refuse a line with cells too few or too many: a write that a power cut tore, or an edit."""
    if len(line) > width:
        raise ValueError(f"too many cells of {width}")
    cells = sum(cell is not None for cell in line.values())
    if cells < width:
        raise ValueError(f"{cells} cells of {width}")


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
    revised = "" if entry.revised is None else entry.revised
    if entry.taken_back:
        revised = _TAKEN_BACK
    # Names and notes are anybody's words, and the file is opened in spreadsheets.
    query_id, id, rater, note = map(defused, (entry.query_id, entry.id, entry.rater, entry.note))
    return query_id, id, grade, rater, pi, note, revised


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock between processes; the system lets go of it if we crash."""
    with path.open("w") as stream:
        if fcntl is not None:
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield
