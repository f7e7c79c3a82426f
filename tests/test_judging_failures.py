"""What a server's error means."""

from __future__ import annotations

import pytest

from judge.errors import BackendUnavailable
from judge.judging.backends.error_body import read_error
from judge.judging.backends.failures import failure
from judge.judging.exchange import Denied, RateLimited, Refused, Rejected, TooLong, Transient


def kind(status: int, body: object) -> type[Exception]:
    return type(failure(read_error(status, {}, body, now=0), name="openai:m"))


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (401, {"error": {"message": "Incorrect API key"}}, BackendUnavailable),
        (402, {}, BackendUnavailable),
        (403, {}, Denied),
        (404, {"error": "model not found"}, BackendUnavailable),
        (429, {"error": {"code": "insufficient_quota"}}, BackendUnavailable),
        (429, {"error": {"type": "insufficient_quota"}}, BackendUnavailable),
        (429, {"error": {"code": "rate_limit_exceeded"}}, RateLimited),
        (429, None, RateLimited),
        (400, {"error": {"code": "content_filter"}}, Refused),
        (400, {"error": {"innererror": {"code": "ResponsibleAIPolicyViolation"}}}, Refused),
        (403, {"error": {"message": "blocked by content policy"}}, Refused),
        (400, {"error": {"code": "context_length_exceeded"}}, TooLong),
        (400, {"message": "the request exceeds the available context size"}, TooLong),
        (413, "too large", TooLong),
        (400, {"error": {"message": "messages must be a list"}}, Rejected),
        (422, {"detail": "bad"}, Rejected),
        (301, "", Rejected),
        (500, "<html>", Transient),
        (502, None, Transient),
        (529, {"error": {"type": "overloaded_error"}}, Transient),
        (599, {}, Transient),
        (408, {}, Transient),
        (409, {}, Transient),
    ],
)
def test_each_error_has_one_meaning(status: int, body: object, expected: type[Exception]) -> None:
    assert kind(status, body) is expected


def test_a_long_message_is_cut_for_the_report() -> None:
    error = failure(read_error(400, {}, {"message": "x" * 5000}, now=0), name="m")
    assert len(str(error)) < 300
