"""Names of the tools that modules and folders declare, read off their text: nothing is imported, nothing is run."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

_DOCUMENTS = (".yaml", ".yml", ".plan.json", ".tool.json", ".template.json")
_FIELD = re.compile(r"""^(?:\{?\s{0,4}"|)(name|tool_name|group)"?\s*:\s*["']?([A-Za-z_][\w.-]{0,127})""", re.MULTILINE)
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]+")
_LARGEST = 1_000_000
_LOOKED_AT = 20_000
_MOST_FILES = 500
_DEEPEST = 5


def declared_tools(modules: Iterable[str], folders: Iterable[str]) -> Iterator[str]:
    """Keys of the tools of these modules and folders; what cannot be read declares none."""
    for module in modules:
        yield from _in_module(module)
    for folder in folders:
        yield from _in_folder(Path(folder))


def _in_module(module: str) -> Iterator[str]:
    path = Path(module)
    if not module.endswith(".py") and os.sep not in module:
        path = Path(*module.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    try:
        tree = ast.parse(_text(path, _LARGEST))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if (said := _said(decorator, constants)) is not None:
                    yield _key(said.get("group", ""), said.get("name", node.name))


def _said(decorator: ast.expr, constants: dict[str, str]) -> dict[str, str] | None:
    """The texts that `@tool(…)` was given; None for any other decorator."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    if name != "tool":
        return None
    found: dict[str, str] = {}
    for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
        match keyword.value:
            case ast.Constant(value=str(text)) if keyword.arg:
                found[keyword.arg] = text
            case ast.Name(id=name) if keyword.arg and name in constants:
                found[keyword.arg] = constants[name]
    return found


def _in_folder(root: Path) -> Iterator[str]:
    count = 0
    for folder, folders, names in os.walk(root):
        place = Path(folder).relative_to(root)
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if len(place.parts) < _DEEPEST else []
        group = "-".join(filter(None, (_ILLEGAL.sub("-", part).strip("-")[:64] for part in place.parts)))
        for name in sorted(names):
            if name.startswith(".") or not name.lower().endswith(_DOCUMENTS):
                continue
            count += 1
            if count > _MOST_FILES:
                return
            try:
                text = _text(Path(folder, name), _LOOKED_AT)
            except OSError:
                continue
            found: dict[str, str] = {}
            for match in _FIELD.finditer(text):
                found.setdefault("group" if match[1] == "group" else "name", match[2])
            yield _key(found.get("group", group), found.get("name", name.split(".", 1)[0]))


def _text(path: Path, most: int) -> str:
    if not path.is_file():
        raise FileNotFoundError(path)
    with path.open("rb") as file:
        return file.read(most).decode("utf-8", "replace")


def _key(group: str, name: str) -> str:
    return f"{group}.{name}" if group and "." not in name else name
