"""How long a server asks to wait."""

from __future__ import annotations

import pytest

from judge.judging.backends.error_body import read_error
from judge.judging.backends.waits import retry_after_s


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
        ({}, "Please try again in 1h2m3.5s.", 3723.5),
        ({}, "Try again in 3 minutes.", 180.0),
        ({}, "Please wait 2 hours and 5 minutes, then retry.", 7500.0),
        ({}, "The limit resets in 1 day", 86400.0),
        ({}, "Please retry after 86400 seconds.", 86400.0),
        ({}, "You have sent 100 requests in 60 seconds", None),
        ({"retry-after": "5s"}, "", 5.0),
        ({"retry-after": "1m30s"}, "", 90.0),
        ({"retry-after": "2 minutes"}, "", 120.0),
        # By the server's own clock, which is 70 s ahead of ours.
        (
            {
                "retry-after": "Thu, 01 Jan 1970 00:01:40 GMT",
                "date": "Thu, 01 Jan 1970 00:01:10 GMT",
            },
            "",
            30.0,
        ),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT", "date": "?"}, "", 100.0),
        ({}, "try again in " + "9" * 400 + "m", None),
        ({}, "try again in " + "9" * 5000 + "m3s", None),
    ],
)
def test_how_long_a_server_asks_to_wait(
    headers: dict[str, str], message: str, seconds: float | None
) -> None:
    assert retry_after_s(headers, message, now=0) == seconds


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ({"error": {"details": [{"@type": "RetryInfo", "retryDelay": "34.07s"}]}}, 34.07),
        ([{"error": {"details": [{"retryDelay": "34s"}]}}], 34.0),
        ({"error": {"message": "slow down", "retry_after": 7}}, 7.0),
        ({"retry_after_ms": 1500}, 1.5),
        ({"error": {"metadata": {"raw": '{"error": "Please try again in 3 minutes"}'}}}, 180.0),
        ({"retry_after": True, "retryDelay": -3}, None),
    ],
)
def test_a_wait_is_read_from_the_body(body: object, seconds: float | None) -> None:
    assert read_error(429, {}, body, now=0).retry_after_s == seconds
