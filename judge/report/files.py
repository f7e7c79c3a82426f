"""The folder that `--out` names: every file of a report, each written whole or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache, partial
from json.encoder import encode_basestring_ascii as encode_ascii
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TextIO

from judge.errors import InputError, Problem
from judge.judging.exchange import Verdict
from judge.report.document import write_report
from judge.report.html.page import render_html
from judge.report.markdown import render_markdown
from judge.report.model import Report
from judge.report.replacing import replacing

_SAID = attrgetter(*(field.name for field in fields(Verdict)[2:]))
_NOT_TREC = re.compile(r"\A[{\[]|[\s%\x00-\x1f\x7f]")
"""White space parts the fields; a brace in front would make the file look like JSON."""


def write_folder(report: Report, folder: Path) -> list[Path]:
    """Write the report's files into `folder`; return their paths.

    Raises InputError where the folder cannot be written.
    """
    report_json = folder / "report.json"
    # What nobody paid for can be made again.
    lasting = report.grading.calls.made > 0
    written = write_files(
        folder,
        {
            "judgments.jsonl": partial(_write_twice, report, report_json, lasting),
            "verdicts.jsonl": partial(write_verdicts, report.grading.verdicts),
            "qrels.trec": partial(write_qrels, report),
            "report.md": partial(_write_text, render_markdown(report)),
            "report.html": partial(_write_text, render_html(report)),
        },
        lasting=lasting,
    )
    return [report_json, *written]


def prepare_folder(folder: Path) -> None:
    """Make the folder and see that files can be written there, before anything is paid for.

    Raises InputError where they cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> InputError:
    found = f"cannot be written ({error.strerror})"
    return InputError(Problem(str(folder), found, "choose another --out"))


def write_files(
    folder: Path, writers: Mapping[str, Callable[[TextIO], object]], *, lasting: bool = True
) -> list[Path]:
    """Write files into `folder`, which is made if need be; return their paths.

    lasting: see `judge.report.replacing.replacing`

    Raises InputError where the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, write in writers.items():
            with replacing(folder / name, lasting=lasting) as stream:
                write(stream)
    except OSError as error:
        raise _unwritable(folder, error) from error
    return [folder / name for name in writers]


def _write_twice(report: Report, path: Path, lasting: bool, judgments: TextIO) -> None:
    """Write report.json beside judgments.jsonl: a line a judgment in both is made once."""
    with replacing(path, lasting=lasting) as stream:
        write_report(report, stream, judgments=judgments)


def write_verdicts(verdicts: Iterable[Verdict], stream: TextIO) -> None:
    """Write a line a judge reply: model, prompt, raw reply, grade or reason, cached or paid."""
    # ASCII: a model may reply with half a surrogate pair, which no file takes as it is.
    for verdict in verdicts:
        names = f'"query_id": {encode_ascii(verdict.query_id)}, "id": {encode_ascii(verdict.id)}'
        stream.write(f"{{{names}, {_said(*_SAID(verdict))}\n")


# Many verdicts say the same of their chunks, and to encode that takes longer than to see it.
@lru_cache(maxsize=1024, typed=True)
def _said(*said: Any) -> str:
    """Return the rest of a verdict's line, after what it is about."""
    plain = Verdict("", "", *said).plain()
    return json.dumps({name: plain[name] for name in plain if name not in ("query_id", "id")})[1:]


def write_qrels(report: Report, stream: TextIO) -> None:
    """Write what is graded as TREC qrels; white space, control characters and % in an id
    become their percent codes."""
    for row in report.rows:
        start, judgments = f"{_as_trec_id(row.query.key)} 0 ", row.pool.judgments
        lines = [
            f"{start}{id} {judgment.lo}\n"
            for id, judgment in zip(_as_trec_ids(row.pool.ids), judgments, strict=True)
            if judgment.lo == judgment.hi
        ]
        stream.write("".join(lines))


def _as_trec_ids(ids: Sequence[str]) -> Sequence[str]:
    together = "".join(ids)
    if together.isalnum() and together.isascii() and all(ids):
        return ids
    return [_as_trec_id(id) for id in ids]


def _as_trec_id(text: str) -> str:
    return _NOT_TREC.sub(lambda match: "".join(f"%{b:02X}" for b in match[0].encode()), text) or "%"


def _write_text(text: str, stream: TextIO) -> None:
    stream.write(text)
