"""What is known or read before a judge is asked, by path or as objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeGuard, cast

from judge.auditing import LOG_ERROR
from judge.evidence.joining import PreferenceIndex
from judge.evidence.labels import disagreements, known_labels
from judge.evidence.preferences import Preference
from judge.formats import (
    Corpus,
    Label,
    Queries,
    ReadOptions,
    read_corpus,
    read_goldens,
    read_grades,
    read_labels,
    read_queries,
    read_run,
)
from judge.formats.opening import SourceFile
from judge.readlog.pairs import read_preferences
from judge.run import Golden, KnownGrade, KnownGrades, Notice, Run


@dataclass(frozen=True, slots=True)
class Known:
    """What is known before any judge is asked, and what reading it noticed.

    held_out: labels that are no evidence, kept to compare the judge with
    """

    goldens: tuple[Golden, ...] = ()
    grades: Sequence[KnownGrade] = ()
    notices: tuple[Notice, ...] = ()
    held_out: tuple[Label, ...] = ()


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that is known or read before runs are graded, by path or as objects.

    goldens, judgments, labels: what is known, by path (or goldens as objects)
    exclude_labels: labels are read and checked, but settle nothing: the judge can be compared
        with them, or corrected
    preferences: pairs that `judge mine` wrote, by path or as objects
    read_log: logs to mine for pairs, with the defaults of `judge mine`
    only_judged: leave out rows without any golden, label or grade known before
    log_error: largest share of audited pairs that may be contradicted for pairs to narrow grades
    """

    goldens: SourceFile | Iterable[Golden] | None = None
    judgments: Iterable[SourceFile] = ()
    labels: SourceFile | None = None
    exclude_labels: bool = False
    preferences: SourceFile | Iterable[Preference] | None = None
    read_log: SourceFile | Sequence[SourceFile] | None = None
    log_error: float = LOG_ERROR
    only_judged: bool = False
    corpus: SourceFile | Corpus | None = None
    queries: SourceFile | Queries | None = None
    options: ReadOptions = field(default_factory=ReadOptions)

    @property
    def logs(self) -> list[SourceFile]:
        """Return the read logs, one or several, as a list."""
        if self.read_log is None:
            return []
        return list(self.read_log) if isinstance(self.read_log, list | tuple) else [self.read_log]  # type: ignore[list-item]

    @property
    def files(self) -> tuple[str | Path, ...]:
        """Return the paths among what is read."""
        known = (self.goldens, *self.judgments, self.labels, self.preferences, *self.logs)
        every = (*known, self.corpus, self.queries)
        return tuple(file for file in every if isinstance(file, str | Path))

    def with_texts(self) -> Inputs:
        """Return the same with the corpus and the queries read, once for all runs.

        Each run is filled from them, and standard input can be read only once.
        """
        corpus, queries = self.corpus, self.queries
        if corpus is not None and not isinstance(corpus, Corpus):
            corpus = read_corpus(corpus, self.options)
        if queries is not None and not isinstance(queries, Queries):
            queries = read_queries(queries, self.options)
        return replace(self, corpus=corpus, queries=queries)

    def run(self, run: Run | SourceFile) -> Run:
        """Return a run as it is, or read it."""
        if isinstance(run, Run):
            return run
        return read_run(run, self.options, corpus=self.corpus, queries=self.queries)

    def known(self) -> Known:
        """Read goldens, grades known earlier and human labels from their files."""
        goldens: tuple[Golden, ...] = ()
        grades: list[Sequence[KnownGrade]] = []
        notices: list[Notice] = []
        held_out: tuple[Label, ...] = ()
        if _is_file(self.goldens):
            golden_file = read_goldens(self.goldens, self.options)
            goldens = golden_file.goldens
            notices += golden_file.notices
        elif self.goldens is not None:
            goldens = tuple(cast(Iterable[Golden], self.goldens))
        for source in self.judgments:
            grade_file = read_grades(source, self.options)
            grades.append(grade_file.grades)
            notices += grade_file.notices
        if self.labels is not None:
            label_file = read_labels(self.labels, self.options)
            notices += label_file.notices
            if self.exclude_labels:
                held_out = label_file.labels
            else:
                people = known_labels(label_file.labels)
                grades.append(people)
                notices += disagreements(people)
        return Known(goldens, KnownGrades(*grades), tuple(notices), held_out)

    def pairs(self) -> PreferenceIndex | None:
        """Return the pairs of the preferences file and of the read logs; None without either."""
        if self.preferences is None and not self.logs:
            return None
        pairs: list[Preference] = []
        if _is_file(self.preferences):
            pairs += read_preferences(self.preferences).preferences
        elif self.preferences is not None:
            pairs += cast(Iterable[Preference], self.preferences)
        if self.logs:
            # Takes as long to import as a small run to grade.
            from judge.readlog.mining import mine

            pairs += mine(self.logs).preferences
        return PreferenceIndex(pairs)


def _is_file(given: object) -> TypeGuard[SourceFile]:
    """Tell a path or an open stream from objects."""
    return isinstance(given, str | Path) or hasattr(given, "read")
