"""The plan notation → `Plan`: the fields of a plan itself; its parts are read in `reading/`.

Faults are findings in `plan.source.findings`, all at once; the faulty part counts as not given, so that the checks can
go on. Nothing here opens files or evaluates anything.
"""

from __future__ import annotations

import re
from typing import Any

from toolpath.errors import PlannerAnswer, ReadError
from toolpath.expressions.structure import texts
from toolpath.model.plan import Call, Plan, Step
from toolpath.notation.bodies import read_flow, read_settings
from toolpath.notation.nodes import DocumentNode
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.notes import Notes
from toolpath.notation.reading.rules import read_policy
from toolpath.notation.tables import BODY, HEAD, OUTPUTS, SETTINGS, TAIL
from toolpath.notation.tree import read_tree

#: More steps than these nobody writes down to be done in turn without a word of it.
_MOST_IN_TURN = 50
#: What a plan's mapping may hold.
PLAN_FIELDS = tuple(name for table in (HEAD, BODY, OUTPUTS, SETTINGS, TAIL) for name in table.names)
#: Editors and people name the schema of a file in it.
SCHEMA_FIELD = "$schema"


def read_plan(source: str | bytes | dict[str, Any], *, file: str = "") -> Plan:
    """The plan that a text (YAML or JSON) or tree holds; what is wrong in it is in `plan.source.findings`.

    Raises `ReadError` where there is no plan at all: neither YAML nor JSON, no mapping, too large or too deep, or
    another notation.
    """
    return plan_of(read_tree(source, file=file), file)


def plan_of(tree: DocumentNode, file: str = "") -> Plan:
    """The plan of a document's tree."""
    refuse_other_notation(tree, file)
    notes = Notes(file)
    notes.place("", tree)
    fields = Fields(tree, "", notes)
    fields.ignore(SCHEMA_FIELD)
    flow, steps = read_flow(fields, "chain" if _is_of_composite(tree.value) else "graph")
    found = HEAD.values(fields) | read_settings(fields) | TAIL.values(fields)
    fields.inside("policy", read_policy)
    if not steps and "outputs" not in found and not notes.findings:
        notes.warning("no_steps", "The plan has no steps.", "/steps", tree.value.get("steps"), hint="Add a step.")
    if "flow" not in tree.value and flow == "graph" and _looks_ordered(tree, steps):
        notes.information(
            "side_by_side",
            "Nothing says which of these steps comes first: they run side by side.",
            "/steps",
            tree.value["steps"],
            hint="Write 'flow: chain' to have them run in their order; 'flow: graph' says that side by side is meant.",
        )
    fields.finish("A plan", PLAN_FIELDS, _PLACES)
    return Plan(flow=flow, steps=steps, source=notes.source(), **found)


def _is_of_composite(members: dict[str, DocumentNode]) -> bool:
    """These are the steps of a composite without what is around them: they jump, or a list of `parameters` is given."""
    parameters = members.get("parameters")
    if parameters is not None and isinstance(parameters.value, list):
        return True
    steps = members["steps"].value if "steps" in members else None
    return isinstance(steps, list) and any(_jumps(step) for step in steps)


def _looks_ordered(tree: DocumentNode, steps: tuple[Step, ...]) -> bool:
    """Several calls of different tools without ids, which read nothing: as a list of what to do in turn."""
    calls = [step for step in steps if isinstance(step, Call) and step.derived_id and not step.depends_on]
    if len(calls) < 2 or len(calls) < len(steps) or len({call.tool for call in calls}) < len(calls):
        return False
    if len(calls) > _MOST_IN_TURN or any(call.when is not None for call in calls):
        return False
    names = "|".join(re.escape(name) for call in calls for name in (call.id, call.tool.rpartition(".")[2]))
    reads = re.compile(rf"\b(?:{names}|state|steps)\b")
    return not any(reads.search(text) for call in calls for _, text in texts(call.inputs) if text is not None)


def _jumps(step: DocumentNode) -> bool:
    outcomes = [step.value.get(name) for name in ("on_success", "on_failure")] if isinstance(step.value, dict) else []
    return any(one is not None and isinstance(one.value, dict) and "next" in one.value for one in outcomes)


_PLACES = {
    **dict.fromkeys(("params", "arguments", "args", "input_schema"), "Write inputs: {type: object, properties: {…}}."),
    "retry": "Write it in a step.",
    "when": "Write it in a step.",
    "tool": "Write it in a step: steps: [{tool: name}].",
    "implementation": "A file with 'implementation' is a composite tool.",
    "<<": "Merge keys are no part of YAML 1.2; repeat the fields.",
}


def refuse_other_notation(tree: DocumentNode, file: str = "") -> None:
    """Raise `ReadError` for mappings that are known to be something else than a plan or composite."""
    members = tree.value
    if "steps" in members or "implementation" in members:
        if _is_template(members.get("steps")):
            raise _other("a plan template (its steps have 'stepRequirement')", "Store it among the templates.", file)
        return
    if "tools" in members and {"executionOrder", "execution_order"} & members.keys():
        raise _answer("the answer of a planner ('tools' and 'executionOrder')", file)
    if "toolChain" in members or "tool_chain" in members:
        raise _answer("the answer of a planner ('toolChain')", file)
    if "mcpServers" in members:
        raise _other("a list of MCP servers", "Give it with --config or `add_mcp_config`.", file)


def _is_template(steps: DocumentNode | None) -> bool:
    if steps is None or not isinstance(steps.value, list) or not steps.value:
        return False
    first = steps.value[0].value
    return isinstance(first, dict) and "stepRequirement" in first


def _answer(what: str, file: str) -> PlannerAnswer:
    said = f"{file}: This is {what}, no plan." if file else f"This is {what}, no plan."
    return PlannerAnswer(said, hint="`toolpath plan --from FILE`, `run` and `validate` read it.")


def _other(what: str, hint: str, file: str) -> ReadError:
    return ReadError(f"{file}: This is {what}, no plan." if file else f"This is {what}, no plan.", hint=hint)
