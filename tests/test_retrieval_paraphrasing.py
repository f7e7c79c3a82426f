"""Paraphrases by the judge's model: paired with exact goldens, kept only if answered fully."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judge.judging.backends.mock import ScriptedMock
from judge.judging.judge import Judge
from judge.judging.limits import Limits
from judge.judging.prompt import load_prompt
from judge.retrieval.corpus import Item
from judge.retrieval.engine import Engine
from judge.retrieval.knobs import Knobs
from judge.retrieval.making import make_goldens
from judge.retrieval.paraphrasing import PROMPT, Paraphrases, paraphrase

ITEMS = (Item("fox", "red fox dens"), Item("wolf", "grey wolf packs"), Item("owl", "barn owls"))


def asked(tmp_path: Path, *replies: object) -> Paraphrases:
    script = tmp_path / "script.jsonl"
    lines = [json.dumps({"reply": json.dumps(reply)}) for reply in replies]
    script.write_text("\n".join(lines), encoding="utf-8")
    made = make_goldens(Engine(ITEMS).index(Knobs()).chunks, categories=["exact"])
    limits = Limits(concurrency=1)
    with Judge([ScriptedMock(str(script))], load_prompt(PROMPT), limits=limits) as judge:
        return paraphrase(made.goldens, made.passages, judge=judge)


@pytest.mark.parametrize("poor", [2, 0])
def test_question_is_kept_only_if_its_passage_answers_it_fully(tmp_path: Path, poor: int) -> None:
    written = asked(
        tmp_path,
        {"question": "what lives\nunder ground?", "grade": 3},
        {"question": "who howls?", "grade": poor},
        {"question": "who hoots?", "grade": 3},
    )
    assert sorted(golden.query or "" for golden in written.goldens) == [
        "what lives under ground?",
        "who hoots?",
    ]
    assert sum(written.failed.values()) == 1


def test_paraphrase_has_the_number_and_the_answer_of_its_exact_golden(tmp_path: Path) -> None:
    replies = [{"question": f"question {n}?", "grade": 3} for n in range(3)]
    made = make_goldens(Engine(ITEMS).index(Knobs()).chunks, categories=["exact"])
    written = asked(tmp_path, *replies)
    pairs = {(g.query_id or "").replace("exact", "paraphrase"): g.expected for g in made.goldens}
    assert {g.query_id: g.expected for g in written.goldens} == pairs
    assert {golden.slice for golden in written.goldens} == {"paraphrase"}
    assert not any(golden.complete for golden in written.goldens)


def test_reply_without_a_question_gives_none(tmp_path: Path) -> None:
    written = asked(
        tmp_path, {"grade": 3}, {"question": 7, "grade": 3}, {"question": " ", "grade": 3}
    )
    assert written.goldens == ()
    assert sum(written.failed.values()) == 3
