"""Asking a system: queries in, replies read, failures retried and kept as failures."""

from __future__ import annotations

import io
import json
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from judge.errors import BackendUnavailable, InputError, UsageError
from judge.formats import ReadOptions
from judge.run import Golden, Result, Run
from judge.running.answers import NoResults, results_of
from judge.running.asked import Asked, read_asked
from judge.running.asking import Manner, ask_all, run_of
from judge.running.commands import CommandTarget
from judge.running.noise import Noise, noise
from judge.running.partial import Answer, PartialRun
from judge.running.targets import AskFailed
from judge.running.urls import UrlTarget

FIXTURES = Path(__file__).parent / "fixtures"


def asked(*records: object) -> tuple[Asked, ...]:
    content = "\n".join(json.dumps(record) for record in records)
    return read_asked(io.BytesIO(content.encode())).asked


def queries(n: int) -> tuple[Asked, ...]:
    return asked(*({"query_id": f"q{i}", "query": f"query {i}"} for i in range(n)))


class Scripted:
    """A system that answers a query with the next of its replies, or fails with it."""

    def __init__(self, replies: Mapping[str, list[str | Exception]]) -> None:
        self.replies = {query: iter(of_query) for query, of_query in replies.items()}
        self.asked: list[str] = []

    def ask(self, values: Mapping[str, str]) -> str:
        self.asked.append(values["query"])
        reply = next(self.replies[values["query"]])
        if isinstance(reply, Exception):
            raise reply
        return reply

    def stop(self) -> None:
        """End nothing: nothing of it goes on by itself."""


def answers(
    wanted: tuple[Asked, ...],
    target: object,
    known: Mapping[str, Answer] | None = None,
    **manner: object,
) -> tuple[dict[str, Answer], list[float]]:
    waits: list[float] = []
    found = ask_all(
        wanted,
        target,  # type: ignore[arg-type]
        manner=Manner(concurrency=1, **manner),  # type: ignore[arg-type]
        options=ReadOptions(),
        known=known or {},
        keep=lambda answer: None,
        sleep=waits.append,
    )
    return found, waits


def test_goldens_are_queries_and_stay_with_their_rows() -> None:
    (one,) = asked({"question": "q", "category": "s", "expected": ["a"], "exclude": ["b", 3]})
    assert (one.row.query, one.row.slice, one.exclude) == ("q", "s", {"b", "3"})
    assert one.row.golden == Golden(("a",), None, "q", "s", where="<stream>")


def test_lines_and_query_sets_are_queries() -> None:
    file = read_asked(io.BytesIO(b"q1\treset breaker\nq2\tfuse size\n"))
    assert [(one.row.key, one.row.query) for one in file.asked] == [
        ("q1", "reset breaker"),
        ("q2", "fuse size"),
    ]
    queries = read_asked(FIXTURES / "workbench_query_set.json").asked
    assert [one.row.query for one in queries] == ["reset breaker", "fuse size"]


def test_a_query_without_text_is_an_error() -> None:
    with pytest.raises(InputError, match="<stream>: no query; say which field it is"):
        asked({"query_id": "q1"})


@pytest.mark.parametrize(
    ("reply", "path", "results"),
    [
        ("", None, []),
        ("a\nb\n", None, ["a", "b"]),
        ("a\tsome text\n", None, [{"id": "a", "text": "some text"}]),
        ('["a", {"id": "b"}]', None, ["a", {"id": "b"}]),
        ('{"took": 1, "documents": [1]}', None, [1]),
        ('{"hits": {"hits": []}}', None, []),
        ('{"data": {"list": [{"x": ["a"]}]}}', "data.list.0.x", ["a"]),
    ],
)
def test_results_are_found_in_a_reply(reply: str, path: str | None, results: object) -> None:
    assert results_of(reply, path=path, options=ReadOptions()) == results


@pytest.mark.parametrize(
    ("reply", "path", "said"),
    [
        ('{"a": [', None, "a reply that is no JSON"),
        ('{"error": "x"}', None, "no list of results in an object with error; say where: --hits"),
        ('{"a": 3}', "a.b", "no list at a.b: null"),
        ("[1]", "3", "no list at 3: null"),
    ],
)
def test_a_reply_without_results_says_so(reply: str, path: str | None, said: str) -> None:
    with pytest.raises(NoResults, match=said):
        results_of(reply, path=path, options=ReadOptions())


