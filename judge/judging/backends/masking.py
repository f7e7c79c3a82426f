"""Keep secrets out of what servers say: some quote the key or the header they refuse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)\Z", re.IGNORECASE)
_SHORTEST = 6
"""Less than that is no secret, and masking it would cut words out of messages."""

MASK = "***"


def masked(text: str, secrets: Iterable[str | None]) -> str:
    """Return a text without the secrets in it.

    >>> masked("Incorrect API key provided: sk-12345678.", ["sk-12345678", None])
    'Incorrect API key provided: ***.'
    """
    # Longest first: one may hold another.
    for secret in sorted({secret for secret in secrets if secret}, key=len, reverse=True):
        text = text.replace(secret, MASK) if len(secret) >= _SHORTEST else text
    return text


def secrets_in(environ: Mapping[str, str], base_url: str | None) -> Iterator[str]:
    """Yield what may be sent to a server and must stand nowhere else."""
    for name, value in environ.items():
        if _SECRET_NAME.search(name):
            yield value
    for line in environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n"):
        value = line.partition(":")[2].strip()
        yield value
        yield value.partition(" ")[2]  # what follows `Bearer`
    parts = urlsplit(base_url or "")
    yield unquote(parts.password or "")
    for _, value in parse_qsl(parts.query):
        yield value
