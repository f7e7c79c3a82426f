"""Read what a server's error holds, in any of the shapes that servers give it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from judge.judging.backends.waits import retry_after_s

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
_WORDS = ("message", "msg", "detail", "error_description", "status_msg", "title", "error")
_CODES = ("code", "type", "error_type", "status", "innererror", "reason", "reasons")
_PLACES = ("param", "parameter", "loc", "field")
_ECHOES = ("input", "flagged_input", "failed_generation", "body", "messages", "prompt", "ctx")
"""What we sent, or what the model wrote: no word of the server's own."""
_DEEPEST = 6
_MOST_SAID = 4000


@dataclass(frozen=True, slots=True)
class ServerError:
    """An error response, reduced to what decisions need.

    message: the server's own sentence; code: its codes and types; parameter: the field of the
        request that it names; said: every word of it, without what it quotes of the request
    """

    status: int
    message: str
    code: str = ""
    parameter: str = ""
    retry_after_s: float | None = None
    said: str = ""


def read_error(status: int, headers: Mapping[str, str], body: object, *, now: float) -> ServerError:
    """Return the error in a response; `body` is whatever it held, `now` in epoch seconds."""
    pieces = list(_pieces(body))
    words = [text for name, text in pieces if name in _WORDS]
    codes = [text for name, text in pieces if name in _CODES]
    places = [text for name, text in pieces if name in _PLACES]
    message = " ".join(words[0].split()) if words else ""
    # Gateways put what the model's server said beside a sentence of their own.
    said = " ".join(" ".join(text for _, text in pieces)[:_MOST_SAID].split())
    return ServerError(
        status,
        message,
        " ".join(codes),
        places[0] if places else "",
        retry_after_s(headers, said, now=now, body=body),
        said,
    )


def _pieces(value: object, name: str = "message", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield each text of an error with the name it stands under, sentences before the rest.

    A text that is itself JSON is what another server said.
    """
    if name == "flagged_input":
        yield name, name  # that it was flagged is said, what it was is not
    if depth > _DEEPEST or name in _ECHOES:
        return
    if isinstance(value, dict):
        named = [(str(key), inner) for key, inner in value.items()]
        rank = {word: at for at, word in enumerate(_WORDS)}
        for key, inner in sorted(named, key=lambda item: rank.get(item[0].lower(), len(rank))):
            yield from _pieces(inner, key.lower(), depth + 1)
    elif isinstance(value, list):
        if name == "loc":  # the way to a field, from the outermost: body, response_format, type
            yield name, ".".join(str(step) for step in value if step != "body")
            return
        for item in value[:20]:
            yield from _pieces(item, name, depth + 1)
    elif isinstance(value, str) and value.strip():
        inner = json_or_text(value.encode("utf-8", "replace")) if value[:1] in "{[" else None
        if isinstance(inner, dict | list):
            yield from _pieces(inner, name, depth + 1)
        else:
            yield name, value
    elif type(value) is int:
        yield name, str(value)


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
