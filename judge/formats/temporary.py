"""Temporary files, and one message where a machine has no place for them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from judge.errors import UsageError


def temporary_root() -> Path:
    """Return the folder that temporary files go to; UsageError where none can be written."""
    try:
        return Path(tempfile.gettempdir())
    except OSError as error:
        found = "no folder for temporary files can be written"
        raise UsageError(f"{found}; name one in the variable TMPDIR") from error
