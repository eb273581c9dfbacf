"""Asking the person at the terminal: approvals and forms of a run that waits, and how to answer it from elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from toolpath.app import Toolpath
from toolpath.cli.output import Output, short
from toolpath.cli.prompt import AnsweredElsewhere, GaveUp, Prompt
from toolpath.cli.uploads import with_files
from toolpath.model.events import ApprovalRequested, InputRequested
from toolpath.model.forms import field_type, takes_several
from toolpath.model.run import RunResult
from toolpath.runs.run import Run
from toolpath.values import Json, JsonObject

#: Seconds until a store that is not told of other processes is looked at again.
_LOOK_AGAIN = 1.0


def may_ask(output: Output, no_input: bool) -> bool:
    """Whether somebody is there to be asked."""
    return not no_input and sys.stdin.isatty() and output.people.is_terminal


async def answer_all(tp: Toolpath, result: RunResult, output: Output) -> bool:
    """Ask every question of the run, then tell the answers; whether it goes on, or one stays open.

    Where somebody else answers meanwhile, nothing is asked any more.
    """
    asked: list[Callable[[], Awaitable[Run]]] = []
    by, run_id = person(), result.run_id
    gone = asyncio.ensure_future(_went_on(tp, run_id))
    prompt = Prompt(gone)
    try:
        for question in result.questions:
            match question:
                case ApprovalRequested(path=path):
                    decide = tp.approve if await _approves(question, output, prompt) else tp.deny
                    asked.append(partial(decide, run_id, path, by=by))
                case InputRequested(path=path):
                    values = await _form(question.form, output, prompt)
                    values = await with_files(tp, run_id, question.form, values, user=by)
                    asked.append(partial(tp.answer, run_id, path, values, by=by))
                case _:
                    return False
    except AnsweredElsewhere:
        output.tell(f"Run {run_id} went on: somebody else has answered.", "yellow")
        return True
    except GaveUp:
        return False
    finally:
        gone.cancel()
    # All are told at once, so that nothing runs while somebody is being asked.
    for tell in asked:
        await tell()
    return bool(asked)


async def _went_on(tp: Toolpath, run_id: str) -> None:
    """Comes back when something happens to the run, in any process."""
    seen = (await tp.store.get_run(run_id)).last_seq
    while (await tp.store.get_run(run_id)).last_seq <= seen:
        # A store that is not told of other processes is looked at again.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_AGAIN):
                await tp.store.wait_events(run_id, seen)


def as_json(result: RunResult) -> JsonObject:
    """The result as JSON, with what the run asks people."""
    asked: list[JsonObject] = []
    for question in result.questions:
        told: JsonObject = {"kind": "approval" if isinstance(question, ApprovalRequested) else "input"}
        told |= {
            name: value for name, value in msgspec.to_builtins(question).items() if name not in ("type", "seq", "at")
        }
        asked.append({**told, "step": question.path})
    for step in result.results if result.status == "waiting" else ():
        if step.status == "unknown":
            asked.append({"kind": "settle", "step": step.path, "tool": step.tool, "inputs": step.inputs})
    return {**result.as_json(), "questions": asked}


def how_to_answer(result: RunResult, output: Output) -> None:
    """Say what the run waits for and which commands answer it."""
    output.tell(f"Run {result.run_id} waits for a person:")
    answered = False
    for question in result.questions:
        answered = True
        path = question.path
        match question:
            case ApprovalRequested():
                output.tell(f"  {question.path} wants to call {question.tool or 'its tools'}", "magenta")
                if question.inputs is not None:
                    output.tell(f"    with {short(question.inputs, 400)}")
                output.tell(f"    toolpath approve {result.run_id} {path}")
                output.tell(f"    toolpath deny {result.run_id} {path}")
            case InputRequested():
                names = " ".join(f"{_name(field)}=…" for field in _fields(question.form))
                output.tell(f"  {question.path} asks: {short(question.form.get('title', ''))}", "magenta")
                output.tell(f"    toolpath answer {result.run_id} {path} {names}".rstrip())
                output.tell(f"    toolpath answer {result.run_id} {path} --decline")
            case _:
                answered = False
    for step in result.results:
        if step.status == "unknown":
            answered = True
            output.tell(f"  {step.path}: whether its write happened is not known", "magenta")
            output.tell(f"    toolpath settle {result.run_id} {step.path} --retry | --output JSON | --failed")
        elif step.status == "waiting" and step.reason == "tool_changed":
            answered = True
            output.tell(f"  {step.path}: its tool is not the one that the run began with", "magenta")
            output.tell(f"    toolpath settle {result.run_id} {step.path} --accept-tool")
    if changed := held(result):
        output.tell(f"  {short(changed, 400)}", "magenta")
        output.tell(f"    toolpath settle {result.run_id} --accept-tool")
    elif not answered:
        output.tell(f"  toolpath runs show {result.run_id}")


def held(result: RunResult) -> str:
    """Why nothing goes on although somebody answered: tools changed, and nothing has started since."""
    changed = [warning for warning in result.warnings if warning.code == "tool_changed"]
    if not changed or any((step.started_at or 0.0) > changed[-1].at for step in result.results):
        return ""
    return str(changed[-1].message)


async def _approves(question: ApprovalRequested, output: Output, prompt: Prompt) -> bool:
    output.tell(f"{question.path} wants to call {question.tool or 'its tools'}", "bold")
    if question.inputs is not None:
        output.tell(f"  with {short(question.inputs, 1000)}")
    while True:
        answer = (await prompt.line("Allow it? [y/n, Enter: decide later] ")).strip().lower()
        if answer in ("n", "no"):
            return False
        if answer in ("y", "yes"):
            return True
        if not answer:
            raise GaveUp


async def _form(form: JsonObject, output: Output, prompt: Prompt) -> JsonObject:
    output.tell(short(form.get("title") or "A question", 400), "bold")
    if form.get("description"):
        output.tell(short(form["description"], 2000))
    found: JsonObject = {}
    for field in _fields(form):
        value = await _field(field, output, prompt)
        if value is not None:
            found[_name(field)] = value
    return found


async def _field(field: JsonObject, output: Output, prompt: Prompt) -> Json:
    options: list[Any] = list(field.get("options") or []) if field_type(field).is_chosen else []
    for number, option in enumerate(options, 1):
        output.tell(f"  {number}  {short(option)}")
    label = short(field.get("label") or _name(field), 120)
    default = field.get("default")
    shown = ", ".join(map(str, default)) if isinstance(default, list) else default
    kind = " (a file)" if field_type(field).is_file else ""
    several = " (several, with commas)" if takes_several(field) else ""
    asked = f"{label}{kind}{several}{f' [{short(shown)}]' if shown is not None else ''}: "
    while True:
        text = (await prompt.line(asked, secret=field_type(field).is_secret)).strip()
        if not text:
            if default is not None or not field.get("required", True):
                return default
            output.tell("  It has to be given.", "yellow")
            continue
        try:
            if takes_several(field):
                return [_chosen(part.strip(), options) for part in text.split(",") if part.strip()]
            if field_type(field).is_file:
                return await asyncio.to_thread(_there, text)
            return _typed(text, field_type(field).schema["type"], options)
        except ValueError as error:
            output.tell(f"  {error}", "yellow")


def _there(file: str) -> str:
    if not Path(file).expanduser().is_file():
        raise ValueError(f"There is no file {short(file, 200)}.")
    return str(Path(file).expanduser())


def _typed(text: str, kind: str, options: list[Any]) -> Json:
    if options:
        return _chosen(text, options)
    match kind:
        case "number":
            return float(text)
        case "integer":
            return int(text)
        case "boolean":
            if text.lower() in ("y", "yes", "true", "1"):
                return True
            if text.lower() in ("n", "no", "false", "0"):
                return False
            raise ValueError("Answer y or n.")
        case _:
            return text


def _chosen(text: str, options: list[Any]) -> Json:
    if text in (str(option) for option in options):
        return next(option for option in options if str(option) == text)
    if text.isdecimal() and 1 <= int(text) <= len(options):
        return options[int(text) - 1]
    raise ValueError(f"Answer one of {', '.join(short(option, 40) for option in options)}, or its number.")


def _fields(form: JsonObject) -> list[JsonObject]:
    fields = form.get("inputs") or form.get("fields") or []
    return [field for field in fields if isinstance(field, dict)]


def _name(field: JsonObject) -> str:
    return str(field.get("name") or field.get("label") or "")


def person() -> str:
    """Name of the person at the terminal, for the journal."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
