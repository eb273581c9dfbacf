"""Target of a command: a plan in a file or on stdin, or a tool."""

from __future__ import annotations

from pathlib import Path

import msgspec

from toolpath.app import Toolpath
from toolpath.cli.exits import UsageError
from toolpath.cli.inputs import read_text
from toolpath.cli.requests import NAMES, add_for_tool, add_http, load_with_requests
from toolpath.errors import ToolNotFound
from toolpath.model.plan import Call, Plan
from toolpath.model.tool import Tool
from toolpath.values import JsonObject

_SUFFIXES = (".yaml", ".yml", ".json")


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run or looked at; either a document with its plan, or a tool."""

    name: str
    """As it is shown: the file, `stdin`, or the tool's key."""
    document: Plan | Tool | None = None
    """What the file or the text holds: a plan, or a tool that is one."""
    plan: Plan | None = None
    tool: Tool | None = None

    @property
    def schema(self) -> JsonObject:
        """JSON Schema of its inputs."""
        if self.plan is not None:
            return self.plan.inputs
        return self.tool.input_schema if self.tool is not None else {}

    @property
    def runnable(self) -> Plan | Tool | str:
        """What `Toolpath.start` is given."""
        return self.document if self.document is not None else self.name

    def plan_with(self, inputs: JsonObject) -> Plan:
        """Its plan; for a tool, a plan of one call with these inputs."""
        if self.plan is not None:
            return self.plan
        arguments = {name: f"{{{{ inputs[{name!r}] }}}}" for name in inputs}
        step = Call(id="call", tool=self.name, inputs=arguments)
        return Plan(name=self.name, inputs={"properties": {name: {} for name in inputs}}, steps=(step,))


async def find_target(tp: Toolpath, what: str, *, only_tool: bool = False) -> Target:
    """What `what` names, with the tools it needs loaded. Raises `UsageError` when it names nothing."""
    if only_tool or (what != "-" and not is_file(what)):
        return await _tool(tp, what, only_tool=only_tool)
    document = tp.document(read_text("-") if what == "-" else Path(what))
    plan = tp.read(document)
    await load_with_requests(tp, plan)
    return Target(name="stdin" if what == "-" else what, document=document, plan=plan)


async def _tool(tp: Toolpath, name: str, *, only_tool: bool) -> Target:
    await tp.registry.load({name})
    if name in NAMES:
        add_http(tp)
    try:
        tool = tp.registry.snapshot().find(name)
    except ToolNotFound as error:
        if only_tool:
            raise
        kind = "file" if name.endswith(_SUFFIXES) or "/" in name else "file and no tool"
        raise UsageError(f"There is no {kind} {name!r}.", suggestions=error.suggestions) from None
    add_for_tool(tp, tool)
    return Target(name=tool.key, tool=tool)


def is_file(name: str) -> bool:
    """A file of that name is there."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False
