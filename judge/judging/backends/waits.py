"""How long a server asks to wait: in headers, in fields of its error, or in words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from types import MappingProxyType

_UNIT = r"(?:days?|d|hours?|hrs?|h|minutes?|mins?|milliseconds?|ms|m|seconds?|secs?|s)"
_PART = rf"[0-9]{{1,9}}(?:\.[0-9]{{1,9}})? ?{_UNIT}"
_DURATION = re.compile(rf"{_PART}(?:[ ,]{{0,2}}(?:and )?{_PART}){{0,4}}\b", re.IGNORECASE)
_PART_OF_IT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?([a-z]{1,12})", re.IGNORECASE)
_ASKING = re.compile(
    r"\b(?:again|retry|retrying|wait|back|available|allowed|resets?)"
    r" (?:(?:in|after|for|at least|another|about|approximately) ){0,3}(?=[0-9])",
    re.IGNORECASE,
)
_FIELDS = re.compile(r"retry_?(?:after|delay|in)(?:_?(?P<unit>ms|s|sec|seconds))?", re.IGNORECASE)
_SECONDS: Mapping[str, float] = MappingProxyType(
    {"ms": 0.001, "mi": 60.0, "m": 60.0, "s": 1.0, "h": 3600.0, "d": 86400.0}
)
_DEEPEST = 6


def retry_after_s(
    headers: Mapping[str, str], message: str, *, now: float, body: object = None
) -> float | None:
    """Return the seconds a server asks to wait, None if it asks for nothing sensible.

    `retry-after-ms`, else `Retry-After` as seconds, as a span or as a date, else a field of the
    error's body, else the error's own words. A date is read by the server's own clock where its
    response says what time that shows.

    >>> retry_after_s({"retry-after": "3"}, "", now=0)
    3.0
    >>> retry_after_s({}, "Please try again in 1h2m3.5s.", now=0)
    3723.5
    >>> retry_after_s({"retry-after": "-1"}, "", now=0) is None
    True
    """
    if (ms := _number(headers.get("retry-after-ms"))) is not None:
        return ms / 1000
    after = headers.get("retry-after")
    if (seconds := _seconds(after)) is not None:
        return seconds
    if after is not None and (date := _date(after)) is not None:
        server_now = _date(headers.get("date") or "")
        return max(0.0, date - (now if server_now is None else server_now))
    field = _in_fields(body)
    return _in_words(message) if field is None else field


def _seconds(value: object) -> float | None:
    """Return a number of seconds, or a span such as `5s`, in seconds."""
    if isinstance(value, str) and _DURATION.fullmatch(value.strip()):
        return duration_s(value)
    return _number(value)


def duration_s(text: str) -> float:
    """Return the seconds in a span of time.

    >>> duration_s("1h2m3.5s"), duration_s("3 minutes"), duration_s("450ms")
    (3723.5, 180.0, 0.45)
    """
    total = 0.0
    for number, unit in _PART_OF_IT.findall(text):
        name = unit.lower()
        is_ms = name == "ms" or name.startswith("milli")
        total += float(number) * (_SECONDS["ms"] if is_ms else _SECONDS[name[0]])
    return total


def _number(value: object) -> float | None:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _in_fields(value: object, depth: int = 0) -> float | None:
    """Return what a field such as `retryDelay` or `retry_after` says, wherever it stands."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, list):
        found = (_in_fields(item, depth + 1) for item in value[:20])
        return next((seconds for seconds in found if seconds is not None), None)
    if not isinstance(value, dict):
        return None
    for name, inner in value.items():
        field = _FIELDS.fullmatch(str(name))
        seconds = _seconds(inner) if field else _in_fields(inner, depth + 1)
        if seconds is not None:
            in_ms = field is not None and (field["unit"] or "").lower() == "ms"
            return seconds / 1000 if in_ms else seconds
    return None


def _in_words(message: str) -> float | None:
    asked = _ASKING.search(message)
    found = _DURATION.match(message, asked.end()) if asked else None
    return None if found is None else duration_s(found[0])
