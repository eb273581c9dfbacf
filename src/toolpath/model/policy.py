"""Policy of calls and plans: whether a caller has the permission, session and case. Pure."""

from __future__ import annotations

import msgspec

from toolpath.model.events import Failure
from toolpath.model.plan import Plan
from toolpath.model.run import RunContext
from toolpath.model.tool import Requires, Tool
from toolpath.values import made_ready

_HINT = "Run it with a context that has what is missing: RunContext(user_id=…, case_id=…, permissions=[…])."


def missing(requires: Requires, context: RunContext) -> tuple[str, ...]:
    """The requirements that the caller does not meet: `auth`, `session`, `case`, `case state …`, `permission …`."""
    found: list[str] = []
    if requires.auth and not context.user_id:
        found.append("auth")
    if requires.session and not context.session_id:
        found.append("session")
    if requires.case and not context.case_id:
        found.append("case")
    elif context.case_id and requires.case_states and context.case_state not in requires.case_states:
        found.append(f"case state {' or '.join(requires.case_states)}")
    if "*" not in context.permissions:
        found += [f"permission {name}" for name in requires.permissions if name not in context.permissions]
    return tuple(found)


def refusal(tool: Tool, context: RunContext) -> Failure | None:
    """Why the call is refused, or None where it is allowed. A tool that is a plan asks for what that asks for."""
    if tool.metadata.get("enabled") is False:
        message = f"{tool.key} may not be called: it is switched off (business_rules.enabled)."
        return Failure(type="PolicyViolationError", message=message, code="policy", details=["enabled"])
    refused = _refused(f"{tool.key} may not be called", missing(tool.requires, context))
    if refused is None and isinstance(tool.body, Plan):
        return plan_refusal(tool.body, context)
    return refused


def is_guarded(tool: Tool) -> bool:
    """Whether there is a caller that may not call the tool, or none that may."""
    return (
        tool.requires != Requires()
        or tool.metadata.get("enabled") is False
        or (isinstance(tool.body, Plan) and requirement_of(tool.body) != Requires())
    )


def plan_refusal(plan: Plan, context: RunContext) -> Failure | None:
    """Why the plan may not be run, by its own `policy.requires`, or None where it may."""
    requires = requirement_of(plan)
    if requires is None:
        # What is not understood could have meant no.
        message = f"{plan.name} may not be run: its policy cannot be understood."
        return Failure(type="PolicyViolationError", message=message, code="policy", details=["policy"])
    return _refused(f"{plan.name} may not be run", missing(requires, context))


def requirement_of(plan: Plan) -> Requires | None:
    """The requirements for running the plan; None where it states them in a way that cannot be understood."""
    try:
        return msgspec.convert(plan.policy.get("requires") or {}, Requires)
    except msgspec.ValidationError:
        return None


def _refused(what: str, lacking: tuple[str, ...]) -> Failure | None:
    if not lacking:
        return None
    only_permissions = all(name.startswith("permission ") for name in lacking)
    return Failure(
        type="PolicyViolationError",
        message=f"{what}: missing {', '.join(lacking)}.",
        code="permission" if only_permissions else "policy",
        details=list(lacking),
        hint=_HINT,
    )


made_ready(Requires)
