"""Files that appear whole or not at all, and whether they can be written, asked beforehand."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from judge.errors import InputError, Problem

_BUFFER = 1 << 18


@contextmanager
def replacing(path: Path, *, lasting: bool = True) -> Iterator[TextIO]:
    """Open a neighbour of `path` that takes its place once all is written.

    lasting: wait until it is on the disk, so that it outlives a power cut. What can be made again
        for nothing need not: that takes seconds where there is much of it.

    Where writing ends early, by an error or by Ctrl-C, the neighbour goes and what was at
    `path` stays. A link keeps pointing where it did; a pipe or device is written as it is.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with target.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            yield stream
        return
    # A name of its own: two runs may write the same file at once, and the last one stands.
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        # A lone surrogate in a run's text has no UTF-8; its JSON escape means the same.
        with partial.open("x", _BUFFER, "utf-8", errors="backslashreplace", newline="\n") as stream:
            yield stream
            stream.flush()
            if lasting:
                os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, partial)
        partial.replace(target)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


def prepare_file(path: Path) -> None:
    """See that a file can be written there, before anything is paid for; nothing is changed.

    Raises InputError where it cannot.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(0, "it may not be written")
        if not target.exists() or target.is_file():
            with tempfile.TemporaryFile(dir=target.parent):
                pass
    except OSError as error:
        found = f"cannot be written ({error.strerror})"
        raise InputError(Problem(str(path), found, "name another file")) from error
