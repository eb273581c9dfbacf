"""Calls that a model wrote → a plan, by the rules of their format: what refers to what, and what comes after what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolpath.errors import Finding, closest
from toolpath.model.plan import Plan
from toolpath.model_output.found import ModelCall, ModelText
from toolpath.model_output.own import with_findings
from toolpath.model_output.references import as_templates, escaped, label_names
from toolpath.notation.nodes import DocumentNode, tree_of_values
from toolpath.notation.plan import plan_of
from toolpath.notation.reading.ids import FORBIDDEN, is_id
from toolpath.values import Json, JsonObject

#: Names of the action that ends a numbered plan; it calls nothing.
_ENDS = ("join", "finish")
_ROUTER = ("tool_call", "tool_calls")
#: What is said of calls in an answer that ended for want of room: more of them, or of the last, may have followed.
CUT_OFF = "The answer was cut off, so that its calls may not be whole."
#: Tool → names of its inputs, in order: what gives arguments by position their names.
InputNames = Mapping[str, Sequence[str]]


def plan_of_text(text: ModelText, *, file: str = "", input_names: InputNames | None = None) -> Plan:
    """The plan that these calls are.

    The router's calls are a chain in which one failure does not stop the next, and may refer to one another in `{{ }}`;
    numbered and labelled calls refer by number and label; of all others the texts are data.
    """
    calls = called(text)
    findings: list[Finding] = []
    ids = _ids(text.format, calls)
    steps = [
        _step(call, index, text.format, ids, findings=findings, names=(input_names or {}).get(call.tool))
        for index, call in enumerate(calls)
    ]
    tree: dict[str, DocumentNode] = {"steps": DocumentNode(steps, 1, 1)}
    if text.format in _ROUTER:
        tree |= {"flow": DocumentNode("chain"), "failure_mode": DocumentNode("continue")}
    if text.prose:
        tree["origin"] = tree_of_values({"reasoning": text.prose})
    return with_findings(plan_of(DocumentNode(tree, 1, 1), file), findings)


def called(text: ModelText) -> tuple[ModelCall, ...]:
    """The calls of tools: without the action that only ends a plan, and stands alone where nothing is to do."""
    names = _ENDS if text.format == "numbered" else _ENDS[:1] if text.format == "python calls" else ()
    ends = text.calls and text.calls[-1].tool in names and not text.calls[-1].inputs
    return text.calls[:-1] if ends else text.calls


def _ids(form: str, calls: Sequence[ModelCall]) -> dict[str, str]:
    """The names in references → ids of steps: numbers, `E1`, labels without their `$`."""
    found: dict[str, str] = {}
    for call in calls:
        if form == "numbered":
            found.setdefault(call.id, f"step_{call.id}")
        elif form == "evidence":
            found.setdefault(call.id, call.id)
        elif call.id.startswith("$"):
            label = call.id.strip("$")
            if is_id(label) and label not in FORBIDDEN:
                found.setdefault(label, label)
    return found


def _step(
    call: ModelCall,
    index: int,
    form: str,
    ids: dict[str, str],
    *,
    findings: list[Finding],
    names: Sequence[str] | None,
) -> DocumentNode:
    members: dict[str, DocumentNode] = {"tool": DocumentNode(call.tool, call.line, call.column)}
    step_id = ids.get(call.id) or ids.get(call.id.strip("$"))
    if step_id is not None:
        members["id"] = DocumentNode(step_id, call.line, call.column)
    inputs = named_inputs(call.inputs, names)
    if inputs is None:
        findings.append(_not_named(call, index))
        inputs = {}
    if form not in _ROUTER:
        findings += _unknown_labels(call, index, ids) if ids else ()
        inputs = as_templates(inputs, _visible(call, form, ids)) if ids else escaped(inputs)
    members["inputs"] = _placed(tree_of_values(inputs), call)
    return DocumentNode(members, call.line, call.column)


def _visible(call: ModelCall, form: str, ids: dict[str, str]) -> dict[str, str]:
    """The references that a call may mean: a number is one only where it is that of an earlier call."""
    if form != "numbered":
        return ids
    return {number: step_id for number, step_id in ids.items() if int(number) < int(call.id)}


def _unknown_labels(call: ModelCall, index: int, ids: dict[str, str]) -> list[Finding]:
    return [
        Finding(
            code="unknown_step",
            severity="error",
            message=f"No call has the label {label!r:.60}.",
            path=f"/steps/{index}/inputs",
            line=call.line or None,
            column=call.column or None,
            suggestions=closest(label, list(ids)[:50]),
        )
        for label in label_names(call.inputs)
        if label not in ids
    ]


def named_inputs(inputs: Json, names: Sequence[str] | None) -> JsonObject | None:
    """The inputs of a call by name; None where the model gave them without, and nobody knows the tool's."""
    given: list[Json]
    match inputs:
        case dict() as members:
            return members
        case [dict() as members] if names is not None and members and members.keys() <= set(names):
            # `tool({"name": …})`, as JavaScript writes arguments by name.
            return members
        case list() as given:
            pass
        case other:
            given = [other]
    if not given:
        return {}
    if names is None or len(given) > len(names):
        return None
    return dict(zip(names, given, strict=False))


def _not_named(call: ModelCall, index: int) -> Finding:
    return Finding(
        code="inputs_not_named",
        severity="error",
        message=f"The inputs of {call.tool!r:.60} are given without their names.",
        path=f"/steps/{index}/inputs",
        line=call.line or None,
        column=call.column or None,
        hint="Write them as an object: name and value.",
    )


def _placed(node: DocumentNode, call: ModelCall) -> DocumentNode:
    return DocumentNode(node.value, call.line, call.column)
