"""The frame of every page: one file that loads nothing and runs only its own script."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources

from judge.report.html.elements import Content, Markup, code, data, tag
from judge.report.html.rows import RowTable, row_frame


def shell(title: str, *, lead: str, main: Content, rows: RowTable, outcome: str) -> str:
    """Return a whole page: the sentence that leads, what the caller shows, rows, the outcome."""
    script = _source("report.js")
    body = tag(
        "body",
        tag("header", tag("h1", title), tag("p", lead, class_="lead")),
        tag("main", main, row_frame(rows)),
        tag("footer", tag("p", outcome)),
        data("rows-data", rows.as_json()),
        code("script", script),
    )
    return f"<!doctype html>\n{tag('html', _head(title, script), body, lang='en')}\n"


def _head(title: str, script: str) -> Markup:
    style = _source("report.css")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"judge: {title}"),
        tag("link", rel="icon", href="data:,"),
        code("style", style),
    )


def _source(name: str) -> str:
    return resources.files("judge.report.html").joinpath(name).read_text("utf-8")


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
