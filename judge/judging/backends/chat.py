"""The chat-completions dialect: build a request body, and remember what a model refuses.

Every compatible server takes some subset of it. What a model refuses is dropped once and
remembered for the run; what was really sent is recorded with each reply.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from judge.judging.backends.error_body import ServerError
from judge.judging.backends.responses import read_reply
from judge.judging.exchange import Adjusted, Reply, Request
from judge.judging.prompt import Message

FORMS = ("json_schema", "json_object", "prompt")
"""How a reply is held to JSON, strictest first."""

LENGTH_NAMES = ("max_tokens", "max_completion_tokens")
_TOP_LOGPROBS = 20
_UNSUPPORTED = re.compile(
    r"unsupported|not supported|does not support|doesn't support|unrecognized|unknown"
    r"|unexpected|not permitted|not allowed|invalid|only the default|deprecated|unavailable"
    r"|must be|should be|not available|not implemented|extra|strictly",
    re.IGNORECASE,
)
_FORMATTING = re.compile(
    r"response_?format|json_?schema|json_?object|json_?mode|json_validate|structured.?output"
    r"|grammar|guided|\bschema\b|generate json",
    re.IGNORECASE,
)
_ROLES = re.compile(
    r"\brole\b|\broles\b|\bsystem.{0,20}(?:role|message|prompt|instruction)|developer instruction",
    re.IGNORECASE,
)


class ChatDialect:
    """What one model takes: sampling parameters, a name for the length limit, a reply form.

    A refusal that names what it is about costs that one thing. One that nobody explains, before
    anything was ever answered, tries the plainest request there is, once: model and one turn of
    the user's. If that is answered, the rest of the run is asked so.
    """

    def __init__(self, model: str, *, logprobs: bool, length_name: str = LENGTH_NAMES[0]) -> None:
        self._model = model
        self._logprobs = logprobs
        self._sampling: dict[str, object] = {"temperature": 0.0, "seed": 0}
        if logprobs:
            self._sampling |= {"logprobs": True, "top_logprobs": _TOP_LOGPROBS}
        self._length_names = sorted(LENGTH_NAMES, key=lambda name: name != length_name)
        self._form = 0
        self._has_system = True
        self._is_plain = False
        self._was_answered = False
        self._tried_plain = False

    def body(self, request: Request) -> dict[str, object]:
        """Return the request body."""
        turns = request.messages
        if self._is_plain or not self._has_system:
            turns = _without_system(turns)
        messages = [{"role": turn.role, "content": turn.content} for turn in turns]
        body: dict[str, object] = {"model": self._model, "messages": messages}
        if self._is_plain:
            return body
        body |= self._sampling
        if self._length_names:
            body[self._length_names[0]] = request.max_tokens
        form = FORMS[self._form]
        if form == "json_schema":
            named = {"name": "verdict", "strict": True, "schema": request.prompt.schema}
            body["response_format"] = {"type": form, "json_schema": named}
        elif form == "json_object":
            body["response_format"] = {"type": form}
        return body

    def adjust(self, body: Mapping[str, object], error: ServerError) -> Adjusted | None:
        """Drop what an error for `body` says the model refuses; None if it is something else.

        Several requests may be refused at once for the same reason: only what the refused body
        really held is dropped, and only once.
        """
        said, named = error.said, error.parameter
        # Where nothing was answered yet, a word about a parameter is enough; later a text that
        # a server quotes might hold it.
        is_about_us = bool(named) or _UNSUPPORTED.search(said) or not self._was_answered
        adjusted = self._drop(body, said, named) if is_about_us else None
        if adjusted is None and error.status in (400, 422):
            return self._try_plain(body)
        return adjusted

    def _drop(self, body: Mapping[str, object], said: str, named: str) -> Adjusted | None:
        if "response_format" in body and (
            named.startswith("response_format") or _FORMATTING.search(said)
        ):
            return self._step_down(body)
        for name in LENGTH_NAMES:
            # The longer name holds the shorter one's words: the one that was sent is meant.
            if name in body and _names(name, said, named):
                self._length_names = [other for other in self._length_names if other != name]
                return Adjusted(f"{name} refused")
        for name in ("top_logprobs", "logprobs", "temperature", "seed"):
            if name in body and _names(name, said, named):
                # One of the logprobs is of no use without the other.
                for dropped in ("logprobs", "top_logprobs") if "logprobs" in name else (name,):
                    self._sampling.pop(dropped, None)
                return Adjusted(f"{name} refused")
        if _has_system(body) and (_ROLES.search(said) or "role" in named):
            self._has_system = False
            return Adjusted("a system turn refused")
        return None

    def _step_down(self, body: Mapping[str, Any]) -> Adjusted:
        refused = FORMS.index(body["response_format"]["type"])
        self._form = max(self._form, refused + 1)
        return Adjusted(f"{FORMS[refused]} refused")

    def _try_plain(self, body: Mapping[str, object]) -> Adjusted | None:
        if self._is_plain and not self._was_answered:
            self._is_plain = False  # it was not the form that the server minds
            return None
        is_plain = set(body) <= {"model", "messages"} and not _has_system(body)
        if self._was_answered or self._tried_plain or is_plain:
            return None
        self._is_plain = self._tried_plain = True
        return Adjusted("refused without a word that we know: asked in the plainest form")

    def reply(self, body: Mapping[str, object], response: object, request: Request) -> Reply:
        """Return the reply in a response, whatever of it is there."""
        sent = {name: body[name] for name in body if name not in ("model", "messages")}
        if isinstance(held_to := sent.get("response_format"), dict):
            sent["response_format"] = held_to["type"]
        if request.messages[0].role == "system" and not _has_system(body):
            sent["system"] = "in the user's turn"
        reply = read_reply(response, request, sent=sent, logprobs=self._logprobs)
        self._was_answered = self._was_answered or reply.text is not None
        return reply


def _names(name: str, said: str, named: str) -> bool:
    return named.partition(".")[0] == name or re.search(rf"\b{name}\b", said) is not None


def _has_system(body: Mapping[str, Any]) -> bool:
    return bool(body["messages"][0]["role"] == "system")


def _without_system(turns: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return turns whose first, the system's, opens the user's first one instead."""
    if turns[0].role != "system" or len(turns) == 1:
        return turns
    system, user, *rest = turns
    return (Message("user", f"{system.content}\n\n{user.content}"), *rest)
