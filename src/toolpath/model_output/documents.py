"""Any document → plan or tool: the one reading behind every door, whatever notation the document is in.

Doors that take documents call this and nothing else, so that none reads what another refuses. What a model wrote
among other words is not a document: `llm_json.model_text` reads that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from toolpath.errors import ReadError
from toolpath.model.plan import Plan
from toolpath.model.tool import Tool
from toolpath.model_output.found import ModelText
from toolpath.model_output.own import with_findings
from toolpath.model_output.page import Page
from toolpath.model_output.placeholders import placeholder_findings
from toolpath.model_output.planner import read_planner_steps, read_tool_chain, read_tools_and_order
from toolpath.model_output.plans import plan_of_text
from toolpath.model_output.router import read_router
from toolpath.notation.composite import tool_of
from toolpath.notation.nodes import MAX_STEPS, DocumentNode, text_of
from toolpath.notation.plan import plan_of, refuse_other_notation
from toolpath.notation.reading.notes import shown
from toolpath.notation.template import template_of
from toolpath.notation.template_config import is_config
from toolpath.notation.tree import read_tree

#: Notations of planners, told apart from our own by their words; in the order in which they are tried.
_PLANNERS = (read_tools_and_order, read_tool_chain, read_planner_steps)
_FENCE = "```"


class Document(NamedTuple):
    """What a text or tree holds, and the text that it is written as."""

    found: Plan | Tool
    text: str = ""
    """In the plan notation, with its comments; empty for another notation, and for what was no text."""


def read_document(source: str | bytes | dict[str, Any], *, file: str = "", most_steps: int = MAX_STEPS) -> Plan | Tool:
    """The plan or composite that a text or tree holds, in any notation, whichever it is.

    Raises `ReadError` where it is neither, and `TooManySteps` where it has more than `most_steps`.
    """
    return read_written(source, file=file, most_steps=most_steps).found


def read_written(source: str | bytes | dict[str, Any], *, file: str = "", most_steps: int = MAX_STEPS) -> Document:
    """As `read_document`, with the text of a plan that is written in the plan notation."""
    text = text_of(source, file=file) if isinstance(source, str | bytes) else None
    if text is not None:
        text = _unfenced(text)
    tree = read_tree(source if text is None else text, file=file, most_steps=most_steps)
    members = tree.value
    page = Page(text or "", file=file)
    if "implementation" not in members:
        for read in _PLANNERS:
            found = read(page, tree, True)
            if found is not None and found.plan is not None:
                return Document(with_findings(found.plan, placeholder_findings(found.plan)))
    if is_config(tree):
        return Document(template_of(tree, file).plan())
    refuse_other_notation(tree, file)
    if "implementation" in members:
        return Document(tool_of(tree, file))
    if "steps" in members:
        return Document(plan_of(tree, file), text or "")
    parameters = members.get("parameters")
    if parameters is not None and isinstance(parameters.value, list):
        return Document(tool_of(tree, file))
    return Document(_of_calls(tree, page))


def _of_calls(tree: DocumentNode, page: Page) -> Plan:
    """The plan of a document that holds a router's calls: `tool_call`, `tool_calls`."""
    found = read_router(page, tree, False)
    if found is None or not found.calls:
        message = "This is neither a plan, which has 'steps', nor a composite tool, which has 'implementation'."
        raise ReadError(f"{page.file}: {message}" if page.file else message, hint=_meant(tree.value))
    text = ModelText(calls=found.calls, prose=found.prose or "", format=found.format)
    plan = plan_of_text(text, file=page.file)
    return with_findings(plan, placeholder_findings(plan))


def _unfenced(text: str) -> str:
    """The text inside the one fence that is all of a text, its lines where they were; else the text as it is."""
    if not text.lstrip().startswith(_FENCE):
        return text
    start = text.index(_FENCE)
    opened, newline, rest = text[start:].partition("\n")
    body = rest.rstrip()
    if not newline or not body.endswith(f"\n{_FENCE}") or _FENCE in body[: -len(_FENCE)] or _FENCE in opened[3:]:
        return text
    return text[:start] + "\n" + body[: -len(_FENCE)]


def _listed(members: dict[str, DocumentNode]) -> str:
    names = [shown(name) for name in members]
    return ", ".join(names[:10]) + (" …" if len(names) > 10 else "") if names else "nothing"


def _meant(fields: dict[str, DocumentNode]) -> str:
    """The hint for a document without steps, by its fields."""
    for name in fields:
        if name.lower() in ("steps", "step", "tasks", "jobs", "workflow", "stages"):
            return f"Write 'steps' instead of '{name}'."
    return f"It has: {_listed(fields)}."
