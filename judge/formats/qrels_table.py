"""TREC qrels of millions of lines as one table, where nothing in them is out of the ordinary."""

from __future__ import annotations

from judge.formats.options import ReadOptions
from judge.formats.textfile import TextFile
from judge.formats.trec import columns_of
from judge.grades import Judgment, Source
from judge.run import GradeTable


def plain_qrels(file: TextFile, options: ReadOptions) -> GradeTable | None:
    """Return the grades of qrels, or None where there is anything to count, warn of or refuse.

    `judge.formats.grades` then reads the file again, line by line with its places, and says
    what it is. Both give the same grades for what this takes.
    """
    if options.grade_map is not None or options.grade_max < 1:
        return None
    # Grades as they are usually written; each distinct one is one judgment for all its lines.
    said = {
        str(grade): Judgment(grade, grade, Source.PRIOR, file.name)
        for grade in range(options.grade_max + 1)
    }
    table: dict[str, dict[str, Judgment]] = {}
    name, grades = "", table.setdefault("", {})
    n_lines = 0
    for _, line in file.lines():
        columns = line.split() if line.isprintable() else columns_of(line)
        if len(columns) != 4 or columns[3] not in said:
            if columns:
                return None
            continue
        query = columns[0]
        if query != name:
            name, grades = query, table.setdefault(query, {})
        grades[columns[2]] = said[columns[3]]
        n_lines += 1
    del table[""]  # no column is empty
    repeats = n_lines != sum(map(len, table.values()))
    return None if repeats or not n_lines else GradeTable(table, grade_max=options.grade_max)
