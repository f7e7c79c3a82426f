"""Counting, checking, explaining, sharing and pruning a cache."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

from judge.cli.cache import command as cache_command
from judge.errors import InputError, UsageError
from judge.judging import cache_care
from judge.judging.backends import open_backend
from judge.judging.cache import JudgmentCache
from judge.judging.cache_trouble import CacheTrouble
from judge.judging.judge import Judge, Pair
from judge.judging.prompt import load_prompt
from judge.judging.salvage import rows_left

PAIRS = [Pair(f"q{i}", f"why salt roads {i}", f"d{i}", "Salt melts ice.") for i in range(4)]


def filled(folder: Path, *, prompt: str = "relevance@1") -> JudgmentCache:
    """Return a cache with four mock verdicts under a prompt."""
    with Judge([open_backend("mock")], load_prompt(prompt), cache=JudgmentCache(folder)) as judge:
        list(judge.stream(PAIRS))
    return JudgmentCache(folder)


def refused(folder: Path, tmp_path: Path) -> None:
    """Add one refusal to a cache."""
    script = tmp_path / "script.jsonl"
    script.write_text('{"failure": "refused", "reason": "no"}\n')
    backend = open_backend(f"mock:script={script}")
    with Judge([backend], load_prompt(), cache=JudgmentCache(folder)) as judge:
        list(judge.stream(PAIRS[:1]))


def test_stats_count_by_model_prompt_and_status(tmp_path: Path) -> None:
    filled(tmp_path / "c")
    refused(tmp_path / "c", tmp_path)
    found = cache_care.stats(filled(tmp_path / "c", prompt="relevance@2"))
    assert found.statuses[("mock", "relevance@1", "graded")] == 4
    assert found.statuses[("mock", "relevance@2", "graded")] == 4
    assert sorted(status for _, _, status in found.statuses) == ["graded", "graded", "refused"]
    assert (found.entries, found.texts, found.cost_usd, found.unpriced) == (9, 5, 0.0, 0)


def test_verify_finds_a_verdict_filed_under_another_pair(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    assert cache_care.verify(cache).is_sound
    with sqlite3.connect(tmp_path / "cache.db") as connection:
        (key,) = connection.execute("SELECT max(key) FROM Cache WHERE length(key) = 64").fetchone()
        # As an older version stored it: the checksum that covers the key is not there.
        without = "json_remove(value, '$.check')"
        change = f"UPDATE Cache SET key = ?, value = {without} WHERE key = ?"
        connection.execute(change, ("f" * 64, key))
    found = cache_care.verify(JudgmentCache(tmp_path))
    assert (found.misfiled, found.is_sound) == (("f" * 64,), False)


def test_verify_counts_what_it_cannot_read_or_check(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    cache_care.prune(cache, texts=True)
    with sqlite3.connect(tmp_path / "cache.db") as connection:
        (key,) = connection.execute("SELECT max(key) FROM Cache WHERE length(key) = 64").fetchone()
        connection.execute("UPDATE Cache SET value = '{}' WHERE key = ?", (key,))
    found = cache_care.verify(JudgmentCache(tmp_path))
    assert (found.entries, found.unreadable, found.unchecked) == (3, 1, 3)


def test_explain_shows_every_setting_a_pair_was_judged_under(tmp_path: Path) -> None:
    filled(tmp_path)
    cache = filled(tmp_path, prompt="relevance@2")
    found = cache_care.explain(cache, "why salt roads 2", "Salt melts ice.")
    assert sorted(explained.entry.prompt for explained in found) == ["relevance@1", "relevance@2"]
    assert {explained.settings["backend"]["kind"] for explained in found} == {"mock"}
    assert cache_care.explain(cache, "why salt roads 2", "Salt melts ice. ") == []


def test_what_is_exported_serves_another_cache(tmp_path: Path) -> None:
    lines = list(cache_care.export(filled(tmp_path / "a"), with_texts=True))
    assert lines == sorted(lines, key=lambda line: json.loads(line)["key"])
    other = JudgmentCache(tmp_path / "b")
    assert cache_care.import_lines(other, lines, where="x") == cache_care.Imported(4, 0, 0)
    assert cache_care.import_lines(other, lines, where="x") == cache_care.Imported(0, 4, 0)
    assert cache_care.verify(other) == cache_care.Verified("ok", 4, 0, (), 0)
    with Judge([open_backend("mock")], load_prompt(), cache=other) as judge:
        list(judge.stream(PAIRS))
    assert judge.calls.made == 0
    assert list(cache_care.export(JudgmentCache(tmp_path / "b"), with_texts=True)) == lines


def test_an_export_without_texts_holds_none(tmp_path: Path) -> None:
    assert "melts" not in "".join(cache_care.export(filled(tmp_path)))


def test_an_import_that_differs_leaves_the_grade_that_was_there(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    (line, *_) = cache_care.export(cache)
    value = json.loads(line)
    grade = (value["grade"] + 1) % 4
    other = json.dumps({**value, "grade": grade, "raw": json.dumps({"grade": grade})})
    assert cache_care.import_lines(cache, [other], where="x") == cache_care.Imported(0, 0, 1)
    assert cache.find([value["key"]])[value["key"]].grade == value["grade"]


def test_every_bad_line_is_named_and_nothing_is_imported(tmp_path: Path) -> None:
    good = list(cache_care.export(filled(tmp_path / "a")))
    bad = ["{", "[]", '{"key": "zz"}', json.dumps({**json.loads(good[0]), "grade": 7})]
    cache = JudgmentCache(tmp_path / "b")
    with pytest.raises(InputError) as caught:
        cache_care.import_lines(cache, [good[0], *bad], where="team.jsonl")
    assert [problem.where for problem in caught.value.problems] == [
        f"team.jsonl:{number}" for number in (2, 3, 4, 5)
    ]
    assert cache_care.stats(cache).entries == 0


NAN = float("nan")


@pytest.mark.parametrize(
    "forged",
    [
        {"cost_usd": "lots"},
        {"cost_usd": NAN},
        {"cost_usd": -1},
        {"prompt_tokens": "900"},
        {"prompt_tokens": True},
        {"flags": [1]},
        {"probabilities": [NAN, 0, 0, 1]},
        {"probabilities": [{}]},
        {"counts": "no"},
        {"sent": "x"},
        {"raw": '{"grade": 7}'},
        {"key": "0" * 64},
        {"chunk": "Another text."},
        {"query_sha256": "0" * 64},
        {"settings": "{}"},
    ],
)
def test_a_line_that_contradicts_itself_is_not_imported(
    forged: dict[str, object], tmp_path: Path
) -> None:
    line = next(cache_care.export(filled(tmp_path / "a"), with_texts=True))
    cache = JudgmentCache(tmp_path / "b")
    with pytest.raises(InputError, match="x:1: not an exported verdict"):
        cache_care.import_lines(cache, [json.dumps({**json.loads(line), **forged})], where="x")
    assert cache_care.import_lines(cache, [line], where="x").added == 1


@pytest.mark.parametrize("field", ["cost_usd", "prompt_tokens", "flags", "probabilities", "sent"])
def test_a_stored_value_of_a_wrong_kind_is_refused(field: str, tmp_path: Path) -> None:
    filled(tmp_path)
    with sqlite3.connect(tmp_path / "cache.db") as connection:
        change = f"UPDATE Cache SET value = json_set(value, '$.{field}', json('[7]'))"
        connection.execute(change + " WHERE length(key) = 64")
    cache = JudgmentCache(tmp_path)
    assert (cache_care.stats(cache).entries, cache_care.verify(cache).unreadable) == (0, 4)
    keys = [row[0] for row in connection.execute("SELECT key FROM Cache WHERE length(key) = 64")]
    assert cache.find(keys) == {}


def damaged(folder: Path) -> Path:
    """Make a cache whose database opens, but in which the pages with entries are damaged."""
    pairs = [Pair(f"q{i}", f"why salt roads {i}", f"d{i}", "Salt melts ice.") for i in range(60)]
    with Judge([open_backend("mock")], load_prompt(), cache=JudgmentCache(folder)) as judge:
        list(judge.stream(pairs))
    with sqlite3.connect(folder / "cache.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    data = (folder / "cache.db").read_bytes()
    pages = [data[at : at + 4096] for at in range(0, len(data), 4096)]
    entries = [b"query_sha256" in page and b'"format"' not in page for page in pages]
    kept = [b"\xa5" * 4096 if bad else page for page, bad in zip(pages, entries, strict=True)]
    (folder / "cache.db").write_bytes(b"".join(kept))
    return folder


def test_verify_says_that_a_database_is_damaged(tmp_path: Path) -> None:
    found = cache_care.verify(JudgmentCache(damaged(tmp_path)))
    assert found.database != "ok"
    assert not found.is_sound


@pytest.mark.parametrize("command", ["stats", "export", "prune --failed", "explain why since"])
def test_a_damaged_database_is_said_in_a_line(command: str, tmp_path: Path) -> None:
    arguments = [*command.split(), "--cache-dir", str(damaged(tmp_path))]
    with pytest.raises(CacheTrouble, match=r"malformed; `judge cache salvage`"):
        CliRunner().invoke(cache_command, arguments, catch_exceptions=False)


def test_a_folder_that_is_named_and_holds_nothing_is_not_made(tmp_path: Path) -> None:
    arguments = ["stats", "--cache-dir", str(tmp_path / "typo")]
    with pytest.raises(UsageError, match="no judgments are kept there"):
        CliRunner().invoke(cache_command, arguments, catch_exceptions=False)
    assert not (tmp_path / "typo").exists()


def test_verify_says_of_what_is_no_database_that_it_is_none(tmp_path: Path) -> None:
    (tmp_path / "cache.db").write_bytes(b"this is no database " * 99)
    done = CliRunner().invoke(
        cache_command, ["verify", "--cache-dir", str(tmp_path)], standalone_mode=False
    )
    assert (done.return_value, done.stdout.partition(" ")[0]) == (1, "FAIL")
    assert "file is not a database; `judge cache salvage`" in done.stdout


def killed(folder: Path, pairs: int) -> Path:
    """Make a cache as a killed process leaves it: what was written last is in the log only."""
    living = folder.with_name("living")
    asked = [Pair(f"q{i}", f"why salt roads {i}", f"d{i}", "Salt melts.") for i in range(pairs)]
    reader = filled(living)  # as long as somebody reads, the log stays
    with Judge([open_backend("mock")], load_prompt(), cache=JudgmentCache(living)) as judge:
        list(judge.stream(asked))
    shutil.copytree(living, folder)
    reader.close()
    return folder


def overwrite(path: Path, at: int, data: bytes) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:at] + data + whole[at + len(data) :])


def test_no_command_that_reads_touches_a_damaged_database_or_its_log(tmp_path: Path) -> None:
    folder = killed(tmp_path / "c", 196)
    overwrite(folder / "cache.db", 0, bytes(4096))
    overwrite(folder / "cache.db", 3 * 4096, bytes(4096))
    before = {path.name: path.read_bytes() for path in folder.glob("cache.db*[bl]")}
    assert len(before["cache.db-wal"]) > 196 * 500
    for command in ("stats", "verify", "export", "explain why since"):
        CliRunner().invoke(cache_command, [*command.split(), "--cache-dir", str(folder)])
        assert {path.name: path.read_bytes() for path in folder.glob("cache.db*[bl]")} == before


@pytest.mark.parametrize("damage", ["database", "log's header", "log's first frame", "both"])
def test_nothing_that_can_be_read_is_lost_with_a_database_or_its_log(
    damage: str, tmp_path: Path
) -> None:
    folder = killed(tmp_path / "c", 196)
    if damage in ("database", "both"):
        overwrite(folder / "cache.db", 0, b"nonsense" * (4096 * 20 // 8))
    if damage in ("log's header", "both"):
        overwrite(folder / "cache.db-wal", 0, bytes(32))
    if damage == "log's first frame":  # its checksum: SQLite reads a log to the first bad frame
        overwrite(folder / "cache.db-wal", 32 + 16, bytes(8))
    cache_care.salvage(folder)
    found = cache_care.verify(JudgmentCache(folder))
    assert (found.entries, found.is_sound) == (200, True)
    assert cache_care.salvage(folder).added == 0


def test_judging_over_a_database_that_is_none_asks_nothing_twice(tmp_path: Path) -> None:
    folder = killed(tmp_path / "c", 196)
    overwrite(folder / "cache.db", 0, b"nonsense" * 512)
    overwrite(folder / "cache.db-wal", 0, bytes(32))
    with Judge([open_backend("mock")], load_prompt(), cache=JudgmentCache(folder)) as judge:
        list(judge.stream(PAIRS))
    assert (judge.calls.made, judge.calls.cached) == (0, 4)
    assert "moved to cache.db.damaged-1; 200 entries of it" in judge.notices[0].text
    names = {path.name for path in folder.iterdir()}
    assert {"cache.db.damaged-1", "cache.db.damaged-1-wal"} <= names


def test_a_sound_database_is_left_where_it_is(tmp_path: Path) -> None:
    filled(tmp_path).close()
    assert cache_care.salvage(tmp_path) == cache_care.Salvaged(None, (), 0)


def test_what_was_pruned_does_not_come_back(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    with Judge([open_backend("mock")], load_prompt("relevance@2"), cache=cache) as judge:
        list(judge.stream(PAIRS * 20))
    cache = JudgmentCache(tmp_path)
    assert cache_care.prune(cache, prompt="relevance@1").entries == 4
    left = {key for key, _ in rows_left(tmp_path / "cache.db") if len(key) == 64}
    assert left == {entry.key for entry in cache.entries()}


@pytest.mark.parametrize("size", [10, 4000, 4061, 4062, 9000, 200_000])
def test_rows_of_any_length_are_read_as_sqlite_reads_them(size: int, tmp_path: Path) -> None:
    cache = JudgmentCache(tmp_path)
    shared = {f"text:{n}": {"text": "x" * (size + n)} for n in range(20)}
    cache.keep([], shared=shared)
    read = dict(rows_left(tmp_path / "cache.db"))
    assert {key: json.loads(read[key]) for key in shared} == shared
    cache.close()
    read = dict(rows_left(tmp_path / "cache.db"))
    assert {key: json.loads(read[key]) for key in shared} == shared


def test_what_a_full_disk_holds_is_served_and_nothing_is_lost_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, *_ = cache_care.export(filled(tmp_path))

    def full(*args: object, **options: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("diskcache.Cache", full)
    cache = JudgmentCache(tmp_path)
    assert cache.only_reads
    assert cache.notices[0].endswith("disk is full; what it holds is served, and nothing is kept")
    other = Pair("q9", "why not", "d9", "Salt melts ice.")
    with Judge([open_backend("mock")], load_prompt(), cache=cache) as judge:
        graded = [verdict.grade is not None for verdict in judge.stream([*PAIRS, other])]
    assert (graded, judge.calls.cached, judge.calls.made) == ([True] * 5, 4, 1)
    assert cache_care.verify(JudgmentCache(tmp_path)).entries == 4
    (tmp_path / "x.jsonl").write_text(line)
    for writes in (["import", str(tmp_path / "x.jsonl")], ["prune", "--failed"]):
        arguments = [*writes, "--cache-dir", str(tmp_path)]
        with pytest.raises(CacheTrouble, match="nothing is kept"):
            CliRunner().invoke(cache_command, arguments, catch_exceptions=False)


def test_prune_deletes_what_fits_and_texts_nobody_needs(tmp_path: Path) -> None:
    filled(tmp_path / "c")
    refused(tmp_path / "c", tmp_path)
    cache = filled(tmp_path / "c", prompt="relevance@2")
    assert cache_care.prune(cache, failed=True) == cache_care.Pruned(1, 0)
    assert cache_care.prune(cache, prompt="relevance@1") == cache_care.Pruned(4, 0)
    assert cache_care.prune(cache, model="openai:none") == cache_care.Pruned(0, 0)
    assert cache_care.prune(cache, model="mock") == cache_care.Pruned(4, 5)
