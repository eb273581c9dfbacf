"""A store that is full, locked, damaged or not ours: an error in words, and a run that goes on when it is well."""

from __future__ import annotations

import os
import resource
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from end_to_end_cases import Command, Desk

from toolpath import Toolpath
from toolpath.errors import StoreError
from toolpath.store.sqlite.store import SqliteStore

FULL = """
    name: full
    flow: chain
    steps:
      - {id: first, tool: mark, inputs: {name: first}}
      - {id: heavy, tool: kilobytes, inputs: {count: 900}}
      - {id: second, tool: mark, inputs: {name: second}}
    outputs: "{{ second }}"
"""


def small_disk() -> None:
    """No file of this process grows beyond this: what a full disk looks like to a program."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))


def test_a_full_disk_stops_the_run_in_words_and_it_goes_on_when_there_is_space(desk: Desk, toolpath: Command) -> None:
    desk.write("full.yaml", FULL)
    ran = desk.spawn("run", "full.yaml", preexec_fn=small_disk).wait()
    assert (ran.code, ran.out) == (1, "")
    assert "The store runs.db" in ran.err
    assert "toolpath runs resume run_" in ran.err
    assert "Traceback" not in ran.err
    assert "Unexpected" not in ran.err
    assert desk.calls == ["first"]
    shown = toolpath("runs", "show", "last", "--json").json
    assert {step["path"]: step["status"] for step in shown["results"]}["first"] == "succeeded"
    ran = toolpath("runs", "resume", "last")
    assert (ran.code, ran.out) == (0, "second\n"), ran.err
    assert desk.calls == ["first", "second"], "what was finished was called again"


@asynccontextmanager
async def door(max_size: int | None = None) -> AsyncIterator[Toolpath]:
    async with Toolpath(SqliteStore("small.db", max_size=max_size)) as tp:
        tp.add_module("desk.py")
        yield tp


async def test_a_store_at_its_limit_stops_one_run_and_serves_the_others(desk: Desk) -> None:
    plan = {"name": "heavy", "steps": [{"id": "heavy", "tool": "kilobytes", "inputs": {"count": 900}}]}
    async with door(max_size=500_000) as tp:
        full = await tp.start(plan)
        with pytest.raises(StoreError, match=r"small\.db cannot grow"):
            await full.result()
        assert await tp.call("mark", {"name": "light"}) == "light"
    async with door() as tp:
        result = await (await tp.resume(full.id)).result()
        assert result.status == "completed"
        assert len(result.outputs["heavy"]) == 900 * 1024
    assert desk.calls == ["light"]


def test_a_store_that_another_program_locks_is_named_and_nothing_is_called(
    desk: Desk, toolpath: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert toolpath("run", "mark", "-i", "name=before").code == 0
    made = SqliteStore.__init__
    monkeypatch.setattr(SqliteStore, "__init__", lambda self, path, **more: made(self, path, busy_timeout=0.1, **more))
    other = sqlite3.connect("runs.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        ran = toolpath("run", "mark", "-i", "name=meanwhile")
        assert (ran.code, ran.out) == (1, "")
        assert "runs.db is locked by another process" in ran.err
        assert "Traceback" not in ran.err
    finally:
        other.close()
    assert desk.calls == ["before"]
    assert toolpath("run", "mark", "-i", "name=after").code == 0


@pytest.mark.parametrize("content", [b"a letter to somebody " * 500, os.urandom(20_000)])
def test_a_file_that_is_no_store_is_left_as_it_is(desk: Desk, toolpath: Command, content: bytes) -> None:
    Path("runs.db").write_bytes(content)
    for words in (("run", "mark", "-i", "name=x"), ("runs", "list"), ("runs", "show", "last"), ("doctor",)):
        ran = toolpath(*words)
        assert ran.code == 1, words
        assert "runs.db is not an SQLite database" in ran.out + ran.err
        assert "move this one away" in ran.out + ran.err
        assert "Traceback" not in ran.err
    assert Path("runs.db").read_bytes() == content
    assert desk.calls == []
    assert toolpath("run", "mark", "-i", "name=x", "--store", "other.db").code == 0


def test_damaged_pages_are_an_error_with_what_to_do(desk: Desk, toolpath: Command) -> None:
    for number in range(5):
        assert toolpath("run", "mark", "-i", f"name={number}").code == 0
    content = bytearray(Path("runs.db").read_bytes())
    content[8192:] = b"\xa5" * (len(content) - 8192)
    Path("runs.db").write_bytes(content)
    for words in (("run", "mark", "-i", "name=x"), ("runs", "list")):
        ran = toolpath(*words)
        assert ran.code == 1
        assert "runs.db is damaged" in ran.err
        assert "Traceback" not in ran.err


def test_a_place_where_no_store_can_be_is_named(desk: Desk, toolpath: Command) -> None:
    Path("file").write_text("")
    for place in ("file/runs.db", "."):
        ran = toolpath("runs", "list", "--store", place)
        assert ran.code in (1, 2)
        assert place.partition("/")[0] in ran.err
        assert "Unexpected" not in ran.err