def test_an_opensearch_response_gives_ids_and_texts() -> None:
    reply = (FIXTURES / "opensearch_search.json").read_text("utf-8")
    target = Scripted({"query 0": [reply]})
    found, _ = answers(queries(1), target)
    run = run_of(queries(1), found, name="r", options=ReadOptions())
    assert [(r.id, r.text) for r in run.rows[0].results] == [
        ("a", "Push the lever."),
        ("b", "Ten ampere."),
    ]


def test_a_failure_is_tried_again_and_waits_as_long_as_it_is_told() -> None:
    busy = AskFailed("busy", worth_a_retry=True, retry_after_s=7)
    down = AskFailed("down", worth_a_retry=True)
    found, waits = answers(queries(1), Scripted({"query 0": [down, busy, '["a"]']}))
    assert found == {"q0": {"key": "q0", "results": ["a"]}}
    assert waits == [0.5, 7]


def test_a_query_that_fails_for_good_is_a_row_that_failed() -> None:
    down = AskFailed("down", worth_a_retry=True)
    wrong = AskFailed("HTTP 400", worth_a_retry=False)
    target = Scripted({"query 0": [down, down], "query 1": [wrong], "query 2": ["[]"]})
    found, _ = answers(queries(3), target, retries=1)
    run = run_of(queries(3), found, name="r", options=ReadOptions())
    assert [(row.key, row.error, row.results) for row in run.rows] == [
        ("q0", "down", ()),
        ("q1", "HTTP 400", ()),
        ("q2", None, ()),
    ]
    assert target.asked == ["query 0", "query 0", "query 1", "query 2"]


def test_a_system_that_refuses_us_ends_it_at_once() -> None:
    refused = BackendUnavailable("refuses us")
    with pytest.raises(BackendUnavailable):
        answers(queries(2), Scripted({"query 0": [refused], "query 1": [refused]}))


def test_an_interruption_comes_through() -> None:
    def interrupt(answer: Answer) -> None:
        raise KeyboardInterrupt

    target = Scripted({f"query {i}": ["[]"] for i in range(50)})
    with pytest.raises(KeyboardInterrupt):
        ask_all(
            queries(50),
            target,
            manner=Manner(concurrency=1),
            options=ReadOptions(),
            known={},
            keep=interrupt,
            sleep=lambda seconds: None,
        )


def test_known_answers_are_not_asked_again() -> None:
    known: dict[str, Answer] = {"q0": {"key": "q0", "results": ["a"]}}
    target = Scripted({"query 1": ['["b"]']})
    found, _ = answers(queries(2), target, known=known)
    assert target.asked == ["query 1"]
    assert set(found) == {"q0", "q1"}


def test_a_query_drops_its_own_source_and_ranks_close_up() -> None:
    wanted = asked({"query_id": "q0", "query": "query 0", "source": "b", "expected": ["c"]})
    found, _ = answers(wanted, Scripted({"query 0": ['["a", "b", "c"]']}))
    run = run_of(wanted, found, name="r", options=ReadOptions())
    assert run.rows[0].results == (Result("a"), Result("c"))
    assert run.rows[0].golden is not None
    assert {notice.kind: notice.count for notice in run.notices} == {"excluded": 1}


ANSWERS = [
    {"key": "q0", "results": ["a"]},
    {"key": "q1", "results": [{"id": "b", "text": "two\u2028lines\x85\x1c\ud800"}]},
]


def test_answers_are_kept_and_a_cut_line_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "run.json.partial"
    partial = PartialRun(path, asked_of="x")
    assert partial.start() == {}
    partial.add(ANSWERS[0])
    partial.add({"key": "q2", "error": "down"})
    path.write_bytes(path.read_bytes() + b'{"key": "q2", "resu')
    kept = {"q0": ANSWERS[0]}
    assert PartialRun(path, asked_of="x").start() == kept
    partial.add(ANSWERS[1])
    assert PartialRun(path, asked_of="x").start() == kept | {"q1": ANSWERS[1]}
    with pytest.raises(UsageError, match="other queries or settings"):
        PartialRun(path, asked_of="y").start()


