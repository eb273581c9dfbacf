"""Folders of files: safe names, no way out, whole or not at all, within a quota."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.patience import PATIENCE

from toolpath.errors import FileRefused, RecordNotFound
from toolpath.providers.run_files.folder import Folder, Quota, remove
from toolpath.providers.run_files.names import OWN, as_safe_name, parts_of, safe_name

QUOTA = Quota(bytes=1_000, count=5)
OUTSIDE = [
    "../secret",
    "a/../../secret",
    "/etc/passwd",
    "\\\\server\\share",
    "C:\\secret",
    "c:secret",
    "a//b",
    "a/./b",
    "..",
    "a/..",
    "\uff0e\uff0e/secret",
    "a\u2215b",
    "nul\0l",
    "con",
    "COM1.txt",
    "lpt9 .txt",
    "aux.",
    "trailing.",
    " leading",
    "trailing ",
    "line\nbreak",
    "bidi\u202egpj.exe",
    "zero\u200bwidth",
    "full\uff0fwidth",
    "a" * 201,
    "ä" * 101,
    "/".join("a" * 21),
    "a/" * 600,
    "a*b",
    OWN + "x",
    "\ud800",
    "\ue000",
    "    ",
    "...",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_that_leads_out_or_means_something_else_is_refused(path: str, tmp_path: Path) -> None:
    with Folder(tmp_path / "in", QUOTA) as folder:
        for act in (folder.tree, folder.entry, folder.delete, lambda path: folder.write(path, [b"x"])):
            with pytest.raises(FileRefused):
                act(path)
    assert not (tmp_path / "in").exists() or not any((tmp_path / "in").iterdir())


@given(st.text(max_size=300))
def test_what_strangers_call_a_file_becomes_a_safe_name_or_none(name: str) -> None:
    try:
        found = as_safe_name(name)
    except FileRefused:
        return
    assert safe_name(found) == found
    assert parts_of(found) == (found,)
    assert len(found.encode()) <= 200


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ann\\report.pdf", "report.pdf"),
        ("a?b*.txt", "a_b_.txt"),
        ("r\u202efdp.exe", "rfdp.exe"),
        ("ä" * 300 + ".pdf", "ä" * 98 + ".pdf"),
        ("résumé.pdf", "résumé.pdf"),
    ],
)
def test_names_are_kept_as_far_as_they_are_safe(name: str, kept: str) -> None:
    assert as_safe_name(name) == kept


def test_files_are_written_read_listed_and_deleted(tmp_path: Path) -> None:
    with Folder(tmp_path / "in", QUOTA) as folder:
        assert folder.tree().children == ()
        folder.write("deep/er/a.txt", [b"one ", b"two"])
        folder.write("b.txt", [b"x"])
        assert folder.read("deep/er/a.txt", 100) == b"one two"
        assert folder.read("deep/er/a.txt", 3) == b"one"
        assert [(entry.path, entry.size) for entry in folder.entries()] == [("b.txt", 1), ("deep/er/a.txt", 7)]
        with pytest.raises(RecordNotFound, match=r"a\.txt"):
            folder.entry("deep/er/b.txt")
        with pytest.raises(FileRefused, match="capitals"):
            folder.write("B.TXT", [b"x"])
        with pytest.raises(FileRefused):
            folder.write("deep", [b"x"])
        with pytest.raises(FileRefused):
            folder.write("b.txt/c", [b"x"])
        assert folder.delete("deep")
        assert not folder.delete("deep")
        assert [entry.path for entry in folder.entries()] == ["b.txt"]


def test_links_devices_and_pipes_lead_nowhere(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "in"
    outside.mkdir()
    (outside / "secret").write_text("hunter2")
    with Folder(inside, QUOTA) as folder:
        folder.write("a", [b"x"])
        os.symlink(outside / "secret", inside / "link")
        os.symlink(outside, inside / "dir")
        os.symlink("/dev/zero", inside / "zero")
        os.link(outside / "secret", inside / "hard")
        os.mkfifo(inside / "pipe")
        for name in ("link", "dir/secret", "zero", "hard", "pipe"):
            with pytest.raises(FileRefused):
                folder.read(name, 10)
        with pytest.raises(FileRefused):
            folder.write("dir/new", [b"x"])
        assert [entry.path for entry in folder.entries()] == ["a"]
        folder.write("link", [b"mine"])
        assert folder.delete("dir")
    remove(inside)
    assert not inside.exists()
    assert (outside / "secret").read_text() == "hunter2"


def test_a_root_that_is_a_link_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    os.symlink(tmp_path / "outside", tmp_path / "in")
    with pytest.raises(OSError, match="in"), Folder(tmp_path / "in", QUOTA):
        pass


def test_a_file_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    with Folder(tmp_path / "in", QUOTA) as folder:
        folder.write("a", [b"before"])

        def breaks_off() -> object:
            yield b"half"
            raise RuntimeError("the client has gone")

        with pytest.raises(RuntimeError):
            folder.write("a", breaks_off())  # type: ignore[arg-type]
        assert folder.read("a", 100) == b"before"
        # What a process that died has left is not seen, and goes with the folder.
        (tmp_path / "in" / f"{OWN}dead").write_bytes(b"half")
        assert [entry.path for entry in folder.entries()] == ["a"]
    assert [path.name for path in (tmp_path / "in").iterdir() if path.name != f"{OWN}dead"] == ["a"]


def test_the_quota_counts_bytes_and_files(tmp_path: Path) -> None:
    with Folder(tmp_path / "in", QUOTA) as folder:
        with pytest.raises(FileRefused, match="no room"):
            folder.write("large", [b"x" * 600, b"x" * 600])
        folder.write("large", [b"x" * 900])
        # What it takes the place of gives its room.
        folder.write("large", [b"y" * 1_000])
        with pytest.raises(FileRefused, match="no room"):
            folder.write("more", [b"x"])
        folder.write("large", [b""])
        for name in "abcd":
            folder.write(name, [b"x"])
        with pytest.raises(FileRefused, match="5 files"):
            folder.write("e", [b"x"])
        assert folder.used() == Quota(4, 5)


def test_many_write_at_once_and_each_file_is_whole(tmp_path: Path) -> None:
    def write(number: int) -> None:
        with Folder(tmp_path / "in", Quota(10**9, 1000)) as folder:
            folder.write(f"d{number % 3}/same", [bytes([number]) * 5_000] * 4)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(60)))
    with Folder(tmp_path / "in", QUOTA) as folder:
        for entry in folder.entries():
            content = folder.read(entry.path, 10**6)
            assert len(content) == 20_000
            assert len(set(content)) == 1


def test_writers_at_once_share_one_quota(tmp_path: Path) -> None:
    everybody = Barrier(4, timeout=PATIENCE)

    def write(name: str, size: int, quota: Quota) -> bool:
        with Folder(tmp_path / "in", quota) as folder, folder.writing(name) as writing:
            everybody.wait()
            try:
                writing.add(b"x" * size)
                writing.done()
            except FileRefused:
                return False
            return True

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(lambda name: write(name, 90, Quota(200, 100)), "abcd")) == 2
        assert sum(threads.map(lambda name: write(name, 1, Quota(1_000, 4)), "efgh")) == 2
        # One name in four hands: whoever is last has it, and it counts once.
        assert sum(threads.map(lambda _: write("e1", 9, Quota(1_000, 5)), range(4))) == 4
    with Folder(tmp_path / "in", QUOTA) as folder:
        assert folder.used() == Quota(2 * 90 + 2 + 9, 5)
        names = [path.name for path in (tmp_path / "in").iterdir()]
    assert not [name for name in names if name.startswith(OWN)]


def test_files_that_begin_at_once_and_differ_in_capitals_are_not_both_kept(tmp_path: Path) -> None:
    with Folder(tmp_path / "in", QUOTA) as one, Folder(tmp_path / "in", QUOTA) as other:
        with one.writing("a.txt") as first, other.writing("A.txt") as second:
            first.add(b"first")
            second.add(b"second")
            first.done()
            with pytest.raises(FileRefused, match="capitals"):
                second.done()
        assert [entry.path for entry in one.entries()] == ["a.txt"]
