"""Decisions of people: approvals, answers to forms, writes in doubt. Pure: checks what they say, then writes events."""

from __future__ import annotations

from datetime import date
from typing import Any

from toolpath.engine.decide.commands import Reply
from toolpath.engine.decide.control import Control
from toolpath.engine.state.instances import EMPTY, ENDED, StepState
from toolpath.engine.state.results import Done
from toolpath.errors import RunConflict, SchemaError, closest
from toolpath.json_schema.coerce import coerce
from toolpath.model import events as ev
from toolpath.model.events import Failure
from toolpath.model.forms import chosen_file, field_type, is_kept_file, takes_several
from toolpath.model.redaction import is_redacted
from toolpath.ports import Signal
from toolpath.values import Json, JsonObject


def apply_signal(control: Control, signal: Signal) -> None:
    """Apply what a person said. Raises `RunConflict` or `SchemaError` when it cannot be."""
    match signal.kind:
        case "approve" | "deny":
            _decide(control, signal)
        case "answer":
            _answer(control, signal)
        case "settle":
            _settle(control, signal)
        case other:
            raise RunConflict(f"Nobody knows what {other!r} asks of a run.")
    control.settle()


def waiting_steps(control: Control) -> list[StepState]:
    """The steps that wait for a person."""
    return [step for step in control.decisions.state.steps.values() if step.status in ("waiting", "unknown")]


def _find(control: Control, path: str, kind: type | None) -> StepState:
    candidates = [
        step
        for step in waiting_steps(control)
        if (step.status == "unknown" if kind is None else isinstance(step.asked, kind))
    ]
    word = "a write in doubt" if kind is None else "an approval" if kind is ev.ApprovalRequested else "an answer"
    if not path:
        if len(candidates) == 1:
            return candidates[0]
        names = [step.path for step in candidates]
        what = f"Several steps wait for {word}: {', '.join(names)}." if names else f"No step waits for {word}."
        raise RunConflict(what, hint="Name the step." if names else "")
    # A whole path means that step, whatever ids others have.
    matches = [step for step in candidates if step.path == path]
    matches = matches or [step for step in candidates if step.node.id == path]
    if len(matches) == 1:
        return matches[0]
    names = [step.path for step in candidates]
    raise RunConflict(
        f"{path!r} does not wait for {word}."
        if not matches
        else f"{path!r} means several steps: {', '.join(step.path for step in matches)}.",
        suggestions=closest(path, names),
        hint=f"Waiting: {', '.join(names) or 'none'}.",
    )


def _decide(control: Control, signal: Signal) -> None:
    decisions = control.decisions
    approved = signal.kind == "approve"
    step = _find(control, signal.path, ev.ApprovalRequested)
    assert isinstance(step.asked, ev.ApprovalRequested)
    bound = step.asked.digest
    decisions.emit(
        ev.ApprovalDecided(
            decisions.seq, decisions.at, step.path, bound, approved, signal.by, signal.data.get("comment", "")
        )
    )
    if approved:
        if step.scope.block is not EMPTY or step.given is not None:
            control.begin(step)
        # Else the tool that made the call is gone: it is run again, and makes it with the inputs that were allowed.
        return
    message = f"{signal.by or 'A person'} did not allow {step.path}." + (
        f" {signal.data['comment']}" if signal.data.get("comment") else ""
    )
    control.fail(step, Failure(type="Denied", message=message, code="denied"))


def _answer(control: Control, signal: Signal) -> None:
    decisions = control.decisions
    step = _find(control, signal.path, ev.InputRequested)
    assert isinstance(step.asked, ev.InputRequested)
    asked = step.asked
    if asked.deadline is not None and decisions.at >= asked.deadline:
        raise RunConflict(f"The time to answer {step.path} is over.")
    if asked.question:
        decisions.unwatch(step)
    if signal.data.get("declined"):
        decisions.emit(
            ev.InputReceived(decisions.seq, decisions.at, step.path, {}, signal.by, asked.question, declined=True)
        )
        if asked.question:
            decisions.commands.append(Reply(step))
        else:
            control.fail(step, Failure(type="Declined", message=f"Nobody wants to answer {step.path}.", code="denied"))
        return
    values = read_answers(asked.form, signal.data.get("values", {}))
    decisions.emit(ev.InputReceived(decisions.seq, decisions.at, step.path, values, signal.by, asked.question))
    if asked.question:
        decisions.commands.append(Reply(step))
    else:
        control.succeed(step, Done(values, max(0.0, decisions.at - (step.started_at or decisions.at))))


