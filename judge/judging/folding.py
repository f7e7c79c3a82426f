"""Text as its reader sees it: what hides letters from a search and not from a model is undone."""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata

_MARKS = re.compile(r"[\u0300-\u036f\u0483-\u0487\u064b-\u065f\u0670\u0591-\u05c7\ufe00-\ufe0f]")
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕһԁԛԝґвкмнтбαορτυνκιεβηρχγ",
    "aeopcyxijshdqwrbkmhtbaoptuvkiebhpxy",
)
_LETTERS_IN_FIGURES = str.maketrans("0134578@$!|", "oieastbasil")
_PLAIN = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ς": "σ"})
_WORD = re.compile(r"[^\W_]{1,64}")
_AMONG_LETTERS = re.compile(r"[a-z][013457@$|]{1,3}[a-z]")
_IN_FIGURES = re.compile(r"[a-z0134578@$!|]{4,40}")
_SPELLED = re.compile(
    r"(?<![^\W_])[^\W\d_](?P<gap>[ .·*_-])[^\W\d_](?:(?P=gap)[^\W\d_]){2,60}(?![^\W_])"
)
_ENCODED = re.compile(r"[A-Za-z0-9+/]{24,4000}={0,2}")
_ESCAPES = re.compile(r"\\u([0-9a-fA-F]{4})")
_LATIN, _ALIKE = re.compile(r"[a-z]"), re.compile(r"[\u0370-\u03ff\u0400-\u04ff]")


def folded(text: str) -> str:
    """Return text in small plain letters, without what does not show.

    Compatibility forms, entities and escapes are the letters that they stand for; signs of no
    width are gone; letters that borrow a shape from another alphabet within one word are those
    of the shape, as are figures among letters; words that are spelled out are words again; and
    what is encoded in base64 stands behind the text.

    >>> folded("Ｉg\u200bn\u043ere 1nstruct10ns, p r e v i o u s")
    'ignore instructions, previous'
    """
    hidden = _decoded(text)
    text = _ESCAPES.sub(lambda found: chr(int(found[1], 16)), text) if "\\u" in text else text
    text = html.unescape(text) if "&" in text else text
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Co", "Cs"))
        text = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", text)))
        text = _MARKS.sub("", text)
    text = text.casefold().translate(_PLAIN)
    if not text.isascii():
        text = _WORD.sub(lambda found: _in_one_alphabet(found[0]), text)
    text = _SPELLED.sub(lambda found: found[0].replace(found["gap"], ""), text)
    text = _IN_FIGURES.sub(lambda found: _in_letters(found[0]), text)
    return f"{text}\n{folded(hidden)}" if hidden else text


def _in_one_alphabet(word: str) -> str:
    if word.isascii() or not (_LATIN.search(word) and _ALIKE.search(word)):
        return word
    return word.translate(_LOOKALIKES)


def _in_letters(word: str) -> str:
    """Return a word with the letters that its figures stand for, where one stands among letters."""
    return word.translate(_LETTERS_IN_FIGURES) if _AMONG_LETTERS.search(word) else word


def _decoded(text: str) -> str:
    found = []
    for piece in _ENCODED.findall(text)[:50]:
        try:
            data = base64.b64decode(piece + "=" * (-len(piece) % 4), validate=True)
            plain = data.decode("utf-8")
        except (binascii.Error, UnicodeDecodeError, ValueError):
            continue
        if " " in plain and plain.isprintable():
            found.append(plain)
    return "\n".join(found)
