"""Texts from a corpus and a file of queries, and how a run is filled with them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.formats import Corpus, Queries, ReadOptions, read_corpus, read_queries
from judge.formats.texts import filled
from judge.run import Result, Row, Run


def stream(*records: object) -> io.BytesIO:
    return io.BytesIO(
        "\n".join(r if isinstance(r, str) else json.dumps(r) for r in records).encode()
    )


def refusal(*records: object) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_corpus(stream(*records))
    return str(caught.value).splitlines()


@pytest.mark.parametrize("id", ["_id", "id", "docid", "doc_id"])
@pytest.mark.parametrize("text", ["text", "doc", "passage", "contents"])
def test_ids_and_texts_go_by_many_names(id: str, text: str) -> None:
    corpus = read_corpus(stream({id: 1, text: "x"}, {id: "b", text: None}))
    assert corpus == Corpus({"1": "x", "b": None})


@pytest.mark.parametrize(
    "content",
    [
        '{"a": "x", "b": "y"}',
        "a\tx\r\nb\ty\n",
        '[{"id": "a", "text": "x"}, {"id": "b", "text": "y"}]',
        '{"a": {"text": "x"}, "b": {"text": "y"}}',
    ],
)
def test_arrays_mappings_and_tabs_are_corpora_too(content: str) -> None:
    assert read_corpus(stream(content)).texts == {"a": "x", "b": "y"}


def test_titles_stand_above_their_texts() -> None:
    corpus = read_corpus(
        stream(
            {"id": "a", "title": "T", "text": "x"},
            {"id": "b", "title": " ", "text": "y"},
            {"id": "c", "title": "T", "text": ""},
        )
    )
    assert corpus.texts == {"a": "T\nx", "b": "y", "c": "T"}


def test_chunks_may_name_their_document_and_share_a_key() -> None:
    assert read_corpus(
        stream({"id": "a", "text": "x", "document_id": 9}, {"id": "b", "text": "y"})
    ).documents == {"a": "9"}
    pages = [
        {"text": "x", "metadata": {"page": 1}},
        {"text": "y", "page": 1},
        {"text": "z", "page": 2},
    ]
    corpus = read_corpus(stream(pages), ReadOptions(key=("page",)))
    assert corpus.texts == {"1": "x", "2": "z"}
    assert "repeated text" in {notice.kind for notice in corpus.notices}


def test_bad_texts_name_their_places() -> None:
    assert refusal(
        {"id": "a", "text": "x"}, {"text": "y"}, {"id": "a", "text": "z"}, {"id": "c", "text": 3}
    ) == [
        "<stream>:2: a text without id; name it: --map FIELD=id",
        "<stream>:3: a second text for 'a'; an id has one text; is it the id of a document? "
        "name the chunk's: --map FIELD=id",
        "<stream>:4: text: 3; text is text",
    ]
    assert refusal("a line") == ["<stream>:1: no tab in 'a line'; a line is id<TAB>text, or JSON"]
    assert refusal("[]") == ["<stream>: no texts; give at least one"]


@pytest.mark.parametrize(
    "content",
    [
        "1\tx y\n",
        '{"1": "x y"}',
        '{"_id": "1", "text": "x y"}',
        '[{"query_id": 1, "query": " x y"}]',
    ],
)
def test_queries_are_lines_records_or_a_mapping(content: str) -> None:
    assert read_queries(stream(content)).texts == {"1": "x y"}


def test_bad_queries_name_their_places() -> None:
    with pytest.raises(InputError) as caught:
        read_queries(
            stream({"id": "1", "text": ""}, {"id": "2", "text": "x"}, {"id": "2", "text": "y"})
        )
    assert [line.split(";")[0] for line in str(caught.value).splitlines()] == [
        "<stream>:1: a query without id or text",
        "<stream>:3: a second text for '2'",
    ]


def test_a_run_keeps_its_own_texts_and_gets_those_it_lacks() -> None:
    run = Run(
        "r",
        (
            Row("1", "1", results=(Result("a"), Result("b", text="mine"), Result("c"))),
            Row("2", "2", "own", results=()),
        ),
    )
    corpus = Corpus({"a": "x", "b": "theirs"}, {"a": "d"})
    full = filled(run, corpus, Queries({"1": "q", "2": "other"}))
    assert full.rows == (
        Row("1", "1", "q", results=(Result("a", "d", "x"), Result("b", text="mine"), Result("c"))),
        Row("2", "2", "own", results=()),
    )
    assert full.corpus_ids == {"a", "b"}
    assert filled(run, None, None) == run


def test_texts_of_dl19_and_soat_are_read(data: Path) -> None:
    assert len(read_queries(data / "dl19" / "topics_dl19.tsv.gz").texts) == 43
    assert len(read_corpus(data / "soat" / "corpus.jsonl").texts) == 56
    assert len(read_corpus(data / "dl19" / "passages_dl19.jsonl.gz").texts) > 1000
