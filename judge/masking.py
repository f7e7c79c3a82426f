"""Keep secrets out of what others say: some servers quote the key or the header they refuse.

What is sent must stand in no file, cache or stream. Every text that a server sends back passes
a `Mask` where it comes in, so that nothing behind it has to think of secrets.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from urllib.parse import SplitResult, parse_qsl, quote, quote_plus, unquote, urlsplit

MASK = "***"

_SHORTEST = 6
"""Less than that is no secret, and masking it would cut words and numbers out of texts."""
_NO_SECRETS = frozenset(
    {
        *("dummy-key", "lm-studio", "no-key", "no-key-required", "not-needed", "ollama"),
        *("placeholder", "sk-no-key-required", "unused"),
        # Without these a reply could not be read any more.
        *("answer", "passage", "rating", "reason", "reasoning", "relevance", "relevant", "verdict"),
    }
)
"""What is sent where a key is asked for and none is needed, and the words of replies."""

_SECRET_NAME = re.compile(
    r"(?:KEY|KEY_ID|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?|COOKIE|AUTH|AUTHORIZATION)\Z",
    re.IGNORECASE,
)
_PROXY = re.compile(r"(?:https?|all)_proxy\Z", re.IGNORECASE)
_SECRET_PARAMETER = re.compile(
    r"(?:key|token|secret|password|passwd|pass|pwd|auth|code|sig|signature)\Z", re.IGNORECASE
)
_ESCAPES = re.compile(r"\\[ux]|%[0-9A-Fa-f]{2}|&#")
_ESCAPES_AND_SLASHES = re.compile(rf"{_ESCAPES.pattern}|\\[^\w\s]")
_BACKSLASHED = re.compile(r"\\{1,8}(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|([^\s\w]))")


@dataclass(frozen=True, slots=True)
class Mask:
    """Replaces secrets, in each form that they may come back in.

    The forms: as they are; as a part of longer base64 or hexadecimal text; quoted for URLs,
    JSON, HTML or Python, sign by sign or only where needed.
    """

    _secrets: tuple[str, ...]
    _forms: tuple[str, ...]
    _escapes: re.Pattern[str]

    @classmethod
    def of(cls, secrets: Iterable[str | None]) -> Mask:
        """Return the mask of secrets; those that are too short to tell from words are left out."""
        kept = _longest_first(s for s in secrets if s and _is_secret(s))
        has_quotable = any(sign in secret for secret in kept for sign in "\"'\\/")
        return cls(
            kept,
            _longest_first(chain.from_iterable(map(_forms, kept))),
            _ESCAPES_AND_SLASHES if has_quotable else _ESCAPES,
        )

    def __call__(self, text: str) -> str:
        """Return a text without the secrets in it.

        >>> Mask.of(["sk-12345678"])("Incorrect API key provided: sk-12345678.")
        'Incorrect API key provided: ***.'
        """
        if self._secrets and self._escapes.search(text):
            plain = _unescaped(text)
            for secret in self._secrets:
                if secret in plain:
                    text = _by_sign(secret).sub(MASK, text)
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        return text


def secrets_in_environment(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield what a client may take from the environment and send."""
    for name, value in environ.items():
        if _SECRET_NAME.search(name):
            yield value
        elif _PROXY.match(name):
            yield from secrets_in_url(value)
    for line in environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n"):
        yield from _header_value(line.partition(":")[2])


def secrets_in_url(url: str) -> Iterator[str]:
    """Yield what a URL says to nobody but its server: credentials, and keys in its query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = SplitResult("", "", "", "", "")
    # What is no URL is shown to who wrote it, as it was meant.
    authority = parts.netloc or re.sub(r"\A[a-z]+:/+", "", url)
    user, colon, password = authority.rpartition("@")[0].partition(":")
    if colon:
        yield unquote(password)
        yield password
    if user:
        yield f"{unquote(user)}:{unquote(password)}"  # what is sent, in base64
        yield from () if colon else (unquote(user), user)
    for name, value in parse_qsl(parts.query):
        if _SECRET_PARAMETER.search(name):
            yield value


def secrets_in_headers(headers: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of headers whose names say that they are secret."""
    for name, value in headers.items():
        if _SECRET_NAME.search(name.replace("-", "_")):
            yield from _header_value(value)


