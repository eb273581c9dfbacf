"""Rules of a composite about its callers: business rules, policies of session and case → requirements and limits."""

from __future__ import annotations

from typing import Any

import msgspec

from toolpath.model.tool import Rate, Requires
from toolpath.notation.nodes import plain
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.notes import below
from toolpath.values import JsonObject

BUSINESS_FIELDS = (
    "enabled",
    "requires_auth",
    "required_permissions",
    "timeout_seconds",
    "rate_limit_per_minute",
    "visibility",
    "requires_casefile",
    "requires_approval",
)
VISIBILITIES = ("public", "internal", "experimental")
SESSION_FLAGS = (
    "requires_active_session",
    "allow_new_session",
    "allow_session_resume",
    "log_request_payload",
    "log_full_response",
)
SESSION_EVENTS = ("request", "resume", "system")
CASE_FLAGS = ("requires_casefile", "create_if_missing", "enforce_access_control", "audit_casefile_changes")
#: Fields of `Requires` that a plan has too; an approval it asks for elsewhere.
_REQUIRED = [field for field in msgspec.structs.fields(Requires) if field.name != "approval"]
AUDIT_TEXTS = ("success_event", "failure_event")
AUDIT_LISTS = ("log_response_fields", "redact_fields")


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """Requirements and limits that the rules come to. What only describes the tool stays in `metadata`."""

    requires: Requires
    timeout: float | None
    rate: Rate | None
    metadata: JsonObject


def read_rules(fields: Fields) -> Rules:
    """`business_rules`, `session_policies`, `casefile_policies` and `audit_events` of a composite.

    Only what is written binds: the defaults of its own system (a signed-in user, a session) hold locally anyway.
    """
    metadata: JsonObject = {}
    business: dict[str, Any] = _part(fields, "business_rules", _business, metadata)
    session: dict[str, Any] = _part(fields, "session_policies", _session, metadata)
    case: dict[str, Any] = _part(fields, "casefile_policies", _case, metadata)
    _part(fields, "audit_events", _audit, metadata)
    requires = Requires(
        auth=business.get("requires_auth", False),
        permissions=business.get("required_permissions", ()),
        case=business.get("requires_casefile", False) or case.get("requires_casefile", False),
        approval=business.get("requires_approval", False),
        case_states=case.get("allowed_casefile_states", ()),
        session=session.get("requires_active_session", False),
    )
    calls = business.get("rate_limit_per_minute")
    for name in ("visibility", "enabled"):
        if business.get(name) is not None:
            metadata[name] = business[name]
    return Rules(
        requires=requires,
        timeout=business.get("timeout_seconds"),
        rate=Rate(calls=calls) if calls else None,
        metadata=metadata,
    )


def read_policy(fields: Fields) -> None:
    """Look at a plan's `policy`: what it `requires` of its callers must be right; the rest is kept for later."""
    fields.inside("requires", _required, "Write requires: {permissions: [name]}.")
    for name, node in fields.members.items():
        if name != "requires":
            message = f"'policy.{name}' is kept, and does nothing yet."
            fields.notes.information("reserved_field", message, below(fields.path, name), node)


def _required(fields: Fields) -> None:
    for field in _REQUIRED:
        if field.type is bool:
            fields.flag(field.name, False)
        else:
            fields.texts(field.name)
    fields.finish("What a policy requires", tuple(field.name for field in _REQUIRED))


def _part(fields: Fields, name: str, read: Any, metadata: JsonObject) -> dict[str, Any]:
    found: dict[str, Any] | None = fields.inside(name, read)
    if found is None:
        return {}
    metadata[name] = plain(fields.members[name])
    return found


def _business(fields: Fields) -> dict[str, Any]:
    found = {
        "enabled": fields.flag("enabled", True) if "enabled" in fields.members else None,
        "requires_auth": fields.flag("requires_auth", False),
        "required_permissions": fields.texts("required_permissions"),
        "timeout_seconds": fields.time_limit("timeout_seconds", named=False),
        "rate_limit_per_minute": fields.integer("rate_limit_per_minute", least=1),
        "visibility": fields.choice("visibility", VISIBILITIES),
        "requires_casefile": fields.flag("requires_casefile", False, "requires_case"),
        "requires_approval": fields.flag("requires_approval", False),
    }
    fields.finish("business_rules", BUSINESS_FIELDS)
    return found


def _session(fields: Fields) -> dict[str, Any]:
    found: dict[str, Any] = {name: fields.flag(name, False) for name in SESSION_FLAGS}
    fields.choice("session_event_type", SESSION_EVENTS)
    fields.finish("session_policies", (*SESSION_FLAGS, "session_event_type"))
    return found


def _case(fields: Fields) -> dict[str, Any]:
    found: dict[str, Any] = {name: fields.flag(name, False) for name in CASE_FLAGS}
    found["allowed_casefile_states"] = fields.texts("allowed_casefile_states")
    fields.finish("casefile_policies", (*CASE_FLAGS, "allowed_casefile_states"))
    return found


def _audit(fields: Fields) -> dict[str, Any]:
    for name in AUDIT_TEXTS:
        fields.text(name)
    for name in AUDIT_LISTS:
        fields.texts(name)
    fields.flag("emit_casefile_event", True)
    fields.finish("audit_events", (*AUDIT_TEXTS, *AUDIT_LISTS, "emit_casefile_event"))
    return {}
