"""report.html: what it shows, and that no text of a file is ever markup in it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from browser import chromium
from hypothesis import given
from hypothesis import strategies as st

import judge
from judge.report.document import report_document
from judge.report.html.elements import data, tag
from judge.report.html.page import render_html
from judge.run import Golden, KnownGrade, Result, Row, Run

HOSTILE = (
    "</script><script>document.title = 'taken'</script>",
    '"><img src=x onerror="document.title = \'taken\'">',
    "<!-- </title><style>*{display:none}</style> ]]> {{7*7}} ${7*7}",
)
# By hand: q0 has grade 3 at rank 1 and 0 at 2, q1 the other way: nDCG@2 1 and 1/log2(3) = 0.631.
GRADES = {("q0", "a"): 3, ("q0", "b"): 0, ("q1", "a"): 0, ("q1", "b"): 3}


def _report(*, texts=("text of a", "text of b"), name="the run", slices=("one", "two")):
    results = tuple(Result(id, text=text) for id, text in zip("ab", texts, strict=True))
    rows = [
        Row(key=f"q{i}", query_id=f"q{i}", query=f"question {i}", slice=slices[i], results=results)
        for i in range(2)
    ]
    known = [KnownGrade(id=id, lo=g, hi=g, query_id=query) for (query, id), g in GRADES.items()]
    rows.append(Row(key="q2", query_id="q2", query="open", slice=slices[0], results=results))
    return judge.grade(Run(name, tuple(rows), grades=tuple(known)), k=2)


class _Page(HTMLParser):
    """The elements of a page, and its text outside scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.attributes, self.text, self._inside = [], [], [], ""
        self.feed(page)

    def handle_starttag(self, name, attributes):
        self.elements.append(name)
        self.attributes += [key for key, _ in attributes]
        self._inside = name

    def handle_endtag(self, name):
        self._inside = ""

    def handle_data(self, text):
        if self._inside not in ("script", "style"):
            self.text.append(text)


def test_page_shows_the_sentence_the_means_and_the_outcome():
    page = " ".join(" ".join(_Page(render_html(_report())).text).split())
    assert "the run: nDCG@2 is between" in page
    assert "0.631" in page and "1.000" in page
    assert "0.500..1.000" in page  # slice one: (1 + [0, 1]) / 2
    assert "] 0." not in page
    assert "INCOMPLETE" in page


def test_rows_carry_grade_source_reason_and_text():
    page = render_html(_report())
    rows = json.loads(re.search(r'id="rows-data">(.*?)</script>', page, re.DOTALL)[1])["rows"]
    assert [row["open"] for row in rows] == [False, False, True]
    assert rows[0]["chunks"][0]["lo"] == rows[0]["chunks"][0]["hi"] == 3
    assert rows[0]["chunks"][0]["source"] == "prior"
    assert rows[2]["chunks"][1] | {"text": "", "reason": ""} == {
        "where": "2.", "id": "b", "lo": 0, "hi": 3, "source": None, "reason": "", "text": "",
    }  # fmt: skip
    assert rows[2]["chunks"][1]["text"] == "text of b"


def test_page_loads_nothing_and_allows_only_its_own_script():
    page = render_html(_report())
    assert "default-src &#x27;none&#x27;" in page and "unsafe" not in page
    assert not re.search(r"""(?:src|href)=["'](?!data:,)""", page)
    assert _Page(page).elements.count("script") == 2  # the data and our own


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_adds_no_element_and_no_attribute(hostile):
    kind = _report(texts=(hostile, hostile), name=hostile, slices=(hostile, "two"))
    tame, wild = _Page(render_html(_report())), _Page(render_html(kind))
    assert wild.elements == tame.elements
    assert wild.attributes == tame.attributes


@given(st.text(), st.text())
def test_no_text_can_leave_its_element(text, attribute):
    page = _Page(tag("p", text, title=attribute) + data("d", [text, {attribute: text}]))
    assert page.elements == ["p", "script"]
    assert page.attributes == ["title", "type", "id"]


def test_mock_says_what_it_is_wherever_its_numbers_stand():
    results = (Result("a", text="everest"), Result("b", text="nothing"))
    run = Run("r", (Row(key="q", query="everest", slice="s", results=results),))
    page = render_html(judge.grade(run, backend="mock"))
    assert page.count("word overlap, not a judgment") >= 4  # sentence, head, picture, outcome


