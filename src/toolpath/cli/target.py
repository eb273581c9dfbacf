"""Target of a command: a plan in a file or on stdin, a tool, or a stored plan template."""

from __future__ import annotations

from pathlib import Path

import msgspec

from toolpath.app import Toolpath
from toolpath.cli.exits import UsageError
from toolpath.cli.inputs import read_text
from toolpath.cli.requests import NAMES, add_for_tool, add_http, load_with_requests
from toolpath.errors import RecordNotFound, ToolNotFound
from toolpath.model.plan import Call, Plan
from toolpath.model.template import TemplateRun
from toolpath.model.tool import Tool
from toolpath.notation.template import TemplateDocument, is_template_name, read_template
from toolpath.runs.opening import file_bytes
from toolpath.values import JsonObject

_SUFFIXES = (".yaml", ".yml", ".json")


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """Target of a command: either a document with its plan, or a tool."""

    name: str
    """As it is shown: the file, `stdin`, or the tool's key."""
    document: Plan | Tool | None = None
    """What the file or the text holds: a plan, or a tool that is one."""
    plan: Plan | None = None
    tool: Tool | None = None
    template: TemplateDocument | None = None
    """Read from a document with parameters; `plan` is without their values then."""
    template_id: str = ""
    """Of the stored template that it is."""

    @property
    def schema(self) -> JsonObject:
        """JSON Schema of its inputs."""
        if self.plan is not None:
            return self.plan.inputs
        return self.tool.input_schema if self.tool is not None else {}

    def runnable(self, inputs: JsonObject) -> Plan | Tool | str:
        """The plan or tool to run with these inputs. Raises `PlanInvalid` where one that is missing keeps the plan from
        being whole.
        """
        if self.template is not None:
            return self.template.plan_for(inputs)
        return self.document if self.document is not None else self.name

    def started(self, inputs: JsonObject) -> Plan | Tool | str | TemplateRun:
        """The first argument for `Toolpath.start`."""
        what = self.runnable(inputs)
        return TemplateRun(self.template_id, what) if self.template_id and isinstance(what, Plan) else what

    def plan_with(self, inputs: JsonObject) -> Plan:
        """Its plan; for a tool, a plan of one call with these inputs."""
        if self.plan is not None:
            return self.plan
        arguments = {name: f"{{{{ inputs[{name!r}] }}}}" for name in inputs}
        step = Call(id="call", tool=self.name, inputs=arguments)
        return Plan(name=self.name, inputs={"properties": {name: {} for name in inputs}}, steps=(step,))


async def find_target(tp: Toolpath, what: str, *, only_tool: bool = False) -> Target:
    """The target that `what` names, with the tools it needs loaded. Raises `UsageError` when it names nothing."""
    if only_tool or (what != "-" and not is_file(what)):
        return await _named(tp, what, only_tool=only_tool)
    name = "stdin" if what == "-" else what
    if is_template_name(what):
        return await _of_template(tp, name, read_template(file_bytes(Path(what)), file=what))
    document = tp.document(read_text("-") if what == "-" else Path(what))
    plan = tp.read(document)
    await load_with_requests(tp, plan)
    return Target(name=name, document=document, plan=plan)


async def _of_template(tp: Toolpath, name: str, template: TemplateDocument, template_id: str = "") -> Target:
    plan = template.plan()
    await load_with_requests(tp, plan)
    return Target(name=name, plan=plan, template=template, template_id=template_id)


async def _stored(tp: Toolpath, name: str) -> Target | None:
    """The stored template of that name; None where there is none."""
    try:
        found = await tp.templates.get(name)
    except RecordNotFound:
        return None
    return await _of_template(tp, found.key, await tp.templates.read(found), found.template_id)


async def _named(tp: Toolpath, name: str, *, only_tool: bool) -> Target:
    await tp.registry.load({name})
    if name in NAMES:
        add_http(tp)
    try:
        tool = tp.registry.snapshot().find(name)
    except ToolNotFound as error:
        if only_tool:
            raise
        stored = await _stored(tp, name)
        if stored is not None:
            return stored
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
