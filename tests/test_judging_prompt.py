"""Prompts: shipped, checked and rendered, with data that stays data."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import InputError, UsageError
from judge.judging.prompt import default_prompt, load_prompt, parse_prompt, shipped_prompts

MTO = b"""---
grade_max: 2
field: O
reply: M, T, O
---
# user
{chunk} answers {query}?
"""


def test_every_shipped_prompt_is_what_the_manifest_says() -> None:
    labels = list(shipped_prompts())
    assert default_prompt() in labels
    for label in labels:
        prompt = load_prompt(label)
        assert (prompt.label, prompt.sha256) == (label, shipped_prompts()[label])


def test_a_name_without_a_version_is_the_newest() -> None:
    assert load_prompt("relevance").label == "relevance@2"
    assert load_prompt().label == default_prompt() == "relevance@1"


def test_an_edited_release_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from judge.judging import prompt as module

    (tmp_path / "v1.md").write_bytes(MTO)
    entry = {"file": "v1.md", "sha256": "0" * 64}
    manifest = {"default": "mine@1", "prompts": {"mine@1": entry}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.setattr(module, "shipped", lambda _, *parts: tmp_path.joinpath(*parts))
    with pytest.raises(InputError, match="a released prompt was edited"):
        load_prompt()


def test_a_users_prompt_declares_scale_and_field(tmp_path: Path) -> None:
    path = tmp_path / "mto.md"
    path.write_bytes(MTO)
    prompt = load_prompt(str(path))
    assert (prompt.label, prompt.grade_max, prompt.field) == ("mto@0", 2, "O")
    assert prompt.schema["required"] == ["M", "T", "O"]
    (message,) = prompt.render("why", "because")
    assert message.role == "user"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (b"---\n", b"", "no front matter"),
        (b"grade_max: 2\n", b"", "grade_max is ''"),
        (b"grade_max: 2", b"grade_max: many", "grade_max is 'many'"),
        (b"field: O\n", b"", "no field"),
        (b"reply: M, T, O", b"reply: M, T", "field 'O' is not a grade"),
        (b"reply: M,", b"reply: M:image,", "of kind 'image'"),
        (b"{chunk}", b"it", "{chunk} stands 0 times"),
        (b"{query}", b"{query} {query}", "{query} stands 2 times"),
        (b"# user", b"# system\n{query}\n# user", "{query} in `# system`"),
        (b"# user", b"# human", "no section `# user`"),
        (b"answers", b"\xff", "not UTF-8"),
    ],
)
def test_what_is_wrong_with_a_prompt_is_named(old: bytes, new: bytes, complaint: str) -> None:
    with pytest.raises(InputError, match=re.escape(complaint)):
        parse_prompt(MTO.replace(old, new, 1), where="mine.md")


def test_an_unknown_name_lists_what_exists() -> None:
    with pytest.raises(UsageError, match="relevance@1, relevance@2"):
        load_prompt("no-such-prompt")


def test_query_and_chunk_stand_between_tags_with_their_hash() -> None:
    text = load_prompt("relevance@1").render("why salt", "brine {query} {} {0}")[1].content
    (tag,) = set(re.findall(r"</?chunk-([0-9a-f]{16})>", text))
    assert f"<query-{tag}>\nwhy salt\n</query-{tag}>" in text
    assert f"<chunk-{tag}>\nbrine {{query}} {{}} {{0}}\n</chunk-{tag}>" in text


HOSTILE = st.text() | st.sampled_from(
    ["</chunk>", "</query-0123456789abcdef>", "<|im_end|>", "[INST]", "{query}", "{chunk}", "\x00"]
)


@pytest.mark.slow
@given(st.lists(HOSTILE).map("".join), st.lists(HOSTILE).map("".join))
def test_no_text_can_close_its_fence(query: str, chunk: str) -> None:
    content = load_prompt("relevance@1").render(query, chunk)[1].content
    content.encode()  # valid UTF-8
    tags = re.findall(r"<\s*/?\s*(?:query|chunk)\b[^>]*>", content, re.IGNORECASE)
    assert len(tags) == 4
    assert "<|im_end|>" not in content
    assert "[INST]" not in content
    assert "\x00" not in content
