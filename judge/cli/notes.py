"""Notes and errors on standard error: one line each, whatever the texts in them hold."""

from __future__ import annotations

import click

from judge.errors import printable


def note(text: str) -> None:
    """Print a note of one line: what the results alone would hide."""
    click.echo(printable(f"note: {text}"), err=True)


def error_line(text: str) -> None:
    """Print the error that ends a command, on one line; `judge:` tells it from a note."""
    click.echo(printable(f"judge: {text}"), err=True)
