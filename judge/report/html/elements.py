"""Build markup so that a text can never become any: only `tag` makes markup, and it escapes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any, TypeAlias

_EMPTY = frozenset({"input", "link", "meta"})


class Markup(str):
    """Markup made by `tag`; every other string is a text."""

    __slots__ = ()


Content: TypeAlias = "str | Markup | Iterable[Content]"


def tag(name: str, /, *content: Content, **attributes: object) -> Markup:
    """Return an element. Attributes: None leaves one out, `class_` is class, `a_b` is a-b.

    >>> tag("p", "1 < 2 ", tag("b", "bold"), class_="x", title='"')
    '<p class="x" title="&quot;">1 &lt; 2 <b>bold</b></p>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(map(_text, content))
    return Markup(f"<{name}{given}>" + ("" if name in _EMPTY else f"{inside}</{name}>"))


def _text(content: Content) -> str:
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return escape(content)
    return "".join(map(_text, content))


def code(name: str, source: str) -> Markup:
    """Return a <style> or <script> with our own source, which closes no tag."""
    assert "</" not in source, "our own source must not close its element"
    return Markup(f"{tag(name).removesuffix(f'</{name}>')}{source}</{name}>")


def data(id: str, value: Any) -> Markup:
    """Return a block of JSON for a script to read; nothing in it can end the block."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(
        f"{tag('script', type='application/json', id=id)[: -len('</script>')]}{text}</script>"
    )
