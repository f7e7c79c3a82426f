"""Evaluation datasets: DeepEval, LlamaIndex, LangSmith, Langfuse.

Read: questions, retrieved contexts, the ids or contexts that answer. Not read: answers of a
model, expected answers as prose, which name no chunk.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from judge.formats.decoding import Document, Fields
from judge.formats.families import Decoded, Items, Readers
from judge.formats.findings import Findings, shown
from judge.formats.ids import content_id
from judge.formats.options import ReadOptions
from judge.formats.records import records_of


def deepeval_runs(
    decoded: Decoded, options: ReadOptions, findings: Findings
) -> Mapping[str, Items]:
    """Return test cases as rows: `input` asked, `retrieval_context` returned.

    A record that also has our own `results` or `ranked` is ours.
    """
    items: Items = []
    for place, case in records_of(decoded, under="test_cases").items:
        if isinstance(case, dict) and ("results" in case or "ranked" in case):
            items.append((place, case))
        elif isinstance(case, dict):
            contexts = case.get("retrieval_context")
            items.append((place, {"query": case.get("input"), "retrieved_contexts": contexts}))
        else:
            findings.problem(place, shown(case), "a test case is an object")
    return {"": items}


def deepeval_goldens(decoded: Decoded, options: ReadOptions, findings: Findings) -> Items:
    """Return goldens whose `context` texts are expected, each by the hash that is its id.

    A record that also has our own `expected` is ours.
    """
    items: Items = []
    for place, case in records_of(decoded, under="goldens").items:
        if isinstance(case, dict) and "expected" in case:
            items.append((place, case))
            continue
        context = case.get("context") if isinstance(case, dict) else None
        if not isinstance(case, dict) or not isinstance(context, list):
            findings.problem(place, f"no context in {shown(case)}", "give the contexts that answer")
            continue
        texts = [text for text in context if isinstance(text, str)]
        then = "each matches a chunk of exactly its text"
        findings.count("content id", "contexts as ids", place=place, consequence=then, n=len(texts))
        expected = [content_id(text) for text in texts]
        items.append((place, {"query": case.get("input"), "expected": expected}))
    return items


def llamaindex_goldens(decoded: Decoded, options: ReadOptions, findings: Findings) -> Items:
    """Return a golden for each entry of `relevant_docs`, with its text out of `queries`."""
    whole = _whole(decoded)
    queries, relevant = whole["queries"], whole["relevant_docs"]
    assert isinstance(queries, dict), "the family is recognised by it"
    assert isinstance(relevant, dict), "the family is recognised by it"
    return [
        (
            decoded.place.at(f"relevant_docs[{shown(id)}]"),
            {"query_id": id, "query": queries.get(id), "expected": expected},
        )
        for id, expected in relevant.items()
    ]


def llamaindex_queries(decoded: Decoded, options: ReadOptions, findings: Findings) -> Items:
    """Return the texts under `queries`."""
    return _mapped(decoded, "queries", "query_id", "query")


def llamaindex_texts(decoded: Decoded, options: ReadOptions, findings: Findings) -> Items:
    """Return the texts under `corpus`."""
    return _mapped(decoded, "corpus", "id", "text")


def example_goldens(decoded: Decoded, options: ReadOptions, findings: Findings) -> Items:
    """Return LangSmith examples and Langfuse items as goldens.

    The fields inside `inputs`, `outputs`, `metadata` (`input`, `expectedOutput`) stand as if
    they were the record's own, and are then known by our names, other spellings or `--map`.
    Items that Langfuse has archived are left out, as there.
    """
    items: Items = []
    for place, example in records_of(decoded, under=_list_name(decoded)).items:
        if not isinstance(example, dict):
            findings.problem(place, shown(example), "an example is an object")
            continue
        if example.get("status") == "ARCHIVED":
            findings.count("archived", "archived items left out", place=place)
            continue
        fields: Fields = {}
        for name in ("metadata", "outputs", "expectedOutput", "inputs", "input"):
            held = example.get(name)
            if isinstance(held, dict):
                fields |= held
            elif name == "input" and isinstance(held, str):
                fields["query"] = held
            elif name == "expectedOutput" and isinstance(held, list):
                fields["expected"] = held
            elif held is not None:
                fields[name] = held
        items.append((place, fields | {"id": example.get("id")}))
    return items


def _list_name(decoded: Decoded) -> str:
    """Return where the items stand: `data` in a page of Langfuse's API, `examples` elsewhere."""
    value = decoded.value if isinstance(decoded, Document) else None
    return "data" if isinstance(value, dict) and isinstance(value.get("data"), list) else "examples"


def _whole(decoded: Decoded) -> Fields:
    assert isinstance(decoded, Document), "the family is recognised by the object around it"
    assert isinstance(decoded.value, dict), "the family is recognised by the object around it"
    return decoded.value


def _mapped(decoded: Decoded, held: str, id_name: str, text_name: str) -> Items:
    texts = _whole(decoded).get(held)
    return [
        (decoded.place.at(f"{held}[{shown(id)}]"), {id_name: id, text_name: text})
        for id, text in (texts.items() if isinstance(texts, dict) else ())
    ]


_EXAMPLES = Readers(goldens=example_goldens)

READERS: Mapping[str, Readers] = MappingProxyType(
    {
        "DeepEval test cases": Readers(runs=deepeval_runs, goldens=deepeval_goldens),
        "DeepEval goldens": Readers(goldens=deepeval_goldens),
        "a LlamaIndex dataset": Readers(
            goldens=llamaindex_goldens, texts=llamaindex_texts, queries=llamaindex_queries
        ),
        "LangSmith examples": _EXAMPLES,
        "Langfuse dataset items": _EXAMPLES,
    }
)
