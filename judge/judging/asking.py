"""One pair, one model: ask, retry, repair once, record. The whole life of a judgment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from judge.errors import BackendUnavailable
from judge.judging import suspicion
from judge.judging.backends.backend import Backend
from judge.judging.budget import Budget
from judge.judging.cache import Entry, Keys, sha256
from judge.judging.exchange import (
    CallFailure,
    Pair,
    RateLimited,
    Refused,
    Reply,
    Request,
    StopAsking,
    Verdict,
)
from judge.judging.ledger import Ledger
from judge.judging.limits import Clock, Limits, Throttle
from judge.judging.progress import Tally
from judge.judging.prompt import Message, Prompt
from judge.judging.retrying import Patience, retry
from judge.judging.verdict import PARSER, Parsed, parse_reply

_MAX_TOKENS = 512
_MORE_TOKENS = 4096


@dataclass(slots=True)
class Desk:
    """What all judges of a run share: limits, budget, clock, counters, and the cache."""

    limits: Limits
    budget: Budget
    clock: Clock
    tally: Tally
    ledger: Ledger


@dataclass(slots=True)
class _Conversation:
    """What was said about one pair so far, over all its requests."""

    pair: Pair
    patience: Patience
    attempts: int = 0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    flags: list[str] = field(default_factory=list)

    def heard(self, reply: Reply) -> None:
        """Add up usage; once a reply came without it, the total is unknown."""
        self.prompt_tokens = _plus(self.prompt_tokens, reply.prompt_tokens)
        self.completion_tokens = _plus(self.completion_tokens, reply.completion_tokens)


class Asker:
    """Settles pairs through one backend.

    Every request is counted before it goes out, so attempts equal requests on the wire. After
    `StopAsking` or `BackendUnavailable` nothing more is sent.
    """

    def __init__(self, backend: Backend, prompt: Prompt, throttle: Throttle, desk: Desk) -> None:
        self.backend = backend
        self.prompt = prompt
        self._keys = Keys(backend.settings, prompt_sha256=prompt.sha256)
        self._throttle = throttle
        self._desk = desk
        self._stopped: StopAsking | BackendUnavailable | None = None

    def key(self, pair: Pair) -> str:
        """Return what a reply for the pair is stored under; a recording goes by ids instead."""
        if self.backend.recorded:
            return f"{pair.query_id}\n{pair.id}"
        return self._keys.key(pair.query, pair.text)

    async def settle(self, pair: Pair, key: str) -> Verdict:
        """Return the verdict for one pair; BackendUnavailable if the judge is out of reach."""
        desk = self._desk
        if known := desk.ledger.find([key]):
            # Another process paid for it since our bulk look-up.
            return verdict_of(known[key], pair, cached=True)
        clock = desk.clock
        talk = _Conversation(pair, Patience(clock, desk.limits.total_s, clock.now()))
        try:
            parsed, reply = await self._converse(talk)
        except StopAsking as stop:
            parsed, reply = Parsed("failed", reason=str(stop)), None
        entry = self._entry(key, talk, parsed, reply)
        if talk.attempts and not self.backend.recorded:
            texts = {entry.query_sha256: pair.query, entry.text_sha256: pair.text}
            entry = await desk.ledger.keep(entry, texts=texts)
        verdict = verdict_of(entry, pair, cached=self.backend.recorded)
        return replace(verdict, attempts=talk.attempts, cost_usd=0.0)

    async def _converse(self, talk: _Conversation) -> tuple[Parsed, Reply | None]:
        """Return what the model says in the end, after one repair at most."""
        request = Request(
            talk.pair, self.prompt, self.prompt.render(talk.pair.query, talk.pair.text), _MAX_TOKENS
        )
        reply = None
        try:
            parsed, reply = await self._ask(talk, request)
            if parsed.status == "repair" and reply.finish == "length":
                request = replace(request, max_tokens=_MORE_TOKENS)
                parsed, reply = await self._ask(talk, request)
            elif parsed.status == "repair":
                parsed, reply = await self._ask(talk, _repair(request, reply, parsed.reason))
        except Refused as failure:
            return Parsed("refused", reason=str(failure)), reply
        except CallFailure as failure:
            return Parsed("failed", reason=str(failure)), reply
        return parsed, reply

    async def _ask(self, talk: _Conversation, request: Request) -> tuple[Parsed, Reply]:
        async def attempt() -> Reply:
            return await self._send(talk, request)

        reply = await retry(attempt, patience=talk.patience, clock=self._desk.clock)
        talk.heard(reply)
        prompt = self.prompt
        return parse_reply(reply.text, field=prompt.field, grade_max=prompt.grade_max), reply

    async def _send(self, talk: _Conversation, request: Request) -> Reply:
        """Send one request when its turn comes: one call here is one request on the wire."""
        desk, clock = self._desk, self._desk.clock
        talk.patience.held_s += await self._throttle.admit(0)
        sent_at = clock.now()
        try:
            if self._stopped is not None:
                raise self._stopped
            if not self.backend.recorded:
                desk.budget.take()
                desk.tally.made += 1
                desk.tally.retried += talk.attempts > 0
                talk.attempts += 1
            reply = await self.backend.answer(request)
        except RateLimited as failure:
            self._slow_down(failure, sent_at)
            raise
        except (StopAsking, BackendUnavailable) as stop:
            self._stopped = stop
            raise
        finally:
            self._throttle.release()
        self._throttle.replied()
        return reply

    def _slow_down(self, failure: RateLimited, sent_at: float) -> None:
        try:
            self._throttle.slow_down(failure, sent_at=sent_at)
        except StopAsking as stop:
            self._stopped = stop
            raise

    def _entry(self, key: str, talk: _Conversation, parsed: Parsed, reply: Reply | None) -> Entry:
        prompt, pair = self.prompt, talk.pair
        flags = (*suspicion.flags(pair.text), *talk.flags)
        return Entry(
            key=key,
            status=_STATUS[parsed.status],
            grade=parsed.grade,
            reason=parsed.reason,
            raw=reply.text if reply else None,
            parser=PARSER,
            field=prompt.field,
            grade_max=prompt.grade_max,
            model=self.backend.name,
            prompt=prompt.label,
            settings_sha256=self._keys.settings_sha256,
            query_sha256=sha256(pair.query),
            text_sha256=sha256(pair.text),
            prompt_tokens=talk.prompt_tokens,
            completion_tokens=talk.completion_tokens,
            flags=flags,
            probabilities=reply.probabilities if reply else None,
            sent=dict(reply.sent) if reply else None,
        )


_STATUS = {"grade": "graded", "repair": "failed", "failed": "failed", "refused": "refused"}


def verdict_of(entry: Entry, pair: Pair, *, cached: bool) -> Verdict:
    """Return a recorded reply as the verdict for a pair."""
    grade = entry.grade
    return Verdict(
        query_id=pair.query_id,
        id=pair.id,
        status=entry.status,
        grade=grade,
        lo=0 if grade is None else grade,
        hi=entry.grade_max if grade is None else grade,
        reason=entry.reason,
        model=entry.model,
        prompt=entry.prompt,
        raw=entry.raw,
        cached=cached,
        prompt_tokens=entry.prompt_tokens,
        completion_tokens=entry.completion_tokens,
        flags=entry.flags,
        probabilities=entry.probabilities,
    )


def _repair(request: Request, reply: Reply, reason: str) -> Request:
    """Return the request that names what was wrong with the reply."""
    prompt = request.prompt
    demand = (
        f"Your reply could not be used: {reason}. Reply again with one JSON object whose field"
        f' "{prompt.field}" is an integer from 0 to {prompt.grade_max}, and nothing else.'
    )
    said = Message("assistant", reply.text or "(empty)")
    messages: Sequence[Message] = (*request.messages, said, Message("user", demand))
    return replace(request, messages=tuple(messages), repair=reason)


def _plus(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more
