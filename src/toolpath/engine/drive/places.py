"""Places within the limits of tools, servers and tenants, and who holds them: what is at work. What waits holds none.

A call that waits for one of its own or for a person gives its places and its slot back and takes them again, all or
none, before it goes on. A plan that is a tool's body keeps its tool's places while something of it is at work or about
to begin; when all of it waits, it lets go of them, and its next call takes them again beside its own. So whoever holds
a place comes to an end without waiting for another one, and no two can wait for each other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial

from toolpath.engine.compile.nodes import Target
from toolpath.engine.decide.exclusive import owners_of
from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.drive import Drive
from toolpath.engine.drive.limits import Limit
from toolpath.engine.state.accounts import Account, occupy
from toolpath.engine.state.instances import StepState


class Tenure:
    """A plan under way that is the body of a tool with limits."""

    __slots__ = ("active", "held", "limits")

    def __init__(self, limits: tuple[Limit, ...], *, held: bool) -> None:
        self.limits = limits
        self.held = held
        self.active = 0
        """Calls at work in it."""


class Places:
    """The places that one run holds and waits for."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self._limits: dict[str, tuple[Limit, ...]] = {}
        """Of tools and their servers, by the tool's key."""
        self._plans: dict[StepState, Tenure] = {}
        self.tenant: Limit | None = None
        """The limit of all calls for the run's tenant."""
        self.queued = 0
        """Steps that wait for a limit of their tool or server."""
        self.returning: deque[Attempt] = deque()
        """Calls that may go on as soon as the run has a slot for them."""
        self._closed = False
        control = drive.control
        control.enter, control.take_up_places, drive.over_for = self.enter, self.take_up, self.leave
        control.gate.queued = lambda: self.queued
        drive.rest, drive.wind_up = self.rest, self.wind_up

    def arm(self) -> None:
        """The run's context is known."""
        services = self._drive.services
        self.tenant = services.limits.of_tenant(self._drive.state.context.tenant, services.settings.tenant_calls)

    def of_tool(self, target: Target) -> tuple[Limit, ...]:
        """The limits of the tool and its server, whether the plan names the tool or another tool calls it."""
        limits = self._limits.get(target.key)
        if limits is None:
            limits = self._limits[target.key] = self._drive.services.limits.of(target.tool)
        return limits

    def bind(self, target: Target) -> bool:
        """Whether a call of the target may be under some limit."""
        return self.tenant is not None or bool(self._plans) or bool(self.of_tool(target))

    def around(self, step: StepState) -> tuple[Tenure, ...]:
        """The plans with limits that the step is inside of, innermost first."""
        if not self._plans:
            return ()
        return tuple(self._plans[owner] for owner in owners_of(step) if owner in self._plans)

    # Calls.

    def take(self, step: StepState, target: Target) -> bool:
        """Whether the call has all places that it needs, which are then taken; else it is ready again when it may."""
        own = self._limits_of(target)
        lapsed = _lapsed(self.around(step))
        blocked = next((limit for limit in own if limit.blocked()), None)
        first = blocked is None
        if first:
            blocked = next((limit for tenure in lapsed for limit in tenure.limits if limit.is_full()), None)
        if blocked is not None:
            self._wait(step, blocked, first=first)
            return False
        for limit in own:
            limit.take()
        _retake(lapsed)
        return True

    def begun(self, attempt: Attempt) -> None:
        """The call for which places were taken begins."""
        if self.bind(attempt.target):
            attempt.held = self._limits_of(attempt.target)
            attempt.around = self.around(attempt.step)
            for tenure in attempt.around:
                tenure.active += 1

    def unused(self, target: Target) -> None:
        """The call for which places were taken is not made."""
        for limit in self._limits_of(target):
            limit.release()

    def release(self, attempt: Attempt) -> None:
        """The call has ended: its places are free."""
        self._leave_plans(attempt)
        held, attempt.held, attempt.lent = attempt.held, (), ()
        for limit in held:
            limit.release()

    def rest(self, attempt: Attempt) -> None:
        """The call waits: its slot and its places are others' meanwhile."""
        drive = self._drive
        if attempt.resting:
            if attempt.returning is not None:
                # It has begun to wait once more: what of it was to go on goes on as part of what waits.
                attempt.returning.set_result(None)
                attempt.returning = None
            return
        attempt.resting = True
        drive.busy -= 1
        drive.vacate(attempt.account)
        self._leave_plans(attempt)
        held = attempt.held
        # What has called a server is still there, and the server may serve no other before it has its answer.
        kept = held if attempt.target.tool.server else ()
        attempt.held = tuple(limit for limit in kept if limit is not self.tenant)
        attempt.lent = tuple(limit for limit in held if limit not in attempt.held)
        for limit in attempt.lent:
            limit.release()

    async def go_on(self, attempt: Attempt) -> None:
        """Return when the call, which has waited, has its slot and its places again; at once where it is cut off."""
        if not attempt.resting:
            return
        if attempt.stopped:
            self.wind_up(attempt)
            return
        if attempt.target.tool.server:
            self._take_back(attempt)
            return
        if self._try(attempt):
            return
        back = attempt.returning = asyncio.get_running_loop().create_future()
        try:
            await back
        except asyncio.CancelledError:
            if attempt.returning is back:
                attempt.returning = None
                if attempt.stopped:
                    self.wind_up(attempt)
                else:
                    # The tool itself gave up waiting: what it does now is counted, if it is one too many.
                    self._take_back(attempt)
            raise

    def wind_up(self, attempt: Attempt) -> None:
        """The call goes on at once and without its places: it is cut off, or has its result."""
        if attempt.resting and not attempt.abandoned:
            attempt.resting, attempt.lent = False, ()
            back, attempt.returning = attempt.returning, None
            if back is not None and not back.done():
                # A task that the tool has left behind.
                back.set_result(None)
            self._drive.busy += 1
            occupy(attempt.account)

    def let_back(self) -> None:
        """Slots may have become free: calls that have waited go on before others begin."""
        if not self.returning:
            return
        waiting, self.returning = self.returning, deque()
        for attempt in waiting:
            self._again_back(attempt)

    def _try(self, attempt: Attempt) -> bool:
        drive = self._drive
        if drive.busy >= drive.slots or _is_full(attempt.account):
            self.returning.append(attempt)
            return False
        lapsed = _lapsed(self.around(attempt.step))
        needed = [*attempt.lent, *(limit for tenure in lapsed for limit in tenure.limits)]
        blocked = next((limit for limit in needed if limit.is_full()), None)
        if blocked is not None:
            blocked.wait(partial(self._again_back, attempt), first=True)
            return False
        _retake(lapsed)
        self._take_back(attempt)
        return True

    def _take_back(self, attempt: Attempt) -> None:
        for limit in attempt.lent:
            limit.retake()
        attempt.held, attempt.lent = attempt.held + attempt.lent, ()
        attempt.around = self.around(attempt.step)
        for tenure in attempt.around:
            tenure.active += 1
        attempt.resting = False
        self._drive.busy += 1
        occupy(attempt.account)

    def _again_back(self, attempt: Attempt) -> None:
        back = attempt.returning
        if back is not None and not back.done() and not attempt.stopped and self._try(attempt):
            attempt.returning = None
            back.set_result(None)

    def _leave_plans(self, attempt: Attempt) -> None:
        for tenure in attempt.around:
            tenure.active -= 1
        attempt.around = ()

    def _limits_of(self, target: Target) -> tuple[Limit, ...]:
        limits = self.of_tool(target)
        return limits if self.tenant is None else (*limits, self.tenant)

    # Plans that are bodies of tools.

    def enter(self, step: StepState, target: Target) -> bool:
        """Whether a plan that is a tool's body may begin now, by that tool's limits; else it begins when it may."""
        limits = self.of_tool(target)
        if not limits or step in self._plans:
            return True
        blocked = next((limit for limit in limits if limit.blocked()), None)
        if blocked is not None:
            self._wait(step, blocked)
            return False
        for limit in limits:
            limit.take()
        self._hold(step, Tenure(limits, held=True))
        return True

    def take_up(self, step: StepState) -> None:
        """A plan that another driver began goes on: it holds its places again, now or with its next call."""
        target = step.node.targets[step.target] if step.node.targets else None
        if target is None or target.plan is None or step in self._plans:
            return
        limits = self.of_tool(target)
        if limits:
            tenure = Tenure(limits, held=False)
            if not any(limit.is_full() for limit in limits):
                _retake([tenure])
            self._hold(step, tenure)

    def _hold(self, step: StepState, tenure: Tenure) -> None:
        self._plans[step] = tenure
        # Its end is told like that of a time limit.
        step.watched = True

    def leave(self, step: StepState) -> None:
        """A step is not watched any more: if it was such a plan, and is over, its places are free."""
        if step.status != "running":
            tenure = self._plans.pop(step, None)
            if tenure is not None:
                _let_go([tenure])

    def lapse(self) -> None:
        """Nothing more can begin: plans of which nothing is at work wait, and let go of their places."""
        if self._plans:
            _let_go([tenure for tenure in self._plans.values() if tenure.held and not tenure.active])

    # Waiting.

    def _wait(self, step: StepState, limit: Limit, *, first: bool = False) -> None:
        self.queued += 1
        self._drive.control.announce_step(step)
        limit.wait(lambda: self._again(step), first=first)

    def _again(self, step: StepState) -> None:
        self.queued -= 1
        if self._closed:
            return
        drive = self._drive
        if step.status in ("pending", "ready"):
            drive.control.at = drive.services.clock.time()
            # A plan has to be begun: that is done with the next that is taken.
            drive.control.push(step)
        drive.wake()

    def close(self) -> None:
        """Nothing is taken any more: what waits for a place gives way to other runs."""
        self._closed = True

    def let_go(self) -> None:
        """The drive is over: neither calls nor plans under way hold anything here."""
        for attempt in self._drive.running.values():
            self.release(attempt)
        plans, self._plans = self._plans, {}
        _let_go(list(plans.values()))


def _lapsed(around: tuple[Tenure, ...]) -> list[Tenure]:
    """The plans around a call whose places have to be taken again: of each tool once, however often it is around."""
    if not around:
        return []
    have = {limit for tenure in around if tenure.held for limit in tenure.limits}
    found = []
    for tenure in reversed(around):
        if not tenure.held and not have.issuperset(tenure.limits):
            found.append(tenure)
            have.update(tenure.limits)
    return found


def _retake(tenures: list[Tenure]) -> None:
    for tenure in tenures:
        tenure.held = True
        for limit in tenure.limits:
            limit.retake()


def _let_go(tenures: list[Tenure]) -> None:
    held = [tenure for tenure in tenures if tenure.held]
    for tenure in held:
        tenure.held = False
    for tenure in held:
        for limit in tenure.limits:
            limit.release()


def _is_full(account: Account | None) -> bool:
    while account is not None:
        if account.is_full:
            return True
        account = account.up
    return False
