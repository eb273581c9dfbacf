"""Questions of a run as elicitation, and what a person answered brought to the run."""

from __future__ import annotations

from typing import Any

from mcp_types import ElicitRequestFormParams, ElicitResult

from toolpath.app import Toolpath
from toolpath.errors import RunConflict, SchemaError
from toolpath.model.events import ApprovalRequested, InputRequested
from toolpath.model.forms import field_type, takes_several
from toolpath.projections.questions import Question
from toolpath.server.mcp.answers import text_of
from toolpath.values import JsonObject

#: Characters of a call's inputs that a person is shown.
_MOST_INPUTS = 2000


def may_be_elicited(question: Question) -> bool:
    """Whether a client may be asked: what is secret must not go through one, and a file cannot."""
    if isinstance(question, ApprovalRequested):
        return True
    kinds = [field_type(field) for field in question.form.get("inputs", [])]
    return not any(kind.is_secret or kind.is_file for kind in kinds)


def elicitation_of(question: Question, fault: str = "") -> ElicitRequestFormParams:
    """The question as MCP asks it. `fault` says what was wrong with the answer before."""
    match question:
        case InputRequested():
            message, schema = _form(question.form)
        case ApprovalRequested():
            message, schema = _approval(question)
    return ElicitRequestFormParams(message=f"{fault}\n\n{message}" if fault else message, requested_schema=schema)


def _form(form: JsonObject) -> tuple[str, JsonObject]:
    fields = [field for field in form.get("inputs", []) if isinstance(field, dict)]
    message = "\n".join(filter(None, [str(form.get("title") or "A question"), str(form.get("description") or "")]))
    schema: JsonObject = {
        "type": "object",
        "properties": {str(field["name"]): _property(field) for field in fields},
        "required": [str(field["name"]) for field in fields if field.get("required", True)],
    }
    return message, schema


def _property(field: JsonObject) -> JsonObject:
    options, kind = field.get("options") or [], field_type(field)
    found: JsonObject = {"type": "string"} if options else dict(kind.schema)
    if field.get("label"):
        found["title"] = str(field["label"])
    if field.get("placeholder"):
        found["description"] = str(field["placeholder"])
    if kind.format and not options:
        found["format"] = kind.format
    if any(isinstance(option, dict) for option in options):
        found["oneOf"] = [_choice(option) for option in options]
    elif options:
        found["enum"] = [str(option) for option in options]
    if takes_several(field):
        items: JsonObject = {key: found.pop(key) for key in ("type", "enum") if key in found}
        if "oneOf" in found:
            items["anyOf"] = found.pop("oneOf")
        found |= {"type": "array", "items": items}
        if isinstance(field.get("default"), list):
            found["default"] = [str(one) for one in field["default"]]
        return found
    if field.get("default") is not None:
        found["default"] = str(field["default"]) if options else field["default"]
    return found


def _choice(option: Any) -> JsonObject:
    if not isinstance(option, dict):
        return {"const": str(option), "title": str(option)}
    value = str(option.get("value"))
    return {"const": value, "title": str(option.get("label") or value)}


def _approval(question: ApprovalRequested) -> tuple[str, JsonObject]:
    what = f"{question.path} ({question.tool})" if question.tool else question.path
    message = f"May this be run: {what}?"
    if question.inputs:
        message += f"\n{text_of(question.inputs)[:_MOST_INPUTS]}"
    return message, {
        "type": "object",
        "properties": {
            "approve": {"type": "boolean", "title": "Allow it"},
            "comment": {"type": "string", "title": "Comment"},
        },
        "required": ["approve"],
    }


async def bring_answer(tp: Toolpath, run_id: str, question: Question, answer: ElicitResult, *, by: str) -> str | None:
    """Tell the run what the person said. Gives what is wrong with it: empty, nothing; None, they would not say now.

    A question that is answered already, or whose run has ended, counts as answered.
    """
    content = dict(answer.content or {})
    try:
        if isinstance(question, ApprovalRequested):
            return await _decide(tp, run_id, question, answer.action, content, by)
        match answer.action:
            case "accept":
                await tp.answer(run_id, question.path, content, by=by)
            case "decline":
                await tp.answer(run_id, question.path, by=by, declined=True)
            case _:
                return None
    except SchemaError as error:
        return str(error)
    except RunConflict:
        return ""
    return ""


async def _decide(
    tp: Toolpath, run_id: str, question: ApprovalRequested, action: str, content: dict[str, Any], by: str
) -> str | None:
    if action == "cancel":
        return None
    comment = str(content.get("comment") or "")
    if action == "accept" and not isinstance(content.get("approve"), bool):
        return "approve: expected true or false."
    if action == "accept" and content["approve"]:
        await tp.approve(run_id, question.path, by=by, comment=comment)
    else:
        await tp.deny(run_id, question.path, by=by, comment=comment)
    return ""