def test_line_breaks_of_other_alphabets_cut_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "run.json.partial"
    # As an earlier version wrote them: signs beyond ASCII as they are.
    head = [{"asked_of": "x"}, {"key": "q", "results": ["a\u2028b\x85c"]}]
    path.write_text("".join(json.dumps(v, ensure_ascii=False) + "\n" for v in head), "utf-8")
    assert PartialRun(path, asked_of="x").start()["q"]["results"] == ["a\u2028b\x85c"]
    reply = "a\ttext\u2028goes on\nb\x0cc\n"
    assert results_of(reply, path=None, options=ReadOptions()) == [
        {"id": "a", "text": "text\u2028goes on"},
        "b\x0cc",
    ]


def test_what_was_answered_is_there_at_every_moment_of_a_further_start(tmp_path: Path) -> None:
    path = tmp_path / "run.json.partial"
    partial = PartialRun(path, asked_of="x")
    partial.start()
    for answer in ANSWERS:
        partial.add(answer)
    whole = path.read_bytes()
    # Killed after any byte: a further start only ever adds, so nothing of it is lost.
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        PartialRun(path, asked_of="x").start()
        known = whole[:size].count(b"\n") - 1
        assert len(PartialRun(path, asked_of="x").start()) >= known
        if known >= 0:
            assert path.read_bytes().startswith(whole[:size])


def test_a_start_without_answers_stands_in_nobodys_way(tmp_path: Path) -> None:
    path = tmp_path / "run.json.partial"
    PartialRun(path, asked_of="mistyped").start()
    partial = PartialRun(path, asked_of="right")
    assert partial.start() == {}
    partial.add(ANSWERS[0])
    assert list(PartialRun(path, asked_of="right").start()) == ["q0"]


def test_a_command_gets_its_query_as_one_argument() -> None:
    code = "import sys; print(sys.argv[1:])"
    target = CommandTarget((sys.executable, "-c", code, "--q={query}", "{k}"))
    reply = target.ask({"query": "a b; rm -rf $HOME", "query_id": "q", "k": "5"})
    assert reply.strip() == "['--q=a b; rm -rf $HOME', '5']"


