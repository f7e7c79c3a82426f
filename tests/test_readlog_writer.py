"""The log that a search service embeds: whole lines, and never a word of complaint to it."""

from __future__ import annotations

import json
import multiprocessing
import threading

import pytest

from judge.readlog.writer import ReadLog

NOW = 1_700_000_000.25


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "logs" / "reads.jsonl"


def test_each_event_is_one_line_of_the_documented_schema(path):
    with ReadLog(path, clock=lambda: NOW) as log:
        log.search("q", ["a", "b"], session="s1", user="u", actor="human", page=2)
        log.read("b", session="s1")
        log.inject(["a"], session="s1", query="q")
        log.cite(["a"], session="s1")
    head = {"v": 1, "time": NOW, "session": "s1"}
    assert lines(path) == [
        head
        | {"event": "search", "query": "q", "ids": ["a", "b"]}
        | {"user": "u", "actor": "human", "page": 2},
        head | {"event": "read", "id": "b"},
        head | {"event": "inject", "ids": ["a"], "query": "q"},
        head | {"event": "cite", "ids": ["a"]},
    ]


def test_extra_field_cannot_replace_one_of_the_schema(path):
    with ReadLog(path, clock=lambda: NOW) as log:
        log.read("b", session="s1", time=5, v=9)
    assert (lines(path)[0]["time"], lines(path)[0]["v"]) == (NOW, 1)


def test_texts_are_written_as_hashes_that_ignore_spacing(path):
    with ReadLog(path) as log:
        log.search("q", ["a", "b"], session="s", texts=["one  text", "one text\n"])
    # printf 'one text' | sha256sum | cut -c 1-16
    assert lines(path)[0]["hashes"] == ["b94ddd8ea66566c0"] * 2
    assert "one" not in path.read_text()


def test_hashed_sessions_agree_between_two_writers_and_hide_the_name(path):
    for _ in range(2):
        with ReadLog(path, hash_sessions=True) as log:
            log.read("a", session="alice@example.org", user="alice@example.org")
    first, second = lines(path)
    assert first["session"] == second["session"] == second["user"]
    assert "alice" not in path.read_text()
    assert path.with_name("reads.jsonl.key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "broken",
    [
        lambda log: log.read(object(), session="s"),
        lambda log: log.search("q", None, session="s", texts=3),
        lambda log: log.search("q", {"a"}, session="s"),
    ],
)
def test_event_that_cannot_be_written_is_counted_and_raises_nothing(path, broken):
    log = ReadLog(path)
    broken(log)
    log.read("a", session="s")
    assert log.failures == 1
    assert "TypeError" in log.last_failure
    assert [line["event"] for line in lines(path)] == ["lost", "read"]
    assert lines(path)[0]["count"] == 1


def test_folder_that_cannot_be_written_costs_events_not_searches(tmp_path):
    (tmp_path / "file").write_text("in the way")
    log = ReadLog(tmp_path / "file" / "reads.jsonl", hash_sessions=True)
    for _ in range(3):
        log.search("q", ["a"], session="s")
    assert log.failures == 3


def test_mangled_key_is_a_counted_failure(path):
    path.parent.mkdir()
    path.with_name("reads.jsonl.key").write_bytes(b"short")
    log = ReadLog(path, hash_sessions=True)
    log.read("a", session="s")
    assert "not a key" in log.last_failure


def test_torn_last_line_of_a_dead_writer_does_not_take_the_next_event(path):
    path.parent.mkdir()
    path.write_text('{"v":1,"event":"read"')
    with ReadLog(path) as log:
        log.read("a", session="s")
    assert path.read_text().splitlines()[0] == '{"v":1,"event":"read"'
    assert json.loads(path.read_text().splitlines()[1])["id"] == "a"


def test_full_log_is_rotated_and_no_event_is_lost(path):
    with ReadLog(path, rotate_bytes=2000) as log:
        for at in range(500):
            log.read(f"chunk-{at}", session="s")
        assert log.failures == 0
    files = list(path.parent.iterdir())
    assert len(files) > 3
    assert sorted(line["id"] for file in files for line in lines(file)) == sorted(
        f"chunk-{at}" for at in range(500)
    )


def test_log_moved_away_by_another_program_is_opened_anew(path):
    with ReadLog(path) as log:
        log.read("a", session="s")
        path.rename(path.with_name("moved"))
        for _ in range(64):
            log.read("b", session="s")
    assert path.exists()


def _write(path, worker, n_events):
    with ReadLog(path, rotate_bytes=20_000) as log:
        for at in range(n_events):
            log.search(f"q{at}", ["x" * (at % 40 + 1)], session=f"w{worker}")


def test_processes_share_a_log_that_rotates_under_them(path):
    workers = [multiprocessing.Process(target=_write, args=(path, w, 300)) for w in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    found = [line for file in path.parent.iterdir() for line in lines(file)]
    assert len({(line["session"], line["query"]) for line in found}) == len(found) == 1200


def test_writer_that_loses_the_race_to_rotate_loses_no_event(path, monkeypatch):
    log = ReadLog(path, rotate_bytes=1)
    rename = type(path).rename

    def late(self, target):
        rename(self, target)  # the other writer
        return rename(self, target.with_name("second"))

    log.read("a", session="s")
    monkeypatch.setattr(type(path), "rename", late)
    for _ in range(64):
        log.read("b", session="s")
    assert log.failures == 0
    assert sum(len(lines(file)) for file in path.parent.iterdir()) == 65


def test_threads_share_a_log_that_rotates_under_them(path):
    log = ReadLog(path, rotate_bytes=10_000)

    def write(worker):
        for at in range(300):
            log.read(f"{worker}-{at}", session="s")

    workers = [threading.Thread(target=write, args=(w,)) for w in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    log.close()
    assert log.failures == 0
    assert sum(len(lines(file)) for file in path.parent.iterdir()) == 1200


def test_shuffle_swaps_one_neighbouring_pair_and_the_search_records_it(path):
    log = ReadLog(path, seed=1)
    shown = log.shuffle(["a", "b", "c", "d"], share=1.0)
    at = shown.swapped
    assert shown[at] > shown[at + 1]
    assert sorted(shown) == ["a", "b", "c", "d"]
    log.search("q", shown, session="s")
    log.close()
    assert lines(path)[0]["swapped"] == at


def test_shuffle_touches_about_the_share_of_searches_it_is_given():
    log = ReadLog("never-written", seed=2)
    swapped = sum(log.shuffle(["a", "b"], share=0.05).swapped is not None for _ in range(10_000))
    assert 400 < swapped < 600  # 500 expected, standard deviation 22


@pytest.mark.parametrize("ids", [[], ["a"]])
def test_shuffle_leaves_lists_without_a_pair(ids):
    shown = ReadLog("never-written").shuffle(ids, share=1.0)
    assert (list(shown), shown.swapped) == (ids, None)
