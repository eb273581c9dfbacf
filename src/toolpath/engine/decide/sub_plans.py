"""Cancelling of one plan inside a run: what is open in it is cut off, and the call that began it has failed. Pure."""

from __future__ import annotations

from toolpath.engine.compile.agent_calls import AGENT
from toolpath.engine.decide.cancel import cancel_scope, cut_calls
from toolpath.engine.decide.commands import StopCall
from toolpath.engine.decide.control import Control
from toolpath.engine.state.instances import ENDED, StepState
from toolpath.errors import RunConflict
from toolpath.model.events import Failure


def cancel_plan(control: Control, path: str, reason: str) -> None:
    """Cancel the plan that the call at `path` began. Raises `RunConflict` where there is none that goes on.

    What the plan around it does then is what it does about any failure that no retry and no fallback helps against.
    """
    decisions = control.decisions
    step = decisions.state.steps.get(path)
    if step is None or step.status in ENDED:
        raise RunConflict(f"No plan goes on at {path}.")
    if not _is_plan(step):
        raise RunConflict(f"{path} is a call and no plan.", hint="Cancel the plan around it.")
    why = f"{path} was cancelled"
    if step.loop_items is not None:
        step.loop_items.close()
    for inner in list(step.scopes or ()):
        cancel_scope(decisions, inner, why)
    cut_calls(decisions, step)
    decisions.unwatch(step)
    if step.status == "running" and step.key:
        decisions.commands.append(StopCall(step))
    message = f"{path} was cancelled{f': {reason}' if reason else ''}."
    control.fail(step, Failure(type="Cancelled", message=message, code="cancelled"))
    control.settle()


def _is_plan(step: StepState) -> bool:
    """Whether it has steps of its own: a nested plan, a block or an agent."""
    targets = step.node.targets
    return step.node.kind in ("nested", "loop", "parallel") or bool(targets and targets[step.target].key == AGENT)