def test_confusion_matrix_comes_with_held_out_labels(tmp_path):
    # The mock grades a text that says what was asked 2, one that says nothing of it 0.
    labels = tmp_path / "labels.csv"
    labels.write_text("query_id,chunk_id,grade\nq,a,3\nq,b,1\nhow high is everest,c,3\n")
    asked = "how high is everest"
    texts = {"a": asked, "b": "nothing", "c": "unasked"}
    results = tuple(Result(id, text=text) for id, text in texts.items())
    run = Run("r", (Row(key="q", query_id="q", query=asked, results=results),))
    report = judge.grade(run, backend="mock", labels=labels, exclude_labels=True)
    page = render_html(report)
    assert "The judge beside people" in page
    table = page[page.index('class="confusion"') :]
    cells = re.findall(r'<td class="n(?: same)?">([^<]*)</td>', table)
    # Humans in rows: 1 at judge 0; 3 at judge 0 (named by the query's text) and at judge 2.
    assert cells == ["0"] * 4 + ["1", "0", "0", "0"] + ["0"] * 4 + ["1", "0", "1", "0"]
    assert "3 labels kept out of settling:" in page
    assert report_document(report)["calibration"]["overall"]["pairs"] == 3


def test_goldens_are_shown_as_such():
    row = Row(key="q", query_id="q", query="x", results=(Result("a", text="t"),))
    report = judge.grade(Run("r", (row,)), goldens=[Golden(("a",), query_id="q", complete=True)])
    assert '"source":"golden"' in render_html(report)


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_in_a_browser_nothing_that_matters_lies_beyond_an_edge(tmp_path, width):
    page = tmp_path / "report.html"
    report = _report(slices=("freshness_of_answers_and_more", HOSTILE[0] * 3))
    page.write_text(render_html(report), encoding="utf-8")
    with chromium(tmp_path / "profile", width=width) as driver:
        driver.get(page.as_uri())
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        beyond = driver.execute_script(
            "const page = document.documentElement.clientWidth;"
            "return [...document.querySelectorAll('select, .forest, .forest text, .forest line')]"
            ".map((e) => [e, e.getBoundingClientRect()])"
            ".filter(([e, box]) => box.left < 0 || box.right > page)"
            ".map(([e]) => e.outerHTML)"
        )
        assert beyond == []
        plot, *names = driver.find_elements("css selector", ".forest, .forest .name")
        assert all(name.rect["x"] >= plot.rect["x"] for name in names)


@pytest.mark.slow
def test_in_a_browser_rows_sort_filter_open_and_run_nothing(tmp_path):
    page = tmp_path / "report.html"
    hostile = _report(texts=HOSTILE[:2], slices=(HOSTILE[2], "two"))
    page.write_text(render_html(hostile), encoding="utf-8")
    with chromium(tmp_path / "profile") as driver:
        driver.get(page.as_uri())

        def queries():
            return [button.text for button in driver.find_elements("css selector", ".query")]

        assert queries() == ["question 0", "question 1", "open"]
        sort = driver.find_element("css selector", '[data-column="nDCG@2"] button')
        sort.click()
        assert queries() == ["open", "question 1", "question 0"]
        sort.click()
        assert queries() == ["question 0", "question 1", "open"]
        driver.find_element("id", "find").send_keys("QUESTION 1")
        assert queries() == ["question 1"]
        driver.find_element("css selector", ".query").click()
        texts = [part.text for part in driver.find_elements("css selector", ".chunks .text")]
        assert texts == list(HOSTILE[:2])
        assert driver.title == "judge: the run"
        assert [line for line in driver.get_log("browser") if line["level"] == "SEVERE"] == []


def test_page_of_a_large_report_holds_the_lowest_rows_and_says_so(monkeypatch):
    monkeypatch.setattr("judge.report.html.page.ROWS_ON_PAGE", 1)
    page = render_html(_report())
    # q2 is wholly open: with every grade at its lowest it has 0
    assert "question 0" not in page and '"open"' in page
    assert "The 1 rows with the lowest nDCG@2 are on this page; report.json has all 3." in page
