"""The plan execution service's JSON of a plan template: `steps` of `stepRequirement`, `toolConfig`. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import msgspec

from toolpath.errors import ReadError
from toolpath.model.template import Channel, Parameter, PlanTemplate
from toolpath.notation.nodes import DocumentNode, plain, tree_of_values
from toolpath.values import Json, JsonObject

#: `[AGENT] what is to be done`
_AGENT: Final = re.compile(r"\[([A-Za-z][A-Za-z0-9_-]{0,99})\]\s*")
_COLUMNS: Final = re.compile("[,\uff0c]")
#: Its words for the channels that a template is published in.
CHANNELS: Final[Mapping[str, Channel]] = {
    "enableInternalToolcall": "tool",
    "enableHttpService": "http",
    "enableInConversation": "conversation",
    "enableMcpService": "mcp",
}
#: Fields that tell of the template, not of what it does.
_OF_TEMPLATE: Final = frozenset(
    ("planTemplateId", "accessLevel", "readOnly", "createTime", "updateTime", "version", "publishStatus", *CHANNELS)
)
_TYPES: Final = {"string": "string", "number": "number", "integer": "integer", "boolean": "boolean", "array": "array"}
DEFAULT_GROUP: Final = "ungrouped"
#: Steps of one document. Each is told of all before it, so that a plan grows with the square of their number.
MOST_STEPS: Final = 300
#: Characters of what an earlier step was to do that a later one is told.
_MOST_TOLD: Final = 200


class TemplateConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of such a document beside its steps."""

    title: str
    template_id: str = ""
    group: str = DEFAULT_GROUP
    description: str = ""
    channels: tuple[Channel, ...] = ()
    access: str = "editable"
    parameters: tuple[Parameter, ...] = ()


def is_config(tree: DocumentNode) -> bool:
    """Whether a document's tree is one of these: its first step has a `stepRequirement`."""
    steps = tree.value.get("steps") if isinstance(tree.value, dict) else None
    if steps is None or not isinstance(steps.value, list) or not steps.value:
        return False
    first = steps.value[0].value
    return isinstance(first, dict) and "stepRequirement" in first


def read_config(document: JsonObject) -> TemplateConfig:
    """Title, group, channels and parameters of the document. Raises `ReadError` for what is not of its type."""
    tool = _mapping(document, "toolConfig")
    access = _text(document, "accessLevel") or ("readOnly" if document.get("readOnly") is True else "editable")
    return TemplateConfig(
        title=_text(document, "title"),
        template_id=_text(document, "planTemplateId"),
        group=_text(document, "serviceGroup") or DEFAULT_GROUP,
        description=_text(tool, "toolDescription"),
        channels=tuple(channel for name, channel in CHANNELS.items() if tool.get(name) is True),
        access="readOnly" if access == "readOnly" else "editable",
        parameters=tuple(_parameter(item) for item in _listed(tool, "inputSchema")),
    )


def tree_of_config(tree: DocumentNode) -> DocumentNode:
    """The same as a plan of ours: a chain of agents. Raises `ReadError` for what is not of its type."""
    document = plain(tree)
    assert isinstance(document, dict)
    config = read_config(document)
    given = _listed(document, "steps")
    if len(given) > MOST_STEPS:
        raise ReadError(
            f"The template has {len(given):,} steps; it may have {MOST_STEPS}.",
            hint="Have a step call another template, or write it as a plan with `steps` of your own.",
        )
    steps: list[Json] = []
    earlier: list[Json] = []
    for number, item in enumerate(given, 1):
        step = _step(number, item, earlier)
        steps.append(step)
        earlier = [*earlier, _told(step)]
    plan: JsonObject = {"name": config.title or "template", "flow": "chain", "steps": steps}
    if config.description:
        plan["description"] = config.description
    if config.parameters:
        plan["inputs"] = schema_of(config.parameters)
    return tree_of_values(plan)


def content_of_config(document: JsonObject, placeholders: Collection[str]) -> JsonObject:
    """The document without what is kept of its template beside it: who it is, when it was changed, where it is open.

    So what was exported is no other content when it comes back. An input schema that says no more than the
    placeholders in its steps do goes as well.
    """
    config = read_config(document)
    tool = {name: value for name, value in _mapping(document, "toolConfig").items() if name not in _OF_TEMPLATE}
    if tool.get("toolDescription") in ("", config.title):
        tool.pop("toolDescription")
    if {each.name for each in config.parameters} <= set(placeholders) and all(map(_says_nothing, config.parameters)):
        tool.pop("inputSchema", None)
    content = {name: value for name, value in document.items() if name not in (*_OF_TEMPLATE, "toolConfig")}
    for name, usual in (("planType", "dynamic_agent"), ("serviceGroup", DEFAULT_GROUP)):
        if content.get(name) == usual:
            del content[name]
    return {**content, "toolConfig": tool} if tool else content


