"""One attempt in a straight line: call the tool, in time, and check what it gives."""

from __future__ import annotations

import asyncio
import math
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


async def perform(  # noqa: C901, PLR0912, PLR0915  # one attempt, readable from top to bottom
    attempt: Attempt, services: Services, deadlines: Deadlines | Unwatched, redactor: Redactor
) -> Done | Failure | None:
    """The outcome of the attempt; None when it was cut off and somebody else has recorded that."""
    if attempt.stopped:
        return None
    target, now = attempt.target, services.clock.monotonic
    attempt.started = began = now()
    ended, until = 0.0, began + attempt.timeout + LATE
    own: OwnTime | None = None  # of a tool that waits, or is in a thread
    attempt.calling = True
    over = None if services.observer is None else services.observer.calling(*attempt.where())
    try:
        assert target.invoke is not None
        # The tool does with them as it likes: the plan, the journal and other steps share theirs. Copied in C.
        inputs = msgspec.to_builtins(attempt.inputs)
        if target.runs == "thread":
            own = OwnTime(now, began, until)
            deadlines.add(attempt)
            result = await services.threads.run(own.timed(target.invoke), inputs, attempt.context)
        else:
            result = target.invoke(inputs, attempt.context)
        # Nearly always a coroutine: the general question costs far more to ask.
        if type(result) is CoroutineType:
            own = None
            try:
                waits_for = result.send(None)
            except StopIteration as end:
                result = end.value  # nothing could have cut it off
            else:
                own = OwnTime(now, began, until, result, waits_for)
                deadlines.add(attempt)
                result = await own
        elif isinstance(result, Awaitable):
            deadlines.add(attempt)
            result = await result
            own, ended, until = None, now(), math.inf
    except BaseException as error:  # noqa: BLE001  # a tool may raise anything, SystemExit too
        if attempt.stopped or isinstance(error, asyncio.CancelledError):
            # Not cut off: the tool raised it, or cancelled its task. Nobody else does that without saying why.
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
    ended = own.ended if own is not None else ended or now()
    if (ended > until if own is None else own.over) and type(deadlines) is Deadlines and target.repeatable:
        # It kept the loop from cutting it off; a write that has told its outcome is not in doubt, however late.
        return outcomes.timed_out(target, attempt.timeout)
    attempt.back = 0.0 if target.runs == "thread" else ended
    return outcomes.check_result(result, target, services.settings, duration=ended - began, redactor=redactor)


def swallow_cancellation(attempt: Attempt) -> None:
    """The cancellation was meant for the call, not for the task that goes on to the next one."""
    if attempt.task is not None:
        while attempt.task.cancelling():
            attempt.task.uncancel()
