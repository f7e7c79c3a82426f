"""comparison.html and the folder it lies in: what they show, and what spotcheck reads of them."""

from __future__ import annotations

import json
import re

import pytest
from test_report_html import HOSTILE, _Page

from judge.api.comparing import compare
from judge.errors import InputError
from judge.formats.outfolder import read_out_folder
from judge.report.comparison_files import write_comparison
from judge.report.html.comparison import render_comparison
from judge.run import Result, Row, Run
from judge.spotcheck import Plan, Why, build_queue

QUERY = "how high is everest"


def _run(name, order, *, texts=None, slice="s", n=6):
    """Return n rows in which the mock grades chunk `on` above `off`."""
    texts = texts or {"on": QUERY, "off": "nothing of the kind"}
    results = tuple(Result(id, text=texts[id]) for id in order)
    rows = [
        Row(key=f"q{i}", query_id=f"q{i}", query=QUERY, slice=slice, results=results)
        for i in range(n)
    ]
    return Run(name, tuple(rows))


def _compared(**more):
    before, after = _run("before", ("off", "on"), **more), _run("after", ("on", "off"), **more)
    return compare(before, after, backend="mock", k=2)


def test_page_shows_sentence_table_and_outcome():
    page = " ".join(" ".join(_Page(render_comparison(_compared())).text).split())
    assert "after is better than before: nDCG@2 +0.369" in page
    assert "word overlap, not a judgment" in page
    assert "BETTER nDCG@2 +0.369" in page


def test_rows_are_differences_and_say_how_chunks_moved():
    page = render_comparison(_compared())
    data = json.loads(re.search(r'id="rows-data">(.*?)</script>', page, re.DOTALL)[1])
    assert data["signed"] is True
    assert [(c["where"], c["id"]) for c in data["rows"][0]["chunks"]] == [
        ("2 → 1:", "on"),
        ("1 → 2:", "off"),
    ]
    assert data["rows"][0]["scores"]["nDCG@2"]["value"] == pytest.approx(0.36907, abs=5e-6)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_adds_no_element_and_no_attribute(hostile):
    tame = _Page(render_comparison(_compared(slice="a slice")))
    wild = _Page(render_comparison(_compared(texts={"on": hostile + QUERY, "off": hostile},
                                             slice=hostile)))  # fmt: skip
    assert wild.elements == tame.elements
    assert wild.attributes == tame.attributes


def test_comparison_that_did_not_run_is_a_page_too():
    page = render_comparison(compare(_run("a", ()), _run("b", ()), k=2))
    assert "NO VERDICT" in page


def test_spotcheck_asks_first_for_grades_that_the_verdict_hangs_on(tmp_path):
    # One of six rows gains 1 - 1/log2(3), the others are alike: the mean hangs on that row.
    before, after = _run("before", ("off", "on")), _run("after", ("off", "on"))
    swapped = _run("after", ("on", "off")).rows[0]
    after = Run("after", (swapped, *after.rows[1:]))
    write_comparison(compare(before, after, backend="mock", k=2), tmp_path)
    out = read_out_folder(tmp_path)
    assert out.run == "after"
    assert {query for query, _ in out.flips} == {"q0"}
    texts = {(f"q{i}", id): "text" for i in range(6) for id in ("on", "off")}
    queue = build_queue(out, texts, plan=Plan(core=0))
    assert queue.items[0].why is Why.FLIP
    assert queue.items[0].query == QUERY


def test_folder_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="choose another --out"):
        write_comparison(_compared(), tmp_path / "file")
