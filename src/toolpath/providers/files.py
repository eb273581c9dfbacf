"""A folder as a provider: plans, composites and tools in YAML or JSON files, each a tool.

Files at the top have no group; those in a sub-folder have its path as group, joined by `-`. Nothing outside is read.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from toolpath.errors import ConfigError, Finding, ReadError, ToolpathError
from toolpath.model.plan import Plan
from toolpath.model.policy import requirement_of
from toolpath.model.tool import Requires, Tool
from toolpath.model_output.documents import read_document
from toolpath.notation.template import is_template_name, read_template
from toolpath.values import JsonObject, digest

_SUFFIXES = (".yaml", ".yml", ".plan.json", ".tool.json", ".template.json")
#: Where a document says its name, and how much of one is looked at.
_NAMED = re.compile(r"""^["' {]*(?:name|tool_name)["']?\s*:\s*["']?([A-Za-z_][\w.-]{0,127})""", re.MULTILINE)
_LOOKED_AT = 20_000
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]+")
_LARGEST = 1_000_000
_MOST_FILES = 2_000
_DEEPEST = 5


class FolderProvider:
    """The plans and composites of a folder. Files that are broken are told in `findings` and hide no others."""

    kind = "folder"
    is_local = True
    """Listing it starts nothing and takes no time."""

    def __init__(self, path: str | Path, *, name: str = "") -> None:
        """A folder that is there. As a provider it is called `name`, or after its path. Raises `ConfigError`."""
        self._root = Path(path)
        if not self._root.is_dir():
            raise ConfigError(f"{self._root} is no folder.", hint="Name a folder with plans or composites.")
        home = self._root.resolve()
        # No server will be called so, and two folders of one name are two providers.
        self.name = name or f"folder-{_legal(home.name)}-{digest(str(home))[7:13]}"
        self.findings: tuple[Finding, ...] = ()
        """What is wrong with its files, since they were last listed."""
        self.broken: dict[str, ToolpathError] = {}
        """Name of each tool that could not be read → why; by the name in the file, and by that of the file."""

    async def list_tools(self) -> list[Tool]:
        """A tool for each readable file."""
        tools, self.findings, self.broken = await asyncio.to_thread(self._read)
        return tools

    async def close(self) -> None:
        """There is nothing to let go of."""

    def watch(self, changed: Callable[[], None]) -> None:
        """Files are not watched; listing again reads them anew."""

    def describe(self) -> JsonObject:
        """`{"folder": path}`."""
        return {"folder": str(self._root.resolve())}

    def _read(self) -> tuple[list[Tool], tuple[Finding, ...], dict[str, ToolpathError]]:
        tools: dict[str, Tool] = {}
        broken: dict[str, ToolpathError] = {}
        findings: list[Finding] = []
        origins: dict[str, Path] = {}
        for path in _files(self._root, findings):
            known = len(findings)
            tool = _read_file(path, self._root, findings)
            if tool is None:
                broken |= dict.fromkeys(_names_in(path), _reason(path, findings[known:]))
                continue
            if tool.key in tools:
                findings.append(
                    _finding(path, "duplicate_tool", f"{tool.key!r} is already the name of {origins[tool.key]}.")
                )
                continue
            tools[tool.key] = tool
            origins[tool.key] = path
        return list(tools.values()), tuple(findings), {name: why for name, why in broken.items() if name not in tools}


def folder_providers(path: str | Path) -> list[FolderProvider]:
    """The folder as a source of tools. Raises `ConfigError`."""
    return [FolderProvider(path)]


def _reason(path: Path, findings: list[Finding]) -> ToolpathError:
    """Why a file gave no tool, in one message."""
    errors = [finding for finding in findings if finding.severity == "error"] or findings
    if not errors:
        return ReadError(f"{path} could not be read.")
    first, more = errors[0], len(errors) - 1
    message = first.message
    if not message.startswith(str(path)):
        message = f"{path}{f':{first.line}' if first.line else ''}: {message}"
    return ReadError(f"{message}{f' ({more} more)' if more else ''}", hint=first.hint)


def _names_in(path: Path) -> set[str]:
    """The names by which a file that could not be read may be called."""
    found = {path.name.split(".", 1)[0]}
    try:
        if not path.is_file():
            # A pipe would be waited for.
            return found
        with path.open("rb") as file:
            text = file.read(_LOOKED_AT).decode("utf-8", "replace")
    except OSError:
        return found
    return found | {match[1] for match in _NAMED.finditer(text)}


def _files(root: Path, findings: list[Finding]) -> Iterator[Path]:
    """The files to read, in order of their names, none of them outside the folder."""
    home = root.resolve()
    count = 0
    for folder, folders, names in os.walk(root):
        depth = len(Path(folder).relative_to(root).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth < _DEEPEST else []
        for name in sorted(names):
            path = Path(folder) / name
            if name.startswith(".") or not name.lower().endswith(_SUFFIXES):
                continue
            if not path.resolve().is_relative_to(home):
                findings.append(_finding(path, "outside_folder", "The link leads out of the folder; it is not read."))
                continue
            count += 1
            if count > _MOST_FILES:
                findings.append(_finding(root, "too_many_files", f"Only the first {_MOST_FILES} files are read."))
                return
            yield path


def _read_file(path: Path, root: Path, findings: list[Finding]) -> Tool | None:
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            findings.append(_finding(path, "unreadable", f"It is no file of at most {_LARGEST} bytes."))
            return None
        document = _document(path.read_text("utf-8-sig"), path)
    except ReadError as error:
        findings += [_located(path, fault) for fault in error.findings] or [
            _finding(path, error.code, error.message, error.hint)
        ]
        return None
    except ToolpathError as error:
        findings.append(_finding(path, error.code, error.message, error.hint))
        return None
    except (OSError, ValueError, RecursionError) as error:
        findings.append(_finding(path, "unreadable", f"It cannot be read: {error}"))
        return None
    plan = document if isinstance(document, Plan) else document.body
    if isinstance(plan, Plan):
        faults = [fault for fault in plan.source.findings if fault.severity == "error"]
        findings += [_located(path, fault) for fault in faults]
        if faults:
            return None
    group = "-".join(filter(None, (_legal(part) for part in path.parent.relative_to(root).parts)))
    return _tool_of(document, path, group)


def _document(text: str, path: Path) -> Plan | Tool:
    """The document of the file; of a plan template the plan, with its parameters as inputs. Raises `ReadError`."""
    if not is_template_name(path.name):
        return read_document(text, file=str(path))
    template = read_template(text, file=str(path))
    if template.fixed:
        use = template.fixed[0]
        raise ReadError(
            f"{path}: <<{use.name}>> stands where no template can ({use.path}), so it is no tool.",
            hint="`toolpath run FILE` runs it.",
        )
    return template.plan()


def _tool_of(document: Plan | Tool, path: Path, group: str) -> Tool:
    if isinstance(document, Tool):
        return document if document.group else msgspec.structs.replace(document, group=group)
    # `Plan.name` is "plan" where the file gives none: then the file's own name says more.
    name = document.name if document.name != "plan" else path.name.split(".", 1)[0]
    return Tool(
        name=_ILLEGAL.sub("_", name).strip("_")[:128] or "plan",
        group=group,
        title=name,
        description=document.description,
        category="workflow",
        version=document.version,
        input_schema=document.inputs or {"type": "object"},
        requires=requirement_of(document) or Requires(auth=True, permissions=("*",)),
        body=document,
    )


def _legal(name: str) -> str:
    return _ILLEGAL.sub("-", name).strip("-")[:64]


def _finding(path: Path, code: str, message: str, hint: str = "") -> Finding:
    return Finding(code=code, severity="warning", message=f"{path}: {message}", hint=hint)


def _located(path: Path, fault: Finding) -> Finding:
    """A fault of a file as a remark about the catalogue, with the file in its message."""
    line = f":{fault.line}" if fault.line is not None else ""
    return msgspec.structs.replace(fault, severity="warning", message=f"{path}{line}: {fault.message}")
