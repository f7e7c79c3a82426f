"""What a server's error means."""

from __future__ import annotations

import pytest

from judge.errors import BackendUnavailable
from judge.judging.backends.failures import failure, read_error, retry_after_s
from judge.judging.exchange import RateLimited, Refused, Rejected, TooLong, Transient


def kind(status: int, body: object) -> type[Exception]:
    return type(failure(read_error(status, {}, body, now=0), name="openai:m"))


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (401, {"error": {"message": "Incorrect API key"}}, BackendUnavailable),
        (402, {}, BackendUnavailable),
        (403, {}, BackendUnavailable),
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


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry-after": "3"}, "", 3.0),
        ({"retry-after": "0"}, "", 0.0),
        ({"retry-after": "3600"}, "", 3600.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, "", 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, "", 100.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, "", 0.0),
        ({"retry-after": "inf"}, "try again in 2s", 2.0),
        ({"retry-after": "-4"}, "", None),
        ({"retry-after": "nan"}, "", None),
        ({"retry-after": "later"}, "", None),
        ({}, "Please try again in 5.289s. Visit …", 5.289),
        ({}, "Please try again in 450ms.", 0.45),
        ({}, "Please retry after 20 s", 20.0),
        ({}, "try again in 6m0s", 360.0),
        ({}, "try again in a while", None),
        ({}, "try again in " + "9" * 400 + "m", None),
        ({}, "try again in " + "9" * 5000 + "m3s", None),
    ],
)
def test_how_long_a_server_asks_to_wait(
    headers: dict[str, str], message: str, seconds: float | None
) -> None:
    assert retry_after_s(headers, message, now=0) == seconds


def test_a_long_message_is_cut_for_the_report() -> None:
    error = failure(read_error(400, {}, {"message": "x" * 5000}, now=0), name="m")
    assert len(str(error)) < 300
