"""The public names of `judge.formats`: lazy at run time, the same for type checkers."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import judge.formats


def test_stub_and_module_name_the_same_things_in_the_same_places() -> None:
    stub = Path(judge.formats.__file__).with_suffix(".pyi")
    imports = [
        node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)
    ]
    homes = {alias.name: node.module for node in imports for alias in node.names}
    assert sorted(homes) == judge.formats.__all__
    for name, home in homes.items():
        assert getattr(judge.formats, name) is getattr(sys.modules[str(home)], name)


def test_opening_a_file_imports_no_reader() -> None:
    code = "import sys, judge.formats.opening; print('judge.formats.runs' in sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert printed.stdout == "False\n"
