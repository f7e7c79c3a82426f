"""Tables with a header: CSV with commas or semicolons, or tabs, as records of text fields."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from judge.errors import InputError, Problem
from judge.formats.findings import Findings, Place, shown
from judge.formats.textfile import TextFile

_DELIMITERS = "\t;,"


@dataclass(frozen=True, slots=True)
class Table:
    """A table's lines as records; every record has every column, a blank cell is None."""

    place: Place
    header: frozenset[str]
    records: list[tuple[Place, object]]


def table_delimiter(file: TextFile) -> str | None:
    """Return what separates the columns of a header line, or None where it has one column."""
    header = next(iter(file.first_lines()), "").lstrip()
    counts = {mark: header.count(mark) for mark in _DELIMITERS}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] else None


def table_header(file: TextFile) -> list[str]:
    """Return the cells of the first line, if it has several; the file may be no table at all."""
    delimiter = table_delimiter(file)
    if delimiter is None:
        return []
    try:
        return [
            cell.strip() for cell in next(csv.reader(file.first_lines()[:1], delimiter=delimiter))
        ]
    except csv.Error:
        return []


def table_records(
    file: TextFile, findings: Findings, *, ragged: bool = False
) -> list[tuple[Place, object]]:
    """Return the lines under the header as records; blank cells are None.

    ragged: lines may stop early, as those of tools that leave out trailing blanks do
    Raises InputError where the header repeats a name; a line of another length is recorded.
    """
    delimiter = table_delimiter(file) or ","
    reader = csv.reader(io.StringIO(file.text, newline=""), delimiter=delimiter, strict=True)
    records: list[tuple[Place, object]] = []
    header: list[str] = []
    try:
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            place = Place(file.name, reader.line_num)
            if not any(cells):
                continue
            if not header:
                header = _header(cells, place)
                continue
            if ragged:
                cells += [""] * (len(header) - len(cells))
            if len(cells) != len(header):
                found = f"{len(cells)} cells under a header of {len(header)}"
                findings.problem(place, found, "quote cells that hold the separator")
            else:
                records.append((place, {n: c or None for n, c in zip(header, cells, strict=True)}))
    except csv.Error as error:
        findings.problem(Place(file.name, reader.line_num), f"not CSV: {error}", "correct the line")
    return records


def _header(cells: list[str], place: Place) -> list[str]:
    repeated = next((cell for cell in cells if cells.count(cell) > 1), None)
    if repeated is not None:
        found = f"the header names {shown(repeated)} twice"
        raise InputError(Problem(str(place), found, "rename one of the columns"))
    return cells
