"""`judge run`: complete against a bad server, resumable, and clear about what failed."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner, Result

from judge.cli.run import command
from judge.errors import InputError, UsageError
from judge.formats import read_run


class Bad(BaseHTTPRequestHandler):
    """Fails every tenth request, stalls on the fifth, repeats results; q7 fails for good."""

    release: threading.Event
    lock: threading.Lock
    count = 0
    asked: list[str]

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)["q"][0]
        cls = type(self)
        with self.lock:
            cls.count += 1
            number = cls.count
            self.asked.append(query)
        if number == 5:
            self.release.wait(10)
            return
        broken = number % 10 == 0 or query == "query 7"
        self.send_response(500 if broken else 200)
        self.end_headers()
        self.wfile.write(json.dumps({"results": [query, "x", "x"]}).encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def bad_server() -> Iterator[tuple[str, type[Bad]]]:
    handler = type(
        "Served", (Bad,), {"release": threading.Event(), "lock": threading.Lock(), "asked": []}
    )
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        thread = threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}/?q={{query}}", handler
        handler.release.set()
        served.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.running.asking._LONGEST_WAIT_S", 0.0)


def run(*args: object) -> Result:
    return CliRunner().invoke(command, [str(arg) for arg in args], catch_exceptions=False)


def queries(folder: Path, n: int) -> Path:
    path = folder / "queries.tsv"
    path.write_text("".join(f"q{i}\tquery {i}\n" for i in range(n)), encoding="utf-8")
    return path


def echo(code: str) -> str:
    return f'{sys.executable} -c "{code}" {{query}}'


def test_a_bad_server_is_asked_until_the_run_is_complete(
    bad_server: tuple[str, type[Bad]], tmp_path: Path
) -> None:
    url, handler = bad_server
    out = tmp_path / "run.json"
    args = (queries(tmp_path, 20), "--url", url, "-o", out, "--timeout", "0.3")
    result = run(*args)
    assert result.exit_code == 0
    found = read_run(out)
    assert [row.key for row in found.rows] == [f"q{i}" for i in range(20)]
    assert [row.key for row in found.rows if row.error] == ["q7"]
    assert all(row.results[0].id == row.query for row in found.rows if not row.error)
    assert result.stdout.startswith(f"DONE {out}: 20 queries, 1 failed, 0 empty lists")
    assert "note: ids repeated in a list: 19" in result.stderr
    handler.asked.clear()
    again = run(*args)
    assert set(handler.asked) == {"query 7"}
    assert "going on: 19 of 20 answered before" in again.stderr


def test_what_was_answered_before_an_interruption_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    stop = "import sys; sys.exit(3) if sys.argv[1] == 'query 1' else print(sys.argv[1])"
    asked = queries(tmp_path, 2)
    first = run(asked, "--command", echo(stop), "-o", out, "--retries", 0)
    assert "1 failed" in first.stdout
    assert (tmp_path / "run.json.partial").exists()
    with pytest.raises(UsageError, match="other queries or settings"):
        run(asked, "--command", echo("print(1)"), "-o", out)


def test_a_complete_run_leaves_no_partial_file(tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    result = run(queries(tmp_path, 3), "--command", echo("print('a')"), "-o", out)
    assert result.stdout == f"DONE {out}: 3 queries, 0 failed, 0 empty lists\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["queries.tsv", "run.json"]


def test_repeats_are_numbered_and_their_noise_is_said(tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    result = run(queries(tmp_path, 2), "--command", echo("print('a')"), "-o", out, "--repeat", 3)
    assert [read_run(tmp_path / f"run-{n}.json").name for n in (1, 2, 3)] == [
        *("run-1", "run-2", "run-3")
    ]
    assert result.stdout.splitlines()[-1] == (
        "NOISE top 10 of 0 of 2 queries changed between 3 repeats; 1.000 of a list stays the same"
    )


def test_if_no_query_is_answered_there_is_no_run(tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    with pytest.raises(InputError, match="no query was answered: ended with 1"):
        run(queries(tmp_path, 2), "--command", echo("1/0"), "-o", out, "--retries", 0)
    assert not out.exists()


def test_headers_come_from_the_environment_and_go_nowhere_else(
    bad_server: tuple[str, type[Bad]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_TOKEN", "s3cret")
    out = tmp_path / "run.json"
    result = run(
        *(queries(tmp_path, 2), "--url", bad_server[0], "-o", out),
        *("--header", "Authorization: Bearer ${SEARCH_TOKEN}"),
    )
    assert result.exit_code == 0
    assert "s3cret" not in out.read_text("utf-8") + result.output
    with pytest.raises(UsageError, match="no variable NONE_SUCH"):
        run(queries(tmp_path, 2), "--url", bad_server[0], "--header", "X: ${NONE_SUCH}")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--command", "serch {query}"), "--command: there is no program serch"),
        (("--url", "http://h/{query}", "--header", "A: \u6f22"), "--header 'A': its name or value"),
        (("--url", "http://h/{query}", "--header", "A: ${TWO_LINES}"), "--header 'A': its name"),
        ((), "say what to ask: either --command or --url"),
        (("--command", "s {query}", "--url", "http://h/{query}"), "say what to ask"),
        (("--command", "s {query}", "--header", "A: b"), "--body and --header go with --url"),
        (("--url", "http://h/{query}", "--header", "A"), "--header: write 'Name: value'"),
        (("--command", "s {query}", "--queries", "f"), "judge run: the queries are the argument"),
        (
            ("--command", "cat {query}", "-o", "/nowhere/run.json"),
            "/nowhere/run.json.partial: cannot",
        ),
    ],
)
def test_wrong_flags_are_usage_errors(
    args: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_text("q1\tx\n", encoding="utf-8")
    monkeypatch.setenv("TWO_LINES", "one\nhunter22")
    fixed = [str(tmp_path / "f") if arg == "f" else arg for arg in args]
    with pytest.raises(UsageError) as caught:
        run(queries(tmp_path, 1), *fixed)
    assert str(caught.value).startswith(said)
