"""What `measure` takes as runs and qrels: other tools' files, folders, archives, several runs."""

from __future__ import annotations

import json
import os
import threading
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from judge import measuring
from judge.errors import InputError
from judge.measuring import measure

RUN = b"q1 Q0 b 1 2.0 bm25\nq1 Q0 a 2 1.0 bm25\n"
QRELS = "query-id\tcorpus-id\tscore\nq1\ta\t2\n"
SNAPSHOTS = b"""Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position
before,2026-01-01,7,reset breaker,b,1
before,2026-01-01,7,reset breaker,a,2
after,2026-01-02,7,reset breaker,a,1
"""
BY_TEXT = b"query,docid,rating\nreset breaker,a,3\n"


def means(runs: bytes, qrels: object, **options: str) -> dict[str, float]:
    """Return RR by run."""
    found = measure([BytesIO(runs)], qrels, ["RR"], **options)  # type: ignore[arg-type]
    return {one.run: next(iter(one.columns.values())).mean for one in found}


def folder(path: Path) -> Path:
    (path / "qrels").mkdir()
    (path / "qrels" / "test.tsv").write_text(QRELS)
    return path


def archive(path: Path) -> Path:
    with zipfile.ZipFile(path / "beir.zip", "w") as packed:
        packed.writestr("scifact/qrels/test.tsv", QRELS)
    return path / "beir.zip"


def spans(*queries: str) -> bytes:
    documents = json.dumps([{"id": "b"}, {"id": "a"}])
    return b"".join(
        json.dumps(
            {
                "context": {"trace_id": f"t{n}", "span_id": "s"},
                "attributes": {
                    "openinference.span.kind": "RETRIEVER",
                    "input.value": query,
                    "retrieval.documents": documents,
                },
            }
        ).encode()
        + b"\n"
        for n, query in enumerate(queries)
    )


@pytest.mark.parametrize("beir", [folder, archive])
def test_a_beir_folder_or_archive_gives_the_qrels(
    tmp_path: Path, beir: Callable[[Path], Path]
) -> None:
    assert means(RUN, beir(tmp_path)) == {"bm25": 0.5}  # a stands at rank 2


def test_pipes_are_read_once_whatever_their_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As a shell's <(…) gives them: a second look at one would find nothing, or wait for ever.
    for limit in (30, 1 << 20):
        monkeypatch.setattr(measuring, "_SMALL_BYTES", limit)
        paths = tmp_path / f"run{limit}", tmp_path / f"qrels{limit}"
        for path, data in zip(paths, (RUN, QRELS.encode()), strict=True):
            os.mkfifo(path)
            threading.Thread(target=path.write_bytes, args=[data], daemon=True).start()
        (found,) = measure([paths[0]], paths[1], ["RR"])
        assert next(iter(found.columns.values())).mean == 0.5


def test_a_large_stream_keeps_its_name_in_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_SMALL_BYTES", 30)
    stream = BytesIO(b"query-id,corpus-id,score\nq1,a,two\n")
    stream.name = "<stdin>"  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="<stdin>:2: "):
        measure([BytesIO(RUN)], stream)


def test_a_folder_without_qrels_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a folder without qrels/test.tsv"):
        means(RUN, tmp_path)


def test_every_snapshot_is_a_run_and_ratings_join_by_text() -> None:
    assert means(SNAPSHOTS, BytesIO(BY_TEXT)) == {"before": 0.5, "after": 1.0}
    assert means(SNAPSHOTS, BytesIO(BY_TEXT), run_tag="before") == {"before": 0.5}


def test_rows_that_have_ids_join_ratings_by_their_text() -> None:
    assert means(spans("reset breaker", "fuse"), BytesIO(BY_TEXT)) == {"retriever": 0.5}


def test_a_text_that_two_rows_ask_names_both() -> None:
    with pytest.raises(InputError, match=r"rows 't0/s' and 't1/s' both ask 'reset breaker'"):
        means(spans("reset breaker", "reset breaker"), BytesIO(BY_TEXT))
