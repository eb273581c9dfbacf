"""The built-in tools over the files of a run: read, write, search; once, also after a crash; never outside."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

import pytest

from toolpath import Settings, Toolpath
from toolpath.errors import ToolFailed
from toolpath.model import events as ev
from toolpath.model.run import RunInfo
from toolpath.providers.builtin.files import FilesOptions, FileTools
from toolpath.providers.builtin.provider import BuiltinProvider
from toolpath.providers.run_files.folder import Folder, Quota
from toolpath.providers.run_files.folders import Folders


class Call:
    """What a tool is told of the call."""

    def __init__(self, key: str) -> None:
        self.run_id = "run_1"
        self.idempotency_key = key


class Tools:
    """The tools over one folder, each call under a key of its own unless it says one."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folders = Folders(folder, Quota(100_000, 100))
        tools = FileTools(FilesOptions(**options), lambda: self.folders).all()
        self._tools = {tool.name: tool for tool in tools}
        self._count = 0

    async def __call__(self, name: str, key: str = "", **inputs: Any) -> Any:
        self._count += 1
        body: Any = self._tools[name].body
        return await body.invoke(inputs, Call(key or f"key {self._count}"))


async def test_files_are_written_read_in_pages_searched_counted_and_changed(tmp_path: Path) -> None:
    files = Tools(tmp_path, read_lines=2)
    await files("write", path="notes/a.txt", text="one\ntwo\nthree\n")
    await files("append", path="notes/a.txt", text="four two\n")
    page = await files("read", path="notes/a.txt")
    assert (page["text"], page["next_line"], page["lines"]) == ("one\ntwo\n", 3, 4)
    page = await files("read", path="notes/a.txt", from_line=3)
    assert (page["text"], page["next_line"]) == ("three\nfour two\n", None)
    found = await files("search", text="TWO", ignore_case=True, pattern="notes/*")
    assert [(one["path"], one["line"]) for one in found["found"]] == [("notes/a.txt", 2), ("notes/a.txt", 4)]
    assert await files("count", path="notes/a.txt") == {"bytes": 23, "characters": 23, "words": 5, "lines": 4}
    with pytest.raises(ToolFailed, match="2 times"):
        await files("replace", path="notes/a.txt", old="two", new="2")
    assert await files("replace", path="notes/a.txt", old="two", new="2", all=True) == {"replaced": 2}
    split = await files("split", path="notes/a.txt", parts=2)
    assert [one["path"] for one in split["files"]] == ["notes/a.part001.txt", "notes/a.part002.txt"]
    await files("copy", path="notes/a.txt", to="b.txt")
    assert await files("delete", path="notes") == {"deleted": True}
    assert await files("delete", path="notes") == {"deleted": False}
    assert [one["path"] for one in (await files("list"))["files"]] == ["b.txt"]
    with pytest.raises(ToolFailed, match=r"b\.txt"):
        await files("read", path="a.txt")


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "con", "nul\0"])
async def test_no_tool_leads_out_of_the_folder(tmp_path: Path, path: str) -> None:
    files = Tools(tmp_path / "in")
    for name in ("read", "count", "delete", "split"):
        with pytest.raises(ToolFailed):
            await files(name, path=path)
    for name in ("write", "append"):
        with pytest.raises(ToolFailed):
            await files(name, path=path, text="x")
    assert not [name for _, _, names in os.walk(tmp_path) for name in names]


async def test_a_call_that_is_made_again_changes_nothing_twice(tmp_path: Path) -> None:
    files = Tools(tmp_path)
    for _ in range(3):
        assert await files("append", "first", path="a", text="x") == {"added": 1}
        await files("append", "second", path="a", text="y")
        await files("replace", "third", path="a", old="x", new="xx")
    assert (await files("read", path="a"))["text"] == "xxy"


