"""Whether a caller may call a tool: permission, session and case. Pure."""

from __future__ import annotations

from toolpath.model.events import Failure
from toolpath.model.run import RunContext
from toolpath.model.tool import Tool


def missing(tool: Tool, context: RunContext) -> tuple[str, ...]:
    """What the caller lacks to call the tool: `auth`, `session`, `case`, `case state …`, `permission …`."""
    requires = tool.requires
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
    """Why the call is refused, or None where it is allowed."""
    lacking = missing(tool, context)
    if not lacking:
        return None
    only_permissions = all(name.startswith("permission ") for name in lacking)
    return Failure(
        type="PolicyViolationError",
        message=f"{tool.key} may not be called: missing {', '.join(lacking)}.",
        code="permission" if only_permissions else "policy",
        details=list(lacking),
        hint="Run it with a context that has what is missing: RunContext(user_id=…, case_id=…, permissions=[…]).",
    )
