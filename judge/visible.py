"""Text from outside, made visible where it would steer a terminal or forge a line."""

from __future__ import annotations

import re

# Controls (C0 but for tab and line ends, DEL, C1), marks of direction, signs that take no
# room, separators of lines and paragraphs, tags.
_CONTROLS = (
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
)
# Bold and colours as our own tables have them; a text could at most colour itself.
_STYLE = r"\x1b\[(?:[0-4]|3[1-6])(?:;(?:[0-4]|3[1-6])){0,3}m"
# A live line begins and ends with a carriage return; one inside would overwrite what stands there.
_STEERING = re.compile(rf"(?P<style>{_STYLE})|[{_CONTROLS}]|(?<=[^\r])\r(?=[^\r\n])")
_IN_CELL = re.compile(rf"[{_CONTROLS}\t\n\r]")


def shown_controls(text: str) -> str:
    """Return text, of any number of lines, with what could steer a terminal as escapes.

    The escapes are those of JSON, so that JSON stays what it was.

    >>> print(shown_controls("a" + chr(0x9b) + "2J" + chr(0x202e) + "b"))
    a\\u009b2J\\u202eb
    """
    if text.isprintable():
        return text
    return _STEERING.sub(lambda found: found[0] if found["style"] else _escape(found[0]), text)


def cell(text: str) -> str:
    """Return text as one cell of a line: no tab or line end of it starts another.

    >>> print(cell("evil" + chr(10) + "after" + chr(9) + "1.0"))
    evil\\u000aafter\\u00091.0
    """
    if text.isprintable():
        return text
    return _IN_CELL.sub(lambda found: _escape(found[0]), text)


def _escape(sign: str) -> str:
    number = ord(sign)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
