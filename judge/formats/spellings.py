"""The field names we know: ours, and what other tools and home-made files call the same."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

Spellings: TypeAlias = Mapping[str, tuple[str, ...]]
"""Our name of a field -> other names it is known to go by, the likeliest first."""

LEFT_OUT = "-"
"""What `--map` calls a field that is not to be read."""

PLAIN = frozenset(
    {
        *("ranked", "user_input", "reference_context_ids"),
        *("_id", "docid", "doc_id", "doc", "passage", "contents"),
        *("chunk_id", "query-id", "corpus-id"),
    }
)
"""Spellings that our documentation names beside our own: reading them is no guess."""

PLAIN_OF_RESULT = frozenset({"_id", "docid", "passage", "contents"})
"""The same of a result, whose `doc_id` may be its own id or its document's."""

PLAIN_OF_BEIR = PLAIN | {"score", "text"}
"""The same of BEIR's files, whose `text` is a query's and whose `score` is a grade."""

ROW: Spellings = MappingProxyType(
    {
        "query_id": ("qid", "query-id", "queryId", "question_id", "id", "_id"),
        "query": ("user_input", "question", "query_text", "queryText", "input"),
        "slice": ("category", "question_type", "query_type", "type", "kind", "tag"),
        "weight": (),
        "results": (
            "ranked",
            "retrieved",
            "retrieved_ids",
            "retrieved_docs",
            "retrieved_documents",
            "retrieved_chunks",
            "search_results",
            "hits",
            "documents",
            "chunks",
        ),
        "retrieved_contexts": ("contexts", "retrieval_context"),
        "retrieved_context_ids": ("context_ids",),
        "expected": (
            "reference_context_ids",
            "expected_ids",
            "expected_doc_ids",
            "expected_docs",
            "expected_chunk_ids",
            "expected_chunks",
            "expected_sources",
            "relevant_docs",
            "relevant_doc_ids",
            "relevant_ids",
            "relevant",
            "gold_ids",
            "ground_truth_ids",
        ),
        "expected_pages": ("expected_page",),
        "reference_contexts": (),
        "match": ("match_mode",),
        "complete": (),
        "error": (),
    }
)
"""A row of a run, or a golden: the two share one record in short rows."""

RESULT: Spellings = MappingProxyType(
    {
        "id": ("_id", "chunk_id", "docid", "node_id", "docId", "doc_id"),
        "document_id": ("doc_id", "docId"),
        "text": ("content", "page_content", "passage", "contents", "chunk"),
        "metadata": ("meta", "payload"),
        "score": ("_score", "similarity", "relevance_score"),
        "grade": (),
    }
)

TEXT: Spellings = MappingProxyType(
    {
        "id": ("_id", "docid", "doc_id", "chunk_id"),
        "text": ("doc", "passage", "contents", "content", "page_content"),
        "title": (),
        "document_id": (),
        "metadata": (),
    }
)
"""A text of a corpus."""

QUERY: Spellings = MappingProxyType(
    {
        "query_id": ("_id", "id", "qid", "query-id"),
        "query": ("text", "question", "title"),
    }
)

GRADE: Spellings = MappingProxyType(
    {
        "query_id": ("qid", "query-id", "queryId"),
        "query": ("query_text", "queryText"),
        "id": ("chunk_id", "docid", "doc_id", "corpus-id", "docId", "document_id", "_id"),
        "document_id": (),
        "grade": ("rating", "relevance", "label", "score"),
        "lo": (),
        "hi": (),
        "source": (),
        "status": (),
        "model": (),
        "votes": (),
        "reason": (),
        "rater": ("annotator", "assessor", "judge"),
        "pi": (),
        "note": ("comment",),
        "revised": (),
    }
)
"""A grade or a label: one line about one (query, chunk)."""

OUR_FIELDS = frozenset(name for fields in (ROW, RESULT, TEXT, QUERY, GRADE) for name in fields)
"""Every field name of ours: what a foreign field may be mapped to."""
