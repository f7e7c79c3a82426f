"""How a server may give back what it was sent, and whether a file or a stream tells it."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Mapping
from urllib.parse import quote, quote_plus, unquote, unquote_plus

Encoding = Callable[[str], str]


def _base64(before: bytes = b"", after: bytes = b"", *, url: bool = False) -> Encoding:
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    return lambda secret: encode(before + secret.encode() + after).decode()


def _u(secret: str) -> str:
    return "".join(f"\\u{ord(sign):04x}" for sign in secret)


ENCODINGS: Mapping[str, Encoding] = {
    "plain": str,
    "quoted": lambda s: f"'{s}'",
    "bearer": lambda s: f"Authorization: Bearer {s}",
    "twice": lambda s: f"{s}{s}",
    "in words": lambda s: f"x{s}y",
    "base64": _base64(),
    "base64 after one": _base64(b"a"),
    "base64 after two": _base64(b"ab"),
    "base64 of user and password": _base64(b"me:"),
    "base64 of a header": _base64(b"authorization: Bearer ", b"\r\nhost: h\r\n"),
    "base64 for URLs": _base64(b"me:", b"?", url=True),
    "base64 in JSON": lambda s: _base64(b"???")(s).replace("/", "\\/"),
    "base64 in a URL": lambda s: quote(_base64(b"???>>>")(s), safe=""),
    "base64 without padding": lambda s: _base64()(s).rstrip("="),
    "hexadecimal": lambda s: s.encode().hex(),
    "HEXADECIMAL": lambda s: s.encode().hex().upper(),
    "URL": lambda s: quote(s, safe=""),
    "URL path": quote,
    "URL form": quote_plus,
    "URL, each sign": lambda s: "".join(f"%{byte:02x}" for byte in s.encode()),
    "URL, EACH SIGN": lambda s: "".join(f"%{byte:02X}" for byte in s.encode()),
    "JSON": lambda s: json.dumps(s)[1:-1],
    "JSON, not ASCII": lambda s: json.dumps(s, ensure_ascii=False)[1:-1],
    "JSON with slashes": lambda s: json.dumps(s)[1:-1].replace("/", "\\/"),
    "JSON in JSON": lambda s: json.dumps(json.dumps(s)[1:-1])[1:-1],
    "JSON, each sign": _u,
    "JSON, EACH SIGN": lambda s: "".join(f"\\u{ord(sign):04X}" for sign in s),
    "JSON, each sign, in JSON": lambda s: json.dumps(_u(s))[1:-1],
    "JSON, some signs": lambda s: s[:2] + _u(s[2:4]) + s[4:],
    "Python": lambda s: repr(s)[1:-1],
    "bytes of Python": lambda s: str(s.encode("latin-1"))[2:-1],
    "HTML": html.escape,
    "HTML, each sign": lambda s: "".join(f"&#{ord(sign)};" for sign in s),
    "HTML, hexadecimal": lambda s: "".join(f"&#x{ord(sign):X};" for sign in s),
}


def reveals(data: bytes, secret: str) -> bool:
    """Tell whether bytes tell a secret to whoever tries all common ways to read them."""
    text = data.decode("utf-8", "replace")
    read = [
        text,
        unquote(text),
        unquote_plus(text),
        html.unescape(text),
        _signs(text),
        _unslashed(text),
    ]
    read += [_unslashed(read[-1]), unquote(read[-1])]
    if any(secret in one for one in read):
        return True
    wanted = secret.encode()
    plain = bytes.maketrans(b"-_", b"+/")
    whole = b"\n".join([data, *(one.encode("utf-8", "replace") for one in read)])
    for run in set(re.findall(rb"[A-Za-z0-9+/_-]{8,}", whole)):
        for at in range(4):
            part = run[at:]
            part = (
                part[: len(part) // 4 * 4] if len(part) % 4 == 1 else part + b"=" * (-len(part) % 4)
            )
            if wanted in base64.b64decode(part.translate(plain)):
                return True
    # Either half of a byte may come first.
    return any(
        wanted in bytes.fromhex(run[at : at + (len(run) - at) // 2 * 2])
        for run in re.findall(r"[0-9a-fA-F]{12,}", text)
        for at in (0, 1)
    )


def _unslashed(text: str) -> str:
    """Return a text with escapes of JSON and Python read once."""
    plain = _signs(text)
    plain = re.sub(r"\\x([0-9a-fA-F]{2})", lambda found: chr(int(found[1], 16)), plain)
    return re.sub(r"\\(.)", r"\1", plain)


def _signs(text: str) -> str:
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
