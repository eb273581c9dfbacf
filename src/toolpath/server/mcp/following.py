"""One run brought on for one client: progress told, questions asked, cancelled with the request."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import anyio

from toolpath.app import Toolpath
from toolpath.errors import ToolpathError
from toolpath.model.events import RunStarted, StepFailed, StepProgress, StepSkipped, StepSucceeded, StepTimedOut
from toolpath.model.run import RunResult
from toolpath.projections.questions import Question, open_questions
from toolpath.server.mcp.client import McpClient
from toolpath.server.mcp.questions import bring_answer, elicitation_of, may_be_elicited

#: How often a person is asked again after an answer that does not fit.
_MOST_TRIES = 3
#: Seconds to tell a run that its caller has cancelled.
_CANCELLING = 5.0
#: Seconds for the last words on progress.
_LAST_WORDS = 1.0


async def follow(tp: Toolpath, run_id: str, client: McpClient, *, owns: bool = True) -> RunResult:
    """The run's result once it has ended, or once only people can go on and the client cannot ask them.

    Where the request `owns` the run, the run is cancelled with it.
    """
    try:
        while True:
            result = await _watched(tp, run_id, client)
            if result.status != "waiting" or not client.can_be_asked:
                return result
            if not await _ask_all(tp, result, client):
                return result
    except asyncio.CancelledError:
        if owns and client.has_cancelled:
            with anyio.move_on_after(_CANCELLING, shield=True):
                await _cancel(tp, run_id)
        raise


async def _cancel(tp: Toolpath, run_id: str) -> None:
    with suppress(ToolpathError):
        await tp.cancel(run_id, reason="The MCP client cancelled its request.")


async def _watched(tp: Toolpath, run_id: str, client: McpClient) -> RunResult:
    if not client.wants_progress:
        return await _settled(tp, run_id)
    teller = asyncio.create_task(_tell_progress(tp, run_id, client))
    try:
        result = await _settled(tp, run_id)
        await asyncio.wait({teller}, timeout=_LAST_WORDS)
        return result
    finally:
        teller.cancel()
        await asyncio.gather(teller, return_exceptions=True)


async def _settled(tp: Toolpath, run_id: str) -> RunResult:
    """The result once the run has ended or waits for people, also where another process drives it."""
    while True:
        result = await tp.result(run_id)
        if result.status not in ("pending", "running"):
            return result
        events = await tp.events(run_id)
        has_news = False
        async for _ in tp.watch(run_id, after=events[-1].seq):
            has_news = True
        if not has_news:
            # It has just come to rest, or nobody drives it: the next driver brings it on.
            return await tp.result(run_id)


async def _tell_progress(tp: Toolpath, run_id: str, client: McpClient) -> None:
    """Steps that ended, of how many. For a run of one call: what its tool says itself, or the steps inside it."""
    ended, total = 0, None
    async for event in tp.watch(run_id):
        match event:
            case RunStarted():
                total = len(event.plan.get("steps") or ())
            case StepProgress() if total == 1:
                await client.tell_progress(event.progress, event.total, event.message)
            case StepProgress():
                share = min(event.progress / event.total, 0.99) if event.total else 0.0
                await client.tell_progress(ended + share, total, event.message)
            case StepSucceeded() | StepFailed() | StepTimedOut() | StepSkipped():
                # How many steps a composite makes in all, only its run will show.
                is_inner = "/" in event.path
                if is_inner == (total == 1):
                    ended += 1
                    await client.tell_progress(ended, None if is_inner else total, f"{event.path} has ended")
            case _:
                pass


async def _ask_all(tp: Toolpath, result: RunResult, client: McpClient) -> bool:
    """Whether every open question was answered, by the client's person or by anybody else meanwhile."""
    questions = [question for question in result.questions if may_be_elicited(question)]
    if len(questions) < len(result.questions) or not questions:
        return False
    answered: list[bool] = []

    async def one(question: Question) -> None:
        answered.append(await _ask(tp, result.run_id, question, client))

    async with anyio.create_task_group() as group:
        for question in questions:
            group.start_soon(one, question)
    return all(answered)


async def _ask(tp: Toolpath, run_id: str, question: Question, client: McpClient) -> bool:
    outcome: list[bool] = []
    async with anyio.create_task_group() as group:

        async def closed_elsewhere() -> None:
            await _until_closed(tp, run_id, question)
            outcome.append(True)
            group.cancel_scope.cancel()

        async def ask() -> None:
            outcome.append(await _asked(tp, run_id, question, client))
            group.cancel_scope.cancel()

        group.start_soon(closed_elsewhere)
        group.start_soon(ask)
    return any(outcome)


async def _asked(tp: Toolpath, run_id: str, question: Question, client: McpClient) -> bool:
    fault = ""
    for _ in range(_MOST_TRIES):
        answer = await client.ask(elicitation_of(question, fault))
        told = await bring_answer(tp, run_id, question, answer, by=client.caller.user)
        if not told:
            return told is not None
        fault = told
    return False


async def _until_closed(tp: Toolpath, run_id: str, question: Question) -> None:
    """Return when somebody has answered the question elsewhere, or its time is over."""
    while True:
        events = await tp.events(run_id)
        if question.seq not in {known.seq for known in open_questions(events)}:
            return
        await tp.store.wait_events(run_id, events[-1].seq)
