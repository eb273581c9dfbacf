"""`Tool` with a plan as its body → the composite notation. `read_composite` reads an equal tool from it."""

from __future__ import annotations

from typing import Any

from toolpath.model.plan import Plan
from toolpath.model.tool import Requires, Tool
from toolpath.notation.printing import body_to_dict
from toolpath.notation.tables import TRAITS
from toolpath.values import JsonObject

# Parts of the metadata that stand at the top of the notation.
_TOP = ("tags", "documentation", "examples", "error_scenarios", "audit_events")
_RULES = ("business_rules", "session_policies", "casefile_policies", "visibility", "enabled")
_RESERVED = ("undo", "reads", "sends")


def composite_to_dict(tool: Tool) -> JsonObject:
    """The tool as a tree of plain values. Raises `ValueError` for a tool that is no composite."""
    if not isinstance(tool.body, Plan):
        raise ValueError(f"The tool {tool.key} has no plan as its body, so it is no composite.")
    found: JsonObject = {"name": tool.name}
    optional: JsonObject = {
        "group": tool.group,
        "display_name": tool.title,
        "description": tool.description,
        "category": tool.category,
        "version": tool.version,
        "tags": tool.metadata.get("tags"),
        **TRAITS.written(tool),
        **{name: getattr(tool, name) for name in _RESERVED},
        "parameters": tool.input_schema,
        "returns": tool.output_schema,
        **_rules(tool),
        "implementation": {"type": "composite", "composite": body_to_dict(tool.body, "chain")},
        **{name: tool.metadata.get(name) for name in _TOP[1:]},
        "metadata": {key: item for key, item in tool.metadata.items() if key not in _TOP + _RULES},
    }
    # An empty value says nothing; a cache that is off is `false`, and says something.
    return found | {name: value for name, value in optional.items() if value or (name == "cache" and value is False)}


def _rules(tool: Tool) -> JsonObject:
    requires: Requires = tool.requires
    business: dict[str, Any] = dict(tool.metadata.get("business_rules", {}))
    session: dict[str, Any] = dict(tool.metadata.get("session_policies", {}))
    case: dict[str, Any] = dict(tool.metadata.get("casefile_policies", {}))
    if requires.auth:
        business["requires_auth"] = True
    if requires.permissions:
        business["required_permissions"] = list(requires.permissions)
    if requires.approval:
        business["requires_approval"] = True
    if tool.timeout is not None:
        business["timeout_seconds"] = tool.timeout
    if tool.rate is not None:
        # The notation knows a rate by the minute only.
        business["rate_limit_per_minute"] = max(1, round(tool.rate.calls * 60 / tool.rate.seconds))
    if requires.case and not any(business.get(name) for name in ("requires_casefile", "requires_case")):
        case["requires_casefile"] = True
    if requires.case_states:
        case["allowed_casefile_states"] = list(requires.case_states)
    if requires.session:
        session["requires_active_session"] = True
    return {"business_rules": business, "session_policies": session, "casefile_policies": case}
