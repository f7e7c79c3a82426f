"""Results that are as usual are read together; the closer look would have read the same."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.errors import InputError
from judge.formats import ReadOptions, read_run
from judge.formats.results import ResultReader

VALUES: dict[str, list[Any]] = {
    "id": ["a", "b", "a", "", 7, 7.5, None],
    "document_id": ["d", "", None, 3, []],
    "text": ["words", "", None, 5],
    "metadata": [{"page": 1}, None, "page"],
    "score": [0.5, None, 2, "2", float("inf")],
    "grade": [2, None],
    "docid": ["x"],
    "colour": ["red"],
}
USUAL = {name: values[:2] for name, values in VALUES.items() if name not in ("grade", "docid")}


def records(values: dict[str, list[Any]]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return lists of results of one layout, most of them, and of several."""
    names = st.lists(st.sampled_from(list(values)), unique=True, max_size=4)
    one = names.map(lambda chosen: ["id", *chosen]).flatmap(
        lambda chosen: st.lists(
            st.fixed_dictionaries({name: st.sampled_from(values[name]) for name in chosen}),
            max_size=4,
        )
    )
    return one | st.lists(one, max_size=2).map(
        lambda lists: [one for each in lists for one in each]
    )


def read(rows: list[list[dict[str, Any]]], options: ReadOptions) -> object:
    text = json.dumps([{"query_id": f"q{i}", "results": row} for i, row in enumerate(rows)])
    try:
        return read_run(io.BytesIO(text.encode()), options)
    except InputError as error:
        return str(error)


@pytest.mark.slow
@settings(max_examples=50)
@given(
    st.lists(records(USUAL) | records(VALUES), min_size=1, max_size=3),
    st.sampled_from(
        [ReadOptions(), ReadOptions(key=("page",)), ReadOptions(map={"colour": "document_id"})]
    ),
)
def test_usual_results_are_read_as_with_a_closer_look(
    rows: list[list[dict[str, Any]]], options: ReadOptions
) -> None:
    found = read(rows, options)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ResultReader, "_plain", lambda self, items, place: None)
        assert read(rows, options) == found


def test_texts_that_nobody_reads_are_only_known_to_be_there() -> None:
    def texts(*expected: object) -> list[str | None]:
        rows: list[dict[str, Any]] = [
            {"query_id": f"q{i}", "results": [{"id": "a", "text": text}]}
            for i, text in enumerate(["one", "two", " ", None])
        ]
        if expected:
            rows[-1]["expected"] = list(expected)
        source = io.BytesIO("\n".join(map(json.dumps, rows)).encode())
        run = read_run(source, ReadOptions(texts_of=1))
        return [row.results[0].text for row in run.rows]

    assert texts() == texts("a") == ["one", "(text)", " ", None]
    assert texts({"quote": "two"}) == ["one", "two", " ", None]  # a quote is looked for in all
