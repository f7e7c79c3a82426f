"""A share on the command line: `5%` or `0.05`."""

from __future__ import annotations

import click


def share(text: str) -> float:
    """Return a part of a whole, written either way, as a number from 0 to 1.

    >>> share("5%"), share("0.05")
    (0.05, 0.05)
    """
    try:
        number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise click.BadParameter(f"{text!r} is no share; write 5% or 0.05") from None
    if not 0 <= number <= 1:
        raise click.BadParameter(f"{text} is not between 0% and 100%")
    return number
