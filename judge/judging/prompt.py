"""Prompt files: find, check and render what the judge is asked.

Query and chunk travel as data. They stand between tags that carry a hash of both, so the
author of a text cannot close its own fence; whatever in them looks like a fence or a chat
model's control token is defused; and no template is ever applied to them.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from judge.errors import InputError, Problem, UsageError
from judge.judging.control_tokens import defused
from judge.shipped import shipped

QUERY, CHUNK = "{query}", "{chunk}"
_SECTIONS = re.compile(
    r"\A(?P<system>.*?)^# user[ \t]{0,99}$(?P<user>.*)\Z", re.MULTILINE | re.DOTALL
)
_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation sent to a model."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A checked prompt: what to ask, on which scale, and where the grade stands in the reply.

    reply: the reply's fields in order as (name, kind), kind "grade" or "text"
    sha256: of the file's bytes; enters every cache key
    """

    name: str
    version: str
    sha256: str
    grade_max: int
    field: str
    reply: tuple[tuple[str, str], ...]
    system: str
    user: str

    @property
    def label(self) -> str:
        """Return `name@version`, as reports print it and `--prompt` takes it."""
        return f"{self.name}@{self.version}"

    @property
    def schema(self) -> dict[str, object]:
        """Return the JSON schema of a reply, for models that can be held to one."""
        grade = {"type": "integer", "enum": list(range(self.grade_max + 1))}
        kinds: dict[str, dict[str, object]] = {"grade": dict(grade), "text": {"type": "string"}}
        return {
            "type": "object",
            "properties": {name: kinds[kind] for name, kind in self.reply},
            "required": [name for name, _ in self.reply],
            "additionalProperties": False,
        }

    def render(self, query: str, chunk: str) -> tuple[Message, ...]:
        """Return the messages that ask for the grade of `chunk` under `query`."""
        query, chunk = _defuse(query), _defuse(chunk)
        digest = hashlib.sha256(f"{query}\x00{chunk}".encode()).hexdigest()[:16]
        before, between, after, query_first = self._pieces()
        fenced = (_fence("query", digest, query), _fence("chunk", digest, chunk))
        first, second = fenced if query_first else fenced[::-1]
        user = Message("user", "".join((before, first, between, second, after)))
        return (Message("system", self.system), user) if self.system else (user,)

    def _pieces(self) -> tuple[str, str, str, bool]:
        query_first = self.user.index(QUERY) < self.user.index(CHUNK)
        first, second = (QUERY, CHUNK) if query_first else (CHUNK, QUERY)
        before, rest = self.user.split(first)
        between, after = rest.split(second)
        return before, between, after, query_first


def sendable(text: str) -> str:
    """Return text as valid UTF-8 without NUL: what a server refuses, or we cannot send."""
    return _UNSENDABLE.sub("\ufffd", text)


def _fence(name: str, digest: str, text: str) -> str:
    return f"<{name}-{digest}>\n{text}\n</{name}-{digest}>"


def _defuse(text: str) -> str:
    """Return text that cannot be taken for a fence or a control token, as valid UTF-8."""
    return defused(sendable(text))


def shipped_prompts() -> dict[str, str]:
    """Return the shipped prompts as {`name@version`: sha256}, in the manifest's order."""
    return {label: str(entry["sha256"]) for label, entry in _manifest()["prompts"].items()}


def default_prompt() -> str:
    """Return the label of the prompt that is used when none is named."""
    return str(_manifest()["default"])


def load_prompt(name: str | None = None) -> Prompt:
    """Return a shipped prompt by `name@version` or `name` (its newest), or a user's file.

    Anything that is not a shipped name is a path. UsageError if there is no such prompt,
    InputError if the file is not a prompt or a released version was edited.
    """
    released = _manifest()["prompts"]
    name = name or default_prompt()
    newest = [label for label in released if label.partition("@")[0] == name]
    label = name if name in released else newest[-1] if newest else None
    if label is None:
        return _read_user_prompt(name)
    entry = released[label]
    data = shipped("prompts").joinpath(entry["file"]).read_bytes()
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        found = "a released prompt was edited"
        fix = "restore it, or add a new version with its own sha256 to prompts/manifest.json"
        raise InputError(Problem(f"prompts/{entry['file']}", found, fix))
    return parse_prompt(data, where=f"prompts/{entry['file']}")


