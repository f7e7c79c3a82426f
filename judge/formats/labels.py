"""Labels: grades that people gave, with who gave them and how likely they were to be asked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from judge.formats.findings import Findings, Place, shown
from judge.formats.grades import Statement, statements
from judge.formats.opening import SourceFile, read_text, source_name
from judge.formats.options import DEFAULTS, ReadOptions
from judge.formats.scale import Scale
from judge.formats.values import number
from judge.run import Notice

# Smaller ones nobody draws with, and sums of squares of 1/pi would overflow.
_LEAST_PI = 1e-100


@dataclass(frozen=True, slots=True)
class Label:
    """A person's grade of one (query, chunk).

    query_id: as the file has it, the query's text where it has no ids
    rater: who graded, or None
    pi: the probability in (0, 1] with which this pair was drawn for labelling, or None
    revised: what the rater made of it after the judge's grade was shown, where that differs
    chosen: its file says how labels were drawn and gives this one no chance: it was picked
        by looking
    """

    query_id: str
    id: str
    grade: int
    rater: str | None = None
    pi: float | None = None
    note: str | None = None
    chosen: bool = False
    revised: int | None = None

    @property
    def latest(self) -> int:
        """Return the rater's last word, which settles; `grade` alone tells of agreement."""
        return self.grade if self.revised is None else self.revised


@dataclass(frozen=True, slots=True)
class LabelFile:
    """The labels of a file in its order, and what was counted on the way."""

    labels: tuple[Label, ...]
    notices: tuple[Notice, ...] = ()


def read_labels(source: SourceFile, options: ReadOptions = DEFAULTS) -> LabelFile:
    """Return labels from CSV (commas, semicolons or tabs), JSON lines, or any file of grades.

    Columns: query_id, chunk_id, grade, and if wanted rater, pi, note, revised. A blank grade is an
    open question, counted; a blank pi says that the label was chosen, not drawn. Two grades of
    one pair by one rater are an error naming both.
    """
    options = options.of_labels
    findings = Findings()
    scale = Scale(options, findings, grade_max=options.grade_max)
    labels: dict[tuple[str, str, str | None], tuple[Place, Label]] = {}
    says_pi = False
    for statement in statements(read_text(source), options, findings):
        label = _label(statement, scale, findings)
        says_pi = says_pi or "pi" in statement.fields
        if label is not None:
            _add(labels, label, statement.place, findings)
    scale.report()
    findings.check_some(labels, "labels", source_name(source))
    read = (label for _, label in labels.values())
    if says_pi:
        read = (replace(label, chosen=label.pi is None) for label in read)
    return LabelFile(tuple(read), findings.notices())


def _label(statement: Statement, scale: Scale, findings: Findings) -> Label | None:
    if statement.grade is None or statement.grade == "":
        then = "they stay open"
        findings.count("open label", "blank labels", place=statement.place, consequence=then)
        return None
    grade = scale.grade(statement.grade, statement.place)
    if grade is None:
        return None
    return Label(
        query_id=statement.query_id or statement.query or "",
        id=statement.id,
        grade=grade,
        rater=_text(statement.fields.get("rater")),
        pi=_probability(statement, findings),
        note=_text(statement.fields.get("note")),
        revised=_revised(statement, scale),
    )


def _add(
    labels: dict[tuple[str, str, str | None], tuple[Place, Label]],
    label: Label,
    place: Place,
    findings: Findings,
) -> None:
    first, held = labels.setdefault((label.query_id, label.id, label.rater), (place, label))
    if held is label:
        return
    if held.grade == label.grade:
        findings.count("repeated label", "labels given twice", place=place)
        return
    who = f"by {shown(label.rater)} " if label.rater else ""
    found = f"grade {label.grade} {who}for {shown(label.id)}, but {held.grade} at {first}"
    findings.problem(place, found, "keep one, or name the rater of each in a column `rater`")


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _revised(statement: Statement, scale: Scale) -> int | None:
    """Return the later grade; `?` is one that was taken back and not given anew."""
    value = statement.fields.get("revised")
    return None if value in (None, "?") else scale.grade(value, statement.place)


def _probability(statement: Statement, findings: Findings) -> float | None:
    value = statement.fields.get("pi")
    if value is None:
        return None
    try:
        pi = number(float(value) if isinstance(value, str) else value)
    except ValueError:
        pi = None
    if pi is None or not _LEAST_PI <= pi <= 1:
        findings.problem(statement.place, f"pi {shown(value)}", "pi is a probability, 1e-100 to 1")
        return None
    return pi
