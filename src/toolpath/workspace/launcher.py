"""Launcher of whatever somebody wants run: a document, a plan, a tool, a stored plan."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from toolpath.access.trail import Trail
from toolpath.engine.compile.program import Program
from toolpath.engine.drive.services import Services
from toolpath.errors import RecordConflict, RunConflict, StoreError, ToolpathError
from toolpath.machine import new_id
from toolpath.model.events import AnyEvent
from toolpath.model.run import RunContext, RunResult
from toolpath.model.stored import StoredPlan
from toolpath.model.template import TemplateRun
from toolpath.runs.drives import Drives
from toolpath.runs.opening import call_plan, check_priority, failed
from toolpath.runs.preparation import Preparation, Runnable
from toolpath.runs.run import Run
from toolpath.runs.starter import NOT_STORED, Stored
from toolpath.values import Json, JsonObject

if TYPE_CHECKING:
    from toolpath.planner.replan import Replanning
    from toolpath.planner.service.planned_runs import PlannedRuns
    from toolpath.workspace.conversations.conversations import Conversations
    from toolpath.workspace.files.files import Files
    from toolpath.workspace.plans import Plans
    from toolpath.workspace.schedule_calls import ScheduleCalls
    from toolpath.workspace.schedules import Schedules
    from toolpath.workspace.templates import Templates

_log: Final = logging.getLogger("toolpath.workspace.launcher")


class Launcher:
    """Launcher of runs for one Toolpath. What the methods mean says `Toolpath`."""

    def __init__(
        self,
        services: Services,
        drives: Drives,
        preparation: Preparation,
        trail: Trail,
        planned_runs: PlannedRuns,
        *,
        resume: Callable[[str], Awaitable[Run]],
        mark: Callable[[], Awaitable[None]],
    ) -> None:
        """`mark` is told when what is published as tools has changed."""
        store = services.store
        self._services = services
        self._store = store
        self._resume = resume
        self._mark = mark
        self._conversations: Conversations | None = None
        self._preparation = preparation
        self._drives = drives
        self._trail = trail
        self._planned_runs = planned_runs
        self._plans: Plans | None = None
        self._templates: Templates | None = None
        self._schedules: Schedules | None = None
        self._files: Files | None = None

    @property
    def plans(self) -> Plans:
        """Stored plans, opened when they are first asked for."""
        if self._plans is None:
            from toolpath.workspace.plans import Plans  # only who keeps plans pays for it

            self._plans = Plans(self._store, self._preparation, self._trail, planned=self._planned_runs.planned)
        return self._plans

    @property
    def templates(self) -> Templates:
        """Stored plan templates, opened when they are first asked for."""
        if self._templates is None:
            from toolpath.workspace.templates import Templates  # only who keeps templates pays for it

            self._templates = Templates(self._store, self._preparation, self._trail, mark=self._mark)
        return self._templates

    @property
    def conversations(self) -> Conversations:
        """Stored conversations, opened when they are first asked for."""
        if self._conversations is None:
            from toolpath.workspace.conversations.conversation_records import ConversationRecords
            from toolpath.workspace.conversations.conversations import Conversations  # only who talks pays for it
            from toolpath.workspace.conversations.turns import ConversationTurns

            records = ConversationRecords(self._store)
            turns = ConversationTurns(
                records,
                self._services,
                self._drives,
                start=self._started_turn,
                resume=self._resume,
                templates=lambda: self.templates,
                catch_up=self._preparation.catch_up,
            )
            self._conversations = Conversations(self._services, self._trail, records, turns, self._drives)
        return self._conversations

    @property
    def schedules(self) -> Schedules:
        """Stored schedules, opened when they are first asked for."""
        if self._schedules is None:
            from toolpath.workspace.schedules import Schedules  # only who keeps schedules pays for it

            self._schedules = Schedules(
                self._store,
                self._trail,
                start=self.start,
                plans=lambda: self.plans,
                templates=lambda: self.templates,
                files=lambda: self.files,
            )
        return self._schedules

    @property
    def schedule_calls(self) -> ScheduleCalls:
        """The same for tools that ask for them."""
        from toolpath.workspace.schedule_calls import ScheduleCalls

        return ScheduleCalls(self.schedules)

    @property
    def files(self) -> Files:
        """Files of runs and uploads, opened when they are first asked for."""
        if self._files is None:
            from toolpath.workspace.files.files import Files  # only who keeps files pays for it

            services = self._services
            self._files = Files(self._store, services.folders, self._trail, services.settings, start=self.start)
        return self._files

    async def prepared(
        self, what: Runnable | StoredPlan | TemplateRun, inputs: JsonObject, context: RunContext | None
    ) -> tuple[Program, JsonObject, Stored]:
        """The program, its inputs filled in, and the approval that allows it."""
        async with self._trail.refusing("run.start", context):
            if isinstance(what, TemplateRun):
                return *await self._preparation.ready(what.plan, inputs, context), Stored(what.template_id, None)
            if not isinstance(what, StoredPlan):
                return *await self._preparation.ready(what, inputs, context), NOT_STORED
            program, filled = await self._preparation.ready(await self.plans.plan(what), inputs, context)
            return program, filled, Stored(what.plan_id, self.plans.approval_for(what, program, filled))

    @contextlib.asynccontextmanager
    async def _of_conversation(
        self, context: RunContext | None, run_id: str | None
    ) -> AsyncGenerator[tuple[RunContext | None, str | None, list[str]]]:
        """The context with what was said before in the conversation that it names, which is told of the run.

        Gives the context, the id that the run is to have, and a list for the id that it has.
        """
        begun: list[str] = []
        found = context and context.conversation_id and await self.conversations.of_run(context)
        if not context or not found:
            yield context, run_id, begun
            return
        await self._preparation.catch_up()
        context = await self.conversations.remembered(context, found)
        run_id = run_id or new_id("run", self._services.clock.time())
        runs = self.conversations.turns.begun_runs
        await runs.note(found.conversation_id, run_id)
        try:
            yield context, run_id, begun
        except StoreError:
            # Whether it was begun is not known: the next look finds out.
            raise
        except ToolpathError:
            await runs.strike(found.conversation_id, run_id)
            raise
        if begun != [run_id]:
            # It was there already, with the same key.
            await runs.strike(found.conversation_id, run_id)

    async def again(self, run_id: str, begin: Callable[[], Awaitable[Run]]) -> Run:
        """Go on with a run that had ended: its conversation is told the outcome in the end."""
        conversation_id = (await self._store.get_run(run_id)).conversation_id
        if not conversation_id:
            return await begin()
        runs = self.conversations.turns.begun_runs
        # What has ended is told first, so that there is an answer to renew.
        await self.ended(conversation_id)
        is_noted = await runs.note_again(conversation_id, run_id)
        try:
            return await begin()
        except StoreError:
            # Whether it goes on is not known: the next look finds out.
            raise
        except ToolpathError:
            if is_noted:
                await runs.strike(conversation_id, run_id)
            raise

    async def forked(self, fork: Run) -> Run:
        """The fork, which is told in the conversation of the run that it comes of."""
        info = await self._store.get_run(fork.run_id)
        conversation_id = info.conversation_id
        # An id may be any text: a conversation of others that has it is not told.
        said = RunContext(info.user, tenant=info.tenant, conversation_id=conversation_id)
        if conversation_id and await self.conversations.of_run(said):
            # It goes on by now, whether there is room for it in the conversation or not.
            with contextlib.suppress(RunConflict, RecordConflict):
                await self.conversations.turns.begun_runs.note(conversation_id, fork.run_id)
            await self.ended(conversation_id)
        return fork

    async def ended(self, conversation_id: str) -> None:
        """Write down what a run that has ended said in its conversation."""
        try:
            await self.conversations.settle(conversation_id)
        except ToolpathError as error:
            _log.warning("what came of a run is kept when its conversation is looked at: %s", error)

    async def run(
        self,
        what: Runnable | StoredPlan | TemplateRun,
        inputs: JsonObject | None = None,
        *,
        context: RunContext | None = None,
        raise_on_error: bool = False,
        replan: int | Replanning | None = None,
    ) -> RunResult:
        """Run it to its end, or until only people can go on."""
        async with self._of_conversation(context, None) as (knowing, run_id, begun):
            program, filled, origin = await self.prepared(what, inputs or {}, knowing)
            leave = self._planned_runs.leave_to_replan(replan)
            more: Any = {} if run_id is None else {"run_id": run_id}
            result = await self._drives.run(program, filled, context=knowing, origin=origin, replan=leave, **more)
            begun.append(result.run_id)
        if raise_on_error and not result.success:
            raise failed(result)
        return result

    async def start(
        self,
        what: Runnable | StoredPlan | TemplateRun,
        inputs: JsonObject | None = None,
        *,
        context: RunContext | None = None,
        run_id: str | None = None,
        idempotency_key: str = "",
        priority: int = 0,
        replan: int | Replanning | None = None,
    ) -> Run:
        """Begin it and come back at once."""
        check_priority(priority)
        said: Any = {"idempotency_key": idempotency_key, "priority": priority, "replan": replan}
        async with self._of_conversation(context, run_id) as (knowing, own_id, begun):
            run = await self._started(what, inputs or {}, context=knowing, run_id=own_id, **said)
            begun.append(run.run_id)
            return run

    async def _started_turn(
        self, what: Any, inputs: JsonObject, *, uploads: Sequence[str], context: RunContext, run_id: str, **said: Any
    ) -> Run:
        """A turn of a conversation, which knows what was said: nothing is added to its context but its files."""
        if uploads:
            return await self.files.start(
                what, inputs, uploads=uploads, start=self._started, context=context, run_id=run_id, replan=None, **said
            )
        return await self._started(what, inputs, context=context, run_id=run_id, replan=None, **said)

    async def _started(
        self,
        what: Runnable | StoredPlan | TemplateRun,
        inputs: JsonObject,
        *,
        context: RunContext | None,
        run_id: str | None,
        idempotency_key: str,
        priority: int,
        replan: int | Replanning | None = None,
    ) -> Run:
        """Begin it, with the context as it is."""
        program, filled, origin = await self.prepared(what, inputs, context)
        return await self._drives.start(
            program,
            filled,
            context=context,
            run_id=run_id,
            idempotency_key=idempotency_key,
            priority=priority,
            origin=origin,
            replan=self._planned_runs.leave_to_replan(replan),
        )

    async def stream(
        self, what: Runnable, inputs: JsonObject | None = None, *, context: RunContext | None = None
    ) -> AsyncIterator[AnyEvent]:
        """Run it and give its events as they come."""
        run = await self.start(what, inputs, context=context)
        async for event in run.events():
            yield event
        await run.result()

    async def call(self, tool: str, inputs: JsonObject | None = None, *, context: RunContext | None = None) -> Json:
        """Call one tool; gives its output."""
        result = await self.run(call_plan(tool, inputs or {}), inputs, context=context)
        if not result.success:
            raise failed(result)
        return result.outputs
