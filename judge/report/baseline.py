"""A baseline: a committed report with rankings and judgments, and proof that it is whole.

The file is report.json with one more line, "baseline", whose checksum covers all the
rest: what was edited by hand is refused, not compared in silence.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judge.cascade import Settings
from judge.errors import InputError, Problem
from judge.formats import ReadOptions, read_run
from judge.formats.json_value import json_value
from judge.formats.texts import CorpusSource, QueriesSource
from judge.grades import Source
from judge.judging.judge import CallCounts
from judge.report.document import SCHEMA, write_report
from judge.report.model import Report
from judge.report.replacing import replacing
from judge.run import KnownGrade, Run

_MARK = "baseline"
_REWRITE = "write it anew with --update-baseline"
_KEPT = {str(source): source for source in (Source.HUMAN, Source.PRIOR, Source.RULE, Source.JUDGE)}


@dataclass(frozen=True, slots=True)
class Baseline:
    """A stored run with everything that was known of its pool when it was stored.

    settings: as in report.json; values: stored nDCG-like values by query key and measure
    """

    path: str
    run: Run
    known: tuple[KnownGrade, ...]
    settings: Mapping[str, Any]
    values: Mapping[str, Mapping[str, Mapping[str, float]]]


def write_baseline(report: Report, path: Path) -> None:
    """Write a report as a baseline: nothing in it changes from one day to the next.

    What was there stays until the new one is whole. Raises InputError where it cannot be written.
    """
    grading = replace(report.grading, calls=CallCounts(), cost_usd=None)
    whole = io.StringIO()
    write_report(replace(report, grading=grading, timing={}), whole)
    text = whole.getvalue()
    mark = json.dumps({"schema": SCHEMA, "sha256": _checksum(json.loads(text))})
    try:
        with replacing(path) as stream:
            stream.write(text.replace("{\n", f'{{\n"{_MARK}": {mark},\n', 1))
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be written ({error.strerror})")) from error


def read_baseline(
    path: Path,
    options: ReadOptions,
    *,
    corpus: CorpusSource | None = None,
    queries: QueriesSource | None = None,
) -> Baseline:
    """Return a baseline; InputError where it is none, of another schema, or edited.

    It keeps no texts: what only its lists show can be judged where `corpus` has it.
    """
    document = _document(path)
    mark = document.pop(_MARK, None)
    if not isinstance(mark, dict) or not isinstance(document.get("rows"), list):
        found = "not a baseline: it has no checksum"
        raise InputError(Problem(str(path), found, _REWRITE))
    if mark.get("schema") != SCHEMA or document.get("schema") != SCHEMA:
        found = f"a baseline of schema {mark.get('schema')!r}; this version reads {SCHEMA}"
        raise InputError(Problem(str(path), found, _REWRITE))
    if mark.get("sha256") != _checksum(document):
        found = "its content does not match its checksum: it was edited by hand or merged"
        raise InputError(Problem(str(path), found, f"restore it, or {_REWRITE}"))
    try:
        # Its slots carry grades of every source; the pool has them with their sources.
        # The file is in our own form: ids were made and grades placed when it was written.
        ours = ReadOptions(grade_max=options.grade_max)
        run = read_run(path, ours, corpus=corpus, queries=queries)
        run = replace(run, name=str(document["run"]), grades=(), notices=())
        return Baseline(
            path=str(path),
            run=run,
            known=tuple(_known(line) for line in document["pool"] if line["source"] in _KEPT),
            settings=dict(document["settings"].items()),
            values={row["query_id"]: dict(row["measures"].items()) for row in document["rows"]},
        )
    except (AttributeError, KeyError, TypeError) as error:
        found = "not a baseline: parts that --update-baseline writes are missing or not as it does"
        raise InputError(Problem(str(path), found, _REWRITE)) from error


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json_value(path.read_text(encoding="utf-8"))
    except OSError as error:
        fix = "name another file, or create it with --update-baseline"
        found = f"cannot be read ({error.strerror})"
        raise InputError(Problem(str(path), found, fix)) from error
    except ValueError as error:
        raise InputError(Problem(str(path), "not JSON", _REWRITE)) from error
    if not isinstance(document, dict):
        raise InputError(Problem(str(path), "not a baseline", _REWRITE))
    return document


def _checksum(document: Mapping[str, Any]) -> str:
    # A baseline edited by hand may hold NaN or half a surrogate pair: they have sums too.
    whole = json.dumps(document, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(whole.encode(errors="surrogatepass")).hexdigest()


def _known(line: Mapping[str, Any]) -> KnownGrade:
    return KnownGrade(
        id=line["id"],
        lo=line["lo"],
        hi=line["hi"],
        query_id=line["query_id"],
        document_id=line["document_id"],
        source=_KEPT[line["source"]],
        detail=line["reason"],
    )


def check_settings(
    baseline: Baseline, settings: Settings, *, unit: str | None, prompt: str | None
) -> None:
    """Raise InputError naming every setting in which a baseline differs from now.

    unit, prompt: None where there is none to compare with
    """
    stored = baseline.settings
    now: dict[str, Any] = {
        "measures": [str(measure) for measure in settings.measures],
        "gain": settings.gain,
        "grade_max": settings.grade_max,
        "pool_depth": settings.depth,
    }
    if unit is not None:
        now["unit"] = unit
    if prompt is not None and stored.get("prompt") is not None:
        now["prompt"] = prompt
    problems = [
        Problem(
            f"{baseline.path}: settings.{name}",
            f"{_shown(stored.get(name))}, now {_shown(value)}",
            f"ask for the same, or {_REWRITE}",
        )
        for name, value in now.items()
        if stored.get(name) != value
    ]
    if problems:
        raise InputError(problems)


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
