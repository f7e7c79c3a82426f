"""What a judge said of each chunk, apart from what other sources had settled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from judge.formats.findings import Findings, Place, shown
from judge.formats.grades import Statement, statements
from judge.formats.opening import SourceFile, read_text
from judge.formats.options import DEFAULTS, ReadOptions
from judge.formats.scale import Scale
from judge.grades import Source
from judge.run import Notice


@dataclass(frozen=True, slots=True)
class VerdictFile:
    """The judge's grade of each (query, chunk), and what was counted on the way.

    models: the judges that the lines name, in the order of the file
    votes: of a panel, the grade of each model that gave one
    """

    grades: Mapping[tuple[str, str], int]
    models: tuple[str, ...] = ()
    votes: Mapping[tuple[str, str], Mapping[str, int]] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()


def read_verdicts(source: SourceFile, options: ReadOptions = DEFAULTS) -> VerdictFile:
    """Return the judge's grades from verdicts.jsonl, judgments.jsonl or any file of grades.

    Where lines name a source or a status, only the judge's own are taken; where none does, as
    in qrels, all are the judge's. What is left out is counted. Two different grades of one
    pair are an error naming both places.
    """
    findings = Findings()
    scale = Scale(options, findings, grade_max=options.grade_max)
    grades: dict[tuple[str, str], tuple[Place, int]] = {}
    models: dict[str, None] = {}
    votes: dict[tuple[str, str], Mapping[str, int]] = {}
    for statement in statements(read_text(source), options, findings):
        if _is_the_judges(statement, findings):
            _add(grades, statement, scale, findings)
            if isinstance(model := statement.fields.get("model"), str):
                models[model] = None
            if given := _votes(statement.fields.get("votes"), options.grade_max):
                votes[statement.query_id or "", statement.id] = given
    scale.report()
    findings.check()
    # A verdict's model, prompt and raw reply are ours; that they say no grade is no news.
    notices = tuple(n for n in findings.notices() if n.kind != "ignored field")
    found = {pair: grade for pair, (_, grade) in grades.items()}
    return VerdictFile(found, tuple(models), votes, notices)


def _is_the_judges(statement: Statement, findings: Findings) -> bool:
    said_by = statement.fields.get("source")
    if said_by is None and statement.fields.get("status") == Source.RULE:
        said_by = Source.RULE.value
    if said_by is None or said_by == Source.JUDGE:
        return True
    then = "only the judge's own are calibrated"
    what = f"judgments by {shown(said_by)} left out"
    findings.count("settled judgment", what, place=statement.place, consequence=then)
    return False


def _votes(value: object, grade_max: int) -> dict[str, int]:
    """Return the grade of each model that voted; a vote without one is left out."""
    votes = [vote for vote in value if isinstance(vote, dict)] if isinstance(value, list) else []
    return {
        str(vote.get("model")): vote["grade"]
        for vote in votes
        if type(vote.get("grade")) is int and 0 <= vote["grade"] <= grade_max
    }


def _add(
    grades: dict[tuple[str, str], tuple[Place, int]],
    statement: Statement,
    scale: Scale,
    findings: Findings,
) -> None:
    if statement.grade is None:
        what = "judgments without a grade left out"
        findings.count("open judgment", what, place=statement.place)
        return
    grade = scale.grade(statement.grade, statement.place)
    if grade is None:
        return
    pair = (statement.query_id or statement.query or "", statement.id)
    first, held = grades.setdefault(pair, (statement.place, grade))
    if held != grade:
        found = f"{shown(pair[1])} of query {shown(pair[0])} has grade {held} at {first}"
        findings.problem(statement.place, found, "keep one of the two")
