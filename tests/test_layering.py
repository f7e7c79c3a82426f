"""Imports go one way: a file imports only from its own package and from layers above it."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

PACKAGE = ROOT / "judge"

# Top to bottom, as in the README's architecture section; names are modules or packages of
# judge/. Every new one takes its place here.
LAYERS = (
    *("visible", "masking", "errors", "shipped", "grades", "run", "trec_lines"),
    *("formats", "running", "evidence", "readlog", "measures", "judging", "statistics"),
    *(
        "scoring",
        "contrast",
        "preferred",
        "shadow",
        "auditing",
        "log_pools",
        "matching",
        "measuring",
        "doctor",
        "inquiry",
        "cascade",
        "stopping",
        "pricing",
    ),
    *(
        "calibration",
        "comparing",
        "spotcheck",
        "retrieval",
        "sweep",
        "labelling",
    ),
    *("report", "api", "cli", "__main__"),
)
# Packages that others could lift out and use alone.
SELF_CONTAINED = {
    "measures": {"errors", "grades", "trec_lines"},
    "statistics": {"errors", "grades"},
}

# Seconds to import, or megabytes: loaded inside the function that needs them, so that
# `judge --help` and everything that never asks a model stay fast.
HEAVY = {"diskcache", "h11", "litellm", "numpy", "openai", "pydantic", "rich", "scipy", "tenacity"}

MODULES = sorted(path.relative_to(ROOT) for path in PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    """Return the dotted name of a file of the package; a package is named by its folder."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {module_name(path) for path in MODULES}


def imported_names(path: Path) -> Iterator[str]:
    """Yield the module that each import statement of a file names, wherever it stands."""
    for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import; write it in full"
            base = node.module or ""
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if inner in NAMES else base


def layer(module: str) -> str:
    """Return the layer of `judge.x.y`, which is x; "" for the package itself."""
    return module.partition(".")[2].partition(".")[0]


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_file_imports_only_from_layers_above_it(path: Path) -> None:
    own = layer(module_name(path))
    assert own == "" or own in LAYERS, f"{path}: give {own!r} its place in LAYERS"
    above = set(LAYERS if own == "" else LAYERS[: LAYERS.index(own)])
    allowed = SELF_CONTAINED.get(own, above) | {own}
    if own == "cli":
        allowed |= {""}  # `import judge`: the command line stands on the public names
    for name in imported_names(path):
        root = name.partition(".")[0]
        assert root not in {"scripts", "tests", "conftest"}, f"{path} imports {name}"
        if root == "judge":
            assert layer(name) in allowed, f"{path} imports {name}, which is not above it"


def test_no_import_goes_round_in_a_circle() -> None:
    graph = {
        module_name(path): {
            name for name in imported_names(path) if name in NAMES and name != module_name(path)
        }
        for path in MODULES
    }
    graphlib.TopologicalSorter(graph).prepare()


def test_no_import_hides_behind_type_checking() -> None:
    hidden = [str(p) for p in MODULES if "TYPE_CHECKING" in (ROOT / p).read_text("utf-8")]
    assert hidden == []


def test_command_line_starts_without_anything_heavy() -> None:
    code = "import sys, judge.cli.main; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert HEAVY & set(done.stdout.split()) == set()
