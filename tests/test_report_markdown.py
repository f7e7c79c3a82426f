"""Markdown through GitHub's own renderer: names from files link nowhere and mark nothing up."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

from judge.report.markdown import code, escape

cmarkgfm = pytest.importorskip("cmarkgfm")

HOSTILE = [
    *("https://evil.example/x", "http://evil.example", "HTTPS://EVIL.EXAMPLE", "www.evil.example"),
    *("WWW.evil.example", "ftp://evil.example", "mailto:a@evil.example", "xmpp:a@evil.example/x"),
    *("me@evil.example", "a.b+c_d@evil.example", "<https://evil.example>", "<me@evil.example>"),
    *(
        "[l](http://evil.example)",
        "![i](//evil.example/i.png)",
        "[l]: http://evil.example",
        "[l][]",
    ),
    *("<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "<!--", "&lt;b&gt;", "&#64;me"),
    *("**b** _i_ ~~s~~ `c`", "a|b", "a\\|b", "# h", "- [ ] task", "1. one", "> q", "---", "```"),
    *("line\n\n# head\n\nhttps://evil.example", "tab\there", "\u202egnp.exe", "[^1]", "a\r\nb"),
    *(
        "(https://evil.example)",
        "*https://evil.example*",
        "_www.evil.example_",
        "x:www.evil.example",
    ),
]
LINKED_LATER = ["@name", "@org/team", "#1", "org/name#12", "!7", "GH-12", "gh-12", "a@b"]


def rendered(text: str) -> str:
    return cmarkgfm.github_flavored_markdown_to_html(text)


def shown(page: str) -> str:
    """Return what a reader sees of a page, on one line."""
    bare = re.sub(r"<!--.*?-->", "", page)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", bare)).split())


def visible(text: str) -> str:
    return " ".join(text.replace("\u202e", "\\u202e").split())


@pytest.mark.parametrize("text", HOSTILE + LINKED_LATER)
def test_a_text_is_shown_as_it_is_and_is_nothing_else(text: str) -> None:
    for before, after in (("", ""), ("**", "**"), ("- ", ""), ("| HEAD |\n| --- |\n| ", " |")):
        page = rendered(f"{before}{escape(text)}{after}")
        tags = set(re.findall(r"<(\w+)", page))
        assert tags <= {"p", "strong", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"}
        assert shown(page).removeprefix("HEAD ") == visible(text)
        # A name or a number is linked in what was rendered, where the sign stands before it.
        assert not re.search(r"(?<!\w)@\w|#\w|!\d|\bGH-\d|://|www\.", _texts(page), re.IGNORECASE)


@pytest.mark.parametrize("text", HOSTILE + LINKED_LATER)
def test_a_code_span_holds_all_of_a_text(text: str) -> None:
    page = rendered(code(text))
    assert set(re.findall(r"<(\w+)", page)) == {"p", "code"}
    assert shown(page) == visible(text)


def _texts(page: str) -> str:
    """Return the texts between tags and comments, each on a line, as a later linker sees them."""
    return html.unescape(re.sub(r"<!--.*?-->|<[^>]*>", "\n", page))


@pytest.mark.slow
def test_nothing_in_the_markdown_of_reports_and_gates_links(
    run_judge: Callable[..., Ran], tmp_path: Path
) -> None:
    rows = [
        {"query_id": text, "query": text, "slice": text, "expected": [text], "ranked": ["x", text]}
        for text in HOSTILE + LINKED_LATER
    ]
    run, baseline = tmp_path / "run.json", tmp_path / "baseline.json"
    run.write_text(json.dumps({"name": "https://evil.example @me #1\n\n# x", "rows": rows}))
    out, gated = tmp_path / "out", tmp_path / "gate.md"
    assert run_judge("grade", run, "-m", "RR", "--out", out).code in (0, 3)
    words = ("gate", run, "-m", "RR", "--baseline", baseline, "--markdown", gated)
    assert run_judge(*words, "--update-baseline").code == 0
    assert run_judge(*words).code in (0, 1, 3)
    for path in (out / "report.md", gated):
        page = rendered(path.read_text("utf-8"))
        assert "evil.example" in page
        tags = set(re.findall(r"<(\w+)", page))
        inline = {"p", "strong", "ul", "li", "code"}
        assert tags <= inline | {"table", "thead", "tbody", "tr", "th", "td"}
        linked = re.sub(r"<code>.*?</code>", "", page, flags=re.DOTALL)
        assert not re.search(r"(?<!\w)@\w|#\w|!\d|\bGH-\d|://|www\.", _texts(linked), re.IGNORECASE)