def read_answers(form: JsonObject, given: JsonObject) -> JsonObject:
    """The answers, typed as the form's fields say. Raises `SchemaError` with every fault."""
    fields = {field["name"]: field for field in form.get("inputs", [])}
    faults: list[tuple[str, str]] = []
    values: JsonObject = {}
    labels: dict[str, list[str]] = {}
    for name, field in fields.items():
        if field.get("label"):
            labels.setdefault(field["label"], []).append(name)
    for name, value in given.items():
        meant = [name] if name in fields else labels.get(name, [])
        known = meant[0] if len(meant) == 1 else None
        if len(meant) > 1:
            faults.append((f"/{name}", f"several fields have this label: {', '.join(meant)}; answer by name"))
            continue
        if known is None:
            near = closest(name, fields)
            faults.append((f"/{name}", "no such field" + (f"; did you mean {near[0]!r}?" if near else "")))
            continue
        values[known] = value
    for name, field in fields.items():
        value = values.get(name, field.get("default"))
        if value is None or value == "":
            if field.get("required", True):
                faults.append((f"/{name}", "an answer is required"))
            values[name] = None
            continue
        values[name], fault = _read_value(field, value)
        if fault:
            faults.append((f"/{name}", fault))
    if faults:
        told = "; ".join(f"{at[1:]}: {what}" for at, what in faults)
        raise SchemaError(f"The answer does not fit the form: {told}.", faults=faults)
    return {name: values[name] for name in fields}


def _read_value(field: JsonObject, value: Json) -> tuple[Json, str]:
    options = field.get("options") or []
    kind = field_type(field)
    if kind.is_secret:
        # What was typed is never told back.
        return (value, "") if isinstance(value, str) else (None, "expected a text")
    if kind.is_file:
        # Which upload it is, and whether it is there, is for who keeps the answer to say.
        fits = is_kept_file(value) or chosen_file(value) is not None
        return value, "" if fits else "expected a file of an upload, {upload_id, name}"
    if takes_several(field):
        return _read_several(options, value)
    if options:
        for option in options:
            chosen = option.get("value") if isinstance(option, dict) else option
            if value == chosen or str(value) == str(chosen):
                return chosen, ""
        return value, f"{value!r} is none of {', '.join(map(str, options))}"
    read = coerce(value, kind.schema)
    expected = kind.schema["type"]
    wanted: Any = {"number": (int, float), "integer": int, "boolean": bool, "string": str}[expected]
    if not isinstance(read, wanted) or (isinstance(read, bool) and expected != "boolean"):
        return value, f"expected {expected}, got {value!r}"
    if kind.format == "date" and not _is_date(read):
        return value, f"{value!r} is no date as 2031-05-30"
    if kind.format == "email" and ("@" not in read or " " in read):
        return value, f"{value!r} is no e-mail address"
    return read, ""


def _is_date(text: str) -> bool:
    try:
        return len(text) == len("2031-05-30") and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _read_several(options: list[Any], value: Json) -> tuple[Json, str]:
    """Any of the options, each once: a list, one of them, or several with commas between them."""
    known = {str(option.get("value") if isinstance(option, dict) else option): option for option in options}
    if isinstance(value, str) and value not in known:
        value = [part.strip() for part in value.split(",") if part.strip()]
    chosen: dict[str, Json] = {}
    for one in value if isinstance(value, list) else [value]:
        option = known.get(str(one))
        if option is None:
            return value, f"{one!r} is none of {', '.join(known)}"
        chosen[str(one)] = option.get("value") if isinstance(option, dict) else option
    return list(chosen.values()), ""


def _settle(control: Control, signal: Signal) -> None:
    step = _find(control, signal.path, None)
    data = signal.data
    if data.get("retry"):
        _make_again(control, step)
    elif data.get("failed"):
        message = f"{signal.by or 'A person'} settled that {step.path} failed."
        control.fail(step, Failure(type="SettledFailed", message=message, code="tool_failed"))
    elif "output" in data:
        control.succeed(step, Done(data["output"], 0.0))
    else:
        raise RunConflict(
            f"Say how {step.path} is settled.", hint="retry=True, output=… (it succeeded with this), or failed=True."
        )


def _make_again(control: Control, step: StepState) -> None:
    """Make the write again. One that a tool has made gets what it was given then, or waits for the tool to give it."""
    decisions = control.decisions
    is_child = step.scope.block is EMPTY
    if is_child and step.given is None and not is_redacted(step.inputs):
        step.given = decisions.restore(step.inputs or {})
    caller = step.scope.owner
    if (
        is_child
        and step.given is None
        and caller is not None
        and (caller.status == "unknown" or caller.status in ENDED)
    ):
        raise RunConflict(
            f"{step.path} was given a secret, which no journal has, and {caller.path} runs no more to give it again.",
            hint=f"Settle {caller.path} first, or settle this one by output=… or failed=True.",
        )
    decisions.emit(ev.StepReady(decisions.seq, decisions.at, step.path))
    if not is_child or step.given is not None:
        control.begin(step)


def expire(control: Control, step: StepState) -> None:
    """The end of the time to answer: the form's step fails, or the agent that asked is told; the run goes on."""
    decisions = control.decisions
    asked = step.asked
    if step.status != "waiting" or not isinstance(asked, ev.InputRequested) or asked.deadline is None:
        return
    if decisions.at < asked.deadline:
        return
    message = f"Nobody answered {step.path} in time."
    if asked.question:
        decisions.emit(ev.InputReceived(decisions.seq, decisions.at, step.path, {}, "", asked.question, True, True))
        decisions.commands.append(Reply(step))
        return
    control.fail(step, Failure(type="Timeout", message=message, code="timeout"))
    control.settle()
