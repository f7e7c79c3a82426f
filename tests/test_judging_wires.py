"""The two ways to a server: what each sends, and that they bring home the same.

`test_judging_server.py` plays every fault of a server through both.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import socket
import ssl
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_server import (
    Answer,
    Cut,
    Endless,
    FakeClock,
    FakeServer,
    Raw,
    Reset,
    Seen,
    answer,
    completion,
    error,
)

from judge.errors import BackendUnavailable, UsageError
from judge.judging.backends import openai
from judge.judging.backends.openai import OpenAIBackend, without_credentials
from judge.judging.backends.wires import direct
from judge.judging.backends.wires import wire as wires
from judge.judging.backends.wires.direct import DirectWire, uses_proxy
from judge.judging.backends.wires.http_connection import Connection
from judge.judging.backends.wires.sdk import SDKWire
from judge.judging.backends.wires.wire import OpenWire, Server
from judge.judging.exchange import Lost, Overlong, Unreachable, Unreadable
from judge.judging.judge import Judge, Pair
from judge.judging.prompt import load_prompt

Post = Callable[..., wires.Answer]
PAIR = Pair("q", "why salt roads", "d", "Salt melts ice.")
BODY = b'{"model":"m","messages":[]}'
# `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500
#  -subj "/CN=loopback test server" -addext "subjectAltName=IP:127.0.0.1,DNS:localhost"`:
# a key that guards nothing.
CERTIFICATE = Path(__file__).parent / "reference" / "loopback.pem"


@pytest.fixture(params=[DirectWire, SDKWire])
def open_wire(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> OpenWire:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return request.param


@pytest.fixture
def post(open_wire: OpenWire) -> Post:
    """Return a function that sends `BODY` once over a wire of its own."""

    def send(base_url: str, *, api_key: str = "sk-1") -> wires.Answer:
        async def once() -> wires.Answer:
            wire = open_wire(Server(base_url, api_key))
            try:
                return await wire.post(BODY)
            finally:
                await wire.close()

        return asyncio.run(once())

    return send


def test_a_body_goes_out_as_it_is_and_the_answer_comes_back(post: Post) -> None:
    with FakeServer(lambda seen: answer(200, {"a": "ü"})) as server:
        back = post(server.url)
    (seen,) = server.seen
    assert (seen.path, seen.raw) == ("/v1/chat/completions", BODY)
    assert seen.headers["authorization"] == "bearer sk-1"
    assert seen.headers["content-type"] == seen.headers["accept"] == "application/json"
    assert (back.status, json.loads(back.content)) == (200, {"a": "ü"})


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_an_error_is_an_answer_like_any_other(post: Post, status: int) -> None:
    with FakeServer(lambda seen: error(status, "no", retry_after="7")) as server:
        back = post(server.url)
    assert (back.status, server.wire) == (status, 1)
    assert back.headers.get("retry-after") == "7"
    assert json.loads(back.content)["error"]["message"] == "no"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed(post: Post, status: int) -> None:
    with FakeServer(lambda seen: Answer(status, b"", {"location": "/v1/elsewhere"})) as server:
        assert (post(server.url).status, server.wire) == (status, 1)


def raw_deflate(content: bytes) -> bytes:
    packing = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packing.compress(content) + packing.flush()


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("deflate", raw_deflate)],
)
def test_a_compressed_answer_is_unpacked(post: Post, encoding: str, encode: Callable) -> None:
    packed = Answer(200, encode(completion().body), {"content-encoding": encoding})
    with FakeServer(lambda seen: packed) as server:
        assert post(server.url).content == completion().body


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
HELLO = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\n\r\nhello",
        b"HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello",
        b"HTTP/1.0 200 OK\r\n\r\nhello",
        b"HTTP/1.1 200\r\ncontent-length: 5\r\n\r\nhello",
        b"HTTP/1.1 100 Continue\r\n\r\n" + HELLO,
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 102 X\r\n\r\n" + HELLO,
        CHUNKED + b"3;ext=1\r\nhel\r\n2\r\nlo\r\n0\r\nX-Trailer: x\r\n\r\n",
    ],
    ids=["no length", "HTTP/1.0", "1.0, no length", "no reason", "interim", "hints", "chunks"],
)
def test_a_response_comes_and_ends_in_one_of_several_ways(post: Post, raw: bytes) -> None:
    with FakeServer(lambda seen: Raw(raw)) as server:
        back = post(server.url)
    assert (back.status, back.content) == (200, b"hello")


def test_a_long_header_may_come(post: Post) -> None:
    with FakeServer(lambda seen: Answer(200, b"", {"x": "y" * 20_000})) as server:
        assert post(server.url).headers["x"] == "y" * 20_000


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\n\r\n", CHUNKED], ids=["plain", "chunks"])
def test_a_body_of_no_stated_length_is_bounded_too(post: Post, head: bytes) -> None:
    chunk = b"100000\r\n" + bytes(2**20) + b"\r\n"
    long = FakeServer(lambda seen: Raw(head + chunk * 17))
    with long as server, pytest.raises(Overlong, match="longer than 16 MiB"):
        post(server.url)


def test_a_body_without_end_is_not_read_to_its_end(post: Post) -> None:
    endless = FakeServer(lambda seen: Endless())
    with endless as server, pytest.raises(Overlong, match="longer than 16 MiB"):
        post(server.url)
    assert server.wire == 1


def test_a_small_body_that_unpacks_into_a_huge_one_is_not_unpacked(post: Post) -> None:
    bomb = Answer(200, gzip.compress(bytes(2 * wires.MOST_BYTES)), {"content-encoding": "gzip"})
    sending = FakeServer(lambda seen: bomb)
    with sending as server, pytest.raises(Overlong, match="longer than 16 MiB"):
        post(server.url)


@pytest.mark.parametrize(
    "act",
    [
        Reset(),
        Cut(),
        Raw(b""),
        Raw(b"HTTP/1.1 100 Continue\r\n\r\n"),
        Raw(CHUNKED + b"5\r\nhello\r\n"),
    ],
    ids=["reset", "cut", "nothing", "interim only", "no last chunk"],
)
def test_a_lost_answer_may_pass(post: Post, act: object) -> None:
    with FakeServer(lambda seen: act) as server, pytest.raises(Lost) as lost:
        post(server.url)
    assert (type(lost.value), server.wire) == (Lost, 1)


UNREADABLE = {
    "not gzip": Answer(200, b"not gzip", {"content-encoding": "gzip"}),
    "endless header": Answer(200, b"", {"x": "y" * 2**20}),
    "no HTTP": Raw(b"SSH-2.0-OpenSSH_9\r\n\r\n"),
    "no header": Raw(b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n"),
    "negative length": Raw(b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n"),
    "another chunk size": Raw(CHUNKED + b"4\r\nhello\r\n0\r\n\r\n"),
}


@pytest.mark.parametrize("act", UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_http_response_is_unreadable(post: Post, act: object) -> None:
    with FakeServer(lambda seen: act) as server, pytest.raises(Unreadable):
        post(server.url)
    assert server.wire == 1


@pytest.mark.parametrize("act", UNREADABLE.values(), ids=UNREADABLE)
def test_what_nobody_can_read_is_asked_for_three_times(open_wire: OpenWire, act: object) -> None:
    with FakeServer(lambda seen: act) as server:
        backend = OpenAIBackend("m", base_url=server.url, api_key="k", open_wire=open_wire)
        with Judge([backend], load_prompt(), clock=FakeClock()) as judge:
            (verdict,) = judge.stream([PAIR])
    assert (verdict.status, verdict.attempts, server.wire) == ("failed", 3, 3)
    assert verdict.reason.startswith(("no valid HTTP response", "the answer cannot be unpacked"))


def test_nobody_at_the_address_is_unreachable(post: Post) -> None:
    with FakeServer() as server:
        url = server.url
    with pytest.raises(Unreachable, match="cannot connect"):
        post(url)


def test_credentials_in_the_address_travel_in_a_header_in_place_of_the_key(post: Post) -> None:
    with FakeServer() as server:
        post(server.url.replace("//", "//me:p%40ss%3A@"))
    sent = server.seen[0].headers["authorization"].partition(" ")
    # The server lowers everything it reads, base64 too: compare in that form.
    assert sent[0] == "basic"
    assert sent[2] == base64.b64encode(b"me:p@ss:").decode().lower()


def test_a_query_in_the_address_stays_behind_the_path(post: Post) -> None:
    with FakeServer() as server:
        post(f"{server.url}?api-version=2&x=a%20b")
    assert server.seen[0].path.replace("+", "%20") == "/v1/chat/completions?api-version=2&x=a%20b"


def test_the_accounts_own_headers_are_sent(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: search\nuser-agent: mine\nno header")
    with FakeServer() as server:
        post(server.url)
    headers = server.seen[0].headers
    assert (headers["openai-organization"], headers["openai-project"]) == ("org-1", "proj-1")
    assert (headers["x-team"], headers["user-agent"]) == ("search", "mine")


def test_only_a_certificate_that_is_trusted_is_accepted(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(CERTIFICATE)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with FakeServer(tls=tls) as server:
        with pytest.raises(Unreachable, match="certificate verify failed"):
            post(server.url)
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        assert post(server.url).status == 200
    assert server.wire == 1


def judged(base_url: str, open_wire: OpenWire, api_key: str | None = None) -> None:
    backend = OpenAIBackend("m", base_url=base_url, api_key=api_key, open_wire=open_wire)
    with Judge([backend], load_prompt()) as judge:
        (verdict,) = judge.stream([PAIR])
    assert verdict.grade == 2


def test_the_key_is_the_environments_where_none_is_given(
    open_wire: OpenWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-env")
        judged(server.url, open_wire)
        judged(server.url, open_wire, api_key="sk-given")
        monkeypatch.delenv("OPENAI_API_KEY")
        judged(server.url, open_wire)
    sent = [seen.headers["authorization"] for seen in server.seen]
    assert sent == ["bearer sk-env", "bearer sk-given", "bearer none"]


def test_a_key_that_no_header_can_hold_is_said_at_once(
    open_wire: OpenWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-env\n")
    with FakeServer() as server, pytest.raises(BackendUnavailable, match="line break") as caught:
        judged(server.url, open_wire)
    assert server.wire == 0
    assert "sk-env" not in str(caught.value)


def test_openai_itself_is_asked_through_its_own_client() -> None:
    official = OpenAIBackend("m", base_url=None, api_key="k")
    named = OpenAIBackend("m", base_url="https://api.openai.com/v1/", api_key="k")
    other = OpenAIBackend("m", base_url="https://eu.example.com/v1", api_key="k")
    assert official._open_wire is named._open_wire is not other._open_wire
    assert official.settings == named.settings


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8080/v1", "ftp://host/v1", "http://", "http://h:x/v1", "http://a..b/"]
)
def test_what_is_no_web_address_is_a_usage_error(url: str) -> None:
    with pytest.raises(UsageError, match="not a web address"):
        OpenAIBackend("m", base_url=url, api_key="k")


def test_a_query_counts_in_the_cache_key_and_is_shown_nowhere() -> None:
    one, two = (without_credentials(f"https://u:p@host/v1?key={key}") for key in ("one", "two"))
    assert one != two
    assert "one" not in one and "u:p" not in one


def test_a_proxy_is_gone_through_by_the_client_unless_the_server_is_excepted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with FakeServer() as proxy:
        monkeypatch.setenv("http_proxy", f"http://me:secret@127.0.0.1:{proxy.port}")
        judged("http://model.example/v1", openai._open_direct)
        with FakeServer() as server:
            monkeypatch.setenv("no_proxy", "127.0.0.1")
            judged(server.url, openai._open_direct)
    (seen,) = proxy.seen
    assert seen.path == "http://model.example/v1/chat/completions"
    assert "proxy-authorization" in seen.headers
    assert (proxy.wire, server.wire) == (1, 1)


@pytest.mark.parametrize(
    ("variables", "address", "used"),
    [
        ({"http_proxy": "http://p:1"}, "http://a.example/v1", True),
        ({"HTTPS_PROXY": "http://p:1"}, "http://a.example/v1", False),
        ({"ALL_PROXY": "http://p:1"}, "https://a.example/v1", True),
        ({"http_proxy": ""}, "http://a.example/v1", False),
        ({"http_proxy": "http://p:1", "no_proxy": "a.example"}, "http://u:p@a.example/v1", False),
        ({"http_proxy": "http://p:1", "no_proxy": "*"}, "http://a.example/v1", False),
    ],
)
def test_which_addresses_lie_behind_a_proxy(
    variables: dict[str, str], address: str, used: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert uses_proxy(address) is used


def test_a_proxy_that_nobody_can_speak_to_is_said_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("http_proxy", "carrier-pigeon://127.0.0.1:1")
    with pytest.raises(BackendUnavailable, match="the proxy of this system cannot be used"):
        judged("http://model.example/v1", openai._open_direct)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("X-Team: a\rInjected: b", "X-Team"),
        ("X Team: a", "X Team"),
        ("X-Té: a", "X-Té"),
        ("X-Team: \udcff", "X-Team"),
        ("Content-Length: 5", "Content-Length"),
        ("upgrade: h2c", "upgrade"),
    ],
)
def test_a_header_that_cannot_be_sent_is_said_at_once(
    line: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", line)
    with FakeServer() as server, pytest.raises(BackendUnavailable, match=f"'{name}' cannot be"):
        judged(server.url, DirectWire)
    assert server.wire == 0


def test_a_server_may_be_called_by_another_name(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "host: model.example")
    with FakeServer() as server:
        post(server.url)
    assert server.seen[0].headers["host"] == "model.example"


def exchanged(server: FakeServer, n: int) -> list[bytes]:
    """Send n requests one after another over one direct wire."""

    async def several() -> list[bytes]:
        wire = DirectWire(Server(server.url, "k"))
        try:
            return [(await wire.post(BODY)).content for _ in range(n)]
        finally:
            await wire.close()

    return asyncio.run(several())


def test_a_connection_is_used_again() -> None:
    with FakeServer() as server:
        assert exchanged(server, 5) == [completion().body] * 5
    assert (server.wire, server.connections) == (5, 1)


def test_a_connection_that_the_server_ends_is_not_used_again() -> None:
    last = Answer(200, b"{}", {"connection": "close"})
    with FakeServer(lambda seen: last) as server:
        assert exchanged(server, 3) == [b"{}"] * 3
    assert (server.wire, server.connections) == (3, 3)


@pytest.mark.parametrize("act", [Reset(), Raw(b"")], ids=["reset", "closed"])
def test_what_is_lost_on_a_used_connection_is_not_sent_again(act: object) -> None:
    # The server may have done the work: whether it is asked again is the caller's to decide.
    server = FakeServer(lambda seen: completion() if seen.number == 0 else act)
    with server, pytest.raises(Lost):
        exchanged(server, 2)
    assert (server.wire, server.connections) == (2, 1)


class Leaving:
    """A server that answers one request a connection and closes it without saying so."""

    def __init__(self, *, after_s: float) -> None:
        self.after_s = after_s
        self.wire = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        await reader.readexactly(length)
        self.wire += 1
        body = completion().body
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        await asyncio.sleep(self.after_s)
        writer.close()


@pytest.mark.parametrize("after_s", [0.0, 0.02])
def test_a_connection_that_was_closed_without_a_word_is_not_written_to(after_s: float) -> None:
    async def several() -> tuple[int, int]:
        leaving = Leaving(after_s=after_s)
        server = await asyncio.start_server(leaving.serve, "127.0.0.1", 0)
        wire = DirectWire(Server(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", "k"))
        answers = 0
        for _ in range(8):
            answers += (await wire.post(BODY)).status == 200
            await asyncio.sleep(after_s * 2)
        await wire.close()
        server.close()
        return answers, leaving.wire

    assert asyncio.run(several()) == (8, 8)


def test_the_end_of_an_idle_connection_is_seen_before_the_loop_reads_it() -> None:
    async def scenario() -> tuple[bool, bool, bool]:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(Connection, sock=ours)
        before = connection.is_fresh()
        theirs.close()
        after = (connection.is_open, connection.is_fresh())
        connection.end()
        await asyncio.sleep(0)
        return before, *after

    assert asyncio.run(scenario()) == (True, True, False)


def test_what_hung_up_on_a_used_connection_is_asked_over_new_ones_from_then_on() -> None:
    # Nobody can tell a close that crosses a request from one that answers it: learn from one.
    async def several(url: str) -> int:
        wire, lost = DirectWire(Server(url, "k")), 0
        for _ in range(8):
            try:
                await wire.post(BODY)
            except Lost:
                lost += 1
        await wire.close()
        return lost

    seen_on: list[int] = []

    def play(seen: Seen) -> object:
        seen_on.append(server.connections)
        return completion() if seen_on.count(server.connections) == 1 else Raw(b"")

    server = FakeServer(play)
    with server:
        assert asyncio.run(several(server.url)) == 1


def test_an_idle_connection_is_not_trusted_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct, "_IDLE_S", 0.0)
    with FakeServer() as server:
        exchanged(server, 3)
    assert (server.wire, server.connections) == (3, 3)


def test_an_answer_that_comes_too_late_is_not_taken_for_the_next_one() -> None:
    def play(seen: Seen) -> Answer:
        return answer(200, {"number": seen.number}, delay_s=0.1 if seen.number == 0 else 0.0)

    async def twice(url: str) -> bytes:
        wire = DirectWire(Server(url, "k"))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await wire.post(BODY)
        await asyncio.sleep(0.1)  # now the first answer is on its way
        second = await wire.post(BODY)
        await wire.close()
        return second.content

    with FakeServer(play) as server:
        assert json.loads(asyncio.run(twice(server.url))) == {"number": 1}
    assert server.connections == 2