def _says_nothing(parameter: Parameter) -> bool:
    described = parameter.description in ("", f"Parameter: {parameter.name}")
    return parameter.required and parameter.type == "string" and described


def schema_of(parameters: Sequence[Parameter]) -> JsonObject:
    """The schema of the inputs that these parameters are."""
    properties: JsonObject = {
        each.name: {"type": each.type, **({"description": each.description} if each.description else {})}
        for each in parameters
    }
    return {"type": "object", "properties": properties, "required": [each.name for each in parameters if each.required]}


def config_of(template: PlanTemplate, document: JsonObject, parameters: Sequence[Parameter]) -> JsonObject:
    """The template as one of these documents; a document that came as one keeps its steps as they were."""
    steps = document.get("steps")
    given = steps if isinstance(steps, list) and steps and "stepRequirement" in steps[0] else _steps_of(document)
    channels = {name: channel in template.channels for name, channel in CHANNELS.items()}
    return {
        "title": template.title,
        "steps": given,
        "planType": document.get("planType", "dynamic_agent"),
        "planTemplateId": template.template_id,
        "accessLevel": template.access,
        "readOnly": template.access == "readOnly",
        "serviceGroup": template.group,
        "toolConfig": {
            "toolDescription": template.description or template.title,
            **channels,
            "publishStatus": "PUBLISHED" if template.published else "DRAFT",
            "inputSchema": [msgspec.to_builtins(each) for each in parameters],
        },
        "createTime": template.created_at,
        "updateTime": template.updated_at,
        "version": template.version,
    }


def _told(step: JsonObject) -> JsonObject:
    """The requirement of the step, in short, and a template of its result: all after it are told of it."""
    agent = step["agent"]
    assert isinstance(agent, dict)
    wanted = str(agent["requirement"])
    short = wanted if len(wanted) <= _MOST_TOLD else f"{wanted[:_MOST_TOLD]}…"
    return {"step": short, "result": f"{{{{ {step['id']} }}}}"}


def _step(number: int, item: Json, earlier: list[Json]) -> JsonObject:
    if not isinstance(item, dict):
        raise _wrong(f"steps[{number - 1}]", "an object", item)
    requirement = _text(item, "stepRequirement")
    said = _AGENT.match(requirement)
    agent: JsonObject = {"requirement": requirement[said.end() :] if said else requirement}
    tools = _listed(item, "selectedToolKeys")
    if tools:
        agent["tools"] = tools
    if model := _text(item, "modelName"):
        agent["model"] = model
    columns = item.get("terminateColumns")
    names = columns if isinstance(columns, list) else _COLUMNS.split(_text(item, "terminateColumns"))
    if earlier:
        agent["context"] = earlier
    output = [name.strip() for name in names if isinstance(name, str) and name.strip()]
    if output:
        agent["output"] = output
    return {"id": f"step_{number}", "agent": agent}


def _steps_of(document: JsonObject) -> list[Json]:
    """The steps of a plan of ours, each in its words: agents by their requirement, others by what they call."""
    found: list[Json] = []
    steps = document.get("steps")
    for step in steps if isinstance(steps, list) else ():
        agent = step.get("agent") if isinstance(step, dict) else None
        if isinstance(agent, dict):
            columns: Any = agent.get("output", [])
            found.append(
                {
                    "stepRequirement": agent.get("requirement", ""),
                    "agentName": "ConfigurableDynaAgent",
                    "modelName": agent.get("model", ""),
                    "terminateColumns": ",".join(columns),
                    "selectedToolKeys": agent.get("tools", []),
                }
            )
        elif isinstance(step, dict):
            called = step.get("tool") or next((kind for kind in ("parallel", "loop", "ask") if kind in step), "")
            found.append(
                {"stepRequirement": f"{step.get('id', '')}: {called}".strip(": "), "selectedToolKeys": [called]}
            )
    return found


def _parameter(item: Json) -> Parameter:
    if not isinstance(item, dict):
        raise _wrong("toolConfig.inputSchema", "a list of objects", item)
    name = _text(item, "name")
    if not name:
        raise ReadError("A parameter in toolConfig.inputSchema has no name.", hint="Give each a 'name'.")
    kind = _TYPES.get(_text(item, "type").lower(), "string")
    return Parameter(
        name=name,
        type=kind,
        description=_text(item, "description"),
        required=item.get("required") is not False,
    )


def _text(mapping: JsonObject, name: str) -> str:
    value = mapping.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong(name, "text", value)
    return value.strip()


def _mapping(document: JsonObject, name: str) -> JsonObject:
    value = document.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _wrong(name, "an object", value)
    return value


def _listed(mapping: JsonObject, name: str) -> list[Json]:
    value = mapping.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _wrong(name, "a list", value)
    return value


def _wrong(name: str, expected: str, value: Json) -> ReadError:
    return ReadError(f"'{name}' of a plan template must be {expected}, not {type(value).__name__}.")
