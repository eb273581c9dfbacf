"""Resolving what stands in templates, by one rule for all places of a plan: `on_unresolved`. Pure; raises nothing."""

from __future__ import annotations

from typing import Literal

from toolpath.engine.compile.nodes import CallTarget
from toolpath.engine.state.results import failure_of_expression
from toolpath.errors import ExpressionError, SchemaError, Unresolved
from toolpath.expressions.compile import Compiled
from toolpath.expressions.names import Frame
from toolpath.model.events import Failure
from toolpath.values import Json, JsonObject

#: What a reference without a value does.
Mode = Literal["error", "keep", "null", "skip"]


class Resolved:
    """A value, or why there is none: a failure, or the reason to skip whatever asked for it."""

    __slots__ = ("failure", "missing", "skipped", "value")

    def __init__(
        self,
        value: Json = None,
        *,
        failure: Failure | None = None,
        skipped: str = "",
        missing: tuple[Unresolved, ...] = (),
    ) -> None:
        self.value = value
        self.failure = failure
        self.skipped = skipped
        self.missing = missing
        """References that had no value and were left as written, or made null."""


def resolve(compiled: Compiled, frame: Frame, mode: Mode) -> Resolved:
    """The value with its templates replaced, as the mode says what to do about references without one."""
    try:
        return Resolved(compiled.evaluate(frame))
    except Unresolved as error:
        if mode == "error":
            return Resolved(failure=failure_of_expression(error))
        if mode == "skip":
            return Resolved(skipped=f"unresolved: {error.message}")
    except Exception as error:  # noqa: BLE001  # whatever goes wrong here is a fault of one step, not the end of a drive
        return Resolved(failure=failure_of(error))
    try:
        value, missing = compiled.evaluate_lenient(frame, mode)
    except Exception as error:  # noqa: BLE001  # as above: another part of the value may not be computable at all
        return Resolved(failure=failure_of(error))
    return Resolved(value, missing=missing)


def resolve_inputs(target: CallTarget, frame: Frame, mode: Mode, *, shown: bool = False) -> Resolved:
    """The inputs of a call; `shown`: as the journal and people may see it, with secrets as written.

    An optional argument is left out where it came to null and the tool does not admit that, and in the mode `null`
    where it has no value.
    """
    compiled = target.inputs.without_secrets if shown else target.inputs
    found = resolve(compiled, frame, mode)
    if not isinstance(found.value, dict):
        return found
    inputs = found.value = without_nulls(found.value, target)
    if found.missing and mode == "null":
        schema = target.tool.input_schema
        optional = set(schema.get("properties", ())) - set(schema.get("required", ()))
        lost = {name for name in _lacking(compiled, frame) if name in optional and inputs.get(name, 0) is None}
        found.value = {name: value for name, value in inputs.items() if name not in lost}
    return found


def resolve_outputs(compiled: Compiled, frame: Frame, mode: Mode) -> Resolved:
    """The outputs of a plan. There is no step to skip: in the mode `skip` an output without a value is left out."""
    found = resolve(compiled, frame, mode)
    if not found.skipped:
        return found
    found = resolve(compiled, frame, "null")
    if isinstance(found.value, dict):
        lacking = set(_lacking(compiled, frame))
        found.value = {name: value for name, value in found.value.items() if name not in lacking}
    return found


def without_nulls(inputs: JsonObject, target: CallTarget) -> JsonObject:
    """The inputs without each argument that came to null, and that the tool neither requires nor admits as null."""
    lost = [name for name in target.droppable if name in inputs and inputs[name] is None]
    if not lost:
        return inputs
    kept = inputs.copy()
    for name in lost:
        del kept[name]
    return kept


def _lacking(compiled: Compiled, frame: Frame) -> list[str]:
    """The arguments of which some text does not resolve."""
    names = (at.split("/")[1] for at in compiled.lacking(frame) if at)
    return [name.replace("~1", "/").replace("~0", "~") for name in names]


def failure_of(error: Exception) -> Failure:
    """The failure of a step whose values could not be made or do not fit; of an error of our own, too."""
    if isinstance(error, ExpressionError | SchemaError):
        return failure_of_expression(error)
    return fault_of(error)


def fault_of(error: BaseException, *, in_doubt: bool = False) -> Failure:
    """The failure of what an error of our own has kept from going on."""
    return Failure(
        type=type(error).__name__,
        message=f"An error of toolpath itself: {type(error).__name__}: {error!s:.500}",
        code="internal",
        in_doubt=in_doubt,
        hint="Please report it, with what was run.",
    )
