"""A conversation as a plan: what the runs of its turns called, in order, with what they were given. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from toolpath.errors import SchemaError
from toolpath.model.redaction import REDACTED
from toolpath.model.run import StepResult
from toolpath.values import Json, JsonObject, encode
from toolpath.workspace.conversations.following import REPLY

#: Calls that a plan is made of.
_MOST: Final = 1_000
_ACT: Final = re.compile(rf"^{REPLY}(~\d+)?/round\[\d+\]/act\[\d+\]$")
#: Stands for the braces that begin a template.
_BRACES: Final = "{{ '{{' }}"
#: Stands for what begins a parameter.
_PARAMETER: Final = "{{ '<<' }}"


def calls_of(results: Iterable[StepResult]) -> list[StepResult]:
    """The calls of one run that succeeded, in order: of an agent's turn those it made, else the steps of the plan."""
    return [
        step
        for step in results
        if step.status == "succeeded"
        and step.tool
        and not step.tool.startswith("toolpath.")
        and (_ACT.match(step.path) or "/" not in step.path)
    ]


def plan_of(name: str, runs: Sequence[Sequence[StepResult]]) -> JsonObject:
    """The plan that makes the calls of these runs again, one after the other.

    Raises `SchemaError` where there is none, where there are too many, or where one was given a secret.
    """
    calls = [step for results in runs for step in results]
    if not calls:
        raise SchemaError("Nothing was called in this conversation.", hint="Save one in which tools were called.")
    if len(calls) > _MOST:
        raise SchemaError(f"{len(calls):,} calls were made in this conversation; a plan is made of {_MOST:,} at most.")
    hidden = [step.path for step in calls if REDACTED in encode(step.inputs).decode()]
    if hidden:
        raise SchemaError(
            f"The call {hidden[0]} was given a secret, which is not kept.", hint="Write the plan by hand, with secrets."
        )
    steps: list[Json] = [
        {
            "id": f"call_{number}",
            "tool": step.tool,
            "inputs": _literal(step.inputs or {}),
            **({"depends_on": [f"call_{number - 1}"]} if number > 1 else {}),
        }
        for number, step in enumerate(calls, 1)
    ]
    return {"name": name, "steps": steps, "outputs": f"{{{{ call_{len(calls)} }}}}"}


def _literal(value: Json) -> Json:
    """The value as an input that is read as itself: neither a template nor a parameter stands in it."""
    match value:
        case str():
            return value.replace("{{", _BRACES).replace("<<", _PARAMETER)
        case dict():
            return {key: _literal(item) for key, item in value.items()}
        case list():
            return [_literal(item) for item in value]
        case _:
            return value
