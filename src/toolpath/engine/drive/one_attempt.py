"""One attempt in a straight line: call the tool, in time, and check what it gives."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from types import CoroutineType

import msgspec

from toolpath.engine.drive import outcomes
from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.services import Services
from toolpath.engine.drive.slices import OwnTime
from toolpath.engine.drive.timers import Deadlines, Unwatched
from toolpath.engine.state.results import Done
from toolpath.model.events import Failure
from toolpath.model.redaction import Redactor

#: A call that holds the loop, or its thread, for so many seconds after its time was up has timed out.
LATE = 0.1


async def perform(  # noqa: C901, PLR0912  # one attempt, readable from top to bottom
    attempt: Attempt, services: Services, deadlines: Deadlines | Unwatched, redactor: Redactor
) -> Done | Failure | None:
    """The outcome of the attempt; None when it was cut off and somebody else has recorded that."""
    if attempt.stopped:
        return None
    target = attempt.target
    clock = services.clock
    own = OwnTime(clock.monotonic, attempt.timeout + LATE)
    attempt.started = own.began
    attempt.calling = True
    deadlines.add(attempt)
    observer = services.observer
    over = None if observer is None else observer.calling(*attempt.where())
    try:
        assert target.invoke is not None
        # The tool does with them as it likes: the plan, the journal and other steps share theirs. Copied in C.
        inputs = msgspec.to_builtins(attempt.inputs)
        if target.runs == "thread":
            result = await services.threads.run(own.timed(target.invoke), inputs, attempt.context)
        else:
            result = target.invoke(inputs, attempt.context)
        # Nearly always a coroutine: the general question costs far more to ask.
        if type(result) is CoroutineType:
            own.coroutine = result
            result = await own
        elif isinstance(result, Awaitable):
            result = await result
            own.ended = clock.monotonic()
        elif target.runs != "thread":
            own.look()
    except BaseException as error:  # noqa: BLE001  # a tool may raise anything, SystemExit too
        if attempt.stopped or isinstance(error, asyncio.CancelledError):
            # Where it was not cut off, the tool raised it, or cancelled the task it runs in: nobody else does that
            # without saying why.
            swallow_cancellation(attempt)
        if not attempt.stopped:
            return outcomes.failure_of(error, target, redactor)
        result = None
    finally:
        attempt.calling = False
        if over is not None:
            over()
        deadlines.remove(attempt)
        if attempt.grace is not None:
            attempt.grace.cancel()
    if attempt.stopped:
        swallow_cancellation(attempt)
        return outcomes.timed_out(target, attempt.timeout) if attempt.stopped == "timeout" else None
    if own.over and type(deadlines) is Deadlines and target.repeatable:
        # It kept the loop from cutting it off. Where something else did, it was back as soon as it could be. And a
        # write that has told its outcome is not in doubt, however late its end.
        return outcomes.timed_out(target, attempt.timeout)
    if target.runs != "thread":
        attempt.back = own.ended
    return outcomes.check_result(result, target, services.settings, duration=own.ended - own.began, redactor=redactor)


def swallow_cancellation(attempt: Attempt) -> None:
    """The cancellation was meant for the call, not for the task that goes on to the next one."""
    if attempt.task is not None:
        while attempt.task.cancelling():
            attempt.task.uncancel()
