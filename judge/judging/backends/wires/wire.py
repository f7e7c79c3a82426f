"""What a wire does: send one body once, return whatever answered, or say what was lost."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from judge.judging.exchange import Lost, Overlong, Transient, Unreachable, Unreadable

PATH = "/chat/completions"
MOST_BYTES = 16 * 2**20
"""How long a response may get; the longest reply with its logprobs takes a few MiB."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where requests go and who pays. The key is sent and kept nowhere."""

    base_url: str
    api_key: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole response: status, headers by lower-case name, and the body without encodings."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Wire(Protocol):
    """One connection pool to one server, opened and closed in the loop that uses it.

    It never retries, follows no redirect and sets no deadline: its callers do, or do not.
    """

    async def post(self, body: bytes) -> Answer:
        """Send one request; an answer may have any status. Raises a `CallFailure`."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...


OpenWire: TypeAlias = Callable[[Server], Wire]


async def read_bounded(pieces: AsyncIterator[bytes]) -> bytes:
    """Return the pieces of a body in one; Overlong where it does not end in good time."""
    content = []
    size = 0
    async for piece in pieces:
        size += len(piece)
        if size > MOST_BYTES:
            raise overlong()
        content.append(piece)
    return b"".join(content)


def overlong() -> Overlong:
    """Return the failure of an answer that passes the bound."""
    return Overlong(f"the response is longer than {MOST_BYTES >> 20} MiB")


def connection_failure(error: BaseException) -> Transient:
    """Return what a connection that failed stands for, from the innermost cause.

    A library may call a lost connection a timeout; the deadline of an attempt is not the
    wire's, so there are no timeouts here.
    """
    causes = [error]
    while (cause := causes[-1].__cause__) is not None:
        causes.append(cause)
    detail = str(causes[-1]) or type(causes[-1]).__name__
    if any(type(cause).__name__ in _NO_CONNECTION for cause in causes):
        return Unreachable(f"cannot connect ({detail})")
    if any(_is_unreadable(cause) for cause in causes):
        return Unreadable(f"no valid HTTP response ({detail})")
    return Lost(f"connection lost ({detail})")


def _is_unreadable(cause: BaseException) -> bool:
    """Tell whether something came that is no response, rather than the connection's end."""
    kind = type(cause)
    by_reader = kind.__name__ in _READING or kind.__module__ == "aiohttp.http_exceptions"
    return by_reader and kind.__name__ not in _CUT and _ENDED.search(str(cause)) is None


_READING = frozenset({"DecodingError", "RemoteProtocolError"})
_CUT = frozenset({"ContentLengthError", "TransferEncodingError"})
_ENDED = re.compile("closed connection|disconnected")
_NO_CONNECTION = frozenset(
    {
        "ClientConnectorDNSError",
        "ClientConnectorError",
        "ConnectError",
        "ConnectionRefusedError",
        "ProxyError",
    }
)
