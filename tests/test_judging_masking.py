"""Secrets planted where each is sent, servers that echo them: no file, cache or stream has them."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from conftest import Ran
from echoes import ENCODINGS, reveals
from fake_server import Answer, FakeServer, Raw, Seen, answer, completion, error

from judge.judging.backends import open_backend
from judge.judging.backends.masking import mask_of, masked_reply
from judge.judging.exchange import Reply

SECRET = "hunter22-k3y/x"
QUOTED = "hunter22-k3y%2Fx"
TENANT = "tenant-77/hush"


@dataclass(frozen=True)
class Place:
    """Where a secret stands when a server is asked: `{host}` in the URL is the server's."""

    url: str = "http://{host}/v1"
    environ: Mapping[str, str] = field(default_factory=dict)


PLACES = {
    "key": Place(environ={"OPENAI_API_KEY": SECRET}),
    "password": Place(f"http://me:{QUOTED}@{{host}}/v1"),
    "user": Place(f"http://{QUOTED}@{{host}}/v1"),
    "query": Place(f"http://{{host}}/v1?api-key={QUOTED}"),
    "header": Place(environ={"OPENAI_CUSTOM_HEADERS": f"X-Gate: Bearer {SECRET}"}),
}


def verdict(text: str, **message: object) -> Answer:
    return completion(json.dumps({"reason": text, "grade": 2}), **message)


# What else than its words a server can hide an echo in; each is one pair's whole answer.
CARRIERS: Mapping[str, Callable[[str], object]] = {
    "a reason": verdict,
    "prose": lambda said: completion(f"I was sent {said}."),
    "a grade's place": lambda said: completion(json.dumps({"reason": "", "grade": said})),
    "thoughts": lambda said: completion(None, reasoning_content=said),
    "a refusal": lambda said: completion(None, refusal=said),
    "a finish": lambda said: completion('{"grade": 2}', finish=said),
    "an error": lambda said: error(400, f"{'x' * 180} {said}"),
    "an error's code": lambda said: error(422, "no", code=said, param=said),
    "an error within": lambda said: answer(200, {"error": {"message": said, "code": "x"}}),
    "a detail": lambda said: answer(400, {"detail": said}),
    "a long page": lambda said: Answer(200, f"<p>{chr(120) * 190}{said}</p>".encode()),
    "a page": lambda said: Answer(400, f"<p>{said}</p>".encode()),
    "a redirect": lambda said: Answer(302, b"", {"location": "/" + said.replace("\n", "")}),
    "a wait": lambda said: answer(400, {"error": said}, retry_after=said),
    "no HTTP": lambda said: Raw(f"{said}\r\n\r\n".encode()),
}


def echo(number: int, secret: str) -> object:
    """Return the answer to the n-th pair: each encoding and each carrier has its turn."""
    encodings, carriers = list(ENCODINGS.values()), list(CARRIERS.values())
    carry = carriers[number % len(carriers)] if number >= len(encodings) else verdict
    return carry(encodings[number % len(encodings)](secret))


N = len(ENCODINGS) + len(CARRIERS)


def grade(
    place: Place,
    play: Callable[[Seen], object],
    n: int,
    run_judge: Callable[..., Ran],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[Ran, bytes]:
    """Return how `judge grade` ended, and all that it wrote anywhere."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-the-secret")
    for name, value in place.environ.items():
        monkeypatch.setenv(name, value)
    results = [{"id": f"d{i}", "text": f"passage {i:03}"} for i in range(n)]
    rows = [{"query_id": "q", "query": "why", "results": results}]
    run = folder / "run.json"
    run.write_text(json.dumps({"name": "r", "rows": rows}), encoding="utf-8")
    with FakeServer(play) as server:
        url = place.url.replace("{host}", f"127.0.0.1:{server.port}")
        ran = run_judge(
            *("grade", run, "--backend", "openai:m", "--base-url", url, "-k", n),
            *("--cache-dir", folder / "kept", "--out", folder / "out", "--concurrency", 8),
        )
        assert server.wire >= 1
    exported = run_judge("cache", "export", "--with-texts", "--cache-dir", folder / "kept")
    files = [path for name in ("out", "kept") for path in (folder / name).rglob("*")]
    written = b"\n".join(path.read_bytes() for path in files if path.is_file())
    streams = ran.out + ran.err + exported.out + exported.err
    return ran, written + b"\n" + streams.encode()


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_a_secret_that_is_echoed_in_any_way_stands_nowhere(
    place: str, run_judge: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(seen: Seen) -> object:
        assert seen.headers or seen.path
        number = next(i for i in range(N) if f"passage {i:03}" in seen.said)
        return echo(number, SECRET)

    ran, written = grade(PLACES[place], play, N, run_judge, tmp_path, monkeypatch)
    assert ran.code == 3
    assert not reveals(written, SECRET)
    assert b"***" in written
    verdicts = [
        json.loads(line)
        for line in (tmp_path / "out" / "verdicts.jsonl").read_text("utf-8").split("\n")
        if line
    ]
    graded = [one for one in verdicts if one["grade"] is not None]
    # Masking changes no grade: each encoding came with a 2, and each is still readable.
    assert len(graded) >= len(ENCODINGS)
    assert {one["grade"] for one in graded} == {2}


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500])
@pytest.mark.parametrize("place", PLACES)
def test_what_refuses_us_quotes_no_secret(
    place: str,
    status: int,
    run_judge: Callable[..., Ran],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forms = [encoding(SECRET) for encoding in ENCODINGS.values()]
    turns = itertools.cycle(forms)
    code = "insufficient_quota" if status == 429 else ""
    monkeypatch.setattr("judge.judging.retrying._FIRST_WAIT_S", 0, raising=False)
    if status == 500:

        def play(seen: Seen) -> object:
            return error(400, f"{next(turns)} {next(turns)}")
    else:

        def play(seen: Seen) -> object:
            # Where it is cut must not cut a secret in two.
            return error(status, "x" * 190 + SECRET + " " + " ".join(forms), code=code)

    ran, written = grade(PLACES[place], play, 3, run_judge, tmp_path, monkeypatch)
    assert not reveals(written, SECRET)
    assert b"hunter2" not in written
    assert ran.code in (3, 4)


def test_a_short_password_goes_out_with_its_user(tmp_path: Path) -> None:
    # "pw" alone could be a word; what is really sent, with its user, is none.
    mask = mask_of(api_key=None, base_url="http://admin:pw@h/v1", environ={})
    sent = base64.b64encode(b"admin:pw").decode()
    reply = Reply(f'{{"reason": "Basic {sent}, admin:pw, pw", "grade": 1}}')
    assert masked_reply(reply, mask).text == '{"reason": "Basic ***, ***, pw", "grade": 1}'


@pytest.mark.parametrize(
    "url", ["user:hunter22@host", "http://user:hunter22@[::1", "http:/user:hunter22@host/v1"]
)
def test_a_wrong_address_is_shown_without_its_password(
    url: str, run_judge: Callable[..., Ran], tmp_path: Path
) -> None:
    run = tmp_path / "run.json"
    run.write_text('[{"query": "q", "results": [{"id": "d", "text": "t"}]}]')
    ran = run_judge("grade", run, "--backend", "openai:m", "--base-url", url)
    assert (ran.code, ran.out) == (2, "")
    assert "not a web address" in ran.err
    assert "hunter22" not in ran.err
    with pytest.raises(Exception, match="not a web address") as caught:
        open_backend("openai:m", base_url=url)
    assert "hunter22" not in str(caught.value)
