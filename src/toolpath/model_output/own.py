"""Our own plans as models write them, in JSON or in a fence of YAML."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from toolpath.errors import Finding, ReadError
from toolpath.model.plan import Call, Plan, Source
from toolpath.model_output.found import ModelCall, ReaderResult, TextPiece
from toolpath.model_output.page import Page
from toolpath.notation.nodes import DocumentNode
from toolpath.notation.plan import plan_of
from toolpath.notation.tables import ACTIONS
from toolpath.notation.yaml_text import read_yaml

FENCE = r"^[ \t]*```ya?ml[ \t]*\n"
_FENCE_END = re.compile(r"^[ \t]*```[ \t]*$", re.M)
#: Calls in YAML begin with the tool, and have its arguments at the same place.
_CALLS = re.compile(
    r"\s*(?:- )?(?:tool|tool_name|function|function_name|name|action|tool_calls?|function_calls?):(?:[ \t]|\n)"
)
_INPUTS = re.compile(r"^[ \t]*(?:- )?(?:arguments|args|parameters|params|inputs?|tool_input|action_input):", re.M)
_STEPS = re.compile(r"^(?:steps|plan):[ \t]*(?:#[^\n]*)?$", re.M)


def read_own(page: Page, node: DocumentNode, marked: bool) -> ReaderResult | None:
    """A plan of our notation, alone or under the key `plan`."""
    members = node.value
    if not isinstance(members, dict):
        return None
    if "steps" not in members and set(members) == {"plan"}:
        return read_own(page, members["plan"], marked)
    steps = members["steps"].value if "steps" in members else None
    if not isinstance(steps, list) or not steps:
        return None
    # A plan template is known too, so that the error can say what it is.
    known = {*ACTIONS, "stepRequirement"}
    if not any(isinstance(item.value, dict) and item.value.keys() & known for item in steps):
        return None
    plan = plan_of(node, page.file)
    return ReaderResult(format="plan", plan=plan, calls=calls_of(plan), marked=marked)


def read_yaml_fence(page: Page, match: re.Match[str]) -> TextPiece | None:
    """A plan in a fence of YAML; other YAML is prose."""
    closing = page.search(_FENCE_END, match.end())
    end = closing.start() if closing else len(page.text)
    return _yaml(page, match.end(), end)


def read_yaml_text(page: Page) -> TextPiece | None:
    """A text that is a plan in YAML from its beginning to its end."""
    if not re.match(r"\s*(?:- )?[a-z_]+:", page.text):
        return None
    return _yaml(page, 0, len(page.text))


def _yaml(page: Page, start: int, end: int) -> TextPiece | None:
    body = page.text[start:end]
    if _STEPS.search(body) is None:
        return _calls(page, start, end) if _CALLS.match(body) and _INPUTS.search(body) else None
    # Empty lines before it keep the lines of the whole text.
    above = "\n" * (page.place(start)[0] - 1)
    try:
        found = read_own(page, read_yaml(above + body, file=page.file), True)
    except ReadError as error:
        return TextPiece(end=end, error=error)
    return TextPiece(end=end, found=found)


def _calls(page: Page, start: int, end: int) -> TextPiece | None:
    """Calls in YAML; None where it is data of another kind. Raises `ReadError` for calls that are not readable."""
    above = "\n" * (page.place(start)[0] - 1)
    last = page.text[start:end].rstrip(" \t")
    if end == len(page.text) and _INPUTS.fullmatch(last, last.rfind("\n") + 1):
        raise page.broken("The arguments are missing.", end, "It may have been cut off.")
    node = read_yaml(above + page.text[start:end], file=page.file)
    if isinstance(node.value, dict) and _is_document(node):
        return None
    for shape in page.shapes:
        found = shape(page, node, False)
        if found is not None:
            return TextPiece(end=end, found=found)
    return None


def _is_document(node: DocumentNode) -> bool:
    """A file that has a name and inputs among much else: the name alone tells no call."""
    return "name" in node.value and not node.value.keys() <= {"name", "arguments", "args", "parameters", "id", "type"}


def calls_of(plan: Plan) -> tuple[ModelCall, ...]:
    """The calls of a plan whose steps are all calls; else none."""
    calls: list[ModelCall] = []
    for index, step in enumerate(plan.steps):
        if not isinstance(step, Call):
            return ()
        line, column = plan.source.position(f"/steps/{index}") or (0, 0)
        call = ModelCall(
            tool=step.tool, inputs=step.inputs, id=step.id, depends_on=step.depends_on, line=line, column=column
        )
        calls.append(call)
    return tuple(calls)


def with_findings(plan: Plan, findings: Iterable[Finding]) -> Plan:
    """The plan with more findings of its reading."""
    more = tuple(findings)
    if not more:
        return plan
    source = Source(plan.source.file, plan.source.positions, (*plan.source.findings, *more))
    return msgspec.structs.replace(plan, source=source)
