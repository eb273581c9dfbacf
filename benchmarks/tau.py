"""The real tools of τ-bench's retail tasks, on a database of their own for each task.

The package `tau_bench` is no dependency; its folder may lie in `benchmarks/.tools`. Of it the tools alone are imported:
the rest would bring clients of models along.
"""

from __future__ import annotations

import copy
import hashlib
import importlib
import json
import sys
from functools import cache
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

from benchmarks.multiturn import TOOLS
from benchmarks.records import Record
from toolpath.values import JsonObject

DATA_SET = "taubench"
#: Packages whose own first lines import clients of models.
_SHELLS = ("tau_bench", "tau_bench.envs", "tau_bench.envs.retail")


def is_available() -> bool:
    """Whether the tools can be imported; their folder is made known to Python."""
    if TOOLS.is_dir() and str(TOOLS) not in sys.path:
        sys.path.append(str(TOOLS))
    if _SHELLS[0] not in sys.modules:
        place = PathFinder.find_spec(_SHELLS[0])
        if place is None or not place.submodule_search_locations:
            return False
        folder = place.submodule_search_locations[0]
        for name in _SHELLS:
            shell = ModuleType(name)
            shell.__path__ = [folder + name.removeprefix(_SHELLS[0]).replace(".", "/")]
            sys.modules[name] = shell
    return True


@cache
def _tools() -> dict[str, Any]:
    listed = importlib.import_module("tau_bench.envs.retail.tools").ALL_TOOLS
    return {tool.get_info()["function"]["name"]: tool for tool in listed}


@cache
def _database() -> dict[str, dict[str, Any]]:
    data: dict[str, dict[str, Any]] = importlib.import_module("tau_bench.envs.retail.data").load_data()
    return data


class Retail:
    """The shop as one task finds it."""

    def __init__(self, record: Record) -> None:
        self._tables = {name: _Table(rows) for name, rows in _database().items()}

    def call(self, group: str, name: str, inputs: JsonObject) -> Any:
        """What the tool answers, read where it is JSON, as it was recorded."""
        said = _tools()[name].invoke(self._tables, **inputs)
        try:
            return json.loads(said)
        except ValueError:
            return said

    def state(self) -> Any:
        """Every row that a call has looked at, as it is now."""
        return {name: dict(table.seen) for name, table in self._tables.items()}

    def digest(self) -> str:
        """The digest of the whole database as it was recorded: of its JSON, keys in order."""
        tables = ", ".join(f"{json.dumps(name)}: {table.written()}" for name, table in sorted(self._tables.items()))
        return hashlib.sha256(f"{{{tables}}}".encode()).hexdigest()


class _Table(dict[str, Any]):
    """The rows of a table that no task changes; each is copied when it is first asked for."""

    def __init__(self, rows: dict[str, Any]) -> None:
        super().__init__(rows)
        self.seen: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        if key not in self.seen:
            self.seen[key] = copy.deepcopy(super().__getitem__(key))
        return self.seen[key]

    def items(self) -> Any:
        """Every row, of the task's own."""
        return [(key, self[key]) for key in self]

    def values(self) -> Any:
        """Every row, of the task's own."""
        return [self[key] for key in self]

    def written(self) -> str:
        """All rows as JSON."""
        rows = sorted(dict.items(self))
        return (
            f"{{{', '.join(_row(key, self.seen[key]) if key in self.seen else _known(key, row) for key, row in rows)}}}"
        )


_WRITTEN: dict[tuple[str, int], str] = {}


def _known(key: str, row: Any) -> str:
    """A row that no task has changed, written once."""
    found = _WRITTEN.get((key, id(row)))
    if found is None:
        found = _WRITTEN[key, id(row)] = _row(key, row)
    return found


def _row(key: str, row: Any) -> str:
    return f"{json.dumps(key)}: {json.dumps(row, sort_keys=True)}"
