"""The demo set holds what its README promises, row by row."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest
from conftest import ROOT

DEMO = ROOT / "goldens" / "demo"
Rows = dict[str, dict[str, Any]]


def read_jsonl(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DEMO / name).read_text("utf-8").splitlines()]


def read_rows(name: str) -> Rows:
    run = json.loads((DEMO / name).read_text("utf-8"))
    return {row["query_id"]: row for row in run["rows"]}


def ranks(row: dict[str, Any], expected: list[str]) -> list[int | None]:
    ids = [result["id"] for result in row["results"]]
    return [ids.index(id) + 1 if id in ids else None for id in expected]


CORPUS = {record["id"]: record["text"] for record in read_jsonl("corpus.jsonl")}
GOLDENS = {record["query_id"]: record for record in read_jsonl("goldens.jsonl")}
BEFORE = read_rows("before.json")
AFTER = read_rows("after.json")


def test_files_are_as_the_script_writes_them() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "make_demo.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_twelve_questions_stand_in_four_slices_of_three() -> None:
    slices = [golden["slice"] for golden in GOLDENS.values()]
    assert {name: slices.count(name) for name in slices} == dict.fromkeys(
        ("exact_token", "entity", "freshness", "semantic"), 3
    )


def test_every_expected_id_has_a_text_in_the_corpus() -> None:
    expected = {id for golden in GOLDENS.values() for id in golden["expected"]}
    assert expected <= set(CORPUS)


def test_run_json_is_after_json_with_the_goldens_in_its_rows() -> None:
    for query_id, row in read_rows("run.json").items():
        golden = GOLDENS[query_id]
        assert row == {**golden, "results": AFTER[query_id]["results"]}


@pytest.mark.parametrize("rows", [BEFORE, AFTER], ids=["before", "after"])
def test_texts_are_those_of_the_corpus_and_no_list_repeats_an_id(rows: Rows) -> None:
    for row in rows.values():
        ids = [result["id"] for result in row["results"]]
        assert len(ids) == len(set(ids))
        for result in row["results"]:
            assert result.get("text") == CORPUS.get(result["id"])


def test_ranks_are_those_the_readme_tells() -> None:
    told = {
        name: (before, after)
        for name, before, after in re.findall(
            r"^\| \w+ \| `([\w-]+)` \|.*\| ([^|]+) \| ([^|]+) \|$",
            (DEMO / "README.md").read_text("utf-8"),
            flags=re.MULTILINE,
        )
    }
    assert set(told) == set(GOLDENS)
    for query_id, golden in GOLDENS.items():
        if golden["expected"]:
            found = tuple(
                " and ".join(
                    str(rank or "none")
                    for rank in sorted(ranks(rows[query_id], golden["expected"]), key=str)
                )
                for rows in (BEFORE, AFTER)
            )
            assert told[query_id] == found, query_id


def test_only_the_withdrawn_text_is_absent_and_only_from_the_old_run() -> None:
    def absent(rows: Rows) -> list[tuple[str, str]]:
        return [(q, one["id"]) for q in rows for one in rows[q]["results"] if "text" not in one]

    assert absent(BEFORE) == [("offline", "offline-beta")]
    assert absent(AFTER) == []


def test_new_index_returns_nothing_where_there_is_no_answer() -> None:
    assert GOLDENS["no-such-code"]["expected"] == []
    assert GOLDENS["no-such-code"]["complete"] is True
    assert len(BEFORE["no-such-code"]["results"]) == 10
    assert AFTER["no-such-code"]["results"] == []


def test_makers_grades_agree_with_the_goldens() -> None:
    grades: dict[str, dict[str, int]] = {}
    for line in (DEMO / "qrels.trec").read_text("utf-8").splitlines():
        query_id, _, id, grade = line.split()
        grades.setdefault(query_id, {})[id] = int(grade)
    assert set(grades) == set(GOLDENS) - {"no-such-code"}
    for query_id, golden in GOLDENS.items():
        for id, grade in grades.get(query_id, {}).items():
            if id in golden["expected"]:
                assert grade == 3, (query_id, id)
            elif golden.get("complete"):
                assert grade == 0, (query_id, id)
