"""The audit trail: who asked, decided and ran what, when and from where, as links of the store's chain.

What was asked is written before it is done, or in one transaction with it: where it cannot be written, it is not done.
The outcome of a run is written when it has ended.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from toolpath.access.acting import who_acts
from toolpath.access.declared import declared_in, declaring, own_entry, tool_entries
from toolpath.errors import PolicyViolationError, StoreError, ToolpathError
from toolpath.model.plan import Plan
from toolpath.model.record import AuditEntry
from toolpath.model.redaction import Redactor
from toolpath.model.run import RunContext, RunInfo
from toolpath.model.tool import Tool
from toolpath.ports import Clock, Signal, Store, most_patience, waiting_long
from toolpath.values import JsonObject

_log = logging.getLogger("toolpath.audit")
#: What a signal asks of a run.
_ASKED = {
    "approve": "step.approve",
    "deny": "step.deny",
    "answer": "step.answer",
    "settle": "step.settle",
    "cancel": "run.cancel",
    "pause": "run.pause",
    "resume": "run.resume",
}
#: Names of tools that an entry holds at most.
_MOST_TOOLS = 100
_TRIES = 5
_PAUSE = 0.2
#: Looks in the time for which a store is waited for on behalf of somebody.
_LOOKS = 10


class Trail:
    """Writes the trail of one store. Entries that come together are written together."""

    def __init__(self, store: Store, clock: Clock, redactor: Redactor, *, enabled: bool) -> None:
        self._store = store
        self.clock = clock
        self.redactor = redactor
        self._enabled = enabled
        self._waiting: list[tuple[AuditEntry, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._ends: set[asyncio.Future[None]] = set()
        """Ends of runs that are being written."""

    @property
    def is_kept(self) -> bool:
        """Whether a trail is kept at all."""
        return self._enabled

    async def record(self, action: str, subject: str, *, tenant: str = "", user: str = "", **data: Any) -> None:
        """Write that this was done to the subject; when this returns, it is kept. Raises `StoreError`.

        The acting caller goes before `user`; from where and with which credential they act is written too.
        """
        if self._enabled:
            await self.keep([self._entry(action, subject, tenant=tenant, user=user, data=data)])

    async def entries(self, *, tenant: str | None = None, after: int = 0, limit: int = 100) -> list[AuditEntry]:
        """The entries with a greater number than `after`, in order."""
        return await self._store.read_audit(tenant=tenant, after=after, limit=limit)

    async def newest(
        self, *, tenant: str | None = None, before: int | None = None, limit: int = 100
    ) -> list[AuditEntry]:
        """The entries with a smaller number than `before`, newest first; None: from the last one."""
        return await self._store.newest_audit(tenant=tenant, before=before, limit=limit)

    def run_asked(
        self, action: str, info: RunInfo, context: RunContext, tools: Iterable[str]
    ) -> tuple[AuditEntry, ...]:
        """Entries that say that a run is to begin: to be kept with it, or before. None where no trail is kept."""
        if not self._enabled:
            return ()
        data: JsonObject = {
            "tools": sorted(tools)[:_MOST_TOOLS],
            "plan": info.name,
            "plan_id": info.plan_id,
            "parent": info.parent,
            "session": context.session_id,
            "case": context.case_id,
        }
        return (self._entry(action, info.run_id, tenant=info.tenant, user=info.user, data=data),)

    @asynccontextmanager
    async def refusing(self, action: str, context: RunContext | None, subject: str = "") -> AsyncIterator[None]:
        """Write it where a policy refuses what is done inside, to the subject."""
        try:
            yield
        except PolicyViolationError as error:
            who = context or RunContext()
            said = {"missing": list(error.missing), "reason": error.message}
            await self.record(f"{action}.refused", subject, tenant=who.tenant, user=who.user_id, **said)
            raise

    async def runs_deleted(self, runs: Sequence[RunInfo], *, because: str) -> None:
        """Write that these runs are to be deleted. Raises `StoreError`: then they must not."""
        if self._enabled and runs:
            data: JsonObject = {"because": because}
            entries = [self._entry("run.delete", run.run_id, tenant=run.tenant, user="", data=data) for run in runs]
            await self.keep(entries)

    async def told(self, info: RunInfo, signal: Signal) -> None:
        """Write what a run is told."""
        action = _ASKED.get(signal.kind, signal.kind)
        if signal.kind in ("approve", "deny") and not signal.path:
            action = f"run.{signal.kind}"
        said = {
            name: signal.data[name]
            for name in ("comment", "reason", "retry", "failed", "declined")
            if signal.data.get(name)
        }
        if signal.kind == "answer" and isinstance(values := signal.data.get("values"), dict):
            # What a person answers may be private; that they did, and to what, is not.
            said["fields"] = sorted(values)
        await self.record(action, info.run_id, tenant=info.tenant, user=signal.by, step=signal.path, **said)

    def run_ended(  # what there is to tell of it
        self,
        run_id: str,
        context: RunContext,
        tools: Mapping[str, Tool],
        *,
        status: str,
        reason: str,
        calls: int,
        plan: Plan,
    ) -> None:
        """Have written the outcome of a run, and the calls that its tools want written. `close` waits for it."""
        if not self._enabled:
            return
        declared = {key: rules for key, tool in tools.items() if (rules := declaring(tool)) is not None}
        declares_itself = declared_in(plan.metadata) is not None
        data: JsonObject = {"status": status, "reason": reason, "calls": calls}
        end = AuditEntry(
            at=self.clock.time(),
            tenant=context.tenant,
            user=context.user_id,
            action="run.ended",
            subject=run_id,
            data={name: value for name, value in data.items() if value},
        )

        if not (declared or declares_itself):
            entries = [self._redacted(end)]
            # Its future is all that there is to it, as long as the store takes it.
            self._see_to(self._put(entries), partial(self._end_put, entries))
            return

        async def write() -> None:
            events = await self._store.read_events(run_id)
            entries = tool_entries(run_id, events, declared, context)
            own = own_entry(run_id, events, plan.name, context) if declares_itself else None
            entries = [*entries, *([] if own is None else [own]), end]
            await self._insist([self._redacted(entry) for entry in entries])

        self._see_to(asyncio.get_running_loop().create_task(write()), self._end_written)

    def _see_to(self, ending: asyncio.Future[None], done: Callable[[asyncio.Future[None]], None]) -> None:
        """Have `close` wait for the end, and `done` called with it."""
        self._ends.add(ending)
        ending.add_done_callback(done)

    def _end_put(self, entries: list[AuditEntry], ending: asyncio.Future[None]) -> None:
        if ending.cancelled() or not isinstance(ending.exception(), StoreError):
            self._end_written(ending)
            return
        self._ends.discard(ending)
        again = self._insist(entries, tries=_TRIES - 1)
        self._see_to(asyncio.get_running_loop().create_task(again), self._end_written)

    def _end_written(self, ending: asyncio.Future[None]) -> None:
        self._ends.discard(ending)
        if not ending.cancelled() and (error := ending.exception()) is not None:
            # The run has ended all the same; `audit verify` names it as one whose end is not in the trail.
            _log.error("the end of a run is not in the audit trail: %s", self.redactor.text(str(error)))

    async def close(self) -> None:
        """Wait for all that is being written."""
        while self._ends:
            await asyncio.wait(list(self._ends))
        if self._writing is not None:
            await asyncio.wait([self._writing])

    def _entry(self, action: str, subject: str, *, tenant: str, user: str, data: JsonObject) -> AuditEntry:
        caller = who_acts()
        if caller is not None:
            user = caller.user or user
            data = {"session": caller.session, "case": caller.case} | data
            data |= {"from": caller.address, "door": caller.door, "key": caller.key}
        told = {name: value for name, value in data.items() if value}
        entry = AuditEntry(at=self.clock.time(), tenant=tenant, user=user, action=action, subject=subject, data=told)
        return self._redacted(entry)

    def _redacted(self, entry: AuditEntry) -> AuditEntry:
        if not self.redactor:
            return entry
        data = self.redactor.value(entry.data)
        return AuditEntry(
            at=entry.at, tenant=entry.tenant, user=entry.user, action=entry.action, subject=entry.subject, data=data
        )

    async def _insist(self, entries: list[AuditEntry], *, tries: int = _TRIES) -> None:
        """Write what has happened already; a store that is away for a moment is waited for."""
        for left in reversed(range(tries)):
            if left < _TRIES - 1:
                await asyncio.sleep(_PAUSE)
            try:
                await self._put(entries)
            except StoreError:
                if not left:
                    raise
            else:
                return

    def _put(self, entries: Sequence[AuditEntry]) -> asyncio.Future[None]:
        """Have the entries written; the future tells when they are kept."""
        loop = asyncio.get_running_loop()
        kept: asyncio.Future[None] = loop.create_future()
        self._waiting += [(entry, kept) for entry in entries]
        if self._writing is None:
            self._writing = loop.create_task(self._write())
        return kept

    async def keep(self, entries: Sequence[AuditEntry]) -> None:
        """Write the entries, all or none; when this returns, they are kept. Raises `StoreError`."""
        if not entries:
            return
        kept = self._put(entries)
        patience = most_patience()
        if patience is None:
            await kept
            return
        try:
            for _ in range(_LOOKS):
                # Where this process itself stood still, that is one look, and no fault of the store's.
                if (await asyncio.wait({kept}, timeout=patience / _LOOKS))[0]:
                    kept.result()
                    return
        finally:
            kept.cancel()
        # What will not be done need not be told; it may be on its way already.
        self._waiting = [waiting for waiting in self._waiting if waiting[1] is not kept]
        raise StoreError("The audit trail could not be written in time.")

    async def _write(self) -> None:
        """One link of the chain follows the other: while some are written, the next gather, and go together."""
        try:
            with waiting_long():
                await self._write_all()
        finally:
            self._writing = None

    async def _write_all(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            error: BaseException | None = None
            try:
                await self._store.keep_audit([entry for entry, _ in batch])
            except ToolpathError as failed:
                error = failed
            except BaseException as failed:
                _settle(batch, StoreError("The audit trail could not be written."))
                raise failed from None
            _settle(batch, error)


def _settle(batch: Sequence[tuple[AuditEntry, asyncio.Future[None]]], error: BaseException | None) -> None:
    for kept in {id(kept): kept for _, kept in batch}.values():
        if kept.done():
            continue
        if error is None:
            kept.set_result(None)
        else:
            kept.set_exception(error)
