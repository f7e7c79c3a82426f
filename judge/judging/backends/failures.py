"""What a server's error means: what may pass, what will not, and what ends the run.

Servers have no common language for what is wrong. What can be told by structure is: the status,
the field that an error names, the number in a header. Words are read where nothing else tells,
by what they are about rather than by whole sentences; what is still not understood is met by
what the judge does with a refusal that nobody explains (`ChatDialect.adjust`, `Asker`).
"""

from __future__ import annotations

import re

from judge.errors import BackendUnavailable
from judge.judging.backends.error_body import ServerError
from judge.judging.exchange import Denied, Lost, RateLimited, Refused, Rejected, TooLong, Transient

_KEY_OR_MODEL = {
    401: "the key was refused",
    402: "the account is out of credit",
    404: "there is no such model or address",
}
_PASSING = frozenset({408, 409, 425, 500, 502, 503, 504, 520, 522, 524, 529})
_GATEWAY_GAVE_UP = frozenset({504, 524})

_SIZE = re.compile(
    r"context|\btokens?\b|tokens_|\bprompts?\b|\binputs?\b|\bmessages?\b|\blength\b|\bsequence\b",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"exceed|too[ _](?:long|large|many|big)|(?:longer|larger|greater|bigger|more) than"
    r"|maximum|\bmax\b|is only|at most|<=|less than|\blimit|overflow"
    r"|(?:cannot|can't|does not|doesn't) (?:fit|be longer)"
    r"|\breduce\b|\bshorten|supports? up to|range of|overlong|超|过长",
    re.IGNORECASE,
)
_OVER_ALONE = re.compile(
    r"(?:context|length|tokens?|prompt|input|request|payload|body)[_ ](?:\w{1,20}[_ ]){0,4}"
    r"(?:exceeded|exceeds|too[_ ](?:large|long|big)|limit[_ ]reached|overflow)"
    r"|exceed[a-z]{0,3}[_ ](?:\w{1,20}[_ ]){0,4}(?:context|tokens?\b)|too many tokens"
    r"|maximum context|prompt is too long",
    re.IGNORECASE,
)
_PAYLOAD = re.compile(
    r"(?:request|payload|body|entity)\b.{0,60}?(?:too (?:large|big)|exceed)", re.I
)
_OUR_LIMIT = re.compile(
    r"\A[^.]{0,40}\bmax_(?:completion_|new_|output_)?tokens\b[^.]{0,40}?"
    r"\b(?:too|must|cannot|should|exceeds?|out of|invalid|unsupported|not)\b",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content[_ ](?:filter|policy|management|safety|moderation|exists risk)|responsibleai|flagged"
    r"|\bmoderat(?:ion|ed)|guardrail|inappropriate|high risk|data_?inspection|usage (?:policy|guid)"
    r"|(?:safety|filter|policy)[^.]{0,40}(?:block|violat|refus|reject|trigger|check)"
    r"|(?:block|violat|refus|reject|trigger)[^.]{0,40}(?:safety|filter|polic|usage guidelines)"
    r"|sensitive (?:content|words?|information|data)"
    r"|(?:harmful|unsafe|prohibited|nsfw) (?:content|\w)"
    r"|敏感|不安全|违规",
    re.IGNORECASE,
)
_FILTER_STATUSES = frozenset({400, 403, 406, 422, 451})
_QUOTA = re.compile(
    r"insufficient_quota|billing_hard_limit|billing_not_active|insufficient[_ ]balance"
    r"|out of credits|credit balance|arrearage",
    re.IGNORECASE,
)
_SHOWN = 200


def failure(error: ServerError, *, name: str) -> Exception:
    """Return the exception that an error response of backend `name` stands for."""
    about = f"{error.status} {error.message[:_SHOWN]}".strip()
    said = error.said or f"{error.code} {error.message}"
    if error.status in (400, 403, 429) and _QUOTA.search(said):
        return BackendUnavailable(f"{name}: the quota is used up ({about})")
    if error.status == 429:
        return RateLimited(f"rate limited ({about})", retry_after_s=error.retry_after_s)
    if error.status == 451 or (error.status in _FILTER_STATUSES and _FILTERED.search(said)):
        return Refused(f"the server's content filter refused ({about})")
    if error.status == 403:
        return Denied(f"access was denied ({about})")
    if error.status in _KEY_OR_MODEL:
        return BackendUnavailable(f"{name}: {_KEY_OR_MODEL[error.status]} ({about})")
    if is_too_long(error, said):
        return TooLong(f"the chunk does not fit the model's context ({about})")
    if error.status in _PASSING or error.status >= 500:
        # A gateway that gave up waiting does not stop the server behind it.
        kind = Lost if error.status in _GATEWAY_GAVE_UP else Transient
        return kind(f"server error ({about})", retry_after_s=error.retry_after_s)
    if 300 <= error.status < 400:
        return Rejected(f"the address redirects elsewhere; name the one it leads to ({about})")
    return Rejected(f"the server rejected the request ({about})")


def is_too_long(error: ServerError, said: str) -> bool:
    """Tell whether an error is about how long the request is.

    A field that it names settles it: a limit on one of our own parameters is another matter. A
    server error counts only where it says so in as many words.
    """
    if error.status == 413:
        return True
    if error.status == 500:
        return _OVER_ALONE.search(said) is not None
    if error.status not in (400, 422):
        return False
    named = error.parameter.lower()
    if "max_" in named or (_OUR_LIMIT.match(said) and "input length" not in said):
        return False
    if _OVER_ALONE.search(said) is not None or _PAYLOAD.search(said) is not None:
        return True
    if named and not re.search(r"message|prompt|input|content", named):
        return False
    return _SIZE.search(said) is not None and _OVER.search(said) is not None
