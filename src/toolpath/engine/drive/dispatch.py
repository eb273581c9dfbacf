"""Dispatch of the next ready step: its inputs resolved and checked, limits and budget respected, its start written."""

from __future__ import annotations

from heapq import heappop

from toolpath.engine.compile.nodes import CallTarget
from toolpath.engine.decide.approvals import is_outdated, revoke
from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.context import CallContext, ContextHost, RoundCaller
from toolpath.engine.drive.drive import Drive
from toolpath.engine.drive.loop_items import ItemAttempt, LoopItems
from toolpath.engine.drive.places import Places
from toolpath.engine.state.accounts import Account, is_in, occupy
from toolpath.engine.state.instances import Scope, StepState
from toolpath.engine.state.paths import call_key
from toolpath.engine.state.resolve import fault_of, resolve_inputs, without_nulls
from toolpath.engine.state.weights import weight_of_value
from toolpath.expressions.names import Frame
from toolpath.model import events as ev
from toolpath.model.events import Failure
from toolpath.model.plan import Budget, Call, Loop
from toolpath.model.policy import refusal
from toolpath.values import JsonObject


class Dispatch:
    """Dispatches the ready steps of one run."""

    def __init__(self, drive: Drive, caller: ContextHost, rounds: RoundCaller, places: Places) -> None:
        self._drive = drive
        self._state = drive.state
        self._decisions = drive.decisions
        self._ready = drive.decisions.ready
        self._slots = drive.slots
        self._caller = caller
        """Serves the tools that are called."""
        self._rounds = rounds
        """Serves the agents."""
        self._places = places
        self._budgets: tuple[Budget, ...] = ()
        self._most = drive.program.plan.limits.steps
        self.leaving = False
        """Nothing is begun any more but what a call under way waits for."""
        self._closed = False

    def arm(self) -> None:
        """The run's context is known: most have no budget, then nothing of it is computed per call."""
        drive = self._drive
        budgets = (drive.program.plan.budget, drive.state.context.budget)
        self._budgets = tuple(budget for budget in budgets if budget is not None and budget != Budget())
        self._places.arm()

    def _is_leaving(self) -> bool:
        """Whether nothing is begun any more: no call under way waits for another one."""
        drive = self._drive
        return drive.held or (self.leaving and not any(attempt.awaited for attempt in drive.running.values()))

    def items_of(self, owner: StepState) -> LoopItems | None:
        """How the items of the loop are called, where each is one call and no limit but its time is set to it."""
        step = owner.node.step
        if owner.loop is None or not isinstance(step, Loop) or self._budgets or owner.scope.account is not None:
            return None
        places = self._places
        if self._drive.state.program.has_exclusive or places.bind(owner.node.blocks[0].nodes[0].targets[0]):
            return None
        return LoopItems(self._drive, owner, owner.loop, concurrency=owner.node.concurrency, most=self._most)

    def next(self, last: Attempt) -> Attempt | None:
        """The next call of the worker that made the last one: of a loop mostly the next item."""
        slots, ready = self._slots, self._ready.entries
        free = slots.busy <= slots.most and not self._places.returning
        if last.light and type(last) is ItemAttempt:
            items = last.loop_items
            is_alone = not ready or (items.queued and len(ready) == 1)
            if not free or not is_alone or not self.is_open():
                items.queue()
            elif (item := items.next()) is not None:
                return item
        return self.take() if ready and free else None

    def is_open(self) -> bool:
        """Whether the run begins anything more at all, as long as it is not too long."""
        if self._closed or self._decisions.halted is not None or self._state.status != "running":
            return False
        return not ((self._drive.held or self.leaving) and self._is_leaving())

    def take(self) -> Attempt | None:
        """The ready step that matters most, ready to be called; None where none can start now."""
        ready, decisions = self._ready, self._decisions
        while ready.entries and self.is_open() and not decisions.is_too_long(ready.entries[0][2].path):
            step = heappop(ready.entries)[2]
            attempt = self._begun(step) if step.loop_items is None else step.loop_items.take()
            if attempt is not None:
                return attempt
            # Whyever it was: the slot that it was offered is for those who wait behind it.
            self._slots.pass_on(step.scope.account)
            if step.loop_items is None and self._drive.services.turns.is_full():
                # A worker that is begun anew goes on in another turn.
                break
        return None

    def _begun(self, step: StepState) -> Attempt | None:
        """The step's call, its start written; None where there is none, or none now."""
        control = self._drive.control
        if step.status not in ("ready", "pending"):
            return None
        if self._state.program.has_exclusive and not self._decisions.gate.admits(step):
            return None
        targets = step.node.targets
        target = targets[step.target] if targets else None
        if target is None or target.plan is not None:
            # A block that has waited for an exclusive step.
            control.begin(step)
            control.settle()
            return None
        limited = self._places.bind(target)
        if step.scope.account is not None and not self._has_slot(step):
            return None
        if limited and not self._places.take(step, target):
            return None
        try:
            attempt = self._prepare(step, target, limited=limited)
        except Exception as error:  # noqa: BLE001  # an error of our own fails the step, not the drive
            control.attempt_failed(step, fault_of(error), 0.0)
            attempt = None
        if attempt is None and limited:
            self._places.unused(target)
        return attempt

    def _prepare(self, step: StepState, target: CallTarget, *, limited: bool) -> Attempt | None:
        drive, state, decisions = self._drive, self._state, self._decisions
        frame = drive.large.view(step.scope) if drive.large.values else step.scope
        inputs = self._inputs(step, target, frame)
        if inputs is None:
            return None
        cache_key = None
        if step.node.cache_key is not None and step.target == 0:
            cache_key = drive.control.resolved(step, step.node.cache_key)
            if cache_key is None:
                return None
        account = step.scope.account
        watched = target.guarded or step.approved is not None or self._budgets or state.calls >= self._most or account
        if watched and not self._may(step, target):
            return None
        journaled = given = inputs
        if target.inputs.uses_secrets and step.given is None:
            journaled = resolve_inputs(target, frame, step.node.on_unresolved, shown=True).value
        if drive.secrets.any:
            told = drive.secrets.given_to(target.key, inputs)
            if isinstance(told, Failure):
                drive.control.fail(step, told)
                return None
            given = told
        timeout = drive.time_limits.of(target) if target.timeout is None else target.timeout
        key = call_key(state.run_id, step.path, step.target, state.program.revision)
        decisions.emit(
            ev.StepStarted(
                state.seq + 1, decisions.at, step.path, step.attempt + 1, target.key, journaled, timeout, key
            ),
            weight_of_value(journaled),
        )
        attempt = Attempt(step, target, given, key, timeout, step.needs if target.repeatable else state.seq)
        if cache_key is not None:
            attempt.cache_key = cache_key.value
        if limited:
            self._places.begun(attempt)
        if account is not None:
            attempt.account = account
            occupy(account)
        if target.wants_context:
            attempt.context = self._context(attempt)
        drive.running[step] = attempt
        return attempt

    def _inputs(self, step: StepState, target: CallTarget, frame: Frame) -> JsonObject | None:
        """The inputs of the call; None where the step has ended for want of them."""
        try:
            inputs: JsonObject = target.inputs.evaluate(frame) if step.given is None else step.given
            if target.droppable:
                inputs = without_nulls(inputs, target)
            is_valid = target.is_valid
            if is_valid(inputs):
                return inputs
        except Exception:  # noqa: BLE001, S110  # whatever it was is found again below, with care, and told
            pass
        return self._drive.control.inputs_of(step, target)

    def _may(self, step: StepState, target: CallTarget) -> bool:
        """Whether caller, approval and budget allow the call; where not, the step has been dealt with."""
        drive = self._drive
        control, state = drive.control, drive.state
        if target.guarded:
            refused = refusal(target.tool, state.context)
            if refused is not None:
                control.attempt_failed(step, refused, 0.0)
                return False
        if is_outdated(drive.decisions, step):
            revoke(step)
            control.begin(step)
            return False
        if state.calls >= self._most:
            self._halt("steps", state.calls + 1, self._most, step)
            return False
        if step.scope.account is not None and not step.node.cached and self._overdrawn(step, target, begun=0):
            return False
        if not self._budgets or step.node.cached:
            # Whether a call that may be kept has to be made is known later: then it has to be paid for.
            return True
        return not self._over_budget(step, target, begun=0)

    def unaffordable(self, step: StepState, target: CallTarget) -> Failure | None:
        """Why a call that has begun may not be made, where a budget says so: then the run ends."""
        overdrawn = None if step.scope.account is None else self._overdrawn(step, target, begun=1)
        if overdrawn is not None:
            return overdrawn
        if not self._budgets or not self._over_budget(step, target, begun=1):
            return None
        halted = self._drive.decisions.halted
        return None if halted is None else halted[1]

    def _over_budget(self, step: StepState, target: CallTarget, *, begun: int) -> bool:
        drive = self._drive
        state = drive.state
        for budget in self._budgets:
            calls = state.calls + 1 - begun
            if budget.calls is not None and calls > budget.calls:
                self._halt("calls", calls, budget.calls, step)
                return True
            # The price of calls under way is reserved, so that many at once cannot overspend together.
            others = (attempt for attempt in drive.running.values() if attempt.step is not step)
            reserved = sum(attempt.target.tool.cost or 0.0 for attempt in others)
            price = state.cost + reserved + (target.tool.cost or 0.0)
            if budget.cost is not None and (price > budget.cost + 1e-9 or state.cost > budget.cost):
                self._halt("cost", price, budget.cost, step)
                return True
            if budget.tokens is not None and state.tokens > budget.tokens:
                self._halt("tokens", state.tokens, budget.tokens, step)
                return True
        return False

    def _overdrawn(self, step: StepState, target: CallTarget, *, begun: int) -> Failure | None:
        """Why a nested plan around the step may not make the call. It ends as soon as nothing is under way in it."""
        drive = self._drive
        account: Account | None = step.scope.account
        while account is not None:
            if account.failure is not None:
                return account.failure
            others = (attempt for attempt in drive.running.values() if attempt.step is not step)
            counted = sum(other.target.tool.cost or 0.0 for other in others if is_in(other.account, account))
            found = account.exceeded(counted + (target.tool.cost or 0.0), begun=begun)
            if found is not None:
                name, used, limit = found
                decisions, path = drive.decisions, account.owner.path
                decisions.emit(ev.BudgetExceeded(decisions.seq, decisions.at, name, used, limit, step.path))
                message = f"The budget of {name} of {path} is {limit:g}; {step.path} would make it {used:g}."
                account.failure = Failure(type="BudgetExceeded", message=message, code="budget")
                if not account.busy:
                    drive.control.block_lost(account.owner, account.failure)
                    drive.control.settle()
                return account.failure
            account = account.up
        return None

    def _has_slot(self, step: StepState) -> bool:
        """Whether every nested plan around the step has a slot left; else the step waits for one."""
        account: Account | None = step.scope.account
        while account is not None:
            if account.is_full:
                account.waiting.append(step)
                self._drive.decisions.announce(step)
                return False
            account = account.up
        return True

    def _halt(self, name: str, used: float, limit: float, step: StepState) -> None:
        self._drive.decisions.halt(name, used, limit, step.path)

    def _context(self, attempt: Attempt) -> CallContext:
        drive = self._drive
        caller = drive.state.context
        deadline = drive.services.clock.time() + attempt.timeout
        context = CallContext(self._caller, attempt, deadline=deadline, rounds=self._rounds)
        context.tenant, context.user = caller.tenant, caller.user_id
        context.permissions = tuple(caller.permissions)
        context.held = drive.services.held_for.setdefault(drive.state.run_id, context.held)
        context.session, context.case = caller.session_id, caller.case_id
        context.metadata = caller.metadata
        if caller.conversation and _inherits(attempt.step.scope):
            context.follows(caller.conversation)
        return context

    def close(self) -> None:
        """Take nothing any more."""
        self._closed = True
        self._drive.limit_queue.close()


def _inherits(scope: Scope) -> bool:
    """Whether what runs there knows the run's conversation: each plan around it was called to."""
    owner = scope.owner
    while owner is not None:
        target = owner.node.targets[owner.target] if owner.node.targets else None
        if target is not None and target.plan is not None:
            match owner.node.step:
                case Call(inherit_memory=True):
                    pass
                case _:
                    return False
        owner = owner.scope.owner
    return True
