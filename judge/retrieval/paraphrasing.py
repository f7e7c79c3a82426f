"""Questions in other words, written by the judge's model about passages that goldens ask for.

A model that has just read a passage leans on its words, which flatters search by words. So
each paraphrase belongs to an exact golden of the same passage, and the two are read together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from judge.formats.json_value import json_value
from judge.judging.judge import Judge, Pair, Verdict
from judge.retrieval.engine import Chunk
from judge.run import Golden

PROMPT = "paraphrase@1"
CATEGORY = "paraphrase"


@dataclass(frozen=True, slots=True)
class Paraphrases:
    """The goldens that were written, and how many were not and why."""

    goldens: tuple[Golden, ...]
    failed: Mapping[str, int]


def paraphrase(
    exact: Sequence[Golden], passages: Mapping[str, Chunk], *, judge: Judge
) -> Paraphrases:
    """Return one golden for each exact one whose passage the model found a question for.

    passages: the passage of each golden, by query id
    judge: opened with the prompt PROMPT. Kept are questions that the model itself says its
        passage answers fully; its replies are cached like any other.
    """
    pairs = [
        Pair(_id(golden), golden.query or "", passages[_id(golden)].id, passages[_id(golden)].text)
        for golden in exact
    ]
    written: dict[str, str] = {}
    failed: dict[str, int] = {}
    for verdict in judge.stream(pairs):
        question = _question(verdict)
        if question is not None and verdict.grade == judge.prompt.grade_max:
            written[verdict.query_id] = question
        else:
            why = verdict.reason or "the passage does not answer the question fully"
            failed[why] = failed.get(why, 0) + 1
    return Paraphrases(
        tuple(
            replace(
                golden,
                query_id=_id(golden).replace("exact", CATEGORY, 1),
                query=written[_id(golden)],
                slice=CATEGORY,
                complete=False,
            )
            for golden in exact
            if _id(golden) in written
        ),
        failed,
    )


def _id(golden: Golden) -> str:
    assert golden.query_id is not None, "made goldens have ids"
    return golden.query_id


def _question(verdict: Verdict) -> str | None:
    """Return the question in a reply that was already accepted for its grade."""
    raw = verdict.raw or ""
    try:
        reply = json_value(raw[raw.find("{") : raw.rfind("}") + 1])
    except ValueError:
        return None
    question = reply.get("question") if isinstance(reply, dict) else None
    return " ".join(question.split()) or None if isinstance(question, str) else None
