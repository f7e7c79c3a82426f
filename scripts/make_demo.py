"""Write the runs and grades of goldens/demo/ from its corpus, its goldens and the lists below.

    python scripts/make_demo.py           write before.json, after.json, run.json, qrels.trec
    python scripts/make_demo.py --check   write nothing; exit 1 if a file is not what it should be

The corpus and the goldens are written by hand. Here stand the top of each ranking and the
grades that its makers gave; below the top, lists fill up with texts of grade 0.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

DEMO = Path(__file__).resolve().parent.parent / "goldens" / "demo"
DEPTH = 10

# Withdrawn from the help centre; the old index still returns its id, without a text.
WITHDRAWN = "offline-beta"

# query_id -> what the old index (embeddings alone) and the new one (embeddings, keywords and
# dates) put on top. A list that ends in None is returned as it is, not filled up to DEPTH.
TOPS: dict[str, tuple[list[str | None], list[str | None]]] = {
    "code": (
        ["error-codes", "error-qb-4170", "error-qb-4107"],
        ["error-qb-4107", "error-codes", "error-qb-4170"],
    ),
    "setting": (
        ["config-file", "setting-max-upload", "setting-quiet-hours"],
        ["setting-max-upload", "config-file"],
    ),
    "no-such-code": (["error-codes", "error-qb-4107", "error-qb-4170"], [None]),
    "roles": (["roles", "vault-lyon", "retention-2026"], ["roles", "retention-2026"]),
    "heron": (["heron-box", "egret-box", "heron-setup"], ["egret-box", "heron-setup", "heron-box"]),
    "oslo": (
        ["vault-lyon", "vault-oslo", "roles", "heron-box", "copy-map"],
        ["vault-oslo", "vault-lyon"],
    ),
    "retention": (
        ["retention-2024", "recovery-phrase", "retention-2026"],
        ["retention-2026", "retention-2024", "restore-version"],
    ),
    "price": (["pricing-2024", "pricing-2026"], ["pricing-2026", "pricing-2024"]),
    "offline": ([WITHDRAWN, "config-file", "offline-mode"], ["offline-mode", "config-file"]),
    "stolen": (
        ["revoke-computer", "restore-browser", "restore-new-computer"],
        ["restore-browser", "restore-new-computer", "revoke-computer"],
    ),
    "stutter": (
        ["setting-max-upload", "setting-quiet-hours", "offline-mode"],
        ["setting-max-upload", "offline-mode"],
    ),
    "same-file": (["edit-conflict", "restore-version"], ["edit-conflict", "restore-version"]),
}
# The new index still finds this one, but below the ten results that anybody looks at.
MISRANKED = ("stutter", "setting-quiet-hours")

GRADES: dict[str, dict[str, int]] = {
    "code": {"error-qb-4107": 3},
    "setting": {"setting-max-upload": 3},
    "no-such-code": {},
    "roles": {"roles": 3},
    "heron": {"heron-box": 3, "egret-box": 1, "heron-setup": 1},
    "oslo": {"copy-map": 3, "vault-oslo": 3, "vault-lyon": 1},
    "retention": {"retention-2026": 3, "retention-2024": 1},
    "price": {"pricing-2026": 3, "pricing-2024": 1},
    "offline": {"offline-mode": 3},
    "stolen": {
        "restore-new-computer": 3,
        "restore-browser": 3,
        "recovery-phrase": 1,
        "revoke-computer": 1,
    },
    "stutter": {"setting-quiet-hours": 3, "setting-max-upload": 2},
    "same-file": {"edit-conflict": 3, "restore-version": 1},
}


def read_lines(name: str) -> list[dict[str, Any]]:
    """Return the records of one of the demo's JSONL files."""
    return [json.loads(line) for line in (DEMO / name).read_text("utf-8").splitlines()]


def words(text: object) -> set[str]:
    """Return the words of a text, in lower case."""
    return set(re.findall(r"[a-z0-9]+", str(text).lower()))


def rank_texts(
    query_id: str, query: object, top: list[str | None], texts: dict[str, str]
) -> list[str]:
    """Return `top`, filled up to DEPTH with texts of grade 0 by the words shared with `query`."""
    if top[-1] is None:
        return [id for id in top if id is not None]
    listed = [id for id in top if id is not None]
    rest = [id for id in texts if id not in listed and not GRADES[query_id].get(id)]
    rest.sort()
    rest.sort(key=lambda each: len(words(query) & words(texts[each])), reverse=True)
    return listed + rest[: DEPTH - len(listed)]


def make_rows(system: int, texts: dict[str, str], *, embed: bool) -> list[dict[str, Any]]:
    """Return the rows of one system (0 old, 1 new), with its goldens in the rows if `embed`."""
    rows = []
    for golden in read_lines("goldens.jsonl"):
        query_id, query = str(golden["query_id"]), golden["query"]
        ids = rank_texts(query_id, query, TOPS[query_id][system], texts)
        if system == 1 and query_id == MISRANKED[0]:
            spare = next(id for id in texts if id not in ids and not GRADES[query_id].get(id))
            ids += [MISRANKED[1], spare]
        results = [{"id": id, "text": texts[id]} if id in texts else {"id": id} for id in ids]
        head = golden if embed else {key: golden[key] for key in ("query_id", "slice", "query")}
        rows.append({**head, "results": results})
    return rows


def render_run(name: str, rows: Iterable[dict[str, Any]]) -> str:
    """Return a run as JSON with a result a line, to be read by people and by diff."""
    blocks = []
    for row in rows:
        head = json.dumps({key: row[key] for key in row if key != "results"})[1:-1]
        lines = [f"    {json.dumps(one, ensure_ascii=False)}" for one in row["results"]]
        inside = "\n" + ",\n".join(lines) + "\n  " if lines else ""
        blocks.append(f'  {{{head}, "results": [{inside}]}}')
    return f'{{"name": "{name}", "rows": [\n' + ",\n".join(blocks) + "\n]}\n"


def render_qrels(texts: dict[str, str]) -> str:
    """Return the makers' grades of every text that either system returned, as TREC qrels."""
    lines = []
    for before, after in zip(
        make_rows(0, texts, embed=False), make_rows(1, texts, embed=False), strict=True
    ):
        query_id = str(before["query_id"])
        if not GRADES[query_id]:
            continue  # a question without an answer: no order of its list is better than another
        found = {one["id"] for row in (before, after) for one in row["results"]}
        for id in sorted((found | set(GRADES[query_id])) & set(texts)):
            lines.append(f"{query_id} 0 {id} {GRADES[query_id].get(id, 0)}\n")
    return "".join(lines)


def make_files() -> dict[str, str]:
    """Return name and content of every file that this script is responsible for."""
    texts = {str(one["id"]): str(one["text"]) for one in read_lines("corpus.jsonl")}
    return {
        "before.json": render_run("before", make_rows(0, texts, embed=False)),
        "after.json": render_run("after", make_rows(1, texts, embed=False)),
        "run.json": render_run("after", make_rows(1, texts, embed=True)),
        "qrels.trec": render_qrels(texts),
    }


def main() -> int:
    """Write the files, or with --check name those that differ."""
    stale = []
    for name, content in make_files().items():
        path = DEMO / name
        if "--check" not in sys.argv[1:]:
            path.write_text(content, "utf-8")
        elif not path.is_file() or path.read_text("utf-8") != content:
            stale.append(name)
    if stale:
        print(f"not as scripts/make_demo.py writes them: {', '.join(stale)}", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
