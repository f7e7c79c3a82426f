"""Search APIs that are asked: one deadline for all of an exchange, and no secret comes back."""

from __future__ import annotations

import base64
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from judge.errors import BackendUnavailable
from judge.running.targets import AskFailed
from judge.running.urls import UrlTarget

OK = b"HTTP/1.1 200 OK\r\n"
VALUES = {"query": "a", "query_id": "q", "k": "5"}


@contextmanager
def serving(answer: Callable[[socket.socket, bytes], None]) -> Iterator[str]:
    """Serve connections on loopback, each with `answer`, given what came first."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, suppress(OSError):  # the client may hang up, as it should
                    answer(connection, connection.recv(1 << 16))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10)
        assert not thread.is_alive()


def dripping(start: bytes, ended: threading.Event) -> Callable[[socket.socket, bytes], None]:
    """Return an answer that begins so, and then goes on byte by byte until nobody listens."""

    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(start)
        while not ended.wait(0.02):
            connection.sendall(b"a")

    return answer


@pytest.mark.parametrize(
    "start",
    [
        OK + b"Content-Length: 100000\r\n\r\n",
        OK + b"X-Long: ",
        b"HTTP/1.1 500 Oh\r\nContent-Length: 100000\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\nffff\r\n",
        b"HTTP/1.1 2",
    ],
    ids=["body", "headers", "error", "chunk", "status"],
)
def test_an_answer_that_drips_is_given_up_in_time(start: bytes) -> None:
    ended = threading.Event()
    with serving(dripping(start, ended)) as url:
        with pytest.raises(AskFailed, match=r"no whole answer in 0\.2 s|HTTP 500 Oh") as caught:
            UrlTarget(url + "/{query}", timeout_s=0.2).ask(VALUES)
        ended.set()
    assert caught.value.worth_a_retry


def test_an_answer_that_is_cut_short_is_no_answer() -> None:
    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(OK + b"Content-Length: 9\r\n\r\na\nb")

    with serving(answer) as url, pytest.raises(AskFailed, match="cut short") as caught:
        UrlTarget(url + "/{query}").ask(VALUES)
    assert caught.value.worth_a_retry


def test_an_answer_that_drips_ends_when_it_is_stopped() -> None:
    ended, dripped = threading.Event(), threading.Event()
    drip = dripping(OK + b"\r\n", ended)

    def answer(connection: socket.socket, request: bytes) -> None:
        dripped.set()
        drip(connection, request)

    with serving(answer) as url:
        target = UrlTarget(url + "/{query}", timeout_s=600)
        failures: list[AskFailed] = []

        def ask() -> None:
            try:
                target.ask(VALUES)
            except AskFailed as failure:
                failures.append(failure)

        asking = threading.Thread(target=ask)
        asking.start()
        dripped.wait(10)
        target.stop()
        asking.join(10)
        assert not asking.is_alive()
        ended.set()


def test_credentials_in_a_url_are_sent_as_a_header() -> None:
    seen: list[bytes] = []

    def answer(connection: socket.socket, request: bytes) -> None:
        seen.append(request)
        connection.sendall(OK + b"\r\n[]")

    with serving(answer) as url:
        UrlTarget(url.replace("//", "//me:si%2Fx@") + "/{query}").ask(VALUES)
    assert b"\r\nAuthorization: Basic " + base64.b64encode(b"me:si/x") in seen[0]
    assert b"me:" not in seen[0]


@pytest.mark.parametrize("status", ["200 OK", "500 Oh", "400 Bad", "401 No", "302 hunter22secret"])
def test_what_was_sent_in_secret_is_in_no_answer(status: str) -> None:
    secrets = ("hunter22secret", "very-hush-token", "from-the-environment")

    def answer(connection: socket.socket, request: bytes) -> None:
        echoed = (
            request
            + b"\n"
            + base64.b64encode(request)
            + b"".join(request.replace(b"\r\n", bytes([sign])) for sign in b"\n ")
        )
        connection.sendall(f"HTTP/1.1 {status}\r\nLocation: /hunter22secret\r\n\r\n".encode())
        connection.sendall(echoed)

    with serving(answer) as url:
        target = UrlTarget(
            url.replace("//", "//me:hunter22secret@") + "/{query}?api_key=very-hush-token&n=5",
            headers={"X-Tenant": "from-the-environment", "Accept": "text/plain"},
            secrets=("from-the-environment",),
        )
        try:
            said = target.ask(VALUES)
        except (AskFailed, BackendUnavailable) as error:
            said = str(error)
    for secret in secrets:
        assert secret not in said
    assert "text/plain" in said or "200" not in status
    packed = [piece for piece in said.split() if len(piece) > 60 and "*" in piece]
    assert packed or "200" not in status


def test_a_wrong_url_is_shown_without_its_password() -> None:
    for url in (
        "http://me:hunter22@[::1",
        "me:hunter22@host/{query}",
        "ftp://me:hunter22@h/{query}",
    ):
        with pytest.raises(Exception, match="is no http or https URL") as caught:
            UrlTarget(url)
        assert "hunter22" not in str(caught.value)
