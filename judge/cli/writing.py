"""Where results go that are files: standard output, or a path that may not be writable."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from judge.cli.notes import note
from judge.cli.printing import data_stream
from judge.errors import InputError, JudgeError, UsageError
from judge.report.replacing import prepare_file, replacing

INCOMPLETE = 3
"""The exit code of what is not whole though it was paid for."""


def write_lines(lines: Iterable[str], out: str | Path) -> None:
    """Write lines to a file, whole or not at all, or to standard output for "-".

    UsageError where that fails.
    """
    ended = (f"{line}\n" for line in lines)
    if out == "-":
        data_stream().writelines(ended)
        return
    try:
        with replacing(Path(out)) as file:
            file.writelines(ended)
    except OSError as error:
        raise UsageError(f"{out}: cannot be written ({error.strerror})") from error


def tried(write: Callable[[], object]) -> JudgeError | None:
    """Write before anything is printed: a closed pipe must not cost a file.

    Returns the error where that fails, for `code_with` after the printing.
    """
    try:
        write()
    except (InputError, UsageError) as error:
        return error
    return None


def code_with(unwritten: JudgeError | None, code: int, *, paid: bool) -> int:
    """Return a verdict's exit code, 3 in place of 0 where a file could not be written.

    Raises the error, whose code says that nothing was paid for, where nothing was.
    """
    if unwritten is None:
        return code
    if not paid:
        raise unwritten
    note(f"{unwritten}; what was paid for is in the cache: the same run writes it from there")
    return code or INCOMPLETE


def prepare_outputs(outputs: Mapping[str, str | None], *, inputs: Iterable[object]) -> None:
    """See that all files can be written, before anything is paid for.

    outputs: option and path; "-" is standard output, which takes one of them; inputs: what
    is read, of which paths must not be written over
    Raises UsageError where outputs get in each other's way or over an input, InputError
    where one cannot be written.
    """
    named = {flag: path for flag, path in outputs.items() if path is not None}
    taken = {_place(path): str(path) for path in inputs if isinstance(path, str | Path)}
    for flag, path in named.items():
        place = _place(path)
        if place in taken:
            what = "standard output" if path == "-" else path
            raise UsageError(f"{flag} would overwrite {what} ({taken[place]}); name another file")
        if path == "-" or not _is_device(Path(path)):
            taken[place] = flag
    for path in named.values():
        if path != "-":
            prepare_file(Path(path))


def _place(path: str | Path) -> str:
    return "-" if path == "-" else os.path.realpath(path)


def _is_device(path: Path) -> bool:
    """Tell whether a path is a pipe or a device, which several may write to."""
    return path.exists() and not (path.is_file() or path.is_dir())
