"""What the README says is what `judge` does: its commands, their output, the tree it draws."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from conftest import ROOT
from test_layering import LAYERS

from judge.cli.main import COMMANDS, app

README = (ROOT / "README.md").read_text("utf-8")
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("goldens/**/*.md")])
MAIN_JOB = "pip install . && judge grade goldens/demo/run.json --backend mock"
TESTS = "pip install '.[dev]' && pytest"


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced code blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def mentioned_commands() -> list[str]:
    """Return every `judge …` command line in a code block of any page."""
    lines = []
    for page in PAGES:
        for block in blocks(page.read_text("utf-8"), r"(?:console|sh)"):
            for line in block.replace("\\\n", " ").splitlines():
                found = re.match(r"(?:\$ )?(?:pip install \. && )?(judge [^|>#]*)", line)
                lines += [found[1].strip()] if found else []
    return sorted(set(lines))


def find_command(words: list[str]) -> tuple[click.Command, list[str]]:
    """Return the command that the words call, and the words left for it."""
    command: click.Command = app
    rest = words[1:]
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        inner = command.get_command(click.Context(command), rest[0])
        assert inner is not None, f"no such command: {' '.join(words)}"
        command, rest = inner, rest[1:]
    return command, rest


@pytest.mark.slow
def test_every_session_prints_what_the_readme_shows() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "readme_sessions.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run scripts/readme_sessions.py\n{done.stderr}{done.stdout}"


@pytest.mark.slow
def test_python_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("JUDGE_CACHE_DIR", str(tmp_path))
    (example,) = [block for block in blocks(README, "python") if block.startswith("import judge")]
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("line", mentioned_commands())
def test_command_and_its_options_exist(line: str) -> None:
    words = [word for word in shlex.split(line) if word != "…"]
    command, rest = find_command(words)
    known = {"-h", "--help"}
    for parameter in command.params:
        known |= {*parameter.opts, *parameter.secondary_opts}
    options = {word.partition("=")[0] for word in rest if re.match(r"--?[a-zA-Z]", word)}
    assert options <= known, line


def test_readme_shows_the_two_commands_of_a_fresh_machine() -> None:
    lines = README.splitlines()
    assert lines.count(MAIN_JOB) == 1
    assert lines.count(TESTS) == 1


def test_readme_names_every_command() -> None:
    section = README.partition("## Commands")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `judge ([\w-]+)", section, flags=re.MULTILINE)) == set(COMMANDS)


def tree_lines() -> list[str]:
    (tree,) = [block for block in blocks(README, "text") if block.startswith("judge/\n")]
    return tree.splitlines()


def drawn_paths() -> list[str]:
    """Return the paths in the architecture section's tree, from top to bottom; folders end in /."""
    parents: list[tuple[int, str]] = []
    found: list[str] = []
    for line in tree_lines():
        indent = len(line) - len(line.lstrip())
        names = re.split(r"\s{2,}", line.strip())[0].split()
        parents = [(depth, name) for depth, name in parents if depth < indent]
        prefix = "".join(name for _, name in parents)
        found += [prefix + name for name in names]
        if names[0].endswith("/"):
            parents.append((indent, names[0]))
    return found


def test_architecture_section_draws_only_what_exists() -> None:
    absent = {
        path
        for path in drawn_paths()
        if not ((ROOT / path).is_dir() if path.endswith("/") else (ROOT / path).is_file())
    }
    assert absent == set()


def test_architecture_section_draws_every_part_of_the_package() -> None:
    real = {
        f"judge/{path.name}/" if path.is_dir() else f"judge/{path.name}"
        for path in (ROOT / "judge").iterdir()
        if not path.name.startswith("_")
        and (path.suffix == ".py" or (path / "__init__.py").exists())
    }
    assert real - set(drawn_paths()) == set()


def test_architecture_section_draws_the_import_order() -> None:
    drawn = [re.fullmatch(r"judge/(\w+)(?:\.py|/)", path) for path in drawn_paths()]
    names = [found[1] for found in drawn if found]
    assert names == [name for name in LAYERS if name in names]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text("utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
