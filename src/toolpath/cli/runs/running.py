"""`toolpath run` and `toolpath tools call`: find what to run, check it, run it, or only say what would be called."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolpath.app import Toolpath
from toolpath.checks.start import check_arguments
from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.findings import findings_of, show_findings
from toolpath.cli.inputs import read_inputs
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import Output
from toolpath.cli.questions import person
from toolpath.cli.runs.execution import finish
from toolpath.cli.runs.preview import preview
from toolpath.cli.session import CommandSession, perform
from toolpath.cli.target import Target, find_target
from toolpath.cli.uploads import upload_files
from toolpath.errors import PlanInvalid, ReadError
from toolpath.model.run import RunContext
from toolpath.runs.run import Run
from toolpath.testing.recording import Recorder
from toolpath.testing.replay import Replay
from toolpath.values import JsonObject

#: How long a detached run may take until it has an id.
_ANNOUNCE_WITHIN = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """Words that were typed after `run` or `tools call`."""

    what: str
    inputs: tuple[str, ...] = ()
    input_file: str = ""
    files: tuple[str, ...] = ()
    dry_run: bool = False
    record: str = ""
    replay: str = ""
    detach: bool = False
    no_input: bool = False
    announce: bool = False
    replan: int = 0
    priority: int = 0
    only_tool: bool = False
    user: str = ""
    session: str = ""
    case: str = ""
    permissions: tuple[str, ...] = ()


def run_request(options: GlobalOptions, request: RunRequest) -> int:
    """Do what was asked; returns the exit code."""
    if request.what == "-" and request.input_file == "-":
        raise UsageError("Only one of plan and inputs can be read from stdin.")
    if request.record and request.replay:
        raise UsageError("A run is either recorded or replayed.")
    if request.detach:
        return _detach(options, request)

    async def work(session: CommandSession) -> int:
        return await _run(session, request)

    return perform(options, work, journal=not request.dry_run, begins=True)


async def _run(session: CommandSession, request: RunRequest) -> int:
    tp, output = session.tp, session.output
    try:
        target = await find_target(tp, request.what, only_tool=request.only_tool)
    except ReadError as error:
        return show_findings(findings_of(error, request.what), request.what, output)
    inputs = read_inputs(request.inputs, request.input_file, target.schema)
    if target.tool is not None:
        # A tool has no plan whose inputs would be judged before the run is there.
        unfit = check_arguments(target.tool, inputs)
        if unfit:
            return show_findings(unfit, target.name, output)
    if request.dry_run:
        try:
            plan, filled = await tp.prepared(target.runnable(inputs), inputs, context=_who(tp, request))
        except PlanInvalid as error:
            return show_findings(error.findings, target.name, output)
        return preview(plan, tp.registry.snapshot(), filled, output)
    recorder = await _with_recording(tp, request)
    try:
        run = await _start(tp, target, inputs, request)
    except PlanInvalid as error:
        return show_findings(error.findings, target.name, output)
    else:
        if request.announce:
            _announce(run.run_id, output)
        return await finish(tp, run, output, no_input=request.no_input)
    finally:
        if recorder is not None:
            recorder.close()
            if recorder.fault:
                output.tell(f"Calls are missing in the recording {request.record}: {recorder.fault}", "yellow")


async def _start(tp: Toolpath, target: Target, inputs: JsonObject, request: RunRequest) -> Run:
    """Begin it, with the files that were named in its folder."""
    more: dict[str, Any] = {"replan": request.replan or None, "priority": request.priority}
    more["context"] = _who(tp, request)
    if not request.files:
        return await tp.start(target.started(inputs), inputs, **more)
    upload = await upload_files(tp, request.files, user=person())
    return await tp.files.start(target.started(inputs), inputs, uploads=[upload], **more)


def _who(tp: Toolpath, request: RunRequest) -> RunContext:
    """Who runs it: the person at the terminal, unless it was said for whom."""
    return tp.context(
        request.user or person(),
        session_id=request.session,
        case_id=request.case or None,
        permissions=request.permissions,
    )


async def _with_recording(tp: Toolpath, request: RunRequest) -> Recorder | None:
    if request.replay:
        tp.replace(Replay(request.replay).replay(list((await tp.tools()).tools.values())))
    if not request.record:
        return None
    recorder = Recorder(request.record)
    tp.replace(recorder.record((await tp.tools()).tools.values()))
    return recorder


def _announce(run_id: str, output: Output) -> None:
    output.write(run_id)
    # The process that started this one reads one line and goes; the rest must not break the pipe.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, output.results.fileno())


def _detach(options: GlobalOptions, request: RunRequest) -> int:
    output = Output(options)
    log = Path(".toolpath") / "detached.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    arguments = [sys.executable, "-m", "toolpath", *options.as_arguments(), "run", request.what, "--announce"]
    arguments += ["--no-input", "--replan", str(request.replan), "--priority", str(request.priority)]
    for pair in request.inputs:
        arguments += ["--input", pair]
    for file in request.files:
        arguments += ["--file", file]
    for permission in request.permissions:
        arguments += ["--permission", permission]
    for name, value in (
        ("--user", request.user),
        ("--session", request.session),
        ("--case", request.case),
        ("--input-file", request.input_file),
        ("--record", request.record),
        ("--replay", request.replay),
    ):
        arguments += [name, value] if value else []
    from_stdin = "-" in (request.what, request.input_file)
    with log.open("ab") as sink:
        process = subprocess.Popen(  # noqa: S603  # this very program
            arguments,
            stdin=None if from_stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=sink,
            start_new_session=True,
        )
    assert process.stdout is not None  # it was asked for
    run_id = process.stdout.readline().decode().strip()
    if not run_id:
        code = process.wait()
        output.tell(f"The run did not start; {log} says why.", "red")
        return code or ExitCode.FAILED
    output.result({"run_id": run_id} if options.json else run_id)
    output.say(f"It goes on in the background: toolpath runs watch {run_id}")
    return ExitCode.DONE
