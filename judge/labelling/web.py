"""The labelling page: one address on this machine, for a browser that knows the token.

Three guards stand before everything: the Host must be ours (no other name may be made to point
here), a request that another site's page sends is refused, and each one carries the token.
What a chunk holds travels as JSON and is shown as text; no part of it ever becomes markup.
"""

from __future__ import annotations

import hmac
import socket
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from importlib import resources
from typing import Any

import uvicorn
from pydantic import BaseModel, Field, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, QueryParams
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from judge.errors import InputError, UsageError
from judge.labelling.marking import mark
from judge.labelling.scale import INSTRUCTION, meanings
from judge.labelling.session import Session
from judge.labelling.store import Entry
from judge.spotcheck import Item

ADDRESS = "127.0.0.1"
LARGEST_BODY = 100_000
_PLACE_OF_TOKEN = "TOKEN"  # noqa: S105  where the page's own links take the real one
_PLACE_OF_INSTRUCTION = "INSTRUCTION"
_TYPES = {"page.html": "text/html", "page.css": "text/css", "page.js": "text/javascript"}
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

Json = dict[str, Any]
Scope = MutableMapping[str, Any]
App = Callable[
    [Scope, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]
]


class Guard:
    """Refuses with 403 what is not a request of our own page on our own address."""

    def __init__(self, app: App, *, token: str, host: str) -> None:
        self._app = app
        self._token = token.encode()
        self._host = host

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Pass a request on, or refuse it."""
        refusal = self._refusal(scope) if scope["type"] == "http" else ""
        app = PlainTextResponse(refusal, 403, _HEADERS) if refusal else self._app
        await app(scope, receive, send)

    def _refusal(self, scope: Scope) -> str:
        headers = Headers(scope=scope)
        if headers.get("host") != self._host:
            return f"This page is served as http://{self._host} only."
        if headers.get("origin", f"http://{self._host}") != f"http://{self._host}":
            return "Another site's page may not ask here."
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return "Another site's page may not ask here."
        given = headers.get("x-token") or QueryParams(scope["query_string"]).get("token", "")
        if not hmac.compare_digest(given.encode(), self._token):
            return "The token is missing or wrong: open the address that `judge spotcheck` printed."
        return ""


class _Asked(BaseModel):
    """What the page sends; grade None is a skip."""

    rater: str = Field(min_length=1, max_length=100)
    query_id: str = ""
    id: str = ""
    grade: int | None = Field(default=None, strict=True)
    note: str = Field(default="", max_length=10_000)


def labelling_app(session: Session, *, token: str, host: str) -> Starlette:
    """Return the page's application. host: `127.0.0.1:PORT`, the only name it answers to."""

    def page(name: str) -> Callable[[Request], Response]:
        text = resources.files("judge.labelling").joinpath("page", name).read_text("utf-8")
        body = text.replace(_PLACE_OF_TOKEN, token).replace(_PLACE_OF_INSTRUCTION, INSTRUCTION)
        return lambda _request: Response(body, headers=_HEADERS, media_type=_TYPES[name])

    def answer(act: Callable[[Session, _Asked], Json]) -> Callable[[Request], Awaitable[Response]]:
        async def answered(request: Request) -> Response:
            return await _answer(request, lambda asked: act(session, asked))

        return answered

    routes = [Route(f"/{'' if n == 'page.html' else n}", page(n)) for n in _TYPES]
    routes += [Route(f"/api/{n}", answer(a), methods=["POST"]) for n, a in _ACTIONS.items()]
    return Starlette(routes=routes, middleware=[Middleware(Guard, token=token, host=host)])


async def _answer(request: Request, act: Callable[[_Asked], Json]) -> Response:
    try:
        if request.headers.get("content-type") != "application/json":
            raise UsageError("requests are JSON")
        asked = _Asked.model_validate_json(await _body(request))
        found = await run_in_threadpool(act, asked)
    except (UsageError, InputError, ValidationError) as error:
        return JSONResponse({"error": str(error)}, 400, _HEADERS)
    return JSONResponse(found, headers=_HEADERS)


async def _body(request: Request) -> bytes:
    """Return what was sent; what is too large is refused before memory holds it."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise UsageError("the request is too large")
    return bytes(body)


def _next(session: Session, asked: _Asked) -> Json:
    return _state(session, asked.rater)


def _label(session: Session, asked: _Asked) -> Json:
    item = session.label(asked.rater, (asked.query_id, asked.id), asked.grade, note=asked.note)
    return _state(session, asked.rater) | {"previous": _revealed(item, asked.grade)}


def _undo(session: Session, asked: _Asked) -> Json:
    undone = session.undo(asked.rater)
    if undone is None:
        return _state(session, asked.rater) | {"undone": None}
    item, entry = undone
    return _state(session, asked.rater, item=item) | {"undone": _entry(entry)}


_ACTIONS: Mapping[str, Callable[[Session, _Asked], Json]] = {
    "next": _next,
    "label": _label,
    "undo": _undo,
}


def _state(session: Session, rater: str, *, item: Item | None = None) -> Json:
    shown = item or session.next(rater)
    progress = session.progress(rater)
    return {
        "item": None if shown is None else _blind(shown),
        "progress": {
            "graded": progress.graded,
            "skipped": progress.skipped,
            "total": progress.total,
        },
        "scale": list(meanings(session.queue.grade_max)),
        "labels": str(session.store.path),
        "run": session.queue.run,
    }


def _blind(item: Item) -> Json:
    """Return what a person sees before grading: nothing of the judge, nor why it is asked."""
    return {
        "query_id": item.query_id,
        "query": item.query,
        "id": item.id,
        "source": item.source,
        "segments": mark(item.text, item.query),
    }


def _revealed(item: Item, grade: int | None) -> Json | None:
    """Return what the judge said of a chunk that the person has graded; None for a skip."""
    if grade is None:
        return None
    return {
        "yours": grade,
        "judge": item.judge_grade,
        "reason": item.judge_reason,
        "why": f"{item.why}: {item.detail}" if item.detail else str(item.why),
    }


def _entry(entry: Entry) -> Json:
    return {"first": entry.grade, "grade": entry.latest, "note": entry.note}


def listen(port: int = 0) -> socket.socket:
    """Return a socket on this machine's own address; port 0 takes a free one.

    Raises UsageError where the port is taken.
    """
    # The protocol is named because asyncio turns Nagle's delay off only where it is: 40 ms a key.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((ADDRESS, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise UsageError(
            f"--port {port}: {error.strerror}; choose another, or 0 for any"
        ) from error
    return listening


def server(session: Session, listening: socket.socket, *, token: str) -> uvicorn.Server:
    """Return a server of the page; `run(sockets=[listening])` serves until it is told to stop."""
    host, port = listening.getsockname()
    app = labelling_app(session, token=token, host=f"{host}:{port}")
    config = uvicorn.Config(
        app, log_level="warning", server_header=False, lifespan="off", ws="none"
    )
    return uvicorn.Server(config)
