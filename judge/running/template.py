"""Placeholders `{query}`, `{query_id}`, `{k}` in a command, a URL or a JSON body.

A value is always one argument, one part of a URL or one JSON string, whatever it holds:
text from a file never becomes a command, a path or a query language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from judge.errors import UsageError

NAMES = ("query", "query_id", "k")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def check_placeholders(flag: str, text: str, *, needed: bool) -> None:
    """Raise UsageError where a placeholder has no value, or `{query}` is needed and absent."""
    named = _PLACEHOLDER.findall(text)
    unknown = next((name for name in named if name not in NAMES), None)
    if unknown is not None:
        known = ", ".join(f"{{{name}}}" for name in NAMES)
        raise UsageError(f"{flag}: {{{unknown}}} has no value; there are {known}")
    if needed and not {"query", "query_id"} & set(named):
        raise UsageError(f"{flag}: it must say where {{query}} goes")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its placeholders filled in.

    >>> fill("q={query}", {"query": "{k}"})
    'q={k}'
    """
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def fill_url(url: str, values: Mapping[str, str]) -> str:
    """Return a URL with its placeholders filled in, percent-encoded.

    >>> fill_url("http://host/find?q={query}", {"query": "a&b/c"})
    'http://host/find?q=a%26b%2Fc'
    """
    return fill(url, {name: quote(value, safe="") for name, value in values.items()})


def fill_json(template: object, values: Mapping[str, str]) -> object:
    """Return a JSON value with the placeholders in its strings filled in; "{k}" is a number.

    >>> fill_json({"match": ["{query}"], "size": "{k}"}, {"query": 'a "b"', "k": "10"})
    {'match': ['a "b"'], 'size': 10}
    """
    if isinstance(template, str):
        return int(values["k"]) if template == "{k}" else fill(template, values)
    if isinstance(template, list):
        return [fill_json(item, values) for item in template]
    if isinstance(template, dict):
        return {name: fill_json(item, values) for name, item in template.items()}
    return template
