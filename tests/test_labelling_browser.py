"""The labelling page in a real browser, by keyboard alone."""

from __future__ import annotations

import csv
import json
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest
from browser import chromium

from judge.calibration.trust import compare_with_labels
from judge.formats import read_labels
from judge.labelling.session import Session
from judge.labelling.store import Entry, LabelStore
from judge.spotcheck import Item, Queue, Why

pytestmark = pytest.mark.slow
web = pytest.importorskip("judge.labelling.web")

TOKEN = "the-token"
HOSTILE = (
    "<script>document.title = 'taken'</script>",
    '"><img src=x onerror="document.title = \'taken\'">',
)


def make_queue(n=25, *, texts=()):
    """Return n chunks, the first ones with these texts; the judge gives i % 4."""
    texts = [
        *texts,
        *(f"Chunk {i} is about the height of Mount Everest." for i in range(len(texts), n)),
    ]
    items = [
        Item(f"q{i % 5}", "how high is everest", f"c{i}", text, Why.CORE, pi=0.5,
             judge_grade=i % 4, judge_reason=f"reason {i}")
        for i, text in enumerate(texts)
    ]  # fmt: skip
    return Queue(tuple(items), 3)


@contextmanager
def served(queue, path):
    """Serve a queue on a free port; yield the address with its token."""
    listening = web.listen()
    server = web.server(Session(queue, LabelStore(path)), listening, token=TOKEN)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield "http://{}:{}/?token={}".format(*listening.getsockname(), TOKEN)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


