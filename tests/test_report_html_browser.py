"""The three pages in a real browser, hostile wherever a text stands: nothing runs, loads, links."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from browser import chromium

import judge
from judge.api.comparing import compare
from judge.report.html.comparison import render_comparison
from judge.report.html.page import render_html
from judge.run import KnownGrade, Result, Row, Run

pytestmark = pytest.mark.slow


@dataclass
class Trap:
    """A server that nothing may ever ask; `caught` holds what did."""

    url: str
    caught: list[bytes] = field(default_factory=list)

    @property
    def hostile(self) -> tuple[str, ...]:
        """Return texts that would run, load or link, were any of them markup."""
        run = "window.taken=1;document.title='taken'"
        return (
            f"</script><script src={self.url}/s.js></script><script>{run}</script>",
            f'"><img src={self.url}/i.png onerror="{run}"><svg onload="{run}">',
            f"<iframe src='javascript:parent.taken=1'></iframe><object data={self.url}/o></object>",
            f"<a href={self.url}/a>x</a><base href={self.url}/><form action={self.url}/f>",
            f"<meta http-equiv=refresh content='0;url={self.url}/m'>",
            f"<style>@import url({self.url}/c.css);*{{background:url({self.url}/b)}}</style>",
            f"<link rel=stylesheet href={self.url}/l.css><link rel=prefetch href={self.url}/p>",
            f"{self.url}/plain www.evil.example javascript:{run} \u2028\u202e]]>--><!--",
        )


@pytest.fixture
def trap() -> Iterator[Trap]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = Trap(f"http://127.0.0.1:{server.getsockname()[1]}")

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    found.caught.append(connection.recv(1000))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield found
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def runs(trap: Trap) -> tuple[Run, Run]:
    """Return two runs with a hostile text as each name, slice, query, id, title and chunk."""
    texts = trap.hostile
    n = len(texts)

    def run(name: str, step: int) -> Run:
        rows = []
        known = []
        for i in range(n):
            order = range(0, n * step, step)
            turn = [texts[(i + j) % n] for j in order]
            results = tuple(Result(f"{j}{text}", text=text) for j, text in enumerate(turn))
            key = f"q{i}{texts[i]}"
            named = {"query": texts[i], "slice": texts[-i - 1]}
            rows.append(Row(key, query_id=key, results=results, **named))
            known += [KnownGrade(r.id, j % 4, j % 4, key) for j, r in enumerate(results)]
        return Run(name, tuple(rows), grades=tuple(known))

    return run(texts[0], 1), run(texts[1], -1)


def check(driver: Any, trap: Trap, *, buttons: str) -> None:
    """Open all that can be opened; see that the page is only what we made it."""
    for button in driver.find_elements("css selector", buttons):
        button.click()
    read = driver.execute_script(
        """return {
            taken: window.taken === undefined,
            links: [...document.links].map(link => link.href),
            foreign: [...document.querySelectorAll(
                'img, iframe, object, embed, base, form[action], meta[http-equiv=refresh],'
                + ' [onerror], [onload], script[src^=http]')].map(one => one.outerHTML),
            loaded: performance.getEntriesByType('resource').map(one => one.name)
        }"""
    )
    own = driver.current_url.partition("?")[0]
    assert read["taken"]
    assert driver.title != "taken"
    assert read["foreign"] == []
    assert [link for link in read["links"] if not link.startswith(own)] == []
    assert [name for name in read["loaded"] if trap.url in name] == []
    assert trap.caught == []


def test_a_page_that_took_text_for_markup_would_be_caught(trap: Trap, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><title>page</title><p>{trap.hostile[1]}", encoding="utf-8")
    with chromium(tmp_path / "profile") as driver:
        driver.get(page.as_uri())
        assert driver.title == "taken"
        assert trap.caught != []
        with pytest.raises(AssertionError):
            check(driver, trap, buttons="#nothing")


@pytest.mark.parametrize("kind", ["report", "comparison"])
def test_pages_of_hostile_runs_run_load_and_link_nothing(
    kind: str, trap: Trap, tmp_path: Path
) -> None:
    before, after = runs(trap)
    page = tmp_path / "page.html"
    if kind == "report":
        page.write_text(render_html(judge.grade(before, k=5)), encoding="utf-8")
    else:
        page.write_text(render_comparison(compare(before, after, k=5)), encoding="utf-8")
    with chromium(tmp_path / "profile") as driver:
        driver.get(page.as_uri())
        shown = driver.find_element("css selector", "body").text
        assert "<iframe src='javascript:parent.taken=1'></iframe>" in shown
        check(driver, trap, buttons=".query")


def test_the_labelling_page_of_hostile_chunks_runs_loads_and_links_nothing(
    trap: Trap, tmp_path: Path
) -> None:
    labelling = pytest.importorskip("test_labelling_browser")
    from judge.spotcheck import Item, Queue, Why

    texts = trap.hostile
    items = [
        Item(text, text, text, text, Why.CORE, pi=0.5, judge_grade=1, judge_reason=text)
        for text in texts
    ]
    with (
        labelling.served(Queue(tuple(items), 3), tmp_path / "labels.csv") as address,
        chromium(tmp_path / "profile") as driver,
    ):
        page = labelling.Page(driver, address + "&rater=%3Cimg%20src%3Dx%3E")
        for at in range(len(texts)):
            page.wait(lambda at=at: page.text("count").startswith(f"{at} of"))
            check(driver, trap, buttons="#nothing")
            page.grade("1", at + 1)
        check(driver, trap, buttons="#nothing")
