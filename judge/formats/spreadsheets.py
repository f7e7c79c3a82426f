"""Cells that a spreadsheet would run as a formula, written so that it shows them as text."""

from __future__ import annotations

_STARTS = frozenset("=+-@\t\r＝＋－＠")
"""What makes a formula of the text after it, behind blanks too."""


def defused(cell: str) -> str:
    """Return a cell as it may stand in a CSV file: a formula has one space more before it.

    >>> defused("=cmd|' /C calc'!A0"), restored(defused(" =1")), defused("a=1")
    (" =cmd|' /C calc'!A0", ' =1', 'a=1')
    """
    return f" {cell}" if _is_formula(cell) else cell


def restored(cell: str) -> str:
    """Return what was written as `defused(cell)`."""
    return cell[1:] if cell.startswith(" ") and _is_formula(cell) else cell


def _is_formula(cell: str) -> bool:
    return cell.lstrip(" ")[:1] in _STARTS
