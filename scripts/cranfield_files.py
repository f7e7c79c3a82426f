"""Write the Cranfield collection as files that judge reads: corpus, queries, qrels.

    python scripts/cranfield_files.py ../shared/data/cranfield cranfield-files

Two things of the original differ from every other collection: grades run backwards
(1 is best, 4 weakest, -1 not relevant; here 4 is best and 0 not relevant, so read them with
--grade-max 4), and the judgments number the queries 1..225 in order, not by their `.I` ids.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path


def main() -> None:
    """Read the folder named first, write three files into the folder named second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    corpus = gzip.decompress((args.source / "cran.all.1400.gz").read_bytes()).decode()
    write(args.out / "corpus.jsonl", documents(corpus))
    write(args.out / "queries.jsonl", queries((args.source / "cran.qry").read_text()))
    write(args.out / "qrels.trec", judgments((args.source / "cranqrel").read_text()))


def documents(text: str) -> Iterator[str]:
    """Yield a JSON line a document, its text as it stands after `.W`."""
    for id, fields in records(text):
        document = {"id": id, "title": fields["T"].strip(), "text": fields["W"].strip()}
        yield json.dumps(document)


def queries(text: str) -> Iterator[str]:
    """Yield a JSON line a query, numbered in order."""
    for number, (_, fields) in enumerate(records(text), start=1):
        yield json.dumps({"query_id": str(number), "query": " ".join(fields["W"].split())})


def judgments(text: str) -> Iterator[str]:
    """Yield TREC qrels lines, 4 for the best and 0 for what is not relevant."""
    for line in text.splitlines():
        if line.strip():
            query, document, code = line.split()
            yield f"{query} 0 {document} {0 if code == '-1' else 5 - int(code)}"


def records(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the id and the fields by letter of each `.I` record."""
    for record in re.split(r"^\.I ", text, flags=re.MULTILINE)[1:]:
        id, _, rest = record.partition("\n")
        parts = re.split(r"^\.([TABW])\n", rest, flags=re.MULTILINE)
        yield id.strip(), dict(zip(parts[1::2], parts[2::2], strict=True))


def write(path: Path, lines: Iterator[str]) -> None:
    """Write lines to a file and say how many."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(line + "\n")
            count += 1
    print(f"{path}: {count} lines")


if __name__ == "__main__":
    main()
