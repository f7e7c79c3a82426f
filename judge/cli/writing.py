"""Where results go that are files: standard output, or a path that may not be writable."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from judge.errors import UsageError


def write_lines(lines: Iterable[str], out: str | Path) -> None:
    """Write lines to a file, or to standard output for "-"; UsageError where that fails."""
    ended = (f"{line}\n" for line in lines)
    if out == "-":
        sys.stdout.writelines(ended)
        return
    try:
        with Path(out).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(ended)
    except OSError as error:
        raise UsageError(f"{out}: cannot be written ({error.strerror})") from error
