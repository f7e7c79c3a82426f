"""What is asked: a command of the user's, or a search API over HTTP.

HTTP goes through the standard library: one request a query at low concurrency needs no
client with a pool, and openai's own client has changed its package between releases.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPMessage
from typing import IO, Protocol

from judge.errors import BackendUnavailable, UsageError
from judge.formats.findings import shown
from judge.running.template import check_placeholders, fill, fill_json, fill_url

_REPLY_MAX_BYTES = 64 * 2**20
_CHUNK_BYTES = 2**16
_SHOWN_STDERR = 300
_WORTH_A_RETRY = frozenset({408, 425, 429, 500, 502, 503, 504})
_REFUSED = frozenset({401, 403})


class AskFailed(Exception):
    """One query got no answer; `retry_after_s` is what the system asked us to wait."""

    def __init__(self, reason: str, *, worth_a_retry: bool, retry_after_s: float = 0.0) -> None:
        super().__init__(reason)
        self.worth_a_retry = worth_a_retry
        self.retry_after_s = retry_after_s


class Target(Protocol):
    """A search system that answers one query at a time; safe to call from several threads."""

    def ask(self, values: Mapping[str, str]) -> str:
        """Return the system's reply as text; AskFailed where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class CommandTarget:
    """A command that prints its results; it is split into arguments and sees no shell."""

    arguments: tuple[str, ...]
    timeout_s: float = 30.0

    @classmethod
    def parse(cls, command: str, *, timeout_s: float) -> CommandTarget:
        """Return the target of a command line; UsageError where it cannot be one."""
        check_placeholders("--command", command, needed=True)
        try:
            arguments = tuple(shlex.split(command))
        except ValueError as error:
            raise UsageError(f"--command: cannot be split into arguments ({error})") from error
        return cls(arguments, timeout_s)

    def ask(self, values: Mapping[str, str]) -> str:
        """Return what the command prints for a query."""
        arguments = [fill(part, values) for part in self.arguments]
        try:
            # The user's own command, as arguments and without a shell.
            done = subprocess.run(  # noqa: S603
                arguments, capture_output=True, timeout=self.timeout_s, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired as error:
            raise AskFailed(f"no answer in {self.timeout_s:g} s", worth_a_retry=True) from error
        except (OSError, ValueError) as error:
            raise UsageError(f"--command: {arguments[0]}: cannot be run ({error})") from error
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip()[-_SHOWN_STDERR:]
            reason = f"ended with {done.returncode}: {said or 'nothing on stderr'}"
            raise AskFailed(reason, worth_a_retry=True)
        return done.stdout.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class UrlTarget:
    """A search API: GET, or POST where there is a body, a JSON template.

    headers: sent as they are, and never written anywhere
    proxies: scheme to proxy, as the environment names them; empty for none
    """

    url: str
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 30.0
    proxies: Mapping[str, str] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise UsageError(f"--url: {self.url!r} is no http or https URL")
        check_placeholders("--url", self.url, needed=self.body is None)
        if self.body is not None:
            both = self.url + json.dumps(self.body)
            check_placeholders("--body", json.dumps(self.body), needed=False)
            check_placeholders("--body", both, needed=True)

    def ask(self, values: Mapping[str, str]) -> str:
        """Return the body of the response to a query."""
        try:
            opener = urllib.request.build_opener(
                urllib.request.ProxyHandler(dict(self.proxies)), _NoRedirect()
            )
            started_at = self.clock()
            with opener.open(self._request(values), timeout=self.timeout_s) as response:
                return self._read(response, started_at)
        except urllib.error.HTTPError as error:
            raise _refusal(error) from error
        except TimeoutError as error:
            raise AskFailed(f"no answer in {self.timeout_s:g} s", worth_a_retry=True) from error
        except (urllib.error.URLError, HTTPException, OSError) as error:
            reason = getattr(error, "reason", None) or error
            raise AskFailed(f"cannot be reached: {reason}", worth_a_retry=True) from error

    def _request(self, values: Mapping[str, str]) -> urllib.request.Request:
        headers = {"Accept": "application/json", **self.headers}
        data = None
        if self.body is not None:
            data = json.dumps(fill_json(self.body, values)).encode()
            headers = {"Content-Type": "application/json", **headers}
        # The scheme was checked: http or https.
        return urllib.request.Request(fill_url(self.url, values), data, headers)  # noqa: S310

    def _read(self, response: IO[bytes], started_at: float) -> str:
        """Return a response's text; a server that drips it out is given up in time too."""
        data = bytearray()
        while chunk := response.read(_CHUNK_BYTES):
            data += chunk
            if self.clock() - started_at > self.timeout_s:
                raise AskFailed(f"no whole answer in {self.timeout_s:g} s", worth_a_retry=True)
            if len(data) > _REPLY_MAX_BYTES:
                limit = f"more than {_REPLY_MAX_BYTES // 2**20} MB"
                raise AskFailed(f"an answer of {limit}", worth_a_retry=False)
        return data.decode("utf-8", "replace")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Leaves redirects alone: following one would hand our headers to another host."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        """Return nothing, so that the redirect comes back as an HTTPError."""


def _refusal(error: urllib.error.HTTPError) -> AskFailed | BackendUnavailable:
    with error:
        try:
            said = error.read(_SHOWN_STDERR).decode("utf-8", "replace").strip()
        except OSError:
            said = ""
    reason = f"HTTP {error.code} {error.reason}" + (f": {shown(said)}" if said else "")
    if error.code in _REFUSED:
        return BackendUnavailable(f"the search system refuses us: {reason}; check --header")
    if 300 <= error.code < 400:
        where = error.headers.get("Location", "elsewhere")
        return AskFailed(f"{reason}; give the URL it moved to: {where}", worth_a_retry=False)
    wait_s = error.headers.get("Retry-After", "")
    return AskFailed(
        reason,
        worth_a_retry=error.code in _WORTH_A_RETRY,
        retry_after_s=float(wait_s) if wait_s.isascii() and wait_s.isdigit() else 0.0,
    )
