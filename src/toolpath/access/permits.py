"""Whether whoever asks may run a plan at all: by what the plan requires, and by the secrets that it would be given."""

from __future__ import annotations

from collections.abc import Sequence

from toolpath.access.acting import who_acts
from toolpath.errors import PolicyViolationError
from toolpath.model.plan import Plan
from toolpath.model.run import RunContext
from toolpath.policy import plan_refusal

#: Before the name of a secret: the permission to have a plan of one's own read it.
SECRETS = "secrets."


def permit(plan: Plan, secrets: Sequence[str], context: RunContext) -> None:
    """Raise `PolicyViolationError` where the plan may not be run. `secrets` are the names of those that it reads.

    Secrets belong to the house: whoever comes in through a door needs a permission for each that their plan reads.
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
