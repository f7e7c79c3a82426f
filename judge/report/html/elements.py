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
        f' {key.rstrip("_").replace("_", "-")}="{_escaped(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(map(_text, content))
    return Markup(f"<{name}{given}>" + ("" if name in _EMPTY else f"{inside}</{name}>"))


def _text(content: Content) -> str:
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return _escaped(content)
    return "".join(map(_text, content))


# HTML has no control characters; a text that holds some shows where they were. Marks that
# turn the direction of reading go with them: they can make a text show what it does not say.
_CONTROLS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127), "�")
_CONTROLS |= dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\ufffd")


def _escaped(text: str) -> str:
    return escape(text.translate(_CONTROLS))


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