def _read_user_prompt(name: str) -> Prompt:
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        known = ", ".join(_manifest()["prompts"])
        message = f"--prompt {name}: no prompt of that name ({known}) and no such file"
        raise UsageError(f"{message} ({error.strerror})") from error
    return parse_prompt(data, where=name)


def parse_prompt(data: bytes, *, where: str) -> Prompt:
    """Return the prompt in a file's bytes; InputError lists everything wrong with it."""
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InputError(Problem(where, f"not UTF-8 text ({error.reason})")) from error
    head, body = _split(text, where)
    sections = _SECTIONS.match(body)
    if sections is None:
        raise InputError(Problem(where, "no section `# user`", "see prompts/README.md"))
    system = re.sub(r"\A\s*# system[ \t]*\n", "", sections["system"]).strip()
    user = sections["user"].strip()
    reply = _reply_fields(head.get("reply") or head.get("field", ""))
    problems = [Problem(where, found, fix) for found, fix in _faults(head, reply, system, user)]
    if problems:
        raise InputError(problems)
    return Prompt(
        name=head.get("name") or Path(where).stem,
        version=head.get("version", "0"),
        sha256=hashlib.sha256(data).hexdigest(),
        grade_max=int(head["grade_max"]),
        field=head["field"],
        reply=reply,
        system=system,
        user=user,
    )


def _split(text: str, where: str) -> tuple[dict[str, str], str]:
    _, opened, rest = text.partition("---\n")
    front, closed, body = rest.partition("\n---\n")
    if not opened or not closed or not text.startswith("---\n"):
        fix = "start with `---`, then lines `grade_max: 3` and `field: grade`, then `---`"
        raise InputError(Problem(where, "no front matter", fix))
    pairs = (line.partition(":") for line in front.split("\n") if line.strip())
    return {key.strip(): value.strip() for key, _, value in pairs}, body


def _reply_fields(text: str) -> tuple[tuple[str, str], ...]:
    fields = (part.partition(":") for part in text.split(","))
    return tuple((name.strip(), kind.strip() or "grade") for name, _, kind in fields)


def _faults(
    head: dict[str, str], reply: tuple[tuple[str, str], ...], system: str, user: str
) -> list[tuple[str, str]]:
    grade_max = head.get("grade_max", "")
    faults = []
    if not (grade_max.isascii() and grade_max.isdigit() and 1 <= int(grade_max) <= 99):
        faults.append((f"grade_max is {grade_max!r}", "declare the scale: `grade_max: 3`"))
    if not head.get("field"):
        faults.append(("no field", "name the reply's field with the grade: `field: grade`"))
    elif (head["field"], "grade") not in reply:
        faults.append((f"field {head['field']!r} is not a grade in `reply`", "add it there"))
    for name, kind in reply:
        if kind not in ("grade", "text"):
            faults.append((f"reply field {name!r} is of kind {kind!r}", "use `text` or nothing"))
    for placeholder in (QUERY, CHUNK):
        if (n := user.count(placeholder)) != 1:
            faults.append((f"{placeholder} stands {n} times in `# user`", "write it exactly once"))
        if placeholder in system:
            faults.append((f"{placeholder} in `# system`", "data belongs in `# user`"))
    return faults


def _manifest() -> dict[str, dict[str, dict[str, str]]]:
    manifest: dict[str, dict[str, dict[str, str]]] = json.loads(
        shipped("prompts").joinpath("manifest.json").read_text(encoding="utf-8")
    )
    return manifest
