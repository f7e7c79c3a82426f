"""Foreign files in and out, one module a family.

What is read becomes the frozen dataclasses of `judge.run`; whatever is wrong with a file
is an InputError that names every bad place.
"""

from judge.formats.goldens import GoldenFile, read_goldens
from judge.formats.grades import GradeFile, Qrels, read_grades, read_qrels
from judge.formats.labels import Label, LabelFile, read_labels
from judge.formats.options import ReadOptions
from judge.formats.runs import read_run, read_runs
from judge.formats.texts import Corpus, Queries, read_corpus, read_queries
from judge.formats.trec import TrecRuns, read_trec_run

__all__ = [
    "Corpus",
    "GoldenFile",
    "GradeFile",
    "Label",
    "LabelFile",
    "Qrels",
    "Queries",
    "ReadOptions",
    "TrecRuns",
    "read_corpus",
    "read_goldens",
    "read_grades",
    "read_labels",
    "read_qrels",
    "read_queries",
    "read_run",
    "read_runs",
    "read_trec_run",
]
