"""Plays a page of documentation: its Python runs, its plans are checked, its commands print what the page says.

The blocks of a page are played in their order, in one folder and one Python namespace:

- `python` runs (with `await` at the top level, as `python -m asyncio` allows it); what it prints stands in the `output`
  block after it.
- `console` has commands after `$ ` and what they print, on both streams.
- `yaml` and `json`: a plan, a list of steps or a composite has no finding against the tools that the page defines; a
  configuration of MCP servers and a `toml` of settings can be read.
- A block whose paragraph begins or ends with a file's name in backticks is written to that file first.
- Any other language, or none, is only shown.

Ids, times, durations and digests may differ. A line of `…` stands for any lines.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import os
import re
import shlex
import subprocess
import sys
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp.client.stdio  # noqa: F401  # keeps the stderr of this moment for its servers: a real one, as no test has begun
import msgspec
from tests.patience import PATIENCE
from tests.prepared.prepared import prepared

from toolpath import Finding, Plan, Tool, Toolpath
from toolpath.config import load_settings
from toolpath.model_output.documents import read_document
from toolpath.notation.composite import read_composite
from toolpath.notation.tree import read_tree
from toolpath.providers.functions import is_marked
from toolpath.providers.mcp.config import read_mcp_config

ROOT = Path(__file__).parents[1]
_FILE = r"`([\w.-]+\.(?:py|yaml|yml|jsonl?|toml))`"
_VOLATILE = [
    (re.compile(r"run_\d{10,}_[0-9a-z]{9}"), "RUN"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?"), "TIME"),
    (re.compile(r"sha256:[0-9a-f]{64}"), "DIGEST"),
    (re.compile(r" *\b\d+\.\d+ ?m?s\b"), " DURATION"),
    (re.compile(r"0x[0-9a-f]+"), "ADDRESS"),
]


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    language: str
    text: str
    line: int
    """Of its first line of text, from 1."""
    heading: str
    file: str
    """The file that it is; empty: none."""


def blocks_of(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    found: list[Block] = []
    lines = page.split("\n")
    heading, index = "", 0
    while index < len(lines):
        line = lines[index]
        assert not re.match(r"\s+```", line), f"line {index + 1}: a fence must not be indented"
        if line.startswith("#"):
            heading = line.lstrip("#").strip()
        if line.startswith("```"):
            end = lines.index("```", index + 1)
            text = "".join(f"{line}\n" for line in lines[index + 1 : end])
            found.append(Block(line[3:].strip(), text, index + 2, heading, _file_named(lines[:index])))
            index = end
        index += 1
    return found


def _file_named(before: list[str]) -> str:
    """The file whose name the paragraph before a block begins or ends with."""
    paragraph: list[str] = []
    for line in reversed(before):
        if not line.strip() and paragraph:
            break
        if line.strip():
            paragraph.insert(0, line.strip())
    text = " ".join(paragraph)
    named = re.match(_FILE, text) or re.search(_FILE + r":$", text)
    return named[1] if named else ""


class Player:
    """The state of a page while it is played."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.module = types.ModuleType("page")
        self.composites: dict[str, Tool] = {}
        self.printed: str | None = None
        """What the last Python block printed and no `output` block has claimed yet."""

    def play(self, blocks: list[Block]) -> None:
        """Play them all. Raises `AssertionError` where the page does not tell the truth."""
        with self._stage(), asyncio.Runner() as runner:
            for block in blocks:
                if block.language in ("yaml", "json"):
                    self._read(block)
                if block.language != "output":
                    assert not self.printed, f"{self.name}:{block.line}: what was printed before is not shown"
                self._play(block, runner)
            assert not self.printed, f"{self.name}: what is printed at the end is not shown"
            for block in blocks:
                if block.language in ("yaml", "json"):
                    found = runner.run(self.findings(block))
                    assert not found, f"{self.name}:{block.line}: {[str(finding) for finding in found]}"

    def _play(self, block: Block, runner: asyncio.Runner) -> None:
        where = f"{self.name}:{block.line}"
        if block.file:
            (self.folder / block.file).write_text(block.text, encoding="utf-8")
        match block.language:
            case "python" if not block.file:
                self.printed = self._execute(block, runner)
            case "output":
                assert self.printed is not None, f"{where}: no Python block before it"
                assert_same(self.printed, block.text, where)
                self.printed = None
            case "console":
                for command, output in commands_of(block.text):
                    assert_same(run(command, self.folder), output, f"{where}: $ {command}")
            case "toml":
                file = self.folder / (block.file or "settings.toml")
                file.write_text(block.text, encoding="utf-8")
                load_settings(file, env={})
            case _:
                pass

    def _execute(self, block: Block, runner: asyncio.Runner) -> str:
        # Blank lines before it make the line numbers of errors those of the page.
        source = "\n" * (block.line - 1) + block.text
        code = compile(source, self.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            if code.co_flags & inspect.CO_COROUTINE:
                runner.run(eval(code, self.module.__dict__))
            else:
                exec(code, self.module.__dict__)
        return printed.getvalue()

    def _read(self, block: Block) -> None:
        """Read a block of data. A composite is a tool of the page."""
        if block.text.startswith("- "):
            return
        fields = set(read_tree(block.text).value)
        if "mcpServers" in fields:
            read_mcp_config(msgspec.json.decode(block.text))
        if "implementation" in fields:
            composite = read_composite(block.text)
            self.composites[composite.key] = composite

    async def findings(self, block: Block) -> tuple[Finding, ...]:
        """What the check says of a block with a plan, steps or a composite; nothing of other data."""
        text = f"steps:\n{textwrap.indent(block.text, '  ')}" if block.text.startswith("- ") else block.text
        if not {"steps", "implementation"} & set(read_tree(text).value):
            return ()
        document = read_document(text)
        plan = document if isinstance(document, Plan) else document.body
        assert isinstance(plan, Plan)
        async with Toolpath() as door:
            door.add(*self.tools())
            if (self.folder / "mcp.json").exists():
                door.add_mcp_config(self.folder / "mcp.json")
            await door.load(plan)
            return door.check(plan)

    def tools(self) -> list[Any]:
        """What the page has defined: marked functions, tools from data, composites, and those of its files."""
        found = [value for value in vars(self.module).values() if is_marked(value) or isinstance(value, Tool)]
        for file in sorted(self.folder.glob("*.py")):
            if "@tool" in file.read_text(encoding="utf-8"):
                module = __import__(file.stem)
                found += [value for value in vars(module).values() if is_marked(value)]
        named = {
            (getattr(value, "__module__", ""), getattr(value, "__qualname__", id(value))): value for value in found
        }
        return [*named.values(), *self.composites.values()]

    @contextlib.contextmanager
    def _stage(self) -> Iterator[None]:
        """The page's folder as working folder and place of modules, without settings from outside."""
        before, path, environment = Path.cwd(), list(sys.path), dict(os.environ)
        known = set(sys.modules)
        sys.modules["page"] = self.module
        sys.path.insert(0, str(self.folder))
        own = environment_of(self.folder, environment)
        os.environ.clear()
        os.environ.update(own)
        os.chdir(self.folder)
        try:
            yield
        finally:
            os.chdir(before)
            sys.path[:] = path
            os.environ.clear()
            os.environ.update(environment)
            for name in set(sys.modules) - known:
                if str(self.folder) in str(getattr(sys.modules[name], "__file__", "") or "") or name == "page":
                    del sys.modules[name]


def environment_of(folder: Path, around: dict[str, str]) -> dict[str, str]:
    """The environment of commands: `toolpath` and `python` are those that run the tests."""
    programs = folder.parent / "programs"
    programs.mkdir(exist_ok=True)
    for name, command in (("toolpath", prepared("toolpath")), ("python", [sys.executable])):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        program.chmod(0o755)
    kept = {name: value for name, value in around.items() if not name.startswith(("TOOL", "PYTEST", "COLUMNS"))}
    return kept | {
        "PATH": f"{programs}{os.pathsep}{around.get('PATH', '')}",
        "NO_COLOR": "1",
        "COLUMNS": "120",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONWARNINGS": "error",
        "LOGNAME": "ada",
    }


def commands_of(text: str) -> list[tuple[str, str]]:
    """Each command with the output that is shown below it. A line that ends in a backslash goes on."""
    found: list[tuple[str, str]] = []
    lines = iter(text.rstrip("\n").split("\n"))
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command = f"{command[:-1]}{next(lines).strip()}"
            found.append((command, ""))
        else:
            command, output = found[-1]
            found[-1] = (command, f"{output}{line}\n")
    return found


def run(command: str, folder: Path) -> str:
    """What the command prints on both streams, as a terminal would show it."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment_of(folder, dict(os.environ)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE,
        check=False,
    )
    return done.stdout.decode().replace(str(folder), ".")


def settled(text: str) -> str:
    """The text with what differs between two runs of one thing replaced by words."""
    for pattern, word in _VOLATILE:
        text = pattern.sub(word, text)
    return "\n".join(line.rstrip() for line in text.rstrip().split("\n"))


def assert_same(got: str, shown: str, where: str) -> None:
    """Raise `AssertionError` unless what was printed is what is shown."""
    actual, expected = settled(got), settled(shown)
    if "\n…\n" in f"\n{expected}\n":
        parts = [re.escape(part) for part in re.split(r"(?:^|\n)…(?:\n|$)", expected)]
        assert re.fullmatch(r"\n?(?:.*\n)*?".join(parts) + r"\n?", actual + "\n"), f"{where}\n{got}"
        return
    assert actual == expected, f"{where} printed:\n{got}"


def table_rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    part = re.split(rf"^#+ {re.escape(heading)}$", page, maxsplit=1, flags=re.MULTILINE)[1]
    table = re.search(r"(?:^\|.*\n)+", part, re.MULTILINE)
    assert table, f"no table below {heading!r}"
    rows = [re.split(r"(?<!\\)\|", row.strip().strip("|")) for row in table[0].strip().split("\n")]
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in rows[2:]]


def named_in(cell: str) -> list[str]:
    """The names in backticks of a cell."""
    return re.findall(r"`([^`]+)`", cell)


def encoded(value: Any) -> str:
    """The value as JSON text, as the pages show defaults."""
    return msgspec.json.encode(value).decode()
