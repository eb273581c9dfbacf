"""The tools an agent may call, as its model is told of them, and what the model means by a name. Pure."""

from __future__ import annotations

from typing import Final

import msgspec

from toolpath.catalog.names import mangle
from toolpath.errors import closest
from toolpath.model.agent import FORM_INPUT, TERMINATE, AgentTask
from toolpath.model.chat import ToolSpec
from toolpath.model.forms import FIELD_TYPES
from toolpath.model.tool import Tool
from toolpath.values import JsonObject

#: Characters of a description: more of it is told in no prompt.
_LONGEST_DESCRIPTION: Final = 2000
_END: Final = "End the work: call it alone, when the goal is reached or cannot be. `message` is the result."
_ASK: Final = (
    "Ask a person to fill in a form. Ask only for what no tool can tell you. What is typed into a password field comes"
    " back as [secret:…]: give that, whole, as an argument of the tool that needs the secret. A file comes back"
    " with its path in the run's folder; `accept` names the endings it may have."
)
_FORM: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "description": {"type": "string"},
        "inputs": {
            "type": "array",
            "minItems": 1,
            "maxItems": 50,
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "minLength": 1, "maxLength": 100},
                    "label": {"type": "string"},
                    "type": {"enum": list(FIELD_TYPES)},
                    "required": {"type": "boolean"},
                    "placeholder": {"type": "string"},
                    "accept": {"type": "array", "items": {"type": "string"}, "maxItems": 50},
                    "options": {"type": "array", "items": {"type": "string"}, "maxItems": 200},
                },
                "required": ["name"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["title", "inputs"],
    "additionalProperties": False,
}


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """One tool as the model knows it."""

    spec: ToolSpec
    tool: Tool | None = None
    """None: `terminate` and `form_input`, which are every agent's."""

    @property
    def reads(self) -> bool:
        """Calling it changes nothing, so that several calls may be made at once."""
        return self.tool is None or self.tool.is_read


class Offers:
    """The tools of one agent by the names that its model is told."""

    def __init__(self, task: AgentTask) -> None:
        own = [ToolSpec(name=TERMINATE, description=_END, input_schema=task.result_schema)]
        if not task.require_tool_call:
            # Its text is its end.
            own = []
        if task.may_ask:
            own.append(ToolSpec(name=FORM_INPUT, description=_ASK, input_schema=_FORM))
        self._by_name = {spec.name: Offer(spec=spec) for spec in own}
        self._by_key: dict[str, Offer] = {}
        bare: dict[str, list[Offer]] = {}
        for tool in task.tools:
            name = mangle(tool.key)
            while name in self._by_name:
                name = mangle(f"tool-{name}")
            description = (tool.description or tool.title)[:_LONGEST_DESCRIPTION]
            schema = tool.input_schema or {"type": "object", "properties": {}}
            spec = ToolSpec(name=name, description=description, input_schema=schema)
            offer = self._by_name[name] = self._by_key[tool.key] = Offer(spec=spec, tool=tool)
            bare.setdefault(tool.name, []).append(offer)
        self._by_bare = {name: offers[0] for name, offers in bare.items() if len(offers) == 1}
        self.specs = tuple(offer.spec for offer in self._by_name.values())
        self.last = tuple(spec for spec in self.specs if spec.name == TERMINATE)
        """What is offered in the last round."""

    def find(self, name: str) -> Offer | None:
        """The offer that the model means by the name: the told name, else a key, else a bare name of one tool alone."""
        return self._by_name.get(name) or self._by_key.get(name) or self._by_bare.get(name)

    def shown(self, name: str) -> str:
        """The name as it may stand in a request: providers refuse what is no name of a tool."""
        offer = self.find(name)
        return mangle(name) or "unknown" if offer is None else offer.spec.name

    def nearest(self, name: str) -> tuple[str, ...]:
        """The names most like it, as the model was told them."""
        return closest(name, self._by_name)


def misnamed(arguments: JsonObject, offer: Offer) -> list[str]:
    """Arguments that the tool does not know and that look like ones it knows, in words for the model."""
    properties = offer.spec.input_schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        return []
    open_names = [name for name in properties if name not in arguments]
    told = []
    for name in arguments:
        if name not in properties and (near := closest(name, open_names, limit=1)):
            told.append(f"there is no argument {name!r}; did you mean {near[0]!r}?")
    return told
