"""What a hostile or broken surrounding does: one message and exit code 2, never a fault."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.api import grading
from judge.cli.main import main
from judge.errors import UsageError
from judge.formats import read_runs
from judge.formats.options import ReadOptions
from judge.judging.backends.mock import Mock
from judge.judging.backends.opening import server_of
from judge.judging.cache_folder import cache_folder

ROW = {"query_id": "q", "query": "fuse", "results": [{"id": "a", "text": "a fuse"}]}
DEEP = "[" * 100_000


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"name": "r", "rows": [ROW]}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("words", "content", "message"),
    [
        (("--backend", "replay:FILE"), DEEP, "nested too deep"),
        (("--backend", "mock:script=FILE"), DEEP, "not a step"),
        (("--backend", "openai:m", "--prices", "FILE"), DEEP, "not a price list"),
        (
            ("--backend", "openai:m", "--prices", "FILE"),
            '{"usd_per_million_tokens": {"m": {"prompt": ' + "9" * 401 + ', "completion": 1}}}',
            "not a price",
        ),
        (("--backend", "openai:m", "--base-url", "http://[::1"), "", "not a web address"),
        (("--backend", "openai:m", "--base-url", "http://u:hunter2@[::1"), "", "--base-url [::1:"),
    ],
)
def test_an_odd_file_or_address_is_one_message(
    run: Path,
    tmp_path: Path,
    run_judge: Callable[..., object],
    words: tuple[str, ...],
    content: str,
    message: str,
) -> None:
    file = tmp_path / "odd.json"
    file.write_text(content, encoding="utf-8")
    done = run_judge("grade", run, *(word.replace("FILE", str(file)) for word in words))
    assert (done.code, done.out) == (2, "")  # type: ignore[attr-defined]
    assert message in done.err and "hunter2" not in done.err  # type: ignore[attr-defined]


def test_half_a_surrogate_pair_from_a_search_is_kept_as_the_replacement_sign(
    tmp_path: Path, run_judge: Callable[..., object]
) -> None:
    (tmp_path / "q.jsonl").write_text('{"query_id": "q", "query": "x"}\n', encoding="utf-8")
    (tmp_path / "reply.json").write_text('["\\ud800"]', encoding="utf-8")
    out = tmp_path / "run.json"
    command = f"sh -c 'cat \"{tmp_path}/reply.json\"' {{query}}"
    done = run_judge("run", tmp_path / "q.jsonl", "--command", command, "-o", out)
    assert done.code == 0, done  # type: ignore[attr-defined]
    (read,) = read_runs(out).values()
    assert [result.id for result in read.rows[0].results] == ["\N{REPLACEMENT CHARACTER}"]


def test_a_user_without_a_home_is_told_to_name_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("pathlib.Path.home", homeless)
    elsewhere = tmp_path / "site-packages/judge/judging/cache_folder.py"
    monkeypatch.setattr("judge.judging.cache_folder.__file__", str(elsewhere))
    with pytest.raises(UsageError, match="JUDGE_CACHE_DIR"):
        cache_folder(None, environ={})
    assert cache_folder(None, environ={"JUDGE_CACHE_DIR": "/kept"}) == Path("/kept")


def test_a_machine_without_a_temporary_folder_is_one_message(
    monkeypatch: pytest.MonkeyPatch, run_judge: Callable[..., object]
) -> None:
    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    done = run_judge("demo")
    assert done.code == 2 and "TMPDIR" in done.err  # type: ignore[attr-defined]


def test_the_server_of_the_environment_is_that_of_openai_alone() -> None:
    environ = {"OPENAI_BASE_URL": "http://here/v1"}
    assert server_of("openai:m", None, environ=environ) == "http://here/v1"
    assert server_of("openai:m", "http://there/v1", environ=environ) == "http://there/v1"
    assert server_of("litellm:openai/m", None, environ=environ) is None


def test_python_asks_the_server_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def opened(text: str, **options: object) -> Mock:
        asked.append((text, options["base_url"]))
        return Mock()

    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setattr(grading, "open_backend", opened)
    with grading.open_judge("openai:m"):
        assert asked == [("openai:m", "http://127.0.0.1:9/v1")]


@pytest.mark.parametrize(
    ("name", "renames"), [("slice", {}), ("type", {}), ("kind_of", {"kind_of": "slice"})]
)
def test_a_slice_beside_hits_is_read_under_every_name_it_may_have(
    tmp_path: Path, name: str, renames: dict[str, str]
) -> None:
    file = tmp_path / "hits.json"
    hits = {"hits": [{"_id": "a", "_source": {"text": "t"}}]}
    file.write_text(json.dumps({"query": "fuse", name: "parts", "hits": hits}), encoding="utf-8")
    (read,) = read_runs(file, ReadOptions(map=renames)).values()
    assert [row.slice for row in read.rows] == ["parts"]


@pytest.mark.parametrize(
    "argv",
    [
        ["grade", "run.json", "--corpus", "locked"],
        ["measure", "run.json", "locked"],
        ["calibrate", "locked", "locked/labels.csv"],
        ["grade", "run.json", "--backend", "replay:locked/r"],
        ["cache", "stats", "--cache-dir", "locked"],
    ],
)
def test_folder_that_cannot_be_entered_is_a_message(
    argv: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # Root may enter every folder: what the system says to others is put in its place.
    monkeypatch.chdir(tmp_path)
    Path("run.json").write_text('{"rows": [{"query_id": "q", "query": "w", "ranked": ["a"]}]}')
    Path("locked").mkdir()
    stat = Path.stat

    def refused(path: Path, **options: bool) -> object:
        if "locked" in path.parent.parts:
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", refused)
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "locked" in said
    assert "ermission denied; check path and rights" in said
