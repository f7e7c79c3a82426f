"""Ask a search API over HTTP.

HTTP goes through the standard library: one request a query at low concurrency needs no
client with a pool, and openai's own client has changed its package between releases.
"""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from urllib.parse import unquote, urlsplit, urlunsplit

from judge.errors import BackendUnavailable, UsageError
from judge.formats.findings import shown
from judge.masking import Mask, secrets_in_headers, secrets_in_url
from judge.running.deadlines import Exchange
from judge.running.live import Live
from judge.running.targets import REPLY_MAX_BYTES, AskFailed, too_long
from judge.running.template import check_placeholders, fill_json, fill_url

_CHUNK_BYTES = 2**16
_WORTH_A_RETRY = frozenset({408, 425, 429, 500, 502, 503, 504})
_REFUSED = frozenset({401, 403})


@dataclass(frozen=True, slots=True)
class UrlTarget:
    """A search API: GET, or POST where there is a body, a JSON template.

    headers: sent as they are, and never written anywhere; credentials in the URL become one
    secrets: what else must stand in no reply, the values of variables in headers
    proxies: scheme to proxy, as the environment names them; empty for none
    """

    url: str
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 30.0
    proxies: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    _live: Live = field(default_factory=Live)
    _mask: Mask = field(init=False)

    def __post_init__(self) -> None:
        found = [*self.secrets, *secrets_in_headers(self.headers), *secrets_in_url(self.url)]
        found += [secret for proxy in self.proxies.values() for secret in secrets_in_url(proxy)]
        # What stands for the query is no secret.
        object.__setattr__(self, "_mask", Mask.of(one for one in found if "{" not in one))
        self._check()
        url, headers = _without_credentials(self.url, self.headers)
        object.__setattr__(self, "url", url)
        object.__setattr__(self, "headers", headers)

    def _check(self) -> None:
        if not _is_address(self.url):
            raise UsageError(f"--url: {shown(self._mask(self.url))} is no http or https URL")
        check_placeholders("--url", self.url, needed=self.body is None)
        if self.body is not None:
            both = self.url + json.dumps(self.body)
            check_placeholders("--body", json.dumps(self.body), needed=False)
            check_placeholders("--body", both, needed=True)
        for name, value in self.headers.items():
            if not _is_header(name, value):
                raise UsageError(f"--header {shown(name)}: its name or value cannot be sent")

    def ask(self, values: Mapping[str, str]) -> str:
        """Return the body of the response to a query, without what we sent in secret."""
        try:
            return self._mask(self._asked(values))
        except AskFailed as failure:
            raise AskFailed(
                self._mask(str(failure)),
                worth_a_retry=failure.worth_a_retry,
                retry_after_s=failure.retry_after_s,
            ) from failure
        except BackendUnavailable as error:
            raise BackendUnavailable(self._mask(str(error))) from error

    def stop(self) -> None:
        """End every exchange that is going on."""
        self._live.stop()

    def _asked(self, values: Mapping[str, str]) -> str:
        exchange = Exchange(self.proxies)
        late = AskFailed(f"no whole answer in {self.timeout_s:g} s", worth_a_retry=True)
        try:
            request = self._request(values)
            with exchange.open(request, timeout_s=self.timeout_s, live=self._live) as response:
                if not 200 <= response.status < 300:
                    raise _refusal(response, self._mask)
                reply = _read(response)
        except UnicodeEncodeError as error:
            reason = "cannot be asked: the query holds half a character"
            raise AskFailed(reason, worth_a_retry=False) from error
        except TimeoutError as error:
            raise late from error
        except (urllib.error.URLError, HTTPException, OSError, ValueError) as error:
            cause = getattr(error, "reason", None) or error
            if exchange.is_late or isinstance(cause, TimeoutError):
                raise late from error
            raise AskFailed(f"cannot be reached: {cause}", worth_a_retry=True) from error
        # What was shut down, or lost, may look like an end.
        if exchange.is_late:
            raise late
        if response.length:
            raise AskFailed("an answer that was cut short", worth_a_retry=True)
        return reply

    def _request(self, values: Mapping[str, str]) -> urllib.request.Request:
        headers = {"Accept": "application/json", **self.headers}
        data = None
        if self.body is not None:
            data = json.dumps(fill_json(self.body, values)).encode()
            headers = {"Content-Type": "application/json", **headers}
        # The scheme was checked: http or https.
        return urllib.request.Request(fill_url(self.url, values), data, headers)  # noqa: S310


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and " " not in url
    return plain and parts.scheme in ("http", "https") and bool(parts.hostname) and has_port


def _is_header(name: str, value: str) -> bool:
    try:
        value.encode("latin-1")
    except UnicodeEncodeError:
        return False
    is_token = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return is_token and value.isprintable()


def _without_credentials(url: str, headers: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """Return a URL without `user:password@`, and the headers with them, unless they have some."""
    parts = urlsplit(url)
    credentials, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, headers
    user, _, password = credentials.partition(":")
    packed = base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode("ascii")
    basic = {"Authorization": f"Basic {packed}"}
    own = any(name.lower() == "authorization" for name in headers)
    return urlunsplit(parts._replace(netloc=host)), {**({} if own else basic), **headers}


def _read(response: HTTPResponse) -> str:
    data = bytearray()
    while chunk := response.read(_CHUNK_BYTES):
        data += chunk
        if len(data) > REPLY_MAX_BYTES:
            raise too_long()
    return data.decode("utf-8", "replace")


def _refusal(response: HTTPResponse, mask: Mask) -> AskFailed | BackendUnavailable:
    # Masked before it is cut: half a secret would no longer be known.
    said = mask(response.read(_CHUNK_BYTES).decode("utf-8", "replace")).strip()
    reason = f"HTTP {response.status} {response.reason}" + (f": {shown(said)}" if said else "")
    if response.status in _REFUSED:
        return BackendUnavailable(f"the search system refuses us: {reason}; check --header")
    if 300 <= response.status < 400:
        where = response.headers.get("Location", "elsewhere")
        return AskFailed(f"{reason}; give the URL it moved to: {where}", worth_a_retry=False)
    wait_s = response.headers.get("Retry-After", "")
    return AskFailed(
        reason,
        worth_a_retry=response.status in _WORTH_A_RETRY,
        retry_after_s=float(wait_s) if wait_s.isascii() and wait_s.isdigit() else 0.0,
    )
