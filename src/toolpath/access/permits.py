"""Permission to run a plan or have it go on: by what it and its tools require, and the secrets it reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolpath.access.acting import who_acts
from toolpath.errors import PolicyViolationError
from toolpath.model.plan import Plan
from toolpath.model.policy import plan_refusal, refusal
from toolpath.model.run import RunContext
from toolpath.model.tool import Tool
from toolpath.ports import Authority

#: Before the name of a secret: the permission to have a plan of one's own read it.
SECRETS = "secrets."


def permit(plan: Plan, secrets: Sequence[str], context: RunContext) -> None:
    """Raise `PolicyViolationError` where the plan may not be run. `secrets` are the names of those that it reads.

    Secrets belong to the house: a caller at a door needs a permission for each that their plan reads.
    """
    refused = plan_refusal(plan, context)
    if refused is not None:
        raise PolicyViolationError(refused.message, missing=refused.details or (), hint=refused.hint)
    caller = who_acts()
    if caller is None or not {"*", f"{SECRETS}*"}.isdisjoint(caller.permissions):
        return
    lacking = [f"permission {SECRETS}{name}" for name in secrets if f"{SECRETS}{name}" not in caller.permissions]
    if lacking:
        raise PolicyViolationError(
            f"{plan.name} may not be run: missing {', '.join(lacking)}.",
            missing=lacking,
            hint="Ask for credentials with this permission.",
        )


def own_authority() -> Authority | None:
    """The authority that a run takes on from the caller who has it go on; the house itself has none to show."""
    caller = who_acts()
    return None if caller is None else Authority(tuple(sorted(caller.permissions)), caller.user)


def permit_again(plan: Plan, tools: Iterable[Tool], secrets: Sequence[str], started: RunContext) -> None:
    """Raise `PolicyViolationError` where the acting caller may not have a run go on that was `started` by somebody.

    It goes on for who started it, in their session and case. But what it calls from here on happens because of who
    asks now, by what they are allowed today: the plan, its secrets, and `tools`, those that it may still call. What its
    tools call themselves is known only then, and looked at then.
    """
    caller = who_acts()
    if caller is not None:
        permit_rest(plan, tools, secrets, started.with_permissions(caller.permissions))


def permit_rest(plan: Plan, tools: Iterable[Tool], secrets: Sequence[str], context: RunContext) -> None:
    """Raise `PolicyViolationError` where the plan may not be run, or a tool that is left to it not be called."""
    permit(plan, secrets, context)
    for tool in tools:
        refused = refusal(tool, context)
        if refused is not None:
            raise PolicyViolationError(
                refused.message,
                missing=refused.details or (),
                hint="Ask for credentials with this permission, or have somebody go on with it who has it.",
            )
