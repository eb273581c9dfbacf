"""Public readers of a model's text: its calls, all that it holds, or a plan."""

from __future__ import annotations

import msgspec

from toolpath.errors import ReadError
from toolpath.model.plan import Call, Plan
from toolpath.model_output.answer import answer_of
from toolpath.model_output.encoded import decoded
from toolpath.model_output.found import ModelCall, ModelText
from toolpath.model_output.own import with_findings
from toolpath.model_output.page import MAX_TEXT, Page
from toolpath.model_output.placeholders import placeholder_findings
from toolpath.model_output.plans import InputNames, called, plan_of_text
from toolpath.model_output.readers import SHAPES
from toolpath.model_output.references import labels_in
from toolpath.model_output.single import arguments_in_text, tool_name
from toolpath.values import Json


def read_tool_calls(text: str, *, tool: str = "") -> list[tuple[str, Json]]:
    """The calls in what a model wrote, as pairs of tool and inputs, in their order; none where it wrote only prose.

    Inputs are an object; a list where the model gave them by position; a text where it gave one text. References
    between calls stay as written. `tool`: the text is the arguments alone of a call of this tool.

    Raises `ReadError` that quotes where the text broke, for a damaged or contradictory text and for a plan with
    errors or with steps that are no calls.
    """
    found = read_model_text(text, tool=tool)
    if found.plan is not None:
        errors = [finding for finding in found.plan.source.findings if finding.severity == "error"]
        if errors:
            raise ReadError("The plan that the model wrote has errors.", findings=errors)
        if not all(isinstance(step, Call) for step in found.plan.steps):
            raise ReadError("The plan has steps that are no calls.", hint="Read it with read_model_plan.")
    return [(call.tool, call.inputs) for call in called(found)]


def read_model_text(text: str, *, file: str = "", tool: str = "") -> ModelText:
    """Contents of a model's answer: calls, prose, plan, the name of its format, and what was repaired.

    Raises `ReadError` where it cannot be read; faults of a plan are findings in `plan.source.findings`.
    """
    page = _page(text, file)
    once = text if tool else decoded(text)
    if once != text:
        found = read_model_text(once, file=file)
        return msgspec.structs.replace(
            found, repaired=(*found.repaired, "a text that was encoded twice (line 1, column 1)")
        )
    if tool:
        inputs = arguments_in_text(text, page, 0)
        call = ModelCall(tool=tool_name(tool, page, 0), inputs=inputs, line=1, column=1)
        return ModelText(calls=(call,), format="arguments", repaired=page.repairs([(0, len(text))]))
    found = _with_labels(answer_of(page))
    if found.plan is None:
        return found
    plan = with_findings(found.plan, placeholder_findings(found.plan))
    return msgspec.structs.replace(found, plan=plan)


def read_model_plan(text: str, *, file: str = "", input_names: InputNames | None = None) -> Plan:
    """The plan that a model wrote, in any format; what is wrong in it is in `plan.source.findings`.

    `input_names` maps a tool to the names of its inputs in order, for formats that give arguments by position.
    Raises `ReadError` where the text cannot be read, or holds no call.
    """
    found = read_model_text(text, file=file)
    if found.plan is not None:
        return found.plan
    if not found.calls:
        raise _page(text, file).broken(
            "There is no plan and no call in this text.", 0, "It has to hold a plan, or calls of tools."
        )
    plan = plan_of_text(found, file=file, input_names=input_names)
    return with_findings(plan, placeholder_findings(plan))


def _page(text: str, file: str) -> Page:
    if len(text) > MAX_TEXT:
        where = f"{file}: " if file else ""
        raise ReadError(
            f"{where}The text has {len(text):,} characters; at most {MAX_TEXT:,} are read.",
            hint="A model's answer is shorter; give the answer alone.",
        )
    return Page(text, file=file, shapes=SHAPES)


def _with_labels(found: ModelText) -> ModelText:
    """The calls with what they depend on, where they name one another by label."""
    labels = {call.id: call.id for call in found.calls if call.id.startswith("$")}
    if not labels:
        return found
    calls = tuple(
        msgspec.structs.replace(
            call, depends_on=tuple(label for label in labels_in(call.inputs, labels) if label != call.id)
        )
        for call in found.calls
    )
    return msgspec.structs.replace(found, calls=calls)
