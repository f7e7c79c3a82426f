"""`judge mine` and `judge goldens propose`, and grading with what they write."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from readlog_lines import cite, inject, log_file, read, search, worked_log

from judge.cli.main import app
from judge.errors import InputError, UsageError
from judge.formats import read_goldens


@pytest.fixture
def judge(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments, stdin=None):
        return CliRunner().invoke(app, arguments, input=stdin, catch_exceptions=False,
                                  standalone_mode=False)  # fmt: skip

    return run


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "reads.jsonl"
    path.write_bytes(log_file(worked_log()).read())
    return str(path)


def test_pairs_go_to_the_file_and_the_outcome_ends_stderr(judge, log, tmp_path):
    done = judge("mine", log, "-o", "pairs.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    assert {(line["winner"], line["loser"]) for line in lines if line["decided"]} == {("c", "b")}
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1] == (
        "note: the log decided 1 pairs in 1 of 2 queries; 1 were seen fewer than 5 times"
    )


def test_summary_as_json_counts_everything(judge, log):
    summary = json.loads(judge("mine", log, "--json").stdout)
    assert summary["events"] == {"search": 8, "read": 11}
    assert sum(summary["unused"].values()) == 2
    assert summary["queries"] == {"seen": 2, "read": 2, "decided": 1, "seen_too_rarely": 1}
    assert summary["pairs"]["decided"] == 1


def test_log_may_come_from_standard_input(judge):
    done = judge("mine", "-", "--json", stdin=log_file(worked_log()).read())
    assert json.loads(done.stdout)["pairs"]["decided"] == 1


def test_settings_reach_the_miner(judge, log):
    asked = ("mine", log, "--tau", "0.8", "--min-sources", "4", "--strategy", "skip-above")
    done = judge(*asked, "--json")
    assert json.loads(done.stdout)["pairs"]["decided"] == 2  # 4-1 is 0.890625


def test_missing_log_and_senseless_setting_are_refused(judge, log):
    with pytest.raises(InputError, match="no such file"):
        judge("mine", "nowhere.jsonl")
    with pytest.raises(UsageError, match="tau"):
        judge("mine", log, "--tau", "2")


def test_mined_pairs_narrow_a_grading(judge, tmp_path):
    events = []
    for at in range(5):
        events += [search(at, f"s{at}", "reset", ["a", "b"]), read(at + 9, f"s{at}", "b")]
    (tmp_path / "log.jsonl").write_bytes(log_file(sorted(events, key=lambda e: e["time"])).read())
    row = {"query_id": "q", "query": "Reset?", "expected": ["a"],
           "results": [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}]}  # fmt: skip
    (tmp_path / "run.json").write_text(json.dumps({"name": "r", "rows": [row]}))
    judge("mine", "log.jsonl", "-o", "pairs.jsonl")
    for flag, file in (("--preferences", "pairs.jsonl"), ("--read-log", "log.jsonl")):
        asked = ("grade", "run.json", flag, file, "--json")
        assert "lo_without_log" not in judge(*asked).stdout  # nobody checked the log
        report = json.loads(judge(*asked, "--log-error", "100%").stdout)
        # b beats a, which is a 3: so b is a 3 as well, if the log is right. Without it b may
        # be a 0, and nDCG 1 all the same: a stands first.
        assert report["read_log"]["condition"] == "if the log is right (nobody checked)"
        assert [(r["grade"], r["source"]) for r in report["rows"][0]["results"]] == [
            (3, "golden"),
            (None, None),
        ]


@pytest.mark.parametrize("share", ["5%", "0.05"])
def test_share_of_shadows_is_written_either_way(judge, tmp_path, share):
    row = {"query": "q", "expected": ["a"], "results": [{"id": "a", "text": "q"}]}
    (tmp_path / "run.json").write_text(json.dumps({"name": "r", "rows": [row]}))
    done = judge("grade", "run.json", "--backend", "mock", "--shadow", share, "--json", "--quiet")
    assert json.loads(done.stdout)["calls_saved"] == {"golden": 1}


def proposals(path):
    return {line["query"]: line for line in map(json.loads, path.read_text().splitlines())}


@pytest.fixture
def traffic(tmp_path):
    events = []
    for at in range(30):
        events += [search(at, f"s{at}", "often asked", ["a", "b"]),
                   inject(at + 1, f"s{at}", ["a", "b"]), cite(at + 2, f"s{at}", ["b"])]  # fmt: skip
    events += [search(40, "x", "finds nothing", []), search(50, "y", "reset password", ["c"]),
               search(51, "y", "reset my password", ["d"]), read(52, "y", "d")]  # fmt: skip
    path = tmp_path / "traffic.jsonl"
    path.write_bytes(log_file(sorted(events, key=lambda event: event["time"])).read())
    return str(path)


def test_proposals_are_real_queries_with_what_was_cited(judge, traffic, tmp_path):
    judge("goldens", "propose", traffic, "-o", "new.jsonl", "-n", "1")
    found = proposals(tmp_path / "new.jsonl")
    assert found["often asked"]["metadata"]["candidates"] == {"b": "cited in 30 sessions: accept?"}
    assert found["finds nothing"]["metadata"]["proposed_for"] == "returned nothing"
    assert found["reset password"]["metadata"]["proposed_for"] == "reformulated"
    assert sum(line.get("weight", 0) for line in found.values()) == 1


def test_proposals_are_no_goldens_until_someone_filled_them_in(judge, traffic, tmp_path):
    judge("goldens", "propose", traffic, "-o", "new.jsonl", "-n", "1", "--empty", "0",
          "--reformulated", "0")  # fmt: skip
    path = tmp_path / "new.jsonl"
    with pytest.raises(InputError, match="name an id"):
        read_goldens(path)
    line = json.loads(path.read_text())
    path.write_text(json.dumps({**line, "expected": ["b"]}) + "\n")
    assert read_goldens(path).goldens[0].expected == ("b",)


def test_file_that_is_no_log_is_asked_about(judge, tmp_path):
    (tmp_path / "run.json").write_text('{"name": "r",\n "rows": []}')
    done = judge("mine", "run.json")
    assert "is this a read log?" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("note: the log decided 0 pairs")


def test_empty_log_is_refused(judge, tmp_path):
    (tmp_path / "log").write_text("\n")
    with pytest.raises(InputError, match="log: an empty file; was the command that wrote it stop"):
        judge("mine", "log", "-o", "pairs.jsonl")
    assert not (tmp_path / "pairs.jsonl").exists()


def test_folder_that_cannot_be_written_is_a_message(judge, log):
    with pytest.raises(UsageError, match="cannot be written"):
        judge("mine", log, "-o", "no/such/folder.jsonl")
