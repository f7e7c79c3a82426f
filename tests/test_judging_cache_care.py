"""Counting, checking, explaining, sharing and pruning a cache."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.judging import cache_care
from judge.judging.backends import open_backend
from judge.judging.cache import JudgmentCache
from judge.judging.judge import Judge, Pair
from judge.judging.prompt import load_prompt

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
        connection.execute("UPDATE Cache SET key = ? WHERE key = ?", ("f" * 64, key))
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
    other = json.dumps({**value, "grade": (value["grade"] + 1) % 4})
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


def test_prune_deletes_what_fits_and_texts_nobody_needs(tmp_path: Path) -> None:
    filled(tmp_path / "c")
    refused(tmp_path / "c", tmp_path)
    cache = filled(tmp_path / "c", prompt="relevance@2")
    assert cache_care.prune(cache, failed=True) == cache_care.Pruned(1, 0)
    assert cache_care.prune(cache, prompt="relevance@1") == cache_care.Pruned(4, 0)
    assert cache_care.prune(cache, model="openai:none") == cache_care.Pruned(0, 0)
    assert cache_care.prune(cache, model="mock") == cache_care.Pruned(4, 5)
