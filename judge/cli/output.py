"""How reports reach standard output: width and colour of the terminal at hand."""

from __future__ import annotations

import os
import shutil
import sys

from judge.report.model import Report
from judge.report.terminal import WIDTH, print_report

_NARROW, _WIDE = 60, 120


def print_terminal(report: Report) -> None:
    """Print a report for the terminal on stdout; 80 columns, no colour, where it is none."""
    width, color = terminal()
    print_report(report, sys.stdout, width=width, color=color)


def terminal() -> tuple[int, bool]:
    """Return the width to print at on stdout, and whether in colour."""
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size((WIDTH, 24)).columns if is_terminal else WIDTH
    color = is_terminal and "NO_COLOR" not in os.environ
    return min(max(width, _NARROW), _WIDE), color
