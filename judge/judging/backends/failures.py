"""Read a server's error: what may pass, what will not, and what ends the run."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import MappingProxyType

from judge.errors import BackendUnavailable
from judge.judging.exchange import Lost, RateLimited, Refused, Rejected, TooLong, Transient

_KEY_OR_MODEL = {
    401: "the key was refused",
    402: "the account is out of credit",
    403: "access was denied",
    404: "there is no such model or address",
}
_PASSING = frozenset({408, 409, 425, 500, 502, 503, 504, 520, 522, 524, 529})
_GATEWAY_GAVE_UP = frozenset({504, 524})
_TOO_LONG = re.compile(
    r"context[_ ](?:length|size|window)|maximum context|too many tokens|prompt is too long"
    r"|exceeds? the (?:available|maximum|model)",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content[_ ](?:filter|policy|management)|responsibleai", re.IGNORECASE)
_QUOTA = re.compile(r"insufficient_quota|billing_hard_limit|billing_not_active", re.IGNORECASE)
_TRY_AGAIN_IN = re.compile(
    r"(?:try again|retry) (?:in|after) (?:(?P<m>\d+)m(?!s) ?)?"
    r"(?:(?P<n>\d+(?:\.\d+)?) ?(?P<unit>ms|s))?",
    re.IGNORECASE,
)
_SHOWN = 200
_STATUS = re.compile(r"[45][0-9][0-9]", re.ASCII)
_STATUS_OF: Mapping[str, int] = MappingProxyType(
    {
        "invalid_request_error": 400,
        "context_length_exceeded": 400,
        "content_filter": 400,
        "invalid_api_key": 401,
        "authentication_error": 401,
        "permission_error": 403,
        "model_not_found": 404,
        "not_found_error": 404,
        "insufficient_quota": 429,
        "rate_limit_exceeded": 429,
        "rate_limit_error": 429,
        "server_error": 500,
        "api_error": 500,
        "overloaded_error": 529,
    }
)


@dataclass(frozen=True, slots=True)
class ServerError:
    """An error response, reduced to what decisions need."""

    status: int
    message: str
    code: str = ""
    parameter: str = ""
    retry_after_s: float | None = None


def read_error(status: int, headers: Mapping[str, str], body: object, *, now: float) -> ServerError:
    """Return the error in a response; `body` is whatever it held, `now` in epoch seconds."""
    error = body.get("error", body) if isinstance(body, dict) else body
    fields = error if isinstance(error, dict) else {"message": error}
    message = str(fields.get("message") or fields.get("detail") or "")
    code = " ".join(
        str(fields[name]) for name in ("code", "type", "innererror") if fields.get(name)
    )
    return ServerError(
        status,
        " ".join(message.split()),
        code,
        str(fields.get("param") or ""),
        retry_after_s(headers, message, now=now),
    )


def status_within(content: bytes) -> int | None:
    """Return the status that an error within a successful response would have had.

    Gateways put their model's error there, with its code. None where there is no error, where
    there is a reply beside it, or where its code says nothing.

    >>> status_within(b'{"error": {"code": 429, "message": "slow down"}}')
    429
    >>> status_within(b'{"error": {"code": "invalid_api_key"}}')
    401
    >>> status_within(b'{"error": null, "choices": []}') is None
    True
    """
    if b'"error"' not in content:  # nearly always, and reading it all again takes time
        return None
    body = json_or_text(content)
    error = body.get("error") if isinstance(body, dict) and not body.get("choices") else None
    if not isinstance(error, dict):
        return None
    codes = [str(error.get(name)) for name in ("code", "status", "type")]
    numbers = [int(code) for code in codes if _STATUS.fullmatch(code)]
    named = [_STATUS_OF[code.lower()] for code in codes if code.lower() in _STATUS_OF]
    return next(iter(numbers + named), None)


def json_or_text(content: bytes) -> object:
    """Return the JSON value in a body, or else the text that it is."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace")


def failure(error: ServerError, *, name: str) -> Exception:
    """Return the exception that an error response of backend `name` stands for."""
    about = f"{error.status} {error.message[:_SHOWN]}".strip()
    everything = f"{error.code} {error.message}"
    if error.status == 429 and _QUOTA.search(everything):
        return BackendUnavailable(f"{name}: the quota is used up ({about})")
    if error.status == 429:
        return RateLimited(f"rate limited ({about})", retry_after_s=error.retry_after_s)
    if error.status in (400, 403, 422) and _FILTERED.search(everything):
        return Refused(f"the server's content filter refused ({about})")
    if error.status in _KEY_OR_MODEL:
        return BackendUnavailable(f"{name}: {_KEY_OR_MODEL[error.status]} ({about})")
    if error.status == 413 or (error.status in (400, 422) and _TOO_LONG.search(everything)):
        return TooLong(f"the chunk does not fit the model's context ({about})")
    if error.status in _PASSING or error.status >= 500:
        # A gateway that gave up waiting does not stop the server behind it.
        kind = Lost if error.status in _GATEWAY_GAVE_UP else Transient
        return kind(f"server error ({about})", retry_after_s=error.retry_after_s)
    if 300 <= error.status < 400:
        return Rejected(f"the address redirects elsewhere; name the one it leads to ({about})")
    return Rejected(f"the server rejected the request ({about})")


def retry_after_s(headers: Mapping[str, str], message: str, *, now: float) -> float | None:
    """Return the seconds a server asks to wait, None if it asks for nothing sensible.

    `retry-after-ms`, else `Retry-After` as seconds or as a date, else the error's own words.

    >>> retry_after_s({"retry-after": "3"}, "", now=0)
    3.0
    >>> retry_after_s({}, "Please try again in 5.289s.", now=0)
    5.289
    >>> retry_after_s({"retry-after": "-1"}, "", now=0) is None
    True
    """
    if (ms := _number(headers.get("retry-after-ms"))) is not None:
        return ms / 1000
    after = headers.get("retry-after")
    if (seconds := _number(after)) is not None:
        return seconds
    if after is not None and (date := _date(after)) is not None:
        return max(0.0, date - now)
    return _in_words(message)


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _in_words(message: str) -> float | None:
    found = _TRY_AGAIN_IN.search(message)
    if found is None or not (found["m"] or found["n"]):
        return None
    scale = 0.001 if found["unit"] == "ms" else 1.0
    return _number(str(float(found["m"] or 0) * 60 + float(found["n"] or 0) * scale))