@pytest.mark.parametrize("dies_at", ["first note", "file", "second note"])
async def test_wherever_the_process_dies_text_is_added_once(
    tmp_path: Path, dies_at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Tools(tmp_path)
    await files("write", path="a", text="begin ")
    seen = 0

    def note(self: Folder, key: str, text: bytes) -> None:
        nonlocal seen
        seen += 1
        if (dies_at, seen) in (("first note", 1), ("second note", 2)):
            raise KeyboardInterrupt
        was(self, key, text)

    def write(self: Folder, *args: Any, **options: Any) -> Any:
        if dies_at == "file":
            raise KeyboardInterrupt
        return wrote(self, *args, **options)

    was, wrote = Folder.note, Folder.write
    monkeypatch.setattr(Folder, "note", note)
    monkeypatch.setattr(Folder, "write", write)
    with pytest.raises(KeyboardInterrupt):
        _sync(files, "append", "key", path="a", text="end")
    monkeypatch.undo()
    await files("append", "key", path="a", text="end")
    await files("append", "key", path="a", text="end")
    assert (await files("read", path="a"))["text"] == "begin end"


def _sync(files: Tools, name: str, key: str, **inputs: Any) -> Any:
    """The work of the tool without a thread, so that the death of the process reaches the test."""
    tools = FileTools(FilesOptions(), lambda: files.folders)
    with files.folders.folder("runs", "run_1") as folder:
        return getattr(tools, f"_{name}")(folder, inputs, key)


async def test_a_run_writes_and_another_one_sees_nothing_of_it(tmp_path: Path) -> None:
    plan = {
        "name": "notes",
        "steps": [
            {"id": "a", "tool": "files.write", "inputs": {"path": "a.txt", "text": "x"}},
            {"id": "l", "tool": "files.list", "depends_on": ["a"]},
        ],
        "outputs": "{{ l.files }}",
    }
    async with Toolpath(tmp_path / "runs.db", settings=Settings()) as tp:
        tp.add(BuiltinProvider({"files": {}}))
        result = await tp.run(tp.read(plan))
        assert result.outputs == [{"path": "a.txt", "size": 1}]
        assert await tp.files.read(result.run_id, "a.txt") == b"x"
        other = await tp.run(tp.read({"steps": [{"id": "l", "tool": "files.list"}], "outputs": "{{ l.files }}"}))
        assert other.outputs == []


async def test_a_write_in_flight_when_the_process_died_is_made_again_once(tmp_path: Path) -> None:
    plan = {"steps": [{"id": "a", "tool": "files.append", "inputs": {"path": "log", "text": "x"}}]}
    async with Toolpath(tmp_path / "runs.db", settings=Settings()) as tp:
        tp.add(BuiltinProvider({"files": {}}))
        first = await tp.run(tp.read(plan))
        events = [event for event in await tp.events(first.run_id) if not isinstance(event, ev.StepSucceeded)]
        cut = events[: next(n for n, event in enumerate(events) if isinstance(event, ev.StepStarted)) + 1]
        await tp.store.delete_runs([first.run_id])
        await tp.store.create_run(RunInfo(run_id=first.run_id, status="running"))
        journal = await tp.store.drive(first.run_id, "dead:0:0")
        kept = journal.append(cut)
        if kept is not None:
            await kept
        result = await (await tp.resume(first.run_id, force=True)).result()
        assert result.status == "completed"
        assert await tp.files.read(first.run_id, "log") == b"x"


async def test_rows_are_written_as_a_table_and_read_back_as_they_were(tmp_path: Path) -> None:
    files = Tools(tmp_path)
    rows: list[Any] = [
        {"name": 'Ada, "the first"', "n": 1, "note": None},
        {"name": "two\nlines\r\nmore", "n": 0.5, "more": ["a", {"b": True}]},
        {"name": "=1+1\t\u00e9\U0001f600", "n": 10**20},
        {"name": "before\rafter"},
    ]
    for path, separator in (("out/t.csv", ","), ("t.TSV", "\t")):
        assert (await files("write_table", path=path, rows=rows))["rows"] == 4
        data = await files.folders.do("runs", "run_1", lambda folder, path=path: folder.read(path, 100_000))
        read = list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter=separator))
        assert read == [
            ["name", "n", "note", "more"],
            ['Ada, "the first"', "1", "", ""],
            ["two\nlines\r\nmore", "0.5", "", '["a",{"b":true}]'],
            ["=1+1\t\u00e9\U0001f600", str(10**20), "", ""],
            ["before\rafter", "", "", ""],
        ]
    await files("write_table", path="l.csv", rows=[[1, None], {"b": 2}], columns=["a", "b"])
    assert (await files("read", path="l.csv"))["text"] == "a,b\n1,\n,2\n"
    await files("write_table", path="l.csv", rows=[], columns=["a"])
    assert (await files("read", path="l.csv"))["text"] == "a\n"
    for wrong, said in (
        ({"path": "t.xlsx", "rows": []}, "no name of a table"),
        ({"path": "t.csv", "rows": [[1]]}, "no names"),
        ({"path": "t.csv", "rows": [[1]], "columns": ["a", "b"]}, "1 values for 2"),
        ({"path": "t.csv", "rows": [{"c": 1}], "columns": ["a"]}, "no column"),
        ({"path": "t.csv", "rows": [], "columns": ["a", "a"]}, "same name"),
        ({"path": "t.csv", "rows": [{f"c{n}": n for n in range(1_001)}]}, "columns"),
        ({"path": "../t.csv", "rows": []}, r"\.\."),
    ):
        with pytest.raises(ToolFailed, match=said):
            await files("write_table", **wrong)
