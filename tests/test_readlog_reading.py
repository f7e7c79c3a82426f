"""Logs from files: plain, packed, in parts, and with what no log should hold."""

from __future__ import annotations

import gzip
import io
import json

import pytest
from readlog_lines import log_file, mined, votes, worked_log

from judge.errors import InputError
from judge.readlog.events import NotAnEvent, parse_event, parse_time
from judge.readlog.mining import mine


@pytest.mark.parametrize(
    "time",
    ["2024-12-10T00:01:29.378Z", "2024-12-10T00:01:29.378+0000", "2024-12-10T01:01:29.378+01:00",
     "2024-12-10T00:01:29.378", "20241210T000129.378", 1733788889.378, 1733788889378],
)  # fmt: skip
def test_moments_are_read_however_they_are_written(time):
    assert parse_time(time) == pytest.approx(1733788889.378)  # date -d … +%s.%3N


@pytest.mark.parametrize("time", [None, True, "", "soon", -1, float("nan"), float("inf"), 1e18, []])
def test_what_is_no_moment_is_refused(time):
    with pytest.raises(NotAnEvent, match="no readable time"):
        parse_time(time)


def test_ids_that_are_numbers_compare_as_text():
    event = parse_event(
        {"event": "search", "time": 1, "session": 7, "query": "q", "ids": [17, "a"]}
    )
    assert (event.session, event.ids) == ("7", ("17", "a"))


@pytest.mark.parametrize("hashes", [["h"], ["h", None], "hh", {}])
def test_hashes_that_do_not_fit_the_ids_are_left_out(hashes):
    event = parse_event({"event": "search", "time": 1, "session": "s", "query": "q",
                         "ids": ["a", "b"], "hashes": hashes})  # fmt: skip
    assert event.hashes == ()


def test_packed_log_is_read_as_it_is(tmp_path):
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress(log_file(worked_log()).read()))
    assert votes(mine([path])) == votes(mined(worked_log()))


def test_log_without_any_event_says_nothing():
    result = mine([io.BytesIO(b"")])
    assert (result.preferences, result.queries, result.tally.events.total()) == ((), (), 0)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.jsonl"):
        mine([tmp_path / "nowhere.jsonl", tmp_path / "nowhere.jsonl"])


def test_queries_and_events_of_ubi_may_be_two_files(data, tmp_path):
    whole = data / "esci_ubi" / "ubi_queries_events.ndjson"
    lines = whole.read_text().splitlines()
    parts = {"ubi_queries": [], "ubi_events": []}
    for action, record in zip(lines[::2], lines[1::2], strict=True):
        parts[json.loads(action)["index"]["_index"]].append(record)
    for name, records in parts.items():
        (tmp_path / name).write_text("\n".join(records))
    apart = mine([tmp_path / "ubi_events", tmp_path / "ubi_queries"])
    together = mine([whole])
    assert apart.preferences == together.preferences
    assert apart.tally.unused == together.tally.unused


def test_events_lost_by_the_writer_are_told():
    lost = {"v": 1, "event": "lost", "time": 1, "count": 3}
    result = mined([lost, *worked_log()])
    assert result.tally.notes["events that the writer could not write"] == 3
    assert votes(result) == votes(mined(worked_log()))
