"""Values that a step needs before it may go on: what its expressions give, and the inputs of its call. Pure."""

from __future__ import annotations

from collections.abc import Callable

from toolpath.engine.compile.nodes import CallTarget
from toolpath.engine.decide.decisions import Decisions
from toolpath.engine.decide.follow_ups import SETTLE, Fail, FailAttempt, FollowUp
from toolpath.engine.state.instances import StepState
from toolpath.engine.state.resolve import Resolved, failure_of, resolve, resolve_inputs
from toolpath.engine.state.results import unfit_of_secrets
from toolpath.errors import SchemaError
from toolpath.expressions.compile import Compiled
from toolpath.model.events import Failure
from toolpath.values import Json, JsonObject


def resolved(decisions: Decisions, step: StepState, compiled: Compiled) -> Resolved | FollowUp:
    """The value of an expression of the step, or what follows where it has none."""
    return heed(decisions, step, resolve(compiled, decisions.frame_of(step), step.node.on_unresolved), Fail)


def inputs_of(decisions: Decisions, step: StepState, target: CallTarget) -> JsonObject | FollowUp:
    """The inputs of the step's call, fitting its schema, or what follows where there are none."""
    inputs = step.given
    if inputs is None:
        found = resolve_inputs(target, decisions.frame_of(step), step.node.on_unresolved)
        heeded = heed(decisions, step, found, FailAttempt)
        if not isinstance(heeded, Resolved):
            return heeded
        inputs = heeded.value
    return fitting(decisions, step, target, inputs)


def heed(
    decisions: Decisions, step: StepState, found: Resolved, fail: Callable[[StepState, Failure], FollowUp]
) -> Resolved | FollowUp:
    """The value that was found, its warnings written, or what follows where the step is skipped or fails."""
    for fault in found.missing:
        decisions.warn(step.path, "unresolved", str(fault))
    if found.failure is not None:
        return fail(step, found.failure)
    if found.skipped:
        decisions.skip(step, found.skipped)
        return SETTLE
    return found


def fitting(decisions: Decisions, step: StepState, target: CallTarget, inputs: Json) -> JsonObject | FollowUp:
    """The inputs as the tool's schema has them, or the failure of those that do not fit it. None: the step's own."""
    try:
        if inputs is None:
            inputs = resolve_inputs(target, decisions.frame_of(step), step.node.on_unresolved).value
        accepted: JsonObject = target.accepts.accept(inputs)
    except Exception as error:  # noqa: BLE001  # an error of our own fails this step, and no more
        return FailAttempt(step, _unfit(decisions, error, inputs))
    return accepted


def _unfit(decisions: Decisions, error: Exception, inputs: Json) -> Failure:
    """The failure of inputs that do not fit, without any secret nor a piece of one."""
    if isinstance(error, SchemaError) and decisions.redact(inputs) != inputs:
        return unfit_of_secrets(error)
    return failure_of(error)
