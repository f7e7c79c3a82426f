"""The standard streams as a command may rely on them: open, never fatal, safe for a terminal.

A command computes a verdict and then prints it. Who reads may have gone (`judge … | head`),
the disk behind `> file` may be full, a descriptor may be closed: none of that may change the
verdict, so what cannot be written is dropped, and `Streams.failure` tells why.
"""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TextIO

from judge.visible import shown_controls


@dataclass(frozen=True, slots=True)
class Streams:
    """What stands between a command and its standard output."""

    output: _Descriptor | None

    def failure(self) -> OSError | None:
        """Return why standard output could not be written; None where its reader left."""
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        error = None if self.output is None else self.output.error
        return None if isinstance(error, BrokenPipeError) else error


@contextmanager
def guarded_streams() -> Iterator[Streams]:
    """Put guarded streams in place of Python's own; those of a test or a host stay."""
    _open_closed()
    before = sys.stdin, sys.stdout, sys.stderr
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    output = errors = None
    if sys.stdout is sys.__stdout__:
        sys.stdout, output = _guarded(sys.stdout, 1, always_shown=False)
    if sys.stderr is sys.__stderr__:
        sys.stderr, errors = _guarded(sys.stderr, 2, always_shown=True)
    try:
        yield Streams(output)
    finally:
        for stream, guard in ((sys.stdout, output), (sys.stderr, errors)):
            if guard is not None:
                with suppress(OSError, ValueError):
                    stream.flush()
        sys.stdin, sys.stdout, sys.stderr = before


class _Descriptor(io.FileIO):
    """A descriptor that takes everything: after the first error the rest is dropped."""

    error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write what can be written; the count is of what was given, once something failed."""
        view = memoryview(data)
        while self.error is None:
            try:
                written = super().write(view)
            except OSError as error:
                self.error = error
                break
            if written is not None:
                return written
            # Another program has made the pipe non-blocking, and it is full.
            select.select([], [self], [])
        return view.nbytes


class _Shown(io.TextIOWrapper):
    """Text for a person's eyes: control characters are shown, not obeyed."""

    def write(self, text: str) -> int:
        """Write a text without what could steer a terminal."""
        super().write(shown_controls(text))
        return len(text)


def _guarded(
    stream: TextIO | None, descriptor: int, *, always_shown: bool
) -> tuple[TextIO, _Descriptor | None]:
    """Return a stream's stand-in, in the same encoding, and its descriptor where it has one.

    always_shown: else only where it is a terminal; a file gets its data as they are
    """
    if stream is not None:
        stream.flush()
    guard: _Descriptor | None = None
    buffer = getattr(stream, "buffer", None)
    # A console of Windows is no file, and stays below.
    if buffer is None or isinstance(getattr(buffer, "raw", buffer), io.FileIO):
        guard = _Descriptor(descriptor, "wb", closefd=False)
        buffer = io.BufferedWriter(guard)
    is_terminal = stream is not None and stream.isatty()
    kind = _Shown if always_shown or is_terminal else io.TextIOWrapper
    wrapped = kind(
        buffer,
        encoding=getattr(stream, "encoding", "utf-8"),
        errors=getattr(stream, "errors", "backslashreplace"),
        line_buffering=always_shown or is_terminal,
        write_through=getattr(stream, "write_through", False),
    )
    return wrapped, guard


def _open_closed() -> None:
    """Open nothing in the place of a closed descriptor.

    Else the first file that is opened, the cache's database say, becomes standard output.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is given, and those below are open by now.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
