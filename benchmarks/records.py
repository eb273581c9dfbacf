"""The public benchmark records as they lie in their folder: gold plans, tool sets, recorded outputs. Reading only."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from toolpath.model.tool import Effect

VARIABLE = "TOOLPATH_BENCHMARK_DATA"

T = TypeVar("T")


class GoldStep(msgspec.Struct, frozen=True):
    """One call of a gold plan; a reference in its arguments is `{{step.path}}`."""

    step: str
    tool: str
    arguments: dict[str, Any] = {}
    depends_on: list[str] = []


class Turn(msgspec.Struct, frozen=True):
    """What the user of a task says, and the steps that follow."""

    query: str = ""
    steps: list[str] = []


class ToolData(msgspec.Struct, frozen=True):
    """A tool as the data sets describe it."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = {}
    output_schema: dict[str, Any] | None = None
    effect: Effect = "read"


class Record(msgspec.Struct, frozen=True):
    """One task with its gold plan."""

    id: str
    source: str
    query: str = ""
    gold_plan: list[GoldStep] = []
    tools: list[ToolData] | None = None
    toolset: str | None = None
    toolsets: list[str] = []
    excluded_tools: list[str] = []
    recorded_outputs: dict[str, Any] = {}
    order: str | None = None
    defects: list[str] = []
    runtime_defects: list[str] = []
    initial_config: dict[str, Any] = {}
    involved_classes: list[str] = []
    turns: list[Turn] = []
    final_db_sha256: str = ""

    @property
    def is_sequential(self) -> bool:
        """The tools share a state: the calls have to be made one after the other."""
        return (self.order or "").startswith("sequential")


class NamedTools(msgspec.Struct, frozen=True):
    """A tool set that records name."""

    toolset: str
    tools: list[ToolData]


def folder() -> Path | None:
    """Where the records lie, as the environment says; None when it does not."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else None


def read_lines(path: Path, kind: type[T]) -> Iterator[T]:
    """The lines of a JSON-lines file."""
    decoder = msgspec.json.Decoder(kind)
    with path.open("rb") as file:
        for line in file:
            if line.strip():
                yield decoder.decode(line)


def data_sets(where: Path) -> list[str]:
    """The names of all data sets with plans in the folder."""
    return sorted(path.stem.removeprefix("plans_") for path in where.glob("plans_*.jsonl"))


def read_records(where: Path, data_set: str) -> list[Record]:
    """All records of one data set."""
    return list(read_lines(where / f"plans_{data_set}.jsonl", Record))


@cache
def read_tool_sets(where: Path) -> Mapping[str, list[ToolData]]:
    """Every named tool set of the folder."""
    return {
        named.toolset: named.tools
        for path in sorted(where.glob("toolsets*.jsonl"))
        for named in read_lines(path, NamedTools)
    }


def grouped_tools(where: Path, record: Record) -> list[tuple[str, ToolData]] | None:
    """The record's tools, each with its group; None where the data do not hold them.

    A record that names several tool sets has one group for each; all others have none.
    """
    if record.tools is not None:
        return [("", tool) for tool in record.tools]
    known = read_tool_sets(where)
    if record.toolset is not None:
        found = known.get(record.toolset)
        return None if found is None else [("", tool) for tool in found]
    excluded = set(record.excluded_tools)
    return [
        (name.rpartition("_")[2], tool) for name in record.toolsets for tool in known[name] if tool.name not in excluded
    ]
