"""How few tokens a text can be for any tokeniser: what a server read less of, it did not read."""

from __future__ import annotations

import re

_WITHOUT_SPACES = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Han, kana and hangul: letters that common tokenisers join to fewer than two a token in prose."""
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_CJK_A_TOKEN = 3
_OTHERS_A_TOKEN = 5
_SLACK = 0.9


def least_tokens(text: str) -> int:
    """Return how many tokens a text has at least, whatever the tokeniser.

    A word is one: tokenisers do not join words over the white space between them. Runs of signs
    may be one token or none, as in tables, and count nothing. Where no spaces stand between
    words, letters are counted: three Chinese, Japanese or Korean ones, or five of another script
    beyond ASCII, are more than what common tokenisers put into one token on average.

    >>> least_tokens("salt melts ice | - |"), least_tokens("道路撒盐融化冰雪")
    (3, 2)
    """
    words = text.split()
    if text.isascii():
        return sum(map(bool, map(_LETTER_OR_DIGIT.search, words)))
    return sum(map(_least_of_word, words))


def _least_of_word(word: str) -> int:
    if word.isascii():
        return int(_LETTER_OR_DIGIT.search(word) is not None)
    cjk = len(_WITHOUT_SPACES.findall(word))
    others = sum(not c.isascii() and c.isalpha() for c in word) - cjk
    least = cjk // _CJK_A_TOKEN + others // _OTHERS_A_TOKEN
    return max(least, int(_LETTER_OR_DIGIT.search(word) is not None))


def why_cut(text: str, *, prompt_tokens: int | None, cached_tokens: int = 0) -> str:
    """Return why a reply does not count because the server cut our prompt, else "".

    Only the chunk is counted, and a tenth less: servers count the rest of a prompt in ways of
    their own, and some leave out what they had in memory, which is never the chunk. What they
    say of that is added: it is no cut.
    """
    if prompt_tokens is None or prompt_tokens >= len(text):
        return ""  # no token is empty
    read = prompt_tokens + cached_tokens
    least = least_tokens(text)
    if read >= least * _SLACK:
        return ""
    return (
        f"the server cut the prompt: it read {prompt_tokens} tokens, and the chunk alone has"
        f" {least} or more; raise its context size"
    )
