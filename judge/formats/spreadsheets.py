"""Cells that a spreadsheet would run as a formula, written so that it shows them as text."""

from __future__ import annotations

import re

_FORMULA = re.compile(r" *[=+\-@\t\r＝＋－＠]")


def defused(cell: str) -> str:
    """Return a cell as it may stand in a CSV file: a formula has one space more before it.

    >>> defused("=cmd|' /C calc'!A0"), restored(defused(" =1")), defused("a=1")
    (" =cmd|' /C calc'!A0", ' =1', 'a=1')
    """
    return f" {cell}" if _FORMULA.match(cell) else cell


def restored(cell: str) -> str:
    """Return what was written as `defused(cell)`."""
    return cell[1:] if cell.startswith(" ") and _FORMULA.match(cell) else cell