def _header_value(text: str) -> Iterator[str]:
    """Yield a header's value, what follows `Bearer`, and what `Basic` packs."""
    value = text.strip()
    scheme, _, rest = value.partition(" ")
    yield value
    yield rest
    if scheme.lower() == "basic":
        try:
            pair = base64.b64decode(rest, validate=True).decode()
        except ValueError:
            return
        yield pair
        yield pair.partition(":")[2]


def _is_secret(text: str) -> bool:
    return len(text) >= _SHORTEST and text.casefold() not in _NO_SECRETS


def _unescaped(text: str) -> str:
    """Return a text as it reads once escapes of JSON, Python, URLs and HTML are undone."""

    def sign(found: re.Match[str]) -> str:
        code = found[1] or found[2]
        return chr(int(code, 16)) if code else found[3]

    plain = _BACKSLASHED.sub(sign, text) if "\\" in text else text
    if not plain.isascii():  # two escapes may be halves of one sign
        plain = plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    plain = unquote(plain) if "%" in plain else plain
    return html.unescape(plain) if "&#" in plain else plain


def _longest_first(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts without repetition, so that one is met before another that it holds."""
    return tuple(sorted(set(texts), key=lambda text: (-len(text), text)))


def _forms(secret: str) -> Iterator[str]:
    data = secret.encode("utf-8", "surrogatepass")
    yield secret
    for ascii_only in (True, False):
        yield json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        yield json.dumps(json.dumps(secret, ensure_ascii=ascii_only)[1:-1])[1:-1]
    yield repr(secret)[1:-1]
    yield html.escape(secret)
    yield quote(data, safe="")
    yield quote(data)
    yield quote_plus(data)
    yield data.hex()
    yield data.hex().upper()
    for form in _in_base64(data):
        yield form
        yield form.replace("/", "\\/")
        yield quote(form, safe="")


def _in_base64(data: bytes) -> Iterator[str]:
    """Yield what any base64 text has in it that holds the data, wherever they begin in it."""
    yield base64.b64encode(data).decode("ascii")  # with what ends it, where that is all
    for before in range(3):
        packed = bytes(before) + data
        # A sign is six bits: those that also hold bits of what stands around are left out.
        inside = slice(-(-before * 8 // 6), len(packed) * 8 // 6)
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            found = encode(packed).decode("ascii")[inside]
            if len(found) >= _SHORTEST:
                yield found


def _by_sign(secret: str) -> re.Pattern[str]:
    """Return a pattern of the secret, each sign as it is or escaped in any way."""
    return re.compile("".join(map(_any_escape, secret)))


def _any_escape(sign: str) -> str:
    data = sign.encode("utf-8", "surrogatepass")
    units = sign.encode("utf-16-be", "surrogatepass").hex()
    escapes = [
        "".join(rf"\\{{1,8}}u{units[at : at + 4]}" for at in range(0, len(units), 4)),
        "".join(rf"\\{{1,8}}x{byte:02x}" for byte in data),
        "".join(f"%{byte:02x}" for byte in data),
        rf"&\#0{{0,6}}{ord(sign)};",
        rf"&\#x0{{0,6}}{ord(sign):x};",
        *([rf"\\{{1,8}}x{ord(sign):02x}"] if ord(sign) < 256 else []),
        *([] if sign.isalnum() else [rf"\\{{1,8}}{re.escape(sign)}"]),
    ]
    return rf"(?:{re.escape(sign)}|(?i:{'|'.join(escapes)}))"
