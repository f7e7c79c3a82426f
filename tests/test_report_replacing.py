"""`judge.report.replacing`: files appear whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from judge.errors import InputError, Interrupted
from judge.report.replacing import prepare_file, replacing


def write(path: Path, text: str) -> None:
    with replacing(path) as stream:
        stream.write(text)


def test_the_new_file_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    write(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, Interrupted, OSError, GeneratorExit])
def test_nothing_is_left_of_a_write_that_was_interrupted(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(error), replacing(path) as stream:
        stream.write("half")
        stream.flush()
        raise error("stopped")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("lasting", [True, False])
def test_only_what_must_outlive_a_power_cut_waits_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lasting: bool
) -> None:
    waited: list[int] = []
    monkeypatch.setattr(os, "fsync", waited.append)
    with replacing(tmp_path / "file", lasting=lasting) as stream:
        stream.write("new")
    assert len(waited) == lasting
    assert (tmp_path / "file").read_text() == "new"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "file", tmp_path / "link"
    link.symlink_to(target)
    write(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_device_is_written_as_it_is() -> None:
    prepare_file(Path(os.devnull))
    write(Path(os.devnull), "gone")
    assert not Path(os.devnull).is_file()


def test_half_a_surrogate_pair_is_written_as_its_escape(tmp_path: Path) -> None:
    write(tmp_path / "file", "\ud800")
    assert (tmp_path / "file").read_text() == "\\ud800"


@pytest.mark.parametrize("name", ["", "missing/file", "file/below"])
def test_what_cannot_be_written_is_refused_beforehand(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="cannot be written"):
        prepare_file(tmp_path / name)


def test_asking_beforehand_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("as it was")
    prepare_file(tmp_path / "file")
    prepare_file(tmp_path / "new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "as it was"
