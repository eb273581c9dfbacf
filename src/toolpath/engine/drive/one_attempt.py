"""One attempt in a straight line: call the tool, in time, and check what it gives."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from types import CoroutineType, coroutine
from typing import Any

import msgspec

from toolpath.engine.drive import outcomes
from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.drive import GROUND
from toolpath.engine.drive.services import Services
from toolpath.engine.drive.slices import OwnTime
from toolpath.engine.drive.timers import Deadlines, Unwatched
from toolpath.engine.state.resolve import fault_of
from toolpath.engine.state.results import Done
from toolpath.model.events import Failure
from toolpath.model.redaction import Redactor

#: A call that holds the loop, or its thread, for so many seconds after its time was up has timed out.
LATE = 0.1

_copy_of = msgspec.to_builtins

#: The rest of a call that waits: gives its outcome.
Waiting = Awaitable[Done | Failure | None]

#: Kinds of what a call gives that waits for nothing. To ask whether what waits is an instance of a record's class costs
#: more than ten looks at a kind.
AT_ONCE = frozenset({Done, Failure, type(None)})


def begin(
    attempt: Attempt, services: Services, deadlines: Deadlines | Unwatched, redactor: Redactor
) -> Done | Failure | Waiting | None:
    """Call the tool. Gives the outcome of the attempt where it is back at once, else what is to be awaited for it.

    None: it was cut off, and somebody else has recorded that.
    """
    if attempt.stopped:
        return None
    target, now = attempt.target, services.clock.monotonic
    attempt.started = began = now()
    until = began + attempt.timeout + LATE
    attempt.calling = True
    over = None if services.observer is None else services.observer.calling(*attempt.where())
    under_way: Waiting | None = None
    try:
        invoke: Any = target.invoke
        # The tool does with them as it likes: the plan, the journal and other steps share theirs. Copied in C.
        inputs = _copy_of(attempt.inputs)
        if target.runs == "thread":
            own = OwnTime(now, began, until)
            result: Any = services.threads.run(own.timed(invoke), inputs, attempt.context)
            under_way = _rest(attempt, services, deadlines, redactor, result, own, over)
            return under_way
        result = invoke(inputs, attempt.context)
        # Nearly always a coroutine: the general question costs far more to ask.
        if type(result) is CoroutineType:
            try:
                waits_for = result.send(None)
            except StopIteration as end:
                result = end.value  # nothing could have cut it off
            else:
                deadlines.add(attempt)
                under_way = _slices(attempt, services, deadlines, redactor, result, waits_for, now(), over)
                return under_way
        elif isinstance(result, Awaitable):
            under_way = _rest(attempt, services, deadlines, redactor, result, None, over)
            return under_way
    except BaseException as error:  # noqa: BLE001  # a tool may raise anything, SystemExit too
        failure = _raised(attempt, error, redactor)
        if failure is not None:
            return failure
        result = None
    finally:
        if under_way is None:
            _is_back(attempt, over)
    ended = now()
    return _concluded(attempt, services, deadlines, redactor, result, ended, is_late=ended > until)


@coroutine
def _slices(
    attempt: Attempt,
    services: Services,
    deadlines: Deadlines | Unwatched,
    redactor: Redactor,
    call: CoroutineType[Any, Any, Any],
    waits_for: Any,
    ended: float,
    over: Callable[[], None] | None,
) -> Generator[Any, Any, Done | Failure | None]:
    """The outcome of a call whose coroutine is at work in slices, between which others are; its deadline is watched.

    `waits_for` is what it gave last, at the time `ended`. One generator for all of it: nearly every call comes here.
    """
    now, until = services.clock.monotonic, attempt.started + attempt.timeout + LATE
    is_late = ended > until
    result: Any = None
    try:
        try:
            while True:
                try:
                    given = yield waits_for
                    go_on: Callable[[Any], Any] = call.send
                except GeneratorExit:
                    call.close()
                    raise
                except BaseException as error:  # noqa: BLE001  # a cancel, or what was waited for has failed
                    go_on, given = call.throw, error
                began = now()
                try:
                    waits_for = go_on(given)
                except StopIteration as end:
                    result = end.value
                    break
                finally:
                    ended = now()
                    if began <= until < ended:
                        is_late = True
        except BaseException as error:  # noqa: BLE001  # a tool may raise anything, SystemExit too
            failure = _raised(attempt, error, redactor)
            if failure is not None:
                return failure
        finally:
            deadlines.remove(attempt)
            _is_back(attempt, over)
        return _concluded(attempt, services, deadlines, redactor, result, ended, is_late=is_late)
    except GROUND:
        raise
    except Exception as error:  # noqa: BLE001  # an error of our own fails the call that it came of, and no more
        return fault_of(error, in_doubt=not attempt.target.repeatable)


async def _rest(
    attempt: Attempt,
    services: Services,
    deadlines: Deadlines | Unwatched,
    redactor: Redactor,
    call: Awaitable[Any],
    own: OwnTime | None,
    over: Callable[[], None] | None,
) -> Done | Failure | None:
    """The outcome of a call that waits. `own`: its running time, where that is known."""
    sliced = False
    try:
        try:
            deadlines.add(attempt)
            result = await call
            if attempt.target.runs == "thread":
                # What it gives may be something to wait for in its turn.
                sliced = type(result) is CoroutineType
                if not sliced and isinstance(result, Awaitable):
                    own, result = None, await result
        except BaseException as error:  # noqa: BLE001  # as above
            failure = _raised(attempt, error, redactor)
            if failure is not None:
                return failure
            result = None
        finally:
            if not sliced:
                deadlines.remove(attempt)
                _is_back(attempt, over)
        if sliced:
            return await _slices(attempt, services, deadlines, redactor, result, None, services.clock.monotonic(), over)
        if own is None:
            return _concluded(attempt, services, deadlines, redactor, result, services.clock.monotonic(), is_late=False)
        return _concluded(attempt, services, deadlines, redactor, result, own.ended, is_late=own.over)
    except GROUND:
        raise
    except Exception as error:  # noqa: BLE001  # an error of our own fails the call that it came of, and no more
        return fault_of(error, in_doubt=not attempt.target.repeatable)


def _raised(attempt: Attempt, error: BaseException, redactor: Redactor) -> Failure | None:
    """The failure of a call that raised; None where it was cut off."""
    if attempt.stopped or isinstance(error, asyncio.CancelledError):
        # Not cut off: the tool raised it, or cancelled its task. Nobody else does that without saying why.
        swallow_cancellation(attempt)
    return None if attempt.stopped else outcomes.failure_of(error, attempt.target, redactor)


def _is_back(attempt: Attempt, over: Callable[[], None] | None) -> None:
    """The tool has come back, or was cut off."""
    attempt.calling = False
    if over is not None:
        over()
    if attempt.grace is not None:
        attempt.grace.cancel()


def _concluded(
    attempt: Attempt,
    services: Services,
    deadlines: Deadlines | Unwatched,
    redactor: Redactor,
    result: Any,
    ended: float,
    *,
    is_late: bool,
) -> Done | Failure | None:
    """The outcome of a call that has come back with this, or was cut off."""
    target = attempt.target
    if attempt.stopped:
        swallow_cancellation(attempt)
        return outcomes.timed_out(target, attempt.timeout) if attempt.stopped == "timeout" else None
    if is_late and target.repeatable and type(deadlines) is Deadlines:
        # It kept the loop from cutting it off; a write that has told its outcome is not in doubt, however late.
        return outcomes.timed_out(target, attempt.timeout)
    attempt.back = 0.0 if target.runs == "thread" else ended
    return outcomes.check_result(result, target, services.settings, duration=ended - attempt.started, redactor=redactor)


async def perform(
    attempt: Attempt, services: Services, deadlines: Deadlines | Unwatched, redactor: Redactor
) -> Done | Failure | None:
    """The outcome of the attempt; None when it was cut off and somebody else has recorded that."""
    begun = begin(attempt, services, deadlines, redactor)
    return begun if begun is None or isinstance(begun, (Done, Failure)) else await begun


def swallow_cancellation(attempt: Attempt) -> None:
    """The cancellation was meant for the call, not for the task that goes on to the next one."""
    if attempt.task is not None:
        while attempt.task.cancelling():
            attempt.task.uncancel()
