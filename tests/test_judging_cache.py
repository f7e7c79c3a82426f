"""The cache: what is a hit, what is refused, and what a broken disk costs."""

from __future__ import annotations

import json
import pickle
import sqlite3
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judging.backends import open_backend
from judge.judging.cache import CacheTrouble, JudgmentCache
from judge.judging.entries import Entry, Keys, read_entry, read_plain_grades
from judge.judging.judge import Judge, Pair
from judge.judging.prompt import load_prompt
from judge.judging.verdict import PARSER

PAIRS = [Pair(f"q{i}", f"why salt roads {i}", f"d{i}", "Salt melts ice.") for i in range(5)]
ENTRY = Entry(
    key="0" * 64,
    status="graded",
    grade=2,
    reason="",
    raw='{"grade": 2}',
    parser=PARSER,
    field="grade",
    grade_max=3,
    model="m",
    prompt="relevance@1",
    settings_sha256="s",
    query_sha256="q",
    text_sha256="t",
)


def judged(folder: Path, *, redact: bool = False) -> Judge:
    """Grade the pairs with the mock; return the judge for its counts and notices."""
    cache = JudgmentCache(folder, redact=redact)
    with Judge([open_backend("mock")], load_prompt(), cache=cache) as judge:
        grades = [verdict.grade for verdict in judge.stream(PAIRS)]
    assert None not in grades
    return judge


def database(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / "cache.db", isolation_level=None)


def test_the_second_run_makes_no_call(tmp_path: Path) -> None:
    assert judged(tmp_path).calls.made == 5
    calls = judged(tmp_path).calls
    assert (calls.made, calls.cached) == (0, 5)


def test_a_folder_made_here_is_its_owners(tmp_path: Path) -> None:
    JudgmentCache(tmp_path / "new" / "cache").close()
    assert stat.S_IMODE((tmp_path / "new" / "cache").stat().st_mode) == 0o700
    (tmp_path / "old").mkdir(mode=0o755)
    JudgmentCache(tmp_path / "old").close()
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o700


def test_a_folder_that_a_group_shares_stays_shared(tmp_path: Path) -> None:
    folder = tmp_path / "team"
    folder.mkdir()
    folder.chmod(0o770)
    JudgmentCache(folder).close()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o770


def test_a_folder_with_other_things_in_it_is_not_closed(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "notes.txt").touch()
    JudgmentCache(folder).close()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


