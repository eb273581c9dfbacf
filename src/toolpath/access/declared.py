"""The entries that tools declare: a composite's `audit_events`, with what it wants shown and hidden. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.record import AuditEntry
from toolpath.model.redaction import REDACTED
from toolpath.model.run import RunContext
from toolpath.model.tool import Tool
from toolpath.values import Json, JsonObject

_ENDS = ev.StepSucceeded | ev.StepFailed | ev.StepTimedOut | ev.StepCancelled
_RUN_ENDS = ev.RunCompleted | ev.RunFailed | ev.RunCancelled


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """Declaration of what the audit trail keeps of a tool's calls."""

    success: str = "tool_success"
    failure: str = "tool_failure"
    response_fields: tuple[str, ...] = ()
    """Of the output; empty: none of it, unless `full_response`."""
    redact: tuple[str, ...] = ()
    """Fields that are hidden wherever they stand: by their name, or by their path with dots from the top."""
    request: bool = True
    full_response: bool = False
    case: bool = True


def declaring(tool: Tool) -> Declared | None:
    """The declaration of what the trail keeps of the tool's calls; None where the tool makes none."""
    return declared_in(tool.metadata)


def declared_in(metadata: Mapping[str, Any]) -> Declared | None:
    """The declaration in the metadata of a tool, or of a plan that is run as one; None where there is none."""
    audit = metadata.get("audit_events")
    # Most tools say nothing; the end of every run asks all of its tools.
    if audit is None or not isinstance(audit, Mapping):
        return None
    session = metadata.get("session_policies")
    session = session if isinstance(session, Mapping) else {}
    return Declared(
        success=_text(audit.get("success_event")) or "tool_success",
        failure=_text(audit.get("failure_event")) or "tool_failure",
        response_fields=_texts(audit.get("log_response_fields")),
        redact=_texts(audit.get("redact_fields")),
        request=session.get("log_request_payload") is not False,
        full_response=session.get("log_full_response") is True,
        case=audit.get("emit_casefile_event") is not False,
    )


def tool_entries(
    run_id: str, events: Sequence[AnyEvent], declared: Mapping[str, Declared], context: RunContext
) -> list[AuditEntry]:
    """One entry for each call that ended in the run's latest stretch, and whose tool wants it written."""
    started: dict[str, ev.StepStarted] = {}
    entries: list[AuditEntry] = []
    for event in events[:-1]:
        match event:
            case ev.StepStarted() if event.tool in declared:
                started[event.path] = event
            case _ if isinstance(event, _RUN_ENDS):
                # A run that ended before, and was tried again, has its entries up to here.
                entries.clear()
            case _ if isinstance(event, _ENDS) and event.path in started:
                start = started.pop(event.path)
                entries.append(_entry(run_id, start, event, declared[start.tool], context))
            case _:
                pass
    return entries


def own_entry(run_id: str, events: Sequence[AnyEvent], name: str, context: RunContext) -> AuditEntry | None:
    """The entry of a composite that is the run itself, not one of its steps; None where it wants none."""
    first, last = events[0], events[-1]
    if not isinstance(first, ev.RunStarted) or not isinstance(last, _RUN_ENDS):
        return None
    rules = declared_in(first.plan.get("metadata") or {})
    if rules is None:
        return None
    start = ev.StepStarted(seq=first.seq, at=first.at, path="", tool=name, inputs=first.inputs)
    took = last.at - first.at
    end: Any
    if isinstance(last, ev.RunCompleted):
        end = ev.StepSucceeded(seq=last.seq, at=last.at, path="", output=last.outputs, duration=took)
    elif isinstance(last, ev.RunFailed):
        error = last.error or ev.Failure(type="RunFailed", message=last.reason)
        end = ev.StepFailed(seq=last.seq, at=last.at, path="", error=error, duration=took)
    else:
        end = ev.StepCancelled(seq=last.seq, at=last.at, path="", reason=last.reason, duration=took)
    return _entry(run_id, start, end, rules, context)


def _entry(run_id: str, start: ev.StepStarted, end: Any, rules: Declared, context: RunContext) -> AuditEntry:
    succeeded = isinstance(end, ev.StepSucceeded)
    data: JsonObject = {"tool": start.tool, "step": start.path, "session": context.session_id, "seconds": end.duration}
    if rules.case:
        data["case"] = context.case_id
    if rules.request:
        data["request"] = _hidden(start.inputs, rules.redact)
    if succeeded:
        data["response"] = _hidden(_shown(end.output, rules), rules.redact)
    elif isinstance(end, ev.StepCancelled):
        data["error"] = {"code": "cancelled", "message": end.reason}
    else:
        # What an error says may quote what is to be hidden.
        data["error"] = {"code": end.error.code, "type": end.error.type}
    return AuditEntry(
        at=end.at,
        tenant=context.tenant,
        user=context.user_id,
        action=rules.success if succeeded else rules.failure,
        subject=run_id,
        data={name: value for name, value in data.items() if value},
    )


def _shown(output: Json, rules: Declared) -> Json:
    if rules.response_fields:
        found = {name: _at(output, name.split(".")) for name in rules.response_fields}
        return {name: value for name, value in found.items() if value is not None}
    return output if rules.full_response else None


def _at(value: Json, path: list[str]) -> Json:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _hidden(value: Json, redact: Sequence[str], at: str = "") -> Json:
    """The value with `[redacted]` in the fields that are to be hidden."""
    match value:
        case dict():
            return {
                key: REDACTED if key in redact or f"{at}{key}" in redact else _hidden(item, redact, f"{at}{key}.")
                for key, item in value.items()
            }
        case list():
            return [_hidden(item, redact, at) for item in value]
        case _:
            return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()