class Page:
    """What a person at the keyboard does and sees."""

    def __init__(self, driver, address):
        self.driver = driver
        driver.get(address)

    def text(self, id):
        return self.driver.find_element("id", id).text

    def press(self, keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(keys).perform()

    def wait(self, condition):
        deadline = time.monotonic() + 10
        while not condition():
            assert time.monotonic() < deadline, self.driver.find_element("tag name", "body").text
            time.sleep(0.01)

    def sign_in(self, name):
        from selenium.webdriver.common.keys import Keys

        self.wait(lambda: self.driver.find_element("id", "enter").is_displayed())
        self.press(name + Keys.ENTER)
        self.wait(lambda: self.text("query"))

    def grade(self, key, graded):
        self.press(key)
        self.wait(lambda: self.text("count").startswith(f"{graded} of"))


def test_twenty_labels_by_keyboard_reload_undo_second_rater_and_calibrate(tmp_path):
    from selenium.webdriver.common.keys import Keys

    labels, queue = tmp_path / "labels.csv", make_queue()
    with served(queue, labels) as address, chromium(tmp_path / "profile") as driver:
        page = Page(driver, address)
        page.sign_in("ann")
        for done in range(10):
            page.grade(str(done % 4), done + 1)
        assert "you gave 1, the judge 1: reason 9 (random core)" in page.text("previous")
        driver.refresh()
        page.wait(lambda: page.text("count") == "10 of 25 graded")
        page.grade("3", 11)
        page.press("u")
        page.wait(lambda: page.text("count") == "10 of 25 graded")
        first = "Grade again. Your first grade, 3, is kept beside the new one."
        assert page.text("previous") == first
        page.press("n")
        page.press("half of 2 things")  # digits and keys in a note are a note
        page.press(Keys.ESCAPE)
        page.grade("2", 11)
        page.press("s")
        page.wait(lambda: page.text("count") == "11 of 25 graded, 1 skipped")
        for done in range(12, 21):
            page.grade(str(done % 4), done)
        second = Page(driver, address + "&rater=ben")
        second.wait(lambda: second.text("count") == "0 of 25 graded")
        for done in range(20):
            second.grade(str(done % 4), done + 1)
    read = read_labels(labels).labels
    by = {name: [label for label in read if label.rater == name] for name in ("ann", "ben")}
    assert {name: len(found) for name, found in by.items()} == {"ann": 20, "ben": 20}
    assert [label.note for label in by["ann"] if label.note] == ["half of 2 things"]
    assert {label.pi for label in read} == {0.5}
    found = compare_with_labels({item.pair: item.judge_grade for item in queue.items}, read)
    assert found.raters == ("ann", "ben")
    assert found.people is not None and found.people.pairs == 19
    (revised,) = [label for label in read if label.revised is not None]
    assert (revised.grade, revised.revised) == (3, 2)  # the first counts, the second is kept
    # ann's eleventh chunk is the judge's 2; ben graded as the judge throughout.
    assert found.overall.coefficients["kappa"].value > 0.8


def test_chunk_with_markup_is_shown_as_text(tmp_path):
    queue = make_queue(5, texts=HOSTILE)
    with served(queue, tmp_path / "labels.csv") as address, chromium(tmp_path / "p") as driver:
        page = Page(driver, address + "&rater=ann")
        for at, text in enumerate(HOSTILE):
            page.wait(lambda at=at: page.text("count").startswith(f"{at} of"))
            assert page.text("chunk") == text
            page.grade("0", at + 1)
        assert driver.title == "Spot-check"
        assert driver.find_elements("css selector", "#chunk script, #chunk img") == []


def test_judge_is_hidden_until_the_person_has_graded(tmp_path):
    with served(make_queue(), tmp_path / "l.csv") as address, chromium(tmp_path / "p") as driver:
        page = Page(driver, address + "&rater=ann")
        page.wait(lambda: page.text("query"))
        seen = driver.execute_async_script(
            "fetch('api/next', {method: 'POST', headers: {'Content-Type': 'application/json',"
            f"'X-Token': '{TOKEN}'}}, body: '{{\"rater\": \"ann\"}}'}})"
            ".then((r) => r.text()).then(arguments[0])"
        )
        state = json.loads(seen)
        assert set(state) == {"item", "progress", "scale", "labels", "run"}
        assert set(state["item"]) == {"query_id", "query", "id", "source", "segments"}


def test_page_opens_with_what_to_do_and_names_the_source(tmp_path):
    queue = make_queue(3)
    items = [replace(item, source="Handbook · page 3") for item in queue.items]
    queue = replace(queue, items=tuple(items), run="demo")
    with served(queue, tmp_path / "l.csv") as address, chromium(tmp_path / "p") as driver:
        page = Page(driver, address)
        assert "Grade how well the chunk by itself answers the query" in page.text("how")
        page.sign_in("ann")
        assert "Grade how well the chunk by itself answers the query" in page.text("how")
        assert page.text("source") == "Source: Handbook · page 3"
        assert driver.find_element("tag name", "h1").text == "Spot-check of demo"
        page.grade("1", 1)
        assert page.text("how") == "How to grade"  # one line from the first grade on


def test_every_mark_and_button_can_be_reached_and_is_named(tmp_path):
    with served(make_queue(), tmp_path / "l.csv") as address, chromium(tmp_path / "p") as driver:
        page = Page(driver, address + "&rater=ann")
        page.wait(lambda: page.text("query"))
        marks = [mark.text for mark in driver.find_elements("css selector", "#chunk mark")]
        assert marks == ["Everest"]
        tree = driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        named = {
            (node["role"]["value"], node.get("name", {}).get("value", ""))
            for node in tree
            if not node["ignored"] and "role" in node
        }
        assert ("button", "3 answers exactly") in named
        assert ("group", "How well does the chunk answer the query?") in named
        assert ("textbox", "Note n") in named
        assert ("heading", "how high is everest") in named
        assert driver.switch_to.active_element.get_attribute("id") == "query"


def test_nothing_lies_beyond_a_phone_s_edge_when_chunks_were_skipped(tmp_path):
    queue, path = make_queue(2_000), tmp_path / "l.csv"
    store = LabelStore(path)
    for item in queue.items[:30]:
        store.add(Entry(*item.pair, "ann", None))
    with served(queue, path) as address, chromium(tmp_path / "p", width=390) as driver:
        page = Page(driver, address + "&rater=ann")
        page.wait(lambda: page.text("count") == "0 of 2000 graded, 30 skipped")
        assert driver.execute_script("return document.documentElement.scrollWidth") == 390


def test_saves_nothing_and_says_so_when_the_server_is_gone(tmp_path):
    with chromium(tmp_path / "p") as driver:
        with served(make_queue(), tmp_path / "l.csv") as address:
            page = Page(driver, address + "&rater=ann")
            page.wait(lambda: page.text("query"))
        page.press("2")
        page.wait(lambda: page.text("error").startswith("Not saved"))
        assert page.text("count") == "0 of 25 graded"


def test_two_thousand_chunks_leave_the_page_quick(tmp_path):
    # A third of the queue is labelled already. The time is printed, not asserted: the figure is
    # measured on a quiet machine by scripts/bench_labelling.py.
    labels = tmp_path / "labels.csv"
    queue = make_queue(2000)
    with labels.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("query_id", "chunk_id", "grade", "rater", "pi", "note"))
        writer.writerows((i.query_id, i.id, 1, "ann", 0.5, "") for i in queue.items[:700])
    with served(queue, labels) as address, chromium(tmp_path / "p") as driver:
        page = Page(driver, address + "&rater=ann")
        page.wait(lambda: page.text("count") == "700 of 2000 graded")
        for done in range(701, 711):
            page.grade("1", done)
