"""The Search Relevance Workbench's judgment lists and query sets."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.formats import ReadOptions, read_grades, read_queries

FIXTURES = Path(__file__).parent / "fixtures"
ESCI = {"0": 0, "1": 1, "10": 2, "100": 3}


def test_a_judgment_list_rates_documents_by_query_text() -> None:
    file = read_grades(FIXTURES / "workbench_judgments.json")
    assert [(grade.query, grade.id, grade.lo) for grade in file.grades] == [
        ("reset breaker", "a", 3),
        ("reset breaker", "b", 0),
        ("fuse size", "a", 1),
    ]
    assert file.notices == ()


def test_a_query_set_gives_texts_that_are_their_own_ids() -> None:
    queries = read_queries(FIXTURES / "workbench_query_set.json")
    assert queries.texts == {"reset breaker": "reset breaker", "fuse size": "fuse size"}


def test_lists_as_the_plugin_returns_them_are_read_alike() -> None:
    stored = json.loads((FIXTURES / "workbench_judgments.json").read_text("utf-8"))
    response = {"took": 1, "hits": {"hits": [{"_index": "j", "_id": "1", "_source": stored}]}}
    file = read_grades(io.BytesIO(json.dumps(response).encode()))
    assert [(g.query, g.id) for g in file.grades] == [
        ("reset breaker", "a"),
        ("reset breaker", "b"),
        ("fuse size", "a"),
    ]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"judgmentRatings": [3]}, "<stream>: judgmentRatings[0]: 3; a judgment is"),
        (
            {"judgmentRatings": [{"query": "q"}]},
            "<stream>: judgmentRatings[0]: an object with query",
        ),
        (
            {"judgmentRatings": [{"query": "q", "ratings": [3]}]},
            "<stream>: judgmentRatings[0].rati",
        ),
        (
            {"judgmentRatings": [{"query": "q", "ratings": [{"rating": 1}]}]},
            "<stream>: judgmentRatings[0].ratings[0]: a grade without id; say which",
        ),
        ({"judgmentRatings": []}, "<stream>: no grades; give at least one"),
        ({"querySetQueries": []}, "<stream>: a Workbench query set, which holds queries; give"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(value: object, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_grades(io.BytesIO(json.dumps(value).encode()))
    assert str(caught.value).startswith(said)


def test_esci_needs_a_map_and_is_read_without_loss(data: Path) -> None:
    source = data / "esci_ubi" / "esci_us_judgments.json"
    with pytest.raises(InputError, match="--grade-map 0=0,1=1,10=2,100=3"):
        read_grades(source)
    file = read_grades(source, ReadOptions(grade_map=ESCI))
    assert len(file.grades) == 6678
    assert len({grade.query for grade in file.grades}) == 150


def test_the_esci_query_set_is_read(data: Path) -> None:
    assert len(read_queries(data / "esci_ubi" / "esci_us_queryset.json").texts) == 150