class Bomb:
    """Unpickling it would show."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (pytest.fail, ("a cache value was unpickled",))


@pytest.mark.parametrize("mode", [1, 2, 3, 4])
def test_18_a_value_replaced_by_a_pickle_is_never_unpickled(tmp_path: Path, mode: int) -> None:
    judged(tmp_path)
    bomb = pickle.dumps(Bomb())
    with database(tmp_path) as connection:
        connection.execute("UPDATE Cache SET mode = ?, value = ?", (mode, bomb))
        # The format is checked first: without it, only entries are left to be read.
        connection.execute("DELETE FROM Cache WHERE key = 'judge-cache'")
    judge = judged(tmp_path)
    assert (judge.calls.made, judge.calls.cached) == (5, 0)
    assert [notice.kind for notice in judge.notices] == ["cache_refused"]
    assert judged(tmp_path).calls.cached == 5


def test_18_a_key_that_is_a_pickle_is_never_unpickled(tmp_path: Path) -> None:
    judged(tmp_path)
    with database(tmp_path) as connection:
        bomb = (pickle.dumps(Bomb()),)
        connection.execute("UPDATE Cache SET key = CAST(key || ? AS BLOB), raw = 0", bomb)
    assert judged(tmp_path).calls.made == 5


@pytest.mark.parametrize(
    "value",
    ["not json", "[]", "7", "{}", '{"status": "graded", "grade": 9}', "[" * 5000, "null"],
)
def test_a_value_that_is_no_entry_is_asked_again(tmp_path: Path, value: str) -> None:
    judged(tmp_path)
    with database(tmp_path) as connection:
        connection.execute("UPDATE Cache SET value = ? WHERE length(key) = 64", (value,))
    judge = judged(tmp_path)
    assert (judge.calls.made, judge.calls.cached) == (5, 0)
    assert judged(tmp_path).calls.cached == 5


@pytest.mark.parametrize("changes", [{"grade": None}, {"grade": 4}, {"grade": True}, {"grade": -1}])
def test_a_graded_entry_without_a_grade_on_the_scale_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        read_entry("k", replace(ENTRY, **changes).plain())


def stored(**changes: Any) -> str:
    """Return an entry as JSON text, some of its fields changed."""
    return json.dumps({**ENTRY.plain(), **changes})


@pytest.mark.parametrize(
    "changes",
    [
        *({"grade": grade} for grade in (None, 4, True, -1, 2.0, "2")),
        *({"grade_max": top} for top in (None, 1, 3.0, True)),
        *({"status": status} for status in ("failed", "refused", "odd", 1)),
        *({name: None} for name in ("reason", "model", "prompt", "field", "text_sha256", "flags")),
        {"parser": 0},
        {"raw": 7},
        {"flags": "odd"},
        {"probabilities": 0.5},
        {"unknown": 1},
    ],
)
def test_an_entry_that_is_not_plain_sends_its_batch_to_be_read_one_by_one(
    changes: dict[str, Any],
) -> None:
    assert read_plain_grades([stored(), stored()]) == [json.loads(stored())] * 2
    assert read_plain_grades([stored(), stored(**changes)]) is None


def test_values_that_are_whole_only_together_are_none() -> None:
    head, tail = stored()[:30], stored()[30:]
    assert read_plain_grades([f"{stored()},{stored()}"]) is None
    assert read_plain_grades([stored(), head, tail]) is None
    assert read_plain_grades(["", stored()]) is None


def test_one_odd_entry_costs_only_its_own_call(tmp_path: Path) -> None:
    judged(tmp_path)
    with database(tmp_path) as connection:
        connection.execute(
            "UPDATE Cache SET value = 'odd' WHERE rowid ="
            " (SELECT min(rowid) FROM Cache WHERE length(key) = 64)"
        )
    judge = judged(tmp_path)
    assert (judge.calls.made, judge.calls.cached) == (1, 4)


def test_a_newer_parser_reads_stored_replies_again() -> None:
    stale = replace(ENTRY, parser=0, status="failed", grade=None, reason="older parser")
    assert read_entry("k", stale.plain()).grade == 2
    fixed = replace(ENTRY, parser=0, raw="Score: 2, not 3")
    assert read_entry("k", fixed.plain()).status == "failed"


def test_a_reply_that_does_not_count_never_becomes_a_grade() -> None:
    cut = replace(ENTRY, parser=0, counts=False, status="failed", grade=None, reason="prompt cut")
    assert read_entry("k", cut.plain()).status == "failed"


def test_16_a_database_that_is_none_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "cache.db").write_bytes(b"this is no database at all" * 100)
    judge = judged(tmp_path)
    assert "moved to cache.db.damaged-1" in judge.notices[0].text
    assert (tmp_path / "cache.db.damaged-1").read_bytes().startswith(b"this is no database")
    assert judged(tmp_path).calls.cached == 5


def test_16_a_database_with_torn_pages_is_set_aside_or_read(tmp_path: Path) -> None:
    judged(tmp_path)
    with database(tmp_path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path = tmp_path / "cache.db"
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xaa" * (len(whole) - 4096))
    judge = judged(tmp_path)  # every pair has its grade
    assert judge.notices


def test_16_a_cache_of_another_version_is_left_alone(tmp_path: Path) -> None:
    judged(tmp_path)
    with database(tmp_path) as connection:
        connection.execute(
            """UPDATE Cache SET value = '{"format": 99}' WHERE key = 'judge-cache'"""
        )
    with pytest.raises(CacheTrouble, match="another version"):
        JudgmentCache(tmp_path)


@pytest.mark.parametrize("place", ["/proc/no-such-place", "/dev/null/cache"])
def test_16_a_folder_that_cannot_be_made_is_named(place: str) -> None:
    with pytest.raises(CacheTrouble, match=place):
        JudgmentCache(Path(place))


def test_16_a_full_disk_delivers_the_grades_uncached(tmp_path: Path) -> None:
    cache = JudgmentCache(tmp_path)
    many = [Pair(f"q{i}", f"salt {i}", f"d{i}", "Salt. " * 2000 + str(i)) for i in range(50)]
    with Judge([open_backend("mock")], load_prompt(), cache=cache) as judge:
        cache._connection.execute("PRAGMA max_page_count = 1")  # as full as a disk can be
        verdicts = list(judge.stream(many))
    assert len(verdicts) == 50
    assert all(verdict.grade is not None for verdict in verdicts)
    assert "judgments are not kept from here on" in judge.notices[0].text


KEYED = st.fixed_dictionaries(
    {
        "model": st.text(),
        "base_url": st.text(),
        "temperature": st.integers(),
        "prompt": st.text(),
        "query": st.text(),
        "text": st.text(),
    }
)


def key_of(request: dict[str, Any]) -> str:
    backend = {name: request[name] for name in ("model", "base_url", "temperature")}
    keys = Keys(backend, prompt_sha256=request["prompt"])
    return keys.key(request["query"], request["text"])


@given(KEYED, KEYED)
def test_19_keys_are_equal_just_when_everything_is(one: Any, other: Any) -> None:
    assert (key_of(one) == key_of(other)) == (one == other)
    for name in one:
        changed = {**one, name: other[name]}
        assert (key_of(changed) == key_of(one)) == (one[name] == other[name])


def test_17_a_lone_surrogate_has_a_key() -> None:
    assert Keys({}, prompt_sha256="p").key("\ud800", "x") != Keys({}, prompt_sha256="p").key(
        "\ud801", "x"
    )


def test_redacted_caches_hold_no_text(tmp_path: Path) -> None:
    judged(tmp_path, redact=True)
    with database(tmp_path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"melts" not in stored
    assert b"why salt" not in stored
    assert judged(tmp_path, redact=True).calls.cached == 5


def test_texts_are_stored_once_each(tmp_path: Path) -> None:
    judged(tmp_path)
    cache = JudgmentCache(tmp_path)
    assert sorted(cache.shared("text").values()) == sorted(
        ["Salt melts ice.", *(pair.query for pair in PAIRS)]
    )


def test_a_look_up_of_many_takes_few_selects(tmp_path: Path) -> None:
    cache = JudgmentCache(tmp_path)
    asked: list[str] = []
    cache._connection.set_trace_callback(asked.append)
    cache.find([f"{i:064}" for i in range(5000)])
    assert len(asked) == 10


def test_the_first_valid_verdict_stands(tmp_path: Path) -> None:
    cache = JudgmentCache(tmp_path)
    failed = replace(ENTRY, status="failed", grade=None, raw=None)
    assert cache.keep([failed], shared={}) == [failed]
    assert cache.find([ENTRY.key]) == {}
    assert cache.keep([ENTRY], shared={}) == [ENTRY]
    assert cache.keep([replace(ENTRY, grade=3)], shared={}) == [ENTRY]
    assert cache.keep([failed], shared={}) == [ENTRY]
    assert cache.find([ENTRY.key])[ENTRY.key].grade == 2
