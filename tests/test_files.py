"""Files that appear whole or not at all."""

import os
from pathlib import Path

import pytest

from lexarbor.errors import LexarborError
from lexarbor.files import check_file, check_folder, replacing


def test_the_file_appears_at_the_end_in_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old", encoding="utf-8")
    with replacing(path) as temporary:
        temporary.write_text("new", encoding="utf-8")
        assert temporary.parent == path.parent
        assert path.read_text(encoding="utf-8") == "old"
    assert path.read_text(encoding="utf-8") == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_the_disk_holds_the_content_before_the_file_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[bytes] = []

    def fsync(descriptor: int) -> None:
        assert not (tmp_path / "file").exists()
        flushed.append(os.read(descriptor, 100))

    monkeypatch.setattr(os, "fsync", fsync)
    with replacing(tmp_path / "file") as temporary:
        temporary.write_text("new", encoding="utf-8")
    assert flushed == [b"new"]
    assert (tmp_path / "file").exists()


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(KeyboardInterrupt), replacing(path) as temporary:
        temporary.write_text("half", encoding="utf-8")
        raise KeyboardInterrupt
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("place", ["absent/file", "taken/file", "folder"])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "taken").write_text("a file, not a folder", encoding="utf-8")
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    before = sorted(tmp_path.iterdir())
    with (
        pytest.raises(LexarborError, match=f"cannot write .*{place}: "),
        replacing(tmp_path / place) as temporary,
    ):
        temporary.write_text("new", encoding="utf-8")
    assert sorted(tmp_path.iterdir()) == before


def test_a_link_is_followed_and_what_is_no_plain_file_stays(tmp_path: Path) -> None:
    real, link, pipe = tmp_path / "real", tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(real)
    os.mkfifo(pipe)
    with replacing(link) as temporary:
        temporary.write_text("new", encoding="utf-8")
    assert link.is_symlink() and real.read_text(encoding="utf-8") == "new"
    with pytest.raises(LexarborError, match="no plain file"), replacing(pipe):
        pass
    assert pipe.is_fifo()


def test_places_are_looked_at_without_being_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    check_folder(tmp_path / "a" / "b")
    check_file(tmp_path / "new.jsonl")
    check_file(tmp_path / "file")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(LexarborError, match="a file; give the name of a folder"):
            check_folder(path)
    with pytest.raises(LexarborError, match="is no plain file"):
        check_file(tmp_path)
    with pytest.raises(LexarborError, match="there is no folder"):
        check_file(tmp_path / "a" / "new.jsonl")
    monkeypatch.setattr("os.access", lambda *_: False)
    for check in (check_folder, check_file):
        with pytest.raises(LexarborError, match="nothing may be written"):
            check(tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
