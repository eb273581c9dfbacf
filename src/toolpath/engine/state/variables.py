"""The variables that a step writes when it succeeds, found before anybody is told that it has. Pure."""

from __future__ import annotations

from collections.abc import Callable

from toolpath.engine.state.instances import Scope, StepState
from toolpath.engine.state.resolve import resolve
from toolpath.engine.state.results import read_field
from toolpath.errors import OverBudget
from toolpath.expressions.extent import extent
from toolpath.expressions.names import Frame
from toolpath.values import Json, JsonObject

_NOTHING = object()


class VariableWriting:
    """One step's writing to the variables of the block that owns them.

    Expressions read the step's output, and what the step has written before them: both are there while they are
    evaluated, and taken away again.
    """

    def __init__(self, step: StepState, owner: Scope) -> None:
        self._step = step
        self._variables = owner.state
        self._before: dict[str, object] = {}

    def of(
        self, whole: Json, output: Json, merged: JsonObject, frame: Callable[[], Frame]
    ) -> tuple[list[JsonObject], list[tuple[str, str]]]:
        """Variables that are written, in order, and warnings of what is not, as code and message.

        `whole` is the output, `output` how the journal has it; `merged` was written inside the step.
        """
        written = [merged] if merged else []
        self._set(merged)
        try:
            mapped, warnings = self._mapped(whole)
            if mapped and self._is_admitted(mapped, warnings):
                written.append(mapped)
                self._set(mapped)
            if self._step.node.transform:
                with_output = _Succeeded(self._step, output)
                try:
                    self._transform(frame(), written, warnings)
                finally:
                    with_output.undo()
        finally:
            self._undo()
        return written, warnings

    def _mapped(self, output: Json) -> tuple[JsonObject, list[tuple[str, str]]]:
        values: JsonObject = {}
        warnings = []
        for field, variable in self._step.node.map_outputs:
            found, value = read_field(output, field)
            if found:
                values[variable] = value
            else:
                path = self._step.path
                message = f"The output of {path} has no field {field!r}; the variable {variable!r} stays unset."
                warnings.append(("missing_field", message))
        return values, warnings

    def _is_admitted(self, values: JsonObject, warnings: list[tuple[str, str]]) -> bool:
        """Whether the variables are not larger together than what is handed on may be: fields may hold one another."""
        work = self._step.scope.work
        try:
            if work is not None:
                work.admit(extent(values))
        except OverBudget as error:
            warnings.append(("map_outputs_failed", f"map_outputs of {self._step.path} failed: {error.message}"))
            return False
        return True

    def _transform(self, frame: Frame, written: list[JsonObject], warnings: list[tuple[str, str]]) -> None:
        for variable, compiled in self._step.node.transform:
            found = resolve(compiled, frame, self._step.node.on_unresolved)
            warnings += [("unresolved", str(fault)) for fault in found.missing]
            if found.failure is not None or found.skipped:
                why = found.failure.message if found.failure is not None else found.skipped
                warnings.append(("transform_failed", f"transform of {variable!r} failed: {why}"))
                continue
            written.append({variable: found.value})
            self._set({variable: found.value})

    def _set(self, values: JsonObject) -> None:
        for name, value in values.items():
            self._before.setdefault(name, self._variables.get(name, _NOTHING))
            self._variables[name] = value

    def _undo(self) -> None:
        for name, value in self._before.items():
            if value is _NOTHING:
                self._variables.pop(name, None)
            else:
                self._variables[name] = value


class _Succeeded:
    """The step as its expressions see it, until `undo`."""

    def __init__(self, step: StepState, output: Json) -> None:
        self._step = step
        outputs = step.scope.outputs
        self._before = (step.status, outputs.get(step.node.id, _NOTHING), step.scope.last)
        step.status, outputs[step.node.id], step.scope.last = "succeeded", output, output

    def undo(self) -> None:
        """Have the step as it was."""
        status, output, last = self._before
        self._step.status, self._step.scope.last = status, last
        outputs = self._step.scope.outputs
        if output is _NOTHING:
            outputs.pop(self._step.node.id, None)
        else:
            outputs[self._step.node.id] = output
