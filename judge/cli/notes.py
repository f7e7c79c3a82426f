"""Notes on standard error: one line each, whatever the texts in them hold."""

from __future__ import annotations

import click

from judge.errors import printable


def note(text: str) -> None:
    """Print a note of one line on standard error."""
    click.echo(printable(f"judge: {text}"), err=True)
