"""One pair, one model: ask, retry, repair once, record. The whole life of a judgment."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from judge.judging.control_tokens import FENCE_EDITION, is_fenced_anew
from judge.judging.entries import Entry, Fields, Keys, sha256
from judge.judging.exchange import (
    CallFailure,
    Pair,
    Refused,
    Rejected,
    Reply,
    Request,
    StopAsking,
    TooLong,
    Verdict,
)
from judge.judging.prompt import Message, Prompt, sendable
from judge.judging.prompt_injection import flags
from judge.judging.prompt_length import why_cut
from judge.judging.retrying import retry
from judge.judging.sending import Desk, Line, Usage
from judge.judging.verdict import PARSER, Parsed, parse_reply, quotes

_LENGTHS = {"grade": 128, "text": 512}
"""Tokens a reply may have, by what it holds; a reply that was cut gets the longer limit once."""
_LONGER = 4096
_LEAST_MASS = 0.8
_LONG = 20_000
_QUOTED = 2000
"""Characters of a reply that a repair shows to the model again: some reply with megabytes."""


@dataclass(slots=True)
class _Case:
    """One pair on its way to a verdict: what is asked next, and what it has cost so far.

    text: the chunk as it is sent, shortened or not
    """

    pair: Pair
    request: Request
    text: str
    usage: Usage = field(default_factory=Usage)
    reply: Reply | None = None
    flags: dict[str, None] = field(default_factory=dict)


class Asker:
    """Settles pairs through one backend."""

    def __init__(self, line: Line, prompt: Prompt, desk: Desk) -> None:
        self.line = line
        self._prompt = prompt
        self._desk = desk
        self._keys = Keys(line.backend.settings, prompt_sha256=prompt.sha256)
        # Few texts hold what only this edition defuses: the others' verdicts stand as they are.
        self._keys_anew = Keys(
            line.backend.settings, prompt_sha256=prompt.sha256, fence=FENCE_EDITION
        )
        self._max_tokens = max(_LENGTHS[kind] for _, kind in prompt.reply)

    def keys(self, pairs: Iterable[Pair]) -> list[str]:
        """Return what replies for pairs are stored under; a recording goes by ids instead."""
        if self.line.backend.recorded:
            return [f"{pair.query_id}\n{pair.id}" for pair in pairs]
        return [self._keys_of(pair).key(pair.query, pair.text) for pair in pairs]

    def _keys_of(self, pair: Pair) -> Keys:
        is_new = is_fenced_anew(pair.text) or is_fenced_anew(pair.query)
        return self._keys_anew if is_new else self._keys

    async def settle(self, pair: Pair, key: str) -> Verdict:
        """Return the verdict for one pair; BackendUnavailable if the judge is out of reach."""
        ledger = self._desk.ledger
        if known := ledger.find_news(key):
            return verdict_of(known.plain(), pair, cached=True)
        case = _Case(pair, self.request(pair), pair.text)
        try:
            parsed = await self._converse(case)
        except StopAsking as stop:
            parsed = Parsed("failed", reason=str(stop))
        for flag in await _flags(pair.text):
            case.flags[flag] = None
        entry = self._entry(key, case, parsed)
        if case.usage.attempts:
            entry = await ledger.keep(entry, shared=self._shared(entry, pair))
        is_recording = self.line.backend.recorded and entry.status == "graded"
        verdict = verdict_of(entry.plain(), pair, cached=is_recording)
        return replace(verdict, attempts=case.usage.attempts, cost_usd=case.usage.cost_usd)

    def _shared(self, entry: Entry, pair: Pair) -> dict[str, object]:
        """Return what entries refer to by sha256: settings and texts, stored once each."""
        return {
            f"settings:{entry.settings_sha256}": {"settings": self._keys_of(pair).settings},
            f"text:{entry.query_sha256}": {"text": pair.query},
            f"text:{entry.text_sha256}": {"text": pair.text},
        }

    def request(self, pair: Pair, text: str | None = None) -> Request:
        """Return the request for a pair, with another text where the chunk was shortened."""
        messages = self._prompt.render(pair.query, pair.text if text is None else text)
        return Request(pair, self._prompt, messages, self._max_tokens)

    async def _converse(self, case: _Case) -> Parsed:
        """Return what the model says in the end: after one shorter chunk, one longer limit or
        one repair at most."""
        try:
            try:
                parsed = await self._ask(case)
            except (TooLong, Rejected) as failure:
                if not self._may_be_too_long(failure, case.request):
                    raise
                self._shorten(case)
                parsed = await self._ask(case)
            if parsed.status == "repair":
                parsed = await self._ask_again(case, parsed.reason)
        except Refused as failure:
            return Parsed("refused", reason=str(failure))
        except CallFailure as failure:
            return Parsed("failed", reason=str(failure))
        return parsed

    def _may_be_too_long(self, failure: CallFailure, request: Request) -> bool:
        if isinstance(failure, TooLong):
            return True
        return type(failure) is Rejected and self.line.seems_too_long(request)

    async def _ask_again(self, case: _Case, reason: str) -> Parsed:
        reply = case.reply
        assert reply is not None, "only a reply can be repaired"
        if reply.finish == "length":
            case.request = replace(case.request, max_tokens=_LONGER)
            parsed = await self._ask(case)
            if parsed.status == "grade":
                self._max_tokens = _LONGER  # this model thinks aloud: do not pay twice each time
            return parsed
        if reply.text is not None:
            case.request = _repair(case.request, reply.text, reason)
        return await self._ask(case)

    async def _ask(self, case: _Case) -> Parsed:
        async def attempt() -> Reply:
            return await self.line.send(case.request, case.usage)

        reply = case.reply = await retry(attempt, usage=case.usage, desk=self._desk)
        if reply.refusal:
            raise Refused(reply.refusal)
        if reply.sent.get("logprobs") and reply.probabilities is None:
            case.flags["no token probabilities came"] = None
        parsed = self._read(case, reply)
        self.line.judge_use(of_use=parsed.status == "grade", reason=parsed.reason)
        return parsed

    def _read(self, case: _Case, reply: Reply) -> Parsed:
        """Return what a reply comes to, by what it says and by all else that is known of it."""
        # A repair repeats what the server has read before, and may have in memory.
        if not case.request.repair and (
            cut := why_cut(
                case.text,
                prompt_tokens=reply.prompt_tokens,
                cached_tokens=reply.cached_tokens,
            )
        ):
            return Parsed("failed", reason=cut)
        prompt = self._prompt
        parsed = parse_reply(reply.text, field=prompt.field, grade_max=prompt.grade_max)
        if parsed.status == "repair" and reply.instead:
            return Parsed("repair", reason=f"{parsed.reason}; instead came: {reply.instead}")
        if parsed.status != "grade":
            return parsed
        if reply.finish == "error":
            return Parsed("repair", reason="the server broke the reply off with an error")
        if reply.finish == "length" and "{" not in (reply.text or ""):
            return Parsed("repair", reason="the reply was cut off")
        if quotes(reply.text, case.pair.query, case.pair.text):
            return Parsed("repair", reason="the object stands in the passage: is it a quotation?")
        return _weighed(parsed, reply)

    def _shorten(self, case: _Case) -> None:
        text = case.pair.text
        short = case.text = shorten(text)
        case.flags[f"chunk shortened to {len(short)} of {len(text)} characters"] = None
        case.request = self.request(case.pair, short)

    def _entry(self, key: str, case: _Case, parsed: Parsed) -> Entry:
        prompt, pair, reply = self._prompt, case.pair, case.reply
        return Entry(
            key=key,
            status=_STATUS[parsed.status],
            grade=parsed.grade,
            reason=parsed.reason,
            raw=reply.text if reply else None,
            parser=PARSER,
            field=prompt.field,
            grade_max=prompt.grade_max,
            model=self.line.backend.name,
            prompt=prompt.label,
            settings_sha256=self._keys_of(pair).settings_sha256,
            query_sha256=sha256(pair.query),
            text_sha256=sha256(pair.text),
            prompt_tokens=case.usage.prompt_tokens,
            completion_tokens=case.usage.completion_tokens,
            cost_usd=case.usage.cost_usd,
            counts=self._counts(parsed, reply),
            flags=tuple(case.flags),
            probabilities=_renormalised(reply) if parsed.status == "grade" else None,
            sent=dict(reply.sent) if reply else None,
        )

    def _counts(self, parsed: Parsed, reply: Reply | None) -> bool:
        """Tell whether the outcome is what the reply's text says, not what we know besides."""
        if parsed.status == "grade" or reply is None:
            return True
        prompt = self._prompt
        said = parse_reply(reply.text, field=prompt.field, grade_max=prompt.grade_max)
        return said.status == parsed.status


