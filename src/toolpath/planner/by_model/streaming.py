"""A plan step by step while the model still writes it, so that reads can begin before the plan is whole."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.dependencies import waits_of
from toolpath.checks.views import StepView, Views
from toolpath.errors import ChatFailed, ReadError
from toolpath.model.chat import ChatReply
from toolpath.model.plan import Call, Plan, Step
from toolpath.notation.plan import read_plan
from toolpath.planner.by_model.incremental import StepReader
from toolpath.planner.by_model.mending import mended
from toolpath.planner.by_model.planner import PlanningSession
from toolpath.planner.by_model.reading import as_allowed, with_tool_keys
from toolpath.planner.records import Ground, PlanningResult, PlanRequest
from toolpath.values import Json


class StepWritten(msgspec.Struct, frozen=True, kw_only=True):
    """A step that is complete, checked with all that came before it, while the rest is still being written."""

    step: Step
    plan: Plan
    """All steps so far."""
    may_start: bool
    """It may begin before the plan is whole: it is a call that only reads, and so is all that it waits for."""


class PlanWritten(msgspec.Struct, frozen=True, kw_only=True):
    """The end: the whole plan."""

    planned: PlanningResult
    revoked: tuple[str, ...] = ()
    """Ids of steps that were given before and are not, or not so, in the plan; what they have read is to be dropped."""


async def stream_plan(request: PlanRequest, ground: Ground) -> AsyncGenerator[StepWritten | PlanWritten]:
    """Each step as soon as it is written and checks, and at last the whole plan.

    A step with faults is held back with all that come after it; the whole plan is then mended as `plan_with_model`
    does. Raises what that raises.
    """
    session = PlanningSession(request, ground)
    session.need_tools()
    growing = _Growing(session)
    try:
        async with aclosing(_answer(session, growing)) as parts:
            async for part in parts:
                if isinstance(part, StepWritten):
                    yield part
        if growing.reply is None:
            raise ChatFailed("The model's answer had no end.", kind="malformed", retryable=True)
        planned = await session.mended(growing.reply)
    except ChatFailed as failure:
        planned = await session.unanswered(failure)
    final = {step.id: step for step in planned.plan.steps}
    revoked = tuple(step.id for step in growing.given if not _same(final.get(step.id), step))
    yield PlanWritten(planned=planned, revoked=revoked)


async def _answer(session: PlanningSession, growing: _Growing) -> AsyncGenerator[StepWritten]:
    async with aclosing(session.stream(session.first_question())) as pieces:
        async for piece in pieces:
            for entry in growing.reader.feed(piece.text):
                part = growing.take(entry)
                if part is not None:
                    yield part
            if piece.reply is not None:
                growing.reply = piece.reply


class _Growing:
    """The steps that were given so far."""

    def __init__(self, session: PlanningSession) -> None:
        self.reader = StepReader()
        self.reply: ChatReply | None = None
        self.given: list[Step] = []
        self._session = session
        self._entries: list[Json] = []
        self._is_held = False

    def take(self, entry: Json) -> StepWritten | None:
        """The step that this entry is, where it and all before it are without fault."""
        if self._is_held or self.reader.is_broken:
            return None
        self._entries.append(entry)
        plan = self._plan()
        if plan is None:
            self._is_held = True
            return None
        self.given = list(plan.steps)
        step = plan.steps[-1]
        return StepWritten(step=step, plan=plan, may_start=step.id in early_steps(plan, self._session.catalog))

    def _plan(self) -> Plan | None:
        session = self._session
        try:
            entries = [entry for entry in self._entries if isinstance(entry, dict)]
            plan = read_plan(mended({"steps": entries}, session.offered_tools, session.request.text))
        except ReadError:
            return None
        if len(plan.steps) != len(self._entries):
            return None
        plan = as_allowed(plan, session.request)
        if session.faults(plan):
            return None
        return with_tool_keys(plan, session.catalog)


def early_steps(plan: Plan, catalog: Catalog) -> frozenset[str]:
    """Ids of the steps that may begin before their plan is whole: calls that only read, and wait for none but such."""
    views = Views(plan, catalog)
    waits: dict[int, list[int]] = {}
    for wait in waits_of(views)[views.root]:
        waits.setdefault(wait.step, []).append(wait.source)
    # A plan that was checked has no cycle, and what is waited for is settled before what waits.
    settled: dict[int, bool] = {}

    def is_early(index: int) -> bool:
        if index not in settled:
            settled[index] = False
            only_reads = _only_reads(views.root.steps[index])
            settled[index] = only_reads and all(is_early(source) for source in waits.get(index, ()))
        return settled[index]

    found = frozenset(view.step.id for view in views.root.steps if is_early(view.index))
    views.let_go()
    return found


def _only_reads(view: StepView) -> bool:
    tool = view.tool
    return (
        isinstance(view.step, Call)
        and view.step.when is None
        and tool is not None
        and tool.is_read
        and not tool.requires.approval
    )


def _same(found: Step | None, given: Step) -> bool:
    if not isinstance(found, Call) or not isinstance(given, Call):
        return found == given
    return (found.tool, found.inputs, found.when) == (given.tool, given.inputs, given.when)
