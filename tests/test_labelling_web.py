"""The page's server: what it refuses, what it answers, what it never says early."""

from __future__ import annotations

import http.client
import json
import socket
import threading

import pytest

from judge.errors import UsageError
from judge.labelling.session import Session
from judge.labelling.store import LabelStore
from judge.spotcheck import Item, Queue, Why

web = pytest.importorskip("judge.labelling.web")

TOKEN = "right"


@pytest.fixture(scope="module")
def ending():
    """Wait for all servers at once: each takes a fifth of a second to end."""
    servers = []
    yield servers
    for thread, listening in servers:
        thread.join()
        listening.close()


@pytest.fixture
def page(tmp_path, ending):
    """Serve three chunks; yield a function that asks the server something."""
    items = [
        Item("q", "query", id, f"text {id}", Why.CORE, pi=0.5, judge_grade=3, judge_reason="why")
        for id in "abc"
    ]
    session = Session(Queue(tuple(items), 3), LabelStore(tmp_path / "labels.csv"))
    listening = web.listen()
    server = web.server(session, listening, token=TOKEN)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    host, port = listening.getsockname()

    def ask(path, body=None, *, method=None, **headers):
        connection = http.client.HTTPConnection(host, port, timeout=10)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            named = {"Content-Type": "application/json", **named}
        connection.request(method or ("POST" if body is not None else "GET"), path, body, named)
        response = connection.getresponse()
        answer = response.status, response.read().decode(), response.headers
        connection.close()
        return answer

    ask.own = f"{host}:{port}"
    ask.session = session
    yield ask
    server.should_exit = True
    ending.append((thread, listening))


def _act(page, action, **asked):
    body = json.dumps({"rater": "ann", **asked})
    status, answer, _ = page(f"/api/{action}", body, X_Token=TOKEN)
    return status, json.loads(answer)


def test_page_and_its_parts_come_with_the_token_only(page):
    for path in ("/", "/page.css", "/page.js"):
        assert page(f"{path}?token={TOKEN}")[0] == 200
        assert page(path)[0] == 403
        assert page(f"{path}?token=wrong")[0] == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Host": "evil.example"},
        {"Host": "localhost"},
        {"X_Token": "wrong"},
    ],
)
def test_requests_of_others_are_refused_and_change_nothing(page, headers):
    body = json.dumps({"rater": "ann", "query_id": "q", "id": "a", "grade": 1})
    status, said, _ = page("/api/label", body, **{"X_Token": TOKEN, **headers})
    assert status == 403
    assert said
    assert page.session.store.entries() == ()


def test_own_origin_is_served(page):
    body = json.dumps({"rater": "ann"})
    own = f"http://{page.own}"
    headers = {"X_Token": TOKEN, "Origin": own, "Sec_Fetch_Site": "same-origin"}
    assert page("/api/next", body, **headers)[0] == 200


def test_page_may_load_nothing_from_outside_nor_be_framed(page):
    _, _, headers = page(f"/?token={TOKEN}")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy and "http" not in policy
    for path in ("/", "/page.css", "/page.js"):
        body = page(f"{path}?token={TOKEN}")[1]
        assert "http://" not in body and "https://" not in body


def test_judge_s_grade_comes_after_the_person_s(page):
    status, state = _act(page, "next")
    assert status == 200
    assert set(state["item"]) == {"query_id", "query", "id", "source", "segments"}
    _, state = _act(page, "label", query_id="q", id="a", grade=1, note="hm")
    assert state["previous"] == {"yours": 1, "judge": 3, "reason": "why", "why": "random core"}
    assert state["item"]["id"] == "b"
    assert state["progress"] == {"graded": 1, "skipped": 0, "total": 3}
    assert page.session.store.entries()[0].note == "hm"


def test_skip_reveals_nothing_and_undo_brings_it_back(page):
    _, state = _act(page, "label", query_id="q", id="a", grade=None)
    assert state["previous"] is None
    _, state = _act(page, "undo")
    assert state["undone"] == {"first": None, "grade": None, "note": ""}
    assert state["item"]["id"] == "a"
    assert _act(page, "undo")[1]["undone"] is None


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"query_id": "q", "id": "z", "grade": 1}, "not in this queue"),
        ({"query_id": "q", "id": "a", "grade": 7}, "outside 0..3"),
        ({"query_id": "q", "id": "a", "grade": "<b>"}, "grade"),
        ({"rater": ""}, "rater"),
        ({"note": "x" * 20_000}, "note"),
    ],
)
def test_wrong_requests_are_told_what_is_wrong(page, asked, message):
    status, answer = _act(page, "label", **asked)
    assert status == 400
    assert message in answer["error"]
    assert page.session.store.entries() == ()


def test_forms_of_other_pages_cannot_pass_for_json(page):
    status, said, _ = page("/api/next", "rater=ann", X_Token=TOKEN, Content_Type="text/plain")
    assert (status, json.loads(said)["error"]) == (400, "requests are JSON")


def test_reading_is_no_way_to_write(page):
    assert page(f"/api/undo?token={TOKEN}", method="GET")[0] == 405


def test_taken_port_says_what_to_do(page):
    with pytest.raises(UsageError, match="choose another, or 0"):
        web.listen(int(page.own.rpartition(":")[2]))


@pytest.mark.parametrize("grade", [True, "2", 1.0])
def test_a_grade_is_a_whole_number_and_nothing_that_could_be_read_as_one(page, grade):
    assert _act(page, "label", query_id="q", id="a", grade=grade)[0] == 400
    assert page.session.store.entries() == ()


def test_what_is_too_large_is_refused_before_all_of_it_has_come(page):
    host, port = page.own.split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        head = (
            f"POST /api/next HTTP/1.1\r\nHost: {page.own}\r\nX-Token: {TOKEN}\r\n"
            "Content-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n"
        )
        connection.sendall(head.encode() + b"x" * 200_000)  # and no more: 1 GB was promised
        assert connection.recv(1000).startswith(b"HTTP/1.1 400")