_STATUS = {"grade": "graded", "repair": "failed", "failed": "failed", "refused": "refused"}


def verdict_of(said: Fields, pair: Pair, *, cached: bool) -> Verdict:
    """Return a recorded reply, an entry's fields, as the verdict for a pair."""
    grade, probabilities = said["grade"], said["probabilities"]
    return Verdict(
        query_id=pair.query_id,
        id=pair.id,
        status=said["status"],
        grade=grade,
        lo=0 if grade is None else grade,
        hi=said["grade_max"] if grade is None else grade,
        reason=said["reason"],
        model=said["model"],
        prompt=said["prompt"],
        raw=said["raw"],
        cached=cached,
        prompt_tokens=said["prompt_tokens"],
        completion_tokens=said["completion_tokens"],
        flags=tuple(said["flags"]),
        probabilities=None if probabilities is None else tuple(probabilities),
    )


async def _flags(text: str) -> tuple[str, ...]:
    if len(text) < _LONG:
        return flags(text)
    return await asyncio.to_thread(flags, text)  # others need the loop meanwhile


def shorten(text: str) -> str:
    """Return the head and the tail of a chunk that is too long, half of it in all.

    Two thirds of what is kept are head: what a passage is about stands there.

    >>> shorten("0123456789ab")
    '0123 … ab'
    """
    keep = len(text) // 2
    tail = keep // 3
    return f"{text[: keep - tail]} … {text[len(text) - tail :]}"


def _weighed(parsed: Parsed, reply: Reply) -> Parsed:
    """Return a grade only if the grades' tokens had most of the probability."""
    if reply.probabilities is None:
        return parsed
    mass = sum(reply.probabilities)
    if mass >= _LEAST_MASS:
        return parsed
    return Parsed("repair", reason=f"the grades had only {mass:.2f} of the token probability")


def _renormalised(reply: Reply | None) -> tuple[float, ...] | None:
    if reply is None or not reply.probabilities:
        return None
    mass = sum(reply.probabilities)
    return tuple(round(p / mass, 6) for p in reply.probabilities)


def _repair(request: Request, said: str, reason: str) -> Request:
    """Return the request that names what was wrong with the reply."""
    prompt = request.prompt
    demand = (
        f"Your reply could not be used: {reason}. Reply again with one JSON object whose field"
        f' "{prompt.field}" is an integer from 0 to {prompt.grade_max}, and nothing else.'
    )
    turns = (Message("assistant", sendable(said[:_QUOTED])), Message("user", demand))
    return replace(request, messages=(*request.messages, *turns), repair=reason)
