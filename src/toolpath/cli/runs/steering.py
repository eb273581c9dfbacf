"""Commands that change a run: resume, cancel, pause, retry, fork, and a person's answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from toolpath.app import Toolpath
from toolpath.cli.exits import ExitCode, UsageError, of_result
from toolpath.cli.inputs import parse_pairs
from toolpath.cli.options import GlobalOptions
from toolpath.cli.questions import person
from toolpath.cli.requests import NAMES, add_http
from toolpath.cli.runs.execution import finish, follow
from toolpath.cli.runs.history import run_id_of
from toolpath.cli.session import CommandSession, perform
from toolpath.cli.uploads import with_files
from toolpath.errors import RunConflict, ToolpathError
from toolpath.model.events import AnyEvent, InputRequested, RunPaused, RunStarted
from toolpath.model.run import ENDED_RUN
from toolpath.runs.run import Run
from toolpath.values import JsonObject, decode

Change = Callable[[Toolpath, str], Awaitable[Run]]


def _change(options: GlobalOptions, run: str, change: Change, *, no_input: bool = False) -> int:
    """Apply the change and follow the run as it goes on."""

    async def work(session: CommandSession) -> int:
        run_id = await run_id_of(session.tp, run)
        events = await session.tp.events(run_id)
        add_recorded(session, events)
        after = events[-1].seq if events else 0
        changed = await change(session.tp, run_id)
        # A fork is another run: all of it is news.
        after = after if changed.run_id == run_id else 0
        return await finish(session.tp, changed, session.output, after=after, no_input=no_input)

    return perform(options, work)


def _stop(options: GlobalOptions, run: str, change: Change, wanted: str, *, until: type[AnyEvent] | None = None) -> int:
    """Apply a change that ends the run or lets it rest; 0 where it did. `until` tells that it has been applied.

    Nothing is called for that, so no tools are loaded.
    """

    async def work(session: CommandSession) -> int:
        run_id = await run_id_of(session.tp, run)
        events = await session.tp.events(run_id)
        await change(session.tp, run_id)
        result, _ = await follow(session.tp, run_id, session.output, events[-1].seq if events else 0, until=until)
        if options.json:
            session.output.result({"run_id": run_id, "status": result.status})
        if result.status == wanted:
            session.output.say(f"Run {run_id} is {wanted}.")
            return ExitCode.DONE
        session.output.tell(f"Run {run_id} is {result.status}: the process that drives it was told.")
        return ExitCode.DONE if result.status not in ENDED_RUN else of_result(result)

    return perform(options, work, sources=False)


def resume_run(options: GlobalOptions, run: str, *, force: bool = False, no_input: bool = False) -> int:
    """Drive the run on in the foreground; with `force` also one that another process drives."""

    async def change(tp: Toolpath, run_id: str) -> Run:
        info = await tp.store.get_run(run_id)
        if info.status in ENDED_RUN:
            raise RunConflict(
                f"The run {run_id} has ended: {info.status.replace('_', ' ')}.",
                hint=f"`toolpath runs show {run_id}` tells what came of it; `toolpath runs retry` tries what failed.",
            )
        return await tp.resume(run_id, force=force)

    return _change(options, run, change, no_input=no_input)


def cancel_run(options: GlobalOptions, run: str, reason: str) -> int:
    """Stop the run for good, wherever it is driven."""
    why = reason or "cancelled from the command line"
    return _stop(options, run, lambda tp, run_id: tp.cancel(run_id, reason=why), "cancelled")


def pause_run(options: GlobalOptions, run: str) -> int:
    """Let what runs finish and start nothing new."""
    return _stop(options, run, lambda tp, run_id: tp.pause(run_id), "paused", until=RunPaused)


def retry_run(options: GlobalOptions, run: str, *, no_input: bool = False) -> int:
    """Go on from what failed."""
    return _change(options, run, lambda tp, run_id: tp.retry(run_id), no_input=no_input)


def replan_run(options: GlobalOptions, run: str, *, no_input: bool = False) -> int:
    """Plan anew what is unfinished, and go on."""
    return _change(options, run, lambda tp, run_id: tp.replan(run_id), no_input=no_input)


def fork_run(
    options: GlobalOptions,
    run: str,
    step: str,
    pairs: Sequence[str],
    *,
    repeat_writes: bool = False,
    no_input: bool = False,
) -> int:
    """Run it again, from a step on or with other inputs."""
    inputs = parse_pairs(pairs) or None

    async def change(tp: Toolpath, run_id: str) -> Run:
        return await tp.fork(run_id, from_step=step or None, inputs=inputs, repeat_writes=repeat_writes)

    return _change(options, run, change, no_input=no_input)


def approve_step(options: GlobalOptions, run: str, step: str, *, no_input: bool = False) -> int:
    """Allow it, and go on."""
    return _change(options, run, lambda tp, run_id: tp.approve(run_id, step, by=person()), no_input=no_input)


def deny_step(options: GlobalOptions, run: str, step: str, *, no_input: bool = False) -> int:
    """Refuse it, and go on with what is left."""
    return _change(options, run, lambda tp, run_id: tp.deny(run_id, step, by=person()), no_input=no_input)


def answer_form(
    options: GlobalOptions, run: str, words: Sequence[str], *, decline: bool = False, no_input: bool = False
) -> int:
    """Fill in the form, or decline to, and go on. Values stay text: the form knows their types."""
    step = words[0] if words and "=" not in words[0] else ""
    pairs = words[1:] if step else words
    if decline and pairs:
        raise UsageError("A form is either answered or declined.")
    names = [pair.partition("=")[0] for pair in pairs]
    values = parse_pairs(pairs, {"properties": {name: {"type": "string"} for name in names}})

    async def change(tp: Toolpath, run_id: str) -> Run:
        asked = [
            question
            for question in (await tp.info(run_id)).questions
            if isinstance(question, InputRequested) and step in ("", question.path, question.path.rpartition("/")[2])
        ]
        # Which of several is meant decides who gets the answer.
        given = await with_files(tp, run_id, asked[0].form, values, user=person()) if len(asked) == 1 else values
        return await tp.answer(run_id, step, given, by=person(), declined=decline)

    return _change(options, run, change, no_input=no_input)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleOptions:
    """Word of a person on what became of a write."""

    retry: bool = False
    output: str = ""
    failed: bool = False
    accept_tool: bool = False


def settle_step(
    options: GlobalOptions,
    run: str,
    step: str,
    settlement: SettleOptions,
    *,
    force: bool = False,
    no_input: bool = False,
) -> int:
    """Say what became of a write that was interrupted, and go on."""
    said = [settlement.retry, bool(settlement.output), settlement.failed, settlement.accept_tool]
    if sum(said) != 1:
        raise UsageError("Say one of --retry, --output JSON, --failed and --accept-tool.")
    facts: JsonObject = {name: True for name in ("retry", "failed", "accept_tool") if getattr(settlement, name)}
    if force:
        if not settlement.accept_tool:
            raise UsageError(
                "--force goes with --accept-tool: what became of a write is told to the driver of the run."
            )
        facts["force"] = True
    if settlement.output:
        try:
            facts = {"output": decode(settlement.output)}
        except ValueError as error:
            raise UsageError(
                f"The output is no JSON: {error}", hint="Text needs quotes: --output '\"done\"'."
            ) from None

    return _change(options, run, lambda tp, run_id: tp.settle(run_id, step, **facts, by=person()), no_input=no_input)


def add_recorded(session: CommandSession, events: list[AnyEvent]) -> None:
    """Add the modules, folders and servers that the run's first event names. What cannot be had again is told."""
    started = events[0] if events else None
    if not isinstance(started, RunStarted):
        return
    for source in started.sources.get("providers", ()):
        try:
            session.tp.sources.add_recorded(source)
        except ToolpathError as error:
            session.output.tell(f"Tools that the run began with cannot be loaded again: {error}", "yellow")
    if not NAMES.isdisjoint(started.tools):
        add_http(session.tp)