def test_a_command_that_fails_says_why() -> None:
    code = "import sys; sys.exit('no index')"
    with pytest.raises(AskFailed, match="ended with 1: no index"):
        CommandTarget((sys.executable, "-c", code)).ask({})
    with pytest.raises(AskFailed, match=r"no answer in 0\.2 s"):
        CommandTarget((sys.executable, "-c", "input_ = __import__('time').sleep(60)"), 0.2).ask({})
    with pytest.raises(UsageError, match="cannot be run"):
        CommandTarget(("/nowhere/search",)).ask({})


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("search", "--command: it must say where {query} goes"),
        ("search {top}", "--command: {top} has no value; there are {query}, {query_id}, {k}"),
        ("search '{query}", "--command: cannot be split into arguments"),
    ],
)
def test_a_command_without_its_query_is_refused(command: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        CommandTarget.parse(command, timeout_s=1)
    assert str(caught.value).startswith(said)


class Handler(BaseHTTPRequestHandler):
    """A search API with moods, chosen by the path."""

    release: threading.Event
    seen: list[tuple[str, str, Mapping[str, str]]]

    def do_GET(self) -> None:
        self._answer("")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def _answer(self, body: str) -> None:
        url = urlsplit(self.path)
        self.seen.append((self.path, body, dict(self.headers.items())))
        if url.path == "/stall":
            self.release.wait(10)
            return
        codes = {"/busy": 429, "/down": 500, "/refused": 401, "/wrong": 400, "/moved": 302}
        code = codes.get(url.path, 200)
        self.send_response(code)
        self.send_header("Retry-After", "3")
        if code == 302:
            self.send_header("Location", "http://elsewhere.example/")
        self.end_headers()
        query = parse_qs(url.query).get("q", [body])[0]
        self.wfile.write(json.dumps({"results": [query, "x", "x"]}).encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[tuple[str, type[Handler]]]:
    handler = type("Handler", (Handler,), {"release": threading.Event(), "seen": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        thread = threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}", handler
        handler.release.set()
        served.shutdown()
        thread.join()


VALUES = {"query": 'a&b "c"/d', "query_id": "q", "k": "5"}


def test_a_url_gets_its_query_encoded(server: tuple[str, type[Handler]]) -> None:
    base, handler = server
    reply = UrlTarget(f"{base}/find?q={{query}}&n={{k}}").ask(VALUES)
    assert json.loads(reply)["results"][0] == 'a&b "c"/d'
    assert handler.seen[0][0] == "/find?q=a%26b%20%22c%22%2Fd&n=5"


def test_a_template_gets_its_query_inside_a_string(server: tuple[str, type[Handler]]) -> None:
    base, handler = server
    body = {"query": {"match": {"body": "{query}"}}, "size": "{k}"}
    UrlTarget(f"{base}/find", body, {"Authorization": "ApiKey s"}).ask(VALUES)
    _, sent, headers = handler.seen[0]
    assert json.loads(sent) == {"query": {"match": {"body": 'a&b "c"/d'}}, "size": 5}
    assert headers["Authorization"] == "ApiKey s"


@pytest.mark.parametrize(
    ("path", "retry", "wait_s", "said"),
    [
        ("/busy", True, 3.0, "HTTP 429"),
        ("/down", True, 3.0, "HTTP 500"),
        ("/wrong", False, 3.0, "HTTP 400"),
        ("/moved", False, 0.0, "give the URL it moved to: http://elsewhere.example/"),
    ],
)
def test_http_errors_say_whether_to_try_again(
    server: tuple[str, type[Handler]], path: str, retry: bool, wait_s: float, said: str
) -> None:
    with pytest.raises(AskFailed, match=said) as caught:
        UrlTarget(server[0] + path + "?q={query}").ask(VALUES)
    assert (caught.value.worth_a_retry, caught.value.retry_after_s) == (retry, wait_s)


def test_a_refusal_a_stall_and_no_server_are_told_apart(server: tuple[str, type[Handler]]) -> None:
    with pytest.raises(BackendUnavailable, match="refuses us: HTTP 401"):
        UrlTarget(server[0] + "/refused?q={query}").ask(VALUES)
    with pytest.raises(AskFailed, match=r"no whole answer in 0\.2 s"):
        UrlTarget(server[0] + "/stall?q={query}", timeout_s=0.2).ask(VALUES)
    with pytest.raises(AskFailed, match="cannot be reached"):
        UrlTarget("http://127.0.0.1:9/?q={query}", timeout_s=2).ask(VALUES)


@pytest.mark.parametrize(
    ("url", "body", "said"),
    [
        ("http://[::1", None, "is no http or https URL"),
        ("http://h\u00e4/?{query}", None, "is no http or https URL"),
        ("http://h:99999/?{query}", None, "is no http or https URL"),
        ("file:///etc/passwd?{query}", None, "is no http or https URL"),
        ("http://host/find", None, "--url: it must say where {query} goes"),
        ("http://host/find", {"q": "x"}, "--body: it must say where {query} goes"),
        ("http://host/{top}?{query}", None, "--url: {top} has no value"),
    ],
)
def test_a_url_that_cannot_be_asked_is_refused(url: str, body: object, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        UrlTarget(url, body)
    assert said in str(caught.value)


def test_noise_is_what_changes_between_repeats() -> None:
    def run(*lists: str, error: str | None = None) -> Run:
        found, _ = {f"q{i}": {"key": f"q{i}", "results": list(of)} for i, of in enumerate(lists)}, 0
        if error:
            found["q2"] = {"key": "q2", "error": error}
        return run_of(queries(3), found, name="r", options=ReadOptions())

    # q0: same list; q1: ab against ba, then bc: overlaps 1 and 1/2; q2 failed once.
    repeats = [run("ab", "ab", "a"), run("ab", "ba", "a"), run("ab", "bc", "a", error="down")]
    assert noise(repeats, k=2) == Noise(2, 2, 1, (1 + 1 + 1 + 0.5) / 4)
    # A list that repeats an id is the same list each time: nothing changed.
    assert noise([run("aab", "aab", "a")] * 2, k=3) == Noise(3, 3, 0, 1.0)
