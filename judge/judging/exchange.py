"""What goes to a judge and what comes back: pairs, requests, replies, failures, verdicts.

One request is one attempt on the wire. A backend never retries: it raises one of the
failures below, and the one owner of retrying (`judge.judging.retrying`) decides.

    CallFailure
    ├── Transient        5xx, 408, 409, connection lost, no answer in time: try again
    │   ├── Unreachable  no connection at all
    │   ├── Lost         sent, but no answer came: it may have been billed
    │   │   └── Unreadable  what came is none: try again, but not for long
    │   └── RateLimited  429: everybody slows down, then try again
    ├── Adjusted         the model refused a parameter; it was dropped: ask again at once
    ├── TooLong          the chunk does not fit the model's context
    ├── Refused          the server's content filter said no
    │   └── Denied       403: of this text where others are answered, else of everything
    └── Rejected         a bad request that no retry can mend
        └── Overlong     the answer does not end in good time: it was billed all the same
    StopAsking           nothing more is to be sent in this run: budget used, server asks for hours
A failure of the judge as a whole (wrong key, no quota, no such model) is
`judge.errors.BackendUnavailable`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from judge.grades import GAINS
from judge.judging.prompt import Message, Prompt


@dataclass(frozen=True, slots=True)
class Pair:
    """One chunk to grade for one query; `text` is never blank."""

    query_id: str
    query: str
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """One attempt: the pair, the rendered messages, and how long a reply may get.

    repair: what was wrong with the previous reply, when this asks again
    max_tokens: limit on the reply
    """

    pair: Pair
    prompt: Prompt
    messages: tuple[Message, ...]
    max_tokens: int = 512
    repair: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered, as it came.

    text: None where the server sent none
    finish: "length" where the reply was cut at its limit, "error" where the server broke off,
        else the server's finish_reason ("stop", …)
    refusal: why the model or the server declined, "" if it did not; it was paid all the same
    prompt_tokens, completion_tokens: as reported, None where usage is missing
    cached_tokens: of the prompt, in the server's memory; some count them in `prompt_tokens`
    probabilities: of each grade 0..G, renormalised, where logprobs were asked for
    sent: sampling settings that were really sent, after every parameter the model refused
    instead: what came where no text did, in short: an error's words, a stream, a call of a tool
    """

    text: str | None
    finish: str = "stop"
    refusal: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int = 0
    probabilities: tuple[float, ...] | None = None
    sent: Mapping[str, object] = field(default_factory=dict)
    instead: str = ""


class CallFailure(Exception):
    """One attempt brought no reply; the message is the reason, fit for a report.

    may_be_billed: the server may have done the work, and nobody knows what that cost
    """

    may_be_billed = False


class Transient(CallFailure):
    """Trouble that may pass; `retry_after_s` is what the server asked for, if anything."""

    def __init__(self, reason: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s


class Unreachable(Transient):
    """No connection could be made."""


class Lost(Transient):
    """The request went out and no answer came back."""

    may_be_billed = True


class Unreadable(Lost):
    """What came back is no HTTP response, or cannot be unpacked."""


class RateLimited(Transient):
    """The server asks everybody to slow down."""


class Adjusted(CallFailure):
    """The backend will ask differently from now on; nothing to wait for."""


class TooLong(CallFailure):
    """The request exceeds the model's context."""


class Refused(CallFailure):
    """The server or the model declines to judge this text."""


class Denied(Refused):
    """The server forbids it: this one text, or the whole of what we ask."""


class Rejected(CallFailure):
    """The server calls this one request wrong."""


class Overlong(Rejected):
    """The answer is longer than any answer to the request could be."""

    may_be_billed = True


class StopAsking(Exception):
    """Send nothing more in this run; what is not graded stays open with this reason."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's parsed reply for one pair, or why there is none.

    status: "graded", "refused", "failed" (no usable reply, or none asked for) or "rule"
    lo, hi: what the verdict leaves possible; lo == hi == grade when graded
    raw: the reply as it came; None if there was none or it was redacted
    cached: served from the cache or a recording, nothing was paid now
    attempts: requests sent for it now
    cost_usd: paid now; None where a price or the usage is unknown, or an answer was lost
    flags: what a reader should know ("instruction-like text", "chunk shortened", …)
    probabilities: of the grades 0..G by the model's token probabilities, when asked for
    """

    query_id: str
    id: str
    status: str
    grade: int | None
    lo: int
    hi: int
    reason: str = ""
    model: str = ""
    prompt: str = ""
    raw: str | None = None
    cached: bool = False
    attempts: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = 0.0
    flags: tuple[str, ...] = ()
    probabilities: tuple[float, ...] | None = None
    votes: tuple[Verdict, ...] = ()

    def plain(self) -> dict[str, object]:
        """Return the verdict as a JSON object, with its expected gain where there is one."""
        plain = {name: getattr(self, name) for name in _FIELDS}
        plain["votes"] = [vote.plain() for vote in self.votes]
        if self.probabilities is not None:
            plain["expected_gain"] = self.expected_gain()
        return plain

    def again(self, pair: Pair) -> Verdict:
        """Return the verdict for another pair with the same texts: nothing was paid for it."""
        return replace(
            self,
            query_id=pair.query_id,
            id=pair.id,
            cached=self.grade is not None,
            attempts=0,
            cost_usd=0.0,
            votes=tuple(vote.again(pair) for vote in self.votes),
        )

    def expected_gain(self, gain: str = "linear") -> float | None:
        """Return the mean gain over the grades' probabilities, None where there are none.

        The judgment stays the integer grade: a grade is what was said, an expectation is how
        sure the model was. Expected gain, not gain of the expected grade.

        >>> v = Verdict("q", "d", "graded", 2, 2, 2, probabilities=(1/18, 2/9, 5/9, 1/6))
        >>> round(v.expected_gain(), 6), round(v.expected_gain("exponential"), 6)
        (1.833333, 3.055556)
        """
        if self.probabilities is None:
            return None
        gain_of = GAINS[gain]
        return sum(p * gain_of(grade) for grade, p in enumerate(self.probabilities))


_FIELDS = tuple(field.name for field in fields(Verdict))
