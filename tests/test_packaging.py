"""What is committed and what is shipped: the right files, all of them, nothing else."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    """Return the files that git knows or would add, below ROOT, or skip outside a checkout."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout (an unpacked sdist has no list of tracked files)")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
    paths = [Path(name) for name in listed.stdout.split("\0") if name]
    return [path for path in paths if (ROOT / path).is_file()]


def read_text(path: Path) -> str:
    return (ROOT / path).read_text("utf-8", errors="replace")


@pytest.mark.slow
def test_wheel_from_sdist_holds_the_package_and_its_data_only(
    tracked: list[Path], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr

    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert {path.as_posix() for path in tracked} - packed == set()

    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name: archive.read(name) for name in archive.namelist()}
    files = {name: body for name, body in shipped.items() if ".dist-info/" not in name}
    for path in tracked:
        name = path.as_posix()
        if path.parts[0] in {"prompts", "goldens"}:
            name = f"judge/_data/{name}"
        elif path.parts[0] != "judge":
            continue
        assert files.pop(name) == (ROOT / path).read_bytes(), name
    assert set(files) == set()
    (entry_points,) = (body for name, body in shipped.items() if name.endswith("entry_points.txt"))
    assert b"judge = judge.cli.main:main" in entry_points


def test_only_judge_is_a_top_level_package(tracked: list[Path]) -> None:
    assert {path.parts[0] for path in tracked if path.name == "__init__.py"} == {"judge"}


def test_litellm_stays_out_of_the_core_and_its_malicious_releases_out_of_the_extra() -> None:
    assert not any(line.startswith("litellm") for line in PROJECT["dependencies"])
    (line,) = PROJECT["optional-dependencies"]["litellm"]
    assert "!=1.82.7" in line
    assert "!=1.82.8" in line


def test_no_committed_file_names_a_path_of_somebodys_machine(tracked: list[Path]) -> None:
    places = re.compile(
        rf"{re.escape(str(ROOT.parent))}/\w|(?<![\w.])/(?:home|root|Users)/\w|[A-Z]:\\Users\\"
    )
    named = [
        f"{path}:{number}: {line.strip()[:80]}"
        for path in tracked
        if path != Path("tests/test_packaging.py")
        for number, line in enumerate(read_text(path).splitlines(), start=1)
        if places.search(line)
    ]
    assert named == []


def test_no_file_of_the_published_data_is_committed(tracked: list[Path], shared: Path) -> None:
    def digest(path: Path) -> str:
        return hashlib.sha256(path.read_bytes()).hexdigest()

    ours: dict[int, list[Path]] = {}
    for path in tracked:
        ours.setdefault((ROOT / path).stat().st_size, []).append(ROOT / path)
    copies = [
        (str(twin.relative_to(ROOT)), str(theirs.relative_to(shared)))
        for theirs in shared.rglob("*")
        if theirs.is_file() and theirs.stat().st_size
        for twin in ours.get(theirs.stat().st_size, ())
        if digest(twin) == digest(theirs)
    ]
    assert copies == []


@pytest.mark.slow
def test_no_passage_of_ms_marco_is_committed(tracked: list[Path], data: Path) -> None:
    """Its text is for non-commercial research: not even an excerpt may be shipped."""
    ours = "\n".join(read_text(path) for path in tracked)
    with gzip.open(data / "dl19" / "passages_dl19.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            text = max((value for value in record.values() if isinstance(value, str)), key=len)
            assert len(text) < 60 or text[:60] not in ours, f"passage {record}"[:200]


def test_no_large_file_is_committed(tracked: list[Path]) -> None:
    sizes = {str(path): (ROOT / path).stat().st_size for path in tracked}
    assert {name: size for name, size in sizes.items() if size > 1_000_000} == {}
