"""The cache: what is a hit, what is refused, and what a broken disk costs."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judging import cache_care
from judge.judging.backends import open_backend
from judge.judging.cache import JudgmentCache
from judge.judging.cache_trouble import CacheTrouble
from judge.judging.entries import (
    Entry,
    Keys,
    read_entry,
    read_plain_grades,
    read_stored,
    stored_text,
)
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


def stored(**changes: Any) -> tuple[bytes, bytes]:
    """Return an entry's key and its JSON, some of its fields changed, as older versions wrote it:
    without a checksum."""
    return ENTRY.key.encode(), json.dumps({**ENTRY.plain(), **changes}).encode()


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
    assert read_plain_grades([stored(), stored()]) == [json.loads(stored()[1])] * 2
    assert read_plain_grades([stored(), stored(**changes)]) is None


def test_values_that_are_whole_only_together_are_none() -> None:
    key, text = stored()
    assert read_plain_grades([(key, text + b"," + text)]) is None
    assert read_plain_grades([(key, text), (key, text[:30]), (key, text[30:])]) is None
    assert read_plain_grades([(key, b""), (key, text)]) is None


def test_a_grade_that_a_flipped_bit_changed_is_asked_again(tmp_path: Path) -> None:
    judged(tmp_path)
    with database(tmp_path) as connection:  # "2" is 0x32, "3" is 0x33
        changed = connection.execute(
            "UPDATE Cache SET value = replace(value, '\"grade\": 0,', '\"grade\": 1,')"
            " WHERE length(key) = 64"
        )
        assert changed.rowcount == 5
    assert not cache_care.verify(JudgmentCache(tmp_path)).is_sound
    judge = judged(tmp_path)
    assert judge.calls.made > 0
    assert [notice.kind for notice in judge.notices] == ["cache_refused"]
    assert cache_care.verify(JudgmentCache(tmp_path)).is_sound


@pytest.mark.parametrize("had_check", [True, False])
def test_every_flipped_bit_of_a_grade_shows(had_check: bool) -> None:
    text = stored_text(ENTRY).encode() if had_check else stored()[1]
    assert read_stored(ENTRY.key, text) == ENTRY
    at = text.index(b'"grade": 2') + len(b'"grade": ')
    for bit in range(8):
        flipped = text[:at] + bytes([text[at] ^ (1 << bit)]) + text[at + 1 :]
        assert read_plain_grades([(ENTRY.key.encode(), flipped)]) is None
        with pytest.raises((ValueError, TypeError)):
            read_stored(ENTRY.key, flipped)


def test_an_entry_under_another_key_is_refused() -> None:
    with pytest.raises(ValueError, match="checksum"):
        read_stored("1" * 64, stored_text(ENTRY).encode())


def test_a_bad_page_costs_the_rows_on_it_and_no_others(tmp_path: Path) -> None:
    pairs = [Pair(f"q{i}", f"why salt roads {i}", f"d{i}", "Salt melts ice.") for i in range(200)]
    with Judge([open_backend("mock")], load_prompt(), cache=JudgmentCache(tmp_path)) as judge:
        list(judge.stream(pairs))
    with database(tmp_path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    path = tmp_path / "cache.db"
    data = path.read_bytes()
    pages = [data[at : at + 4096] for at in range(0, len(data), 4096)]
    bad = [at for at, page in enumerate(pages) if page[0] == 13 and b"query_sha256" in page][5]
    lost = pages[bad].count(b'"query_sha256"')
    path.write_bytes(b"".join([*pages[:bad], bytes(4096), *pages[bad + 1 :]]))
    assert lost
    for _ in range(2):
        with Judge([open_backend("mock")], load_prompt(), cache=JudgmentCache(tmp_path)) as judge:
            grades = [verdict.grade for verdict in judge.stream(pairs)]
        assert None not in grades
        assert judge.calls.cached == 200 - lost
        assert judge.unkept == lost  # their place in the tree is the bad page
        assert any("judge cache salvage" in notice.text for notice in judge.notices)
    assert cache_care.salvage(tmp_path).added == 200 - lost
    with Judge([open_backend("mock")], load_prompt(), cache=JudgmentCache(tmp_path)) as judge:
        list(judge.stream(pairs))
    assert (judge.calls.made, judge.unkept) == (lost, 0)


def test_entries_that_the_index_denies_or_takes_for_others_are_served(tmp_path: Path) -> None:
    judged(tmp_path)
    with database(tmp_path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        hide = "UPDATE sqlite_schema SET sql = ? WHERE name = 'Cache_key_raw'"
        index = "CREATE UNIQUE INDEX Cache_key_raw ON Cache(key, raw)"
        connection.execute(hide, (f"{index} WHERE key > '8'",))
        connection.execute("PRAGMA writable_schema = RESET")
        connection.execute("REINDEX Cache_key_raw")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(hide, (index,))
    connection.close()
    judge = judged(tmp_path)
    assert (judge.calls.made, judge.calls.cached) == (0, 5)
    assert "judge cache salvage" in judge.notices[0].text


def test_a_folder_deleted_while_in_use_is_made_anew_with_what_it_held(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    judged(folder)
    cache = JudgmentCache(folder)
    with Judge([open_backend("mock")], load_prompt(), cache=cache) as judge:
        shutil.rmtree(folder)
        list(judge.stream([*PAIRS, replace(PAIRS[0], query="why not")]))
    assert judge.unkept == 0
    assert "deleted or moved while in use" in judge.notices[0].text
    assert cache_care.verify(JudgmentCache(folder)) == cache_care.Verified("ok", 6, 0, (), 0)


def test_a_folder_that_comes_back_as_a_file_costs_the_caching_and_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    cache = JudgmentCache(folder)
    with Judge([open_backend("mock")], load_prompt(), cache=cache) as judge:
        shutil.rmtree(folder)
        folder.touch()
        grades = [verdict.grade for verdict in judge.stream(PAIRS)]
    assert None not in grades
    assert judge.unkept == 5
    assert "5 judgments of this run are not kept" in judge.notices[0].text


def test_a_disk_that_has_room_again_keeps_what_waited(tmp_path: Path) -> None:
    cache = JudgmentCache(tmp_path)
    pairs = [*PAIRS, replace(PAIRS[0], query="Salt " * 2000)]
    with Judge([open_backend("mock")], load_prompt(), cache=cache) as judge:
        cache._connection.execute("PRAGMA max_page_count = 1")
        asked = judge.stream(pairs)
        first = next(asked)
        cache._connection.execute("PRAGMA max_page_count = 100000")
        assert len([first, *asked]) == 6
    assert judge.unkept == 0
    assert judged(tmp_path).calls.cached == 5


def in_turn(folder: Path, users: Sequence[int]) -> list[str]:
    """Use a cache as several users, one after another; return what each had to say."""
    said = []
    for user in users:
        os.seteuid(user)
        try:
            said += JudgmentCache(folder).notices or ["fine"]
        finally:
            os.seteuid(0)
    return said


@pytest.fixture
def team() -> Iterator[Path]:
    """A folder that several users may write; only root can play them."""
    with tempfile.TemporaryDirectory() as parent:
        Path(parent).chmod(0o755)
        folder = Path(parent, "team")
        folder.mkdir()
        folder.chmod(0o2777)
        yield folder


as_root = pytest.mark.xfail(os.geteuid() != 0, reason="only root can be two users", run=False)


@as_root
def test_what_one_user_leaves_in_a_shared_folder_another_may_write(team: Path) -> None:
    assert in_turn(team, [65533, 65534, 65533]) == ["fine"] * 3
    assert {path.stat().st_mode & 0o666 for path in team.iterdir()} == {0o666}


@as_root
def test_a_paid_judge_is_not_asked_where_another_user_must_be(team: Path) -> None:
    in_turn(team, [65533])
    (team / "cache.db-wal").touch()
    for path in team.iterdir():
        path.chmod(0o644)
    # Another user may not be able to read a checkout.
    backend, prompt = open_backend("mock"), load_prompt()
    os.seteuid(65534)
    try:
        cache = JudgmentCache(team)
        assert cache.only_reads
        with (
            Judge([backend], prompt, cache=cache, prices=[None]) as judge,
            pytest.raises(CacheTrouble, match=r"cache\.db.* may not be written.*--cache-dir"),
        ):
            list(judge.stream(PAIRS))
        assert judge.calls.made == 0
    finally:
        os.seteuid(0)


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


@pytest.mark.parametrize("name", [b"Setti\xeegs", b"Settifgs"])  # a bit of an n flipped
def test_a_damaged_trigger_that_lets_nothing_be_stored_sets_the_database_aside(
    tmp_path: Path, name: bytes
) -> None:
    judged(tmp_path)
    path = tmp_path / "cache.db"
    whole = b"AFTER INSERT ON Cache FOR EACH ROW BEGIN UPDATE Settings"
    assert whole in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(whole, whole.replace(b"Settings", name)))
    judge = judged(tmp_path)
    assert (judge.calls.made, judge.calls.cached) == (0, 5)
    assert "5 entries of it could be read and are kept" in judge.notices[0].text
    with Judge([open_backend("mock")], load_prompt(), cache=JudgmentCache(tmp_path)) as judge:
        assert list(judge.stream([replace(PAIRS[0], query="another")]))
    assert judge.unkept == 0


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


@pytest.mark.slow
def test_16_a_full_disk_delivers_the_grades_uncached(tmp_path: Path) -> None:
    cache = JudgmentCache(tmp_path)
    many = [Pair(f"q{i}", f"salt {i}", f"d{i}", "Salt. " * 2000 + str(i)) for i in range(50)]
    with Judge([open_backend("mock")], load_prompt(), cache=cache) as judge:
        cache._connection.execute("PRAGMA max_page_count = 1")  # as full as a disk can be
        verdicts = list(judge.stream(many))
    assert len(verdicts) == 50
    assert all(verdict.grade is not None for verdict in verdicts)
    assert "disk is full; 50 judgments of this run are not kept" in judge.notices[0].text
    assert judge.unkept == 50


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
    assert len(asked) == 10 + 1  # and one that lists the table, in case its index is damaged


def test_the_first_valid_verdict_stands(tmp_path: Path) -> None:
    cache = JudgmentCache(tmp_path)
    failed = replace(ENTRY, status="failed", grade=None, raw=None)
    assert cache.keep([failed], shared={}) == [failed]
    assert cache.find([ENTRY.key]) == {}
    assert cache.keep([ENTRY], shared={}) == [ENTRY]
    assert cache.keep([replace(ENTRY, grade=3)], shared={}) == [ENTRY]
    assert cache.keep([failed], shared={}) == [ENTRY]
    assert cache.find([ENTRY.key])[ENTRY.key].grade == 2


def test_a_format_that_no_version_wrote_is_damage(tmp_path: Path) -> None:
    judged(tmp_path)
    with database(tmp_path) as connection:
        connection.execute("UPDATE Cache SET value = replace(value, 'format', 'formit')")
    judge = judged(tmp_path)
    assert (judge.calls.made, judge.calls.cached) == (0, 5)
