"""Places within the limits of tools, servers and tenants, held by calls that are at work; one that waits holds none.

A call that waits for one of its own or for a person gives its places and its slot back and takes them again, all or
none, before it goes on. A plan that is a tool's body keeps its tool's places while something of it is at work or about
to begin; when all of it waits, it lets go of them, and its next call takes them again beside its own. So a call that
holds a place comes to an end without waiting for another one, and no two can wait for each other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial

from toolpath.engine.compile.nodes import CallTarget
from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.drive import Drive
from toolpath.engine.drive.limited_plans import lapsed, retake
from toolpath.engine.drive.limits import Limit
from toolpath.engine.state.accounts import Account, occupy
from toolpath.engine.state.instances import StepState


class Places:
    """The places that one run holds and waits for."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self._limited_plans = drive.limited_plans
        self.tenant: Limit | None = None
        """The limit of all calls for the run's tenant."""
        self.returning: deque[Attempt] = deque()
        """Calls that may go on as soon as the run has a slot for them."""
        self._bound: dict[str, bool] = {}
        """By the tool's key: whether it or its server has a limit."""

    def arm(self) -> None:
        """The run's context is known."""
        services = self._drive.services
        self.tenant = services.limits.of_tenant(self._drive.state.context.tenant, services.settings.tenant_calls)

    def bind(self, target: CallTarget) -> bool:
        """Whether a call of the target may be under some limit."""
        if self.tenant is not None or self._limited_plans.plans:
            return True
        if target.key not in self._bound:
            self._bound[target.key] = bool(self._limited_plans.of_tool(target))
        return self._bound[target.key]

    def take(self, step: StepState, target: CallTarget) -> bool:
        """Whether the call has all places that it needs, which are then taken; else it is ready again when it may."""
        own = self._limits_of(target)
        lapsing = lapsed(self._limited_plans.around(step))
        blocked = next((limit for limit in own if limit.blocked()), None)
        first = blocked is None
        if first:
            blocked = next((limit for plan in lapsing for limit in plan.limits if limit.is_full()), None)
        if blocked is not None:
            self._drive.decisions.announce(step)
            self._drive.limit_queue.wait(step, blocked, first=first)
            return False
        for limit in own:
            limit.take()
        retake(lapsing)
        return True

    def begun(self, attempt: Attempt) -> None:
        """The call for which places were taken begins."""
        attempt.held = self._limits_of(attempt.target)
        attempt.around = self._limited_plans.around(attempt.step)
        for plan in attempt.around:
            plan.active += 1

    def unused(self, target: CallTarget) -> None:
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
                # It had queued to return, and waits once more: it no longer queues.
                attempt.returning.set_result(None)
                attempt.returning = None
            return
        attempt.resting = True
        drive.slots.busy -= 1
        drive.slots.vacate(attempt.account)
        self._leave_plans(attempt)
        held = attempt.held
        # What has called a server is still there, and the server may serve no other before it has its answer.
        of_server = held if attempt.target.tool.server else ()
        attempt.held = tuple(limit for limit in of_server if limit is not self.tenant)
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
            self._drive.slots.busy += 1
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
        if drive.slots.are_taken() or _is_full(attempt.account):
            self.returning.append(attempt)
            return False
        lapsing = lapsed(self._limited_plans.around(attempt.step))
        needed = [*attempt.lent, *(limit for plan in lapsing for limit in plan.limits)]
        blocked = next((limit for limit in needed if limit.is_full()), None)
        if blocked is not None:
            blocked.wait(partial(self._again_back, attempt), first=True)
            return False
        retake(lapsing)
        self._take_back(attempt)
        return True

    def _take_back(self, attempt: Attempt) -> None:
        for limit in attempt.lent:
            limit.retake()
        attempt.held, attempt.lent = attempt.held + attempt.lent, ()
        attempt.around = self._limited_plans.around(attempt.step)
        for plan in attempt.around:
            plan.active += 1
        attempt.resting = False
        self._drive.slots.busy += 1
        occupy(attempt.account)

    def _again_back(self, attempt: Attempt) -> None:
        back = attempt.returning
        if back is not None and not back.done() and not attempt.stopped and self._try(attempt):
            attempt.returning = None
            back.set_result(None)

    def _leave_plans(self, attempt: Attempt) -> None:
        for plan in attempt.around:
            plan.active -= 1
        attempt.around = ()

    def _limits_of(self, target: CallTarget) -> tuple[Limit, ...]:
        limits = self._limited_plans.of_tool(target)
        return limits if self.tenant is None else (*limits, self.tenant)

    def let_go(self) -> None:
        """The drive is over: neither calls nor plans under way hold anything here."""
        for attempt in self._drive.running.values():
            self.release(attempt)
        self._limited_plans.let_go()


def _is_full(account: Account | None) -> bool:
    while account is not None:
        if account.is_full:
            return True
        account = account.up
    return False
