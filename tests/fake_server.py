"""An OpenAI-compatible server on loopback that does to a client whatever a test says.

A test passes `play`, which is given each request and returns what the server does: an
`Answer`, or one of the ways of not answering. Every request that arrives is kept, so a test
can compare what reached the wire with what the tool reports.

As a program it answers every request with grade 2 after a delay and prints its port; GET /count
tells how many requests came:

    python tests/fake_server.py --delay 0.05
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Seen:
    """One request that arrived: its number from 0, path, headers and body."""

    number: int
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict:
        return json.loads(self.raw)

    @property
    def said(self) -> str:
        """All message contents in a row."""
        return "\n".join(message["content"] for message in self.body["messages"])


@dataclass(frozen=True)
class Answer:
    """A response with a status, headers and body; sent after `delay_s`."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0


@dataclass(frozen=True)
class Hang:
    """Never answers."""


@dataclass(frozen=True)
class Stall:
    """Sends headers, then nothing."""


@dataclass(frozen=True)
class Drip:
    """Sends one byte at a time, this far apart."""

    every_s: float


@dataclass(frozen=True)
class Endless:
    """Sends a body that never ends, as fast as it is read."""


@dataclass(frozen=True)
class Cut:
    """Sends headers and half a body, then closes the connection."""


@dataclass(frozen=True)
class Reset:
    """Drops the connection with a reset."""


@dataclass(frozen=True)
class Raw:
    """Sends these bytes, then closes the connection."""

    sent: bytes


def completion(
    content: object = '{"grade": 2}',
    *,
    finish: str = "stop",
    prompt_tokens: int | None = 900,
    delay_s: float = 0.0,
    logprobs: list | None = None,
    **message: object,
) -> Answer:
    """Return a chat completion with this content."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **message},
        "finish_reason": finish,
    }
    if logprobs is not None:
        choice["logprobs"] = {"content": logprobs}
    body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    if prompt_tokens is not None:
        total = prompt_tokens + 5
        usage = {"prompt_tokens": prompt_tokens, "completion_tokens": 5, "total_tokens": total}
        body["usage"] = usage
    return answer(200, body, delay_s=delay_s)


def answer(status: int, body: object, *, delay_s: float = 0.0, **headers: str) -> Answer:
    """Return a JSON response; header names are written with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    named = {"content-type": "application/json", **named}
    return Answer(status, json.dumps(body).encode(), named, delay_s)


def error(status: int, message: str = "no", *, code: str = "", param: str = "", **headers: str):
    """Return an error in OpenAI's shape."""
    body = {"error": {"message": message, "code": code, "param": param, "type": "error"}}
    return answer(status, body, **headers)


Play = Callable[[Seen], object]


class FakeServer:
    """Runs in a thread of its own while the test's `with` block does."""

    def __init__(
        self, play: Play = lambda seen: completion(), *, tls: ssl.SSLContext | None = None
    ) -> None:
        self.play = play
        self._tls = tls
        self.seen: list[Seen] = []
        self.connections = 0
        self.at_once = 0
        self.most_at_once = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def wire(self) -> int:
        """How many requests arrived."""
        return len(self.seen)

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> FakeServer:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.listen(), self._loop).result()
        return self

    async def listen(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", port, backlog=1024, ssl=self._tls
        )
        self.port = self._server.sockets[0].getsockname()[1]

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while request := await self._read(reader):
                if request.path == "/count":
                    await self._write(writer, answer(200, {"count": self.wire}))
                    continue
                self.seen.append(request)
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
                try:
                    if not await self._act(writer, self.play(request)):
                        return
                finally:
                    self.at_once -= 1
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Seen | None:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        return Seen(self.wire, first.split()[1], headers, raw)

    async def _act(self, writer: asyncio.StreamWriter, act: object) -> bool:
        """Do it; return whether the connection can be used again."""
        if isinstance(act, Answer):
            await asyncio.sleep(act.delay_s)
            await self._write(writer, act)
            return True
        if isinstance(act, Reset):
            linger = struct.pack("ii", 1, 0)  # close with RST
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            return False
        if isinstance(act, Raw):
            writer.write(act.sent)
            await writer.drain()
            return False
        length = 2**40 if isinstance(act, Endless) else 300
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}"
        if not isinstance(act, Hang):
            writer.write(f"{head}\r\n\r\n".encode())
        while isinstance(act, Endless):
            writer.write(b" " * 2**16)
            await writer.drain()
        if isinstance(act, Cut):
            writer.write(b'{"choices": [')
            await writer.drain()
            return False
        while isinstance(act, Drip):
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(act.every_s)
        await asyncio.sleep(3600)
        return False

    async def _write(self, writer: asyncio.StreamWriter, reply: Answer) -> None:
        headers = {"content-type": "text/plain", **reply.headers}
        headers["content-length"] = str(len(reply.body))
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {reply.status} X\r\n{lines}\r\n".encode("latin-1") + reply.body)
        await writer.drain()


class FakeClock:
    """A clock that jumps to the earliest sleeper, after giving sockets a moment."""

    def __init__(self) -> None:
        self.time = 0.0
        self._targets: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        target = self.time + max(0.0, seconds)
        self._targets.append(target)
        try:
            while self.time < target:
                await asyncio.sleep(0.002)
                if target == min(self._targets):
                    self.time = max(self.time, target)
        finally:
            self._targets.remove(target)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.05)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()

    async def run() -> None:
        server = FakeServer(lambda seen: completion(delay_s=options.delay))
        await server.listen(options.port)
        print(server.port, flush=True)
        await asyncio.Event().wait()

    asyncio.run(run())


if __name__ == "__main__":
    main()
