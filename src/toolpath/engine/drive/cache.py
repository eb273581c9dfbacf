"""Cached results: looked up before a call, stored after it, and equal calls under way are made once."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets as chance
from collections.abc import Callable

from toolpath.engine.compile.nodes import CallTarget
from toolpath.engine.compile.program import Program
from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.drive import Drive
from toolpath.engine.drive.one_attempt import perform, swallow_cancellation
from toolpath.engine.drive.outcomes import timed_out
from toolpath.engine.drive.places import Places
from toolpath.engine.drive.services import Services, SharedCall
from toolpath.engine.drive.timers import Unwatched
from toolpath.engine.state.instances import StepState
from toolpath.engine.state.results import Done
from toolpath.model.events import Failure
from toolpath.ports import CacheEntry
from toolpath.values import Json, canonical

#: What is cached of a result: output, confidence, sources. Entries of another form are never found.
FORM = "result 2"
#: Seconds that a call may take beyond its time limit and still be cached.
_MARKED = 3600.0


class CachedCalls:
    """Makes the calls of one run whose results are cached. `unaffordable`: why one may not be made, by a budget."""

    def __init__(
        self, drive: Drive, places: Places, unaffordable: Callable[[StepState, CallTarget], Failure | None]
    ) -> None:
        self._drive = drive
        self._places = places
        self._unaffordable = unaffordable

    async def outcome_of(self, attempt: Attempt) -> Done | Failure | None:
        """The cached result of an equal call, or what comes of making it. Failures are not cached."""
        services = self._drive.services
        group = attempt.target.tool.group
        if group not in services.cached_groups:
            services.cached_groups.add(group)
            if group in services.generations:
                # What this process has written before it was known that anybody reads it.
                _clear(services, group)
        clearing = services.clearing.get(group)
        if clearing is not None:
            # A write has just emptied the group: what was cached before it must not be read after it.
            await asyncio.shield(clearing)
        key = cache_key(attempt, self._drive)
        entry = await services.store.cache_get(key, services.clock.time())
        if entry is not None:
            return _cached(entry)
        if attempt.stopped:
            return None
        flight = services.flights.get(key)
        generation = services.generations.get(group, 0)
        if flight is not None and flight.generation == generation:
            # One that was begun before a write to the group may not know of it.
            return await self._join(attempt, flight, key)
        refused = self._unaffordable(attempt.step, attempt.target)
        if refused is not None:
            return refused
        # The call is a task of its own: cancelling one who waits for it does not cancel it for the others.
        task = asyncio.create_task(_fly(attempt, self._drive, key, generation))
        flight = services.flights[key] = own = SharedCall(task, generation)
        flight.task.add_done_callback(lambda _: _landed(services, key, own))
        return await self._join(attempt, flight, key, first=True)

    async def _join(
        self, attempt: Attempt, flight: SharedCall, key: str, *, first: bool = False
    ) -> Done | Failure | None:
        drive = self._drive
        flight.waiters += 1
        attempt.started = drive.services.clock.monotonic()
        attempt.calling = True
        drive.deadlines.add(attempt)
        if not first:
            # The one call may be waiting, too: for a place that this one has.
            self._places.rest(attempt)
            drive.wake()
        outcome: Done | Failure | None
        try:
            outcome = await asyncio.shield(flight.task)
        except asyncio.CancelledError:
            if not attempt.stopped:
                raise
            swallow_cancellation(attempt)
            return timed_out(attempt.target, attempt.timeout) if attempt.stopped == "timeout" else None
        finally:
            attempt.calling = False
            self._places.wind_up(attempt)
            drive.deadlines.remove(attempt)
            if attempt.grace is not None:
                attempt.grace.cancel()
            flight.waiters -= 1
            if first and flight.waiters and not flight.task.done():
                _hold_places(attempt, flight)
            if not flight.waiters and not flight.task.done():
                # It may take its time to clean up: who comes meanwhile is not to be given its end.
                _landed(drive.services, key, flight)
                flight.task.cancel()
        if type(outcome) is not Done or first:
            return outcome
        # Each waiter journals its own record of the one call.
        done = Done(outcome.output, outcome.duration)
        done.cached = True
        done.confidence, done.sources, done.warning = outcome.confidence, outcome.sources, outcome.warning
        done.handle, done.blob = outcome.handle, outcome.blob
        return done


def cache_key(attempt: Attempt, drive: Drive) -> str:
    """Digest of tool, inputs and tenant; keyed by this process alone where the inputs hold secrets."""
    node = attempt.step.node
    told: list[Json] = [attempt.inputs]
    if node.cache_key is not None:
        # Said to be one: inputs that look like it are something else.
        told = ["cache.key", attempt.cache_key]
    text = canonical([FORM, attempt.target.tool.fingerprint, *told, drive.state.context.tenant])
    if attempt.target.inputs.uses_secrets or drive.secrets.any:
        return hmac.new(drive.services.cache_secret, text, hashlib.sha256).hexdigest()
    return hashlib.sha256(text).hexdigest()


def clear_group(services: Services, group: str) -> None:
    """A write by a tool of the group empties its cached results; calls under way are not cached either.

    Where nothing of the group was read yet, it is emptied before that is.
    """
    services.generations[group] = services.generations.get(group, 0) + 1
    if group in services.cached_groups:
        _clear(services, group)


def written_groups(program: Program) -> set[str]:
    """Groups that a run may have written to, by any of its drivers."""
    return {tool.group for tool in program.used.values() if tool.effect != "read"}


def _clear(services: Services, group: str) -> None:
    task = asyncio.create_task(services.store.cache_clear(group))
    services.clearing[group] = task

    def cleared(done: asyncio.Task[None]) -> None:
        if services.clearing.get(group) is done:
            del services.clearing[group]

    task.add_done_callback(cleared)


def _cached(entry: CacheEntry) -> Done:
    output, confidence, sources = entry.value
    done = Done(output, 0.0)
    done.cached = True
    done.confidence, done.sources = confidence, tuple(sources)
    return done


async def _fly(attempt: Attempt, drive: Drive, key: str, generation: int) -> Done | Failure | None:
    """Make the call without a time limit of its own: everyone who waits for it has theirs."""
    services = drive.services
    own = Attempt(attempt.step, attempt.target, attempt.inputs, attempt.key, attempt.timeout)
    own.context = attempt.context
    own.task = asyncio.current_task()
    group = attempt.target.tool.group
    # Another process may write to the group meanwhile: what empties it takes the mark away.
    mark = f"{key} {chance.token_hex(8)}"
    expires = services.clock.time() + _MARKED + (attempt.timeout or 0.0)
    await services.store.cache_put(mark, group, CacheEntry(None, expires))
    outcome = await perform(own, services, Unwatched(), drive.redactor)
    if type(outcome) is Done and outcome.handle is None and generation == services.generations.get(group, 0):
        expires = services.clock.time() + attempt.step.node.cache_ttl
        cached = [outcome.output, outcome.confidence, outcome.sources]
        await services.store.cache_put(key, group, CacheEntry(cached, expires), mark=mark)
    return outcome


def _landed(services: Services, key: str, flight: SharedCall) -> None:
    """End the flight: nobody joins it from here on, and another one under the same key goes on."""
    if services.flights.get(key) is flight:
        del services.flights[key]


def _hold_places(attempt: Attempt, flight: SharedCall) -> None:
    """The call goes on for others when the one who made it gives up: the places that it is made in stay taken."""
    held = attempt.held
    for limit in held:
        limit.retake()

    def release(_: object) -> None:
        for limit in held:
            limit.release()

    flight.task.add_done_callback(release)
