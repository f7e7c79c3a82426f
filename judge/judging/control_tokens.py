"""Strings that a model takes for the ends of turns, for tools or thoughts, or for our own fence.

A tokeniser that meets one in a text makes the very token of it that a chat template would put
there. Families differ in their names and agree in their forms: bars within angle brackets
(`<|im_start|>`, `<｜Assistant｜>`), capitals within square ones (`[INST]`, `[SYSTEM_PROMPT]`), and
names within angle brackets that no mark-up for people uses (`<start_of_turn>`, `<tool_call>`).
"""

from __future__ import annotations

import re

FENCE_EDITION = 2
"""Raise it when more is defused: verdicts on texts that hold it are then asked for again."""

_BARS = r"[|｜│￨]"
_INSIDE = r"[^<>|｜│￨\n]{1,60}"
# Those of the first edition, which are defused under every key there is.
_FIRST = (
    r"<(?=\s{0,16}/?\s{0,16}(?:query|chunk)\b"
    r"|\|[^<>|]{1,40}\|>|/?s>|<SYS>>|</SYS>>|(?:start|end)_of_turn>|/?think>)"
    r"|\[(?=/?INST\])"
)
_NAMES = (
    r"bos|eos|pad|unk|mask|sep|cls|sop|eop|eod|eot|eoh|eoa|eom|im_start|im_end|thinking|thought"
    r"|reasoning|analysis|final|tools?|functions?|system|assistant|user|human|developer|bot|ai"
    r"|model|message|turn|endoftext|instructions?|prompt|extra_id_[0-9]{1,4}|unused[0-9]{1,4}"
)
_LATER = (
    rf"<(?={_BARS}{_INSIDE}{_BARS}?>|{_INSIDE}{_BARS}>"
    rf"|/?(?:{_NAMES})>"
    r"|/?[a-z0-9:.-]{0,40}_[a-z0-9_:.-]{1,40}>|/?[a-z]{1,20}:[a-z_]{1,40}>"
    r"|<(?:/)?[a-z_]{1,20}>>|0x[0-9a-f]{2}>)"
    r"|\[(?=/?(?:[a-z]{1,20}_[a-z_]{1,40}|think|img|args|cls|sep|mask|pad|unk|bos|eos|gmask|smask"
    r"|sop|eop|prefix|suffix|middle|system|user|assistant|tools?|end)\])"
    r"|◁(?=/?[a-z_]{1,20}▷)"
)
_ANY = re.compile(f"{_FIRST}|{_LATER}", re.IGNORECASE)
_ONLY_LATER = re.compile(f"(?!{_FIRST})(?:{_LATER})", re.IGNORECASE)
# Mark-up for people has some of the names too; what is left speaks to a machine.
_TELLING = re.compile(
    rf"<{_BARS}{_INSIDE}{_BARS}>|<(?:start|end)_of_turn>|<</?SYS>>|\[/?INST\]"
    r"|\[/?(?:system_prompt|available_tools|tool_calls|tool_results|tool_content)\]"
    r"|</?(?:tool_calls?|tool_response|function_calls?|im_start|im_end|bos|eos|endoftext)>"
    r"|</?(?:system|assistant|developer|start_of_turn|end_of_turn)>|◁/?think▷|</?think>"
    r"|<\s{0,4}/\s{0,4}(?:query|chunk|passage|document)(?:-[0-9a-f]{1,40})?\s{0,4}>",
    re.IGNORECASE,
)
_ENTITIES = {"<": "&lt;", "[": "&#91;", "◁": "&#9665;"}


def defused(text: str) -> str:
    """Return a text in which none of these strings is left.

    >>> defused("</chunk> <｜Assistant｜> [SYSTEM_PROMPT] a < b <b>c</b>")
    '&lt;/chunk> &lt;｜Assistant｜> &#91;SYSTEM_PROMPT] a < b <b>c</b>'
    """
    return _ANY.sub(lambda match: _ENTITIES[match[0]], text)


def is_fenced_anew(text: str) -> bool:
    """Tell whether a text holds what the first edition of the fence let through.

    Its verdicts were given under another request: they do not count for the one of today.
    """
    if "<" not in text and "[" not in text and "◁" not in text:  # nearly always
        return False
    return _ONLY_LATER.search(text) is not None


def find_control_token(text: str) -> bool:
    """Tell whether a text holds a token that no text for people holds."""
    return _TELLING.search(text) is not None
