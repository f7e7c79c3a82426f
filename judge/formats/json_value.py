"""JSON of a foreign file as one value, with one way to fail."""

from __future__ import annotations

import json
from typing import Any


def json_value(text: str | bytes) -> Any:
    """Return the value that a JSON text stands for.

    ValueError for whatever is none that can be read: also for one nested too deep, which
    Python calls a RecursionError.

    >>> json_value("[" * 100_000)
    Traceback (most recent call last):
    ValueError: nested too deep to read
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deep to read") from error
