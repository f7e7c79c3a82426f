"""Output in any encoding: data is UTF-8, text degrades, and no command fails for it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.cli.main import COMMANDS, main

# In none of these encodings alone: Chinese, Greek, an emoji, the ellipsis, a lone surrogate.
NAME = "词 \N{GREEK SMALL LETTER ALPHA}\N{GRINNING FACE}…"
QUERY = f"{NAME} \ud800 which fuse?"
ENCODINGS = ("ascii", "cp1252", "latin-1", "cp437", "shift_jis", "utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with files of every kind that hold NAME; commands run in it."""
    rows = [
        {
            "query_id": f"{NAME}{n}".replace(" ", "_"),
            "query": QUERY,
            "slice": NAME,
            "results": [{"id": f"{NAME}-{id}", "text": f"{NAME} a fuse {id}"} for id in "abc"],
        }
        for n in range(2)
    ]
    first = rows[0]["query_id"]
    files = {
        "run.json": json.dumps({"name": NAME, "rows": rows}),
        "other.json": json.dumps({"name": f"{NAME}2", "rows": rows}),
        "goldens.jsonl": json.dumps({"query_id": first, "query": QUERY, "expected": [f"{NAME}-b"]}),
        "qrels.jsonl": json.dumps({"query_id": first, "id": f"{NAME}-a", "grade": 2}),
        "labels.csv": f"query_id,chunk_id,grade\n{first},{NAME}-a,1\n",
        "corpus.jsonl": json.dumps({"id": f"{NAME}-a", "text": f"{NAME} a fuse of ten amps"}),
        "queries.jsonl": json.dumps({"query_id": first, "query": QUERY}),
        "reads.jsonl": "",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUDGE_CACHE_DIR", str(tmp_path / "judge-cache"))
    return tmp_path


@pytest.fixture
def in_encoding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, bytes, bytes]]:
    """Return a function that runs `judge` with streams of an encoding."""

    def run(encoding: str, words: str) -> tuple[int, bytes, bytes]:
        kept = io.BytesIO(), io.BytesIO()
        out, err = (io.TextIOWrapper(one, encoding, write_through=True) for one in kept)
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", out)
            patch.setattr("sys.stderr", err)
            with pytest.raises(SystemExit) as ended:
                main([word.replace("~", " ") for word in words.split()])
        out.flush()
        return int(ended.value.code or 0), kept[0].getvalue(), kept[1].getvalue()

    return run


TEXT = (
    "grade run.json --backend mock --goldens goldens.jsonl",
    "compare run.json other.json --backend mock",
    "compare run.json other.json run.json",
    "gate run.json --baseline baseline.json --update-baseline --backend mock",
    "measure run.json other.json qrels.jsonl",
    "measure --per-query run.json qrels.jsonl",
    "demo",
    "retrieve corpus.jsonl queries.jsonl",
    "mine reads.jsonl",
    "sweep --corpus corpus.jsonl --goldens goldens.jsonl --set retriever=bm25,hashed",
    "goldens check goldens.jsonl --corpus corpus.jsonl",
    "rrf-cost --rrf-k 60 --multiplier 0.9",
    "calibrate qrels.jsonl labels.csv",
    "spotcheck nowhere-词",
    "run queries.jsonl --command false~{query}",
    "export qrels.jsonl --to beir",
    "prompts",
    "cache stats",
    "doctor run.json",
    "no-command-词…",
    "grade no-file-词…",
)
JSON = (
    "grade run.json --backend mock --json",
    "compare run.json other.json --backend mock --json",
    "compare run.json other.json run.json --json",
    "gate run.json --baseline baseline.json --update-baseline --backend mock --json",
    "measure run.json qrels.jsonl --json --per-query",
    "goldens check goldens.jsonl --corpus corpus.jsonl --json",
    "rrf-cost --rrf-k 60 --multiplier 0.9 --json",
    "calibrate qrels.jsonl labels.csv --json",
)
FILES = ("export run.json --to run", "export qrels.jsonl --to csv", "export qrels.jsonl --to jsonl")


def test_every_command_is_tried() -> None:
    assert {words.split()[0] for words in TEXT} >= set(COMMANDS)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("words", TEXT)
def test_text_degrades_and_the_exit_code_stays(
    words: str, in_encoding: Callable[..., tuple[int, bytes, bytes]]
) -> None:
    codes = set()
    for encoding in ENCODINGS:
        code, out, err = in_encoding(encoding, words)
        codes.add(code)
        assert b"Traceback" not in err
        if not words.startswith(("retrieve", "export")):  # these print a file
            assert (out + err).decode(encoding)
    assert len(codes) == 1, codes


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("words", JSON)
def test_json_is_utf_8_in_every_encoding(
    words: str, in_encoding: Callable[..., tuple[int, bytes, bytes]]
) -> None:
    in_encoding("utf-8", words)  # what a first run keeps, such as a baseline, is there for all
    plain = {
        encoding: json.dumps(_timeless(json.loads(in_encoding(encoding, words)[1].decode("utf-8"))))
        for encoding in ENCODINGS
    }
    assert len(set(plain.values())) == 1


def _timeless(document: object) -> object:
    return {**document, "timing": None, "calls": None} if isinstance(document, dict) else document


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("words", FILES)
def test_a_file_on_standard_output_is_utf_8(
    words: str, in_encoding: Callable[..., tuple[int, bytes, bytes]]
) -> None:
    printed = {in_encoding(encoding, words)[1] for encoding in ENCODINGS}
    assert len(printed) == 1
    assert NAME in printed.pop().decode("utf-8") or "run" in words


@pytest.mark.parametrize(
    ("encoding", "printed"),
    [
        ("ascii", "no such file: a...b \\u8bcd -> x"),
        ("cp1252", "no such file: a…b \\u8bcd -> x"),
        ("utf-8", "no such file: a…b 词 → x"),
    ],
)
def test_signs_of_ours_become_ascii_and_others_their_escapes(
    encoding: str, printed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judge.cli.printing import degrade_text

    kept = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(kept, encoding, write_through=True))
    degrade_text()
    print("no such file: a…b 词 → x", end="")
    assert kept.getvalue().decode(encoding) == printed
