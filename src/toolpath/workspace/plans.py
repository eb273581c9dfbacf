"""Stored plans: versions under the request that they were made for, and what a person has approved of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from toolpath.access.trail import Trail
from toolpath.checks.check import has_errors
from toolpath.checks.explanation import Explanation
from toolpath.checks.start import check_inputs, fill_inputs
from toolpath.engine.compile.program import Program
from toolpath.errors import Finding, PlanInvalid, PolicyViolationError, ReadError, RecordConflict, RecordNotFound
from toolpath.machine import new_id
from toolpath.model.plan import Plan
from toolpath.model.record import Record
from toolpath.model.stored import Approval, PlanContent, PlanRevision, StoredPlan
from toolpath.model_output.documents import read_written
from toolpath.notation.chaining import as_chaining
from toolpath.notation.nodes import MAX_STEPS, TooManySteps
from toolpath.notation.printing import plan_to_dict
from toolpath.planner.records import PlanningResult
from toolpath.ports import Store
from toolpath.runs.beside_the_loop import parts_of, weight_of
from toolpath.runs.preparation import KEPT, KEPT_PARTS, Preparation
from toolpath.runs.weighted_cache import WeightedCache
from toolpath.values import JsonObject, digest
from toolpath.workspace.plan_history import PlanHistory, content_digest
from toolpath.workspace.record_form import RecordForm

#: How often a version is tried again that somebody else changed meanwhile.
_TRIES = 20
_FORM = RecordForm("plan", StoredPlan, id="plan_id", moved={"request_id": "parent", "name": "name"})


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """Review of a plan: what the check says of it, and what it will do."""

    findings: tuple[Finding, ...]
    explanation: Explanation


class _Written(NamedTuple):
    """A plan that is to be kept."""

    plan: Plan
    content: PlanContent
    digest: str
    """Of the content."""
    weight: int
    """Of the plan, in memory."""


class Plans:
    """The stored plans of one Toolpath."""

    def __init__(
        self,
        store: Store,
        preparation: Preparation,
        trail: Trail,
        *,
        planned: Callable[..., Awaitable[PlanningResult]],
    ) -> None:
        self._store = store
        self._clock = trail.clock
        self._trail = trail
        self._preparation = preparation
        self._planned = planned
        self.history = PlanHistory(store, preparation.aside, trail.clock)
        self._read: WeightedCache[str, tuple[int, Plan]] = WeightedCache(number=KEPT, weight=KEPT_PARTS)

    async def review(self, plan: Plan) -> Review:
        """Findings and explanation of the plan, once the tools that it needs are loaded."""
        findings, explanation = await self._preparation.reviewed(plan)
        return Review(findings=findings, explanation=explanation)

    # Making.

    async def create(  # noqa: PLR0913  # what is asked for, how it is planned, and for whom
        self,
        request: str,
        *,
        request_id: str = "",
        tools: Sequence[str] | None = None,
        planner: Literal["offline", "model"] | None = None,
        decomposition: JsonObject | None = None,
        time_zone: str = "",
        requires_approval: bool = False,
        chaining: bool = False,
        tenant: str = "",
        user: str = "",
    ) -> StoredPlan:
        """Plan the request and keep the plan: as the first of a new request, or as a further one of `request_id`.

        `chaining`: with what the chaining system sets: a template that does not resolve is kept as it is written.

        Raises `NoToolFits`, `PlanningFailed`, and `RecordNotFound` for a request that is not the tenant's.
        """
        if request_id:
            await self.request(request_id, tenant=tenant)
        how: Any = {"decomposition": decomposition, "time_zone": time_zone}
        planned = await self._planned(request, tools=tools, planner=planner, **how)
        record = planned.record
        about: JsonObject = {"planner": record.planner, "outcome": record.outcome, "reason": record.reason}
        return await self._keep(
            await self._written(as_chaining(planned.plan) if chaining else planned.plan),
            {"request": request, "requires_approval": requires_approval, "user": user, **about},
            request_id=request_id,
            tenant=tenant,
        )

    async def add(
        self,
        source: Plan | str | JsonObject,
        *,
        request: str = "",
        request_id: str = "",
        requires_approval: bool = False,
        tenant: str = "",
        user: str = "",
    ) -> StoredPlan:
        """Keep a plan in any notation, also one that does not check yet. Raises `ReadError` for what is no plan."""
        written = await self._written(source)
        if request_id:
            await self.request(request_id, tenant=tenant)
        about = {"request": request, "requires_approval": requires_approval, "user": user}
        return await self._keep(written, about, request_id=request_id, tenant=tenant)

    async def _keep(self, written: _Written, about: JsonObject, *, request_id: str, tenant: str) -> StoredPlan:
        plan = written.plan
        self._preparation.bound(plan)
        now = self._clock.time()
        # Each plan counts its request on: two made at the same time are never the same version.
        request = Record(
            kind="request",
            id=request_id or new_id("req", now),
            tenant=tenant,
            data={"request": about["request"], "user": about["user"]},
        )
        counted = await self._counted(request, is_new=not request_id)
        first = PlanRevision(revision=1, digest=written.digest, at=now, by=str(about["user"]))
        data = {**about, **_data(written.content, (first,)), "version": counted.version}
        made = Record(kind="plan", id=new_id("plan", now), tenant=tenant, parent=request.id, name=plan.name, data=data)
        await self._recorded("plan.create", made, user=str(about["user"]))
        record = await self._store.put_record(made, expected=0)
        self._remember(record, plan, written.weight)
        return _stored(record)

    async def _counted(self, request: Record, *, is_new: bool) -> Record:
        if is_new:
            return await self._store.put_record(request, expected=0)
        for _ in range(_TRIES):
            known = await self._store.get_record("request", request.id)
            if known is None:
                break
            try:
                return await self._store.put_record(known, expected=known.version)
            except RecordConflict:
                continue
        raise RecordConflict(f"The request {request.id} changes all the time.", hint="Try again.")

    # Finding.

    async def get(self, plan_id: str) -> StoredPlan:
        """The stored plan. Raises `RecordNotFound`."""
        return _stored(await self._record(plan_id))

    async def newest(
        self, *, tenant: str | None = None, limit: int = 50, before: str | None = None
    ) -> list[StoredPlan]:
        """The newest first; `before` is the last id of the page before."""
        return [_stored(r) for r in await self._store.list_records("plan", tenant=tenant, limit=limit, before=before)]

    async def of_request(self, request_id: str, *, tenant: str | None = None, limit: int = 1000) -> list[StoredPlan]:
        """The plans of a request, newest version first. Raises `RecordNotFound` where there is no such request."""
        await self.request(request_id, tenant=tenant)
        records = await self._store.list_records("plan", tenant=tenant, parent=request_id, limit=limit)
        return sorted((_stored(record) for record in records), key=lambda plan: plan.version, reverse=True)

    async def latest(self, request_id: str, *, tenant: str | None = None) -> StoredPlan:
        """The newest version of a request's plans. Raises `RecordNotFound` where there is none."""
        found = await self.of_request(request_id, tenant=tenant)
        if not found:
            raise RecordNotFound(f"The request {request_id} has no plan any more.")
        return found[0]

    async def request(self, request_id: str, *, tenant: str | None = None) -> Record:
        """The request as it is kept; `version` counts its plans. Raises `RecordNotFound`."""
        record = await self._store.get_record("request", request_id)
        if record is None or (tenant is not None and record.tenant != tenant):
            raise RecordNotFound(f"There is no request {request_id[:100]!r}.")
        return record

    async def _record(self, plan_id: str) -> Record:
        record = await self._store.get_record("plan", plan_id)
        if record is None:
            raise RecordNotFound(f"There is no plan {plan_id[:100]!r}.")
        return record

    async def read(self, source: str | JsonObject) -> Plan:
        """As `read_plan_document`, without holding the event loop up over what is large."""
        return await self._preparation.aside.do(
            lambda: read_plan_document(source, self._preparation.most_steps), weight_of([source])
        )

    def plan_of(self, stored: StoredPlan) -> Plan:
        """The plan itself, read once for each of its revisions."""
        known = self._known(stored)
        if known is None:
            known = read_plan_document(stored.plan)
            self._kept_read(stored, known, weight_of([known], KEPT_PARTS))
        return known

    async def plan(self, stored: StoredPlan) -> Plan:
        """As `plan_of`, without holding the event loop up over what is large."""
        known = self._known(stored)
        if known is None:
            most = self._preparation.most_steps

            def work() -> tuple[Plan, int]:
                plan = read_plan_document(stored.plan, most)
                return plan, parts_of(plan)

            read, weight = await self._preparation.aside.do(work, weight_of([stored.plan]))
            self._kept_read(stored, read, weight)
            return read
        return known

    async def _written(self, source: Plan | str | JsonObject) -> _Written:
        """The plan, as it is to be kept. Raises `ReadError`, `PlanInvalid`."""
        most = self._preparation.most_steps

        def work() -> _Written:
            plan, text = (source, "") if isinstance(source, Plan) else _read(source, most)
            content = PlanContent(plan=plan_to_dict(plan), source=text)
            return _Written(plan, content, content_digest(content), parts_of(plan))

        return await self._preparation.aside.do(work, weight_of([source.steps if isinstance(source, Plan) else source]))

    def _known(self, stored: StoredPlan) -> Plan | None:
        known = self._read.get(stored.plan_id)
        return known[1] if known is not None and known[0] == stored.revision else None

    def _kept_read(self, stored: StoredPlan, plan: Plan, weight: int) -> None:
        self._remember(Record(kind="plan", id=stored.plan_id, version=stored.revision), plan, weight)

    def _remember(self, record: Record, plan: Plan, weight: int) -> None:
        self._read.put(record.id, (record.version, plan), weight)

    # Changing.

    async def update(
        self,
        plan_id: str,
        source: Plan | str | JsonObject,
        *,
        expected: int | None = None,
        user: str = "",
        comment: str = "",
    ) -> StoredPlan:
        """Put another plan in its place; an approval of the old one is gone. `expected`: only if at this revision.

        Raises `RecordNotFound`, `RecordConflict`, `ReadError`.
        """
        written = await self._written(source)
        record = await self._record(plan_id)
        before = _stored(record)
        revisions = await self.history.continued(before, written.digest, by=user, comment=comment)
        data = {**record.data, **_data(written.content, revisions), "approval": None}
        changed = msgspec.structs.replace(record, name=written.plan.name, data=data)
        await self._recorded("plan.update", changed, user=user)
        try:
            kept = await self._store.put_record(changed, expected=record.version if expected is None else expected)
        except RecordConflict:
            if await self._store.get_record("plan", plan_id) is None:
                # It was deleted meanwhile: nobody else forgets what was put aside of it here.
                await self.history.forget(plan_id)
            raise
        await self.history.forget_unused(before, revisions)
        self._remember(kept, written.plan, written.weight)
        return _stored(kept)

    async def roll_back(
        self, plan_id: str, revision: int, *, expected: int | None = None, user: str = ""
    ) -> StoredPlan:
        """Make what the plan was at an earlier revision the newest one. Raises `RecordNotFound`, `RecordConflict`."""
        stored = await self.get(plan_id)
        content = await self.history.content(stored, revision)
        return await self.update(
            plan_id,
            content.source or content.plan,
            expected=stored.revision if expected is None else expected,
            user=user,
            comment=f"as revision {revision}",
        )

    async def delete(self, plan_id: str) -> bool:
        """Forget the plan; whether it was there. Its runs stay."""
        self._read.drop(plan_id)
        record = await self._store.get_record("plan", plan_id)
        if record is not None:
            await self._recorded("plan.delete", record)
        was_there = await self._store.delete_record("plan", plan_id)
        await self.history.forget(plan_id)
        return was_there

    async def _recorded(self, action: str, record: Record, *, user: str = "", **data: Any) -> None:
        """Write into the audit trail what is about to be done to a plan."""
        said = {"plan": record.name, "request": record.parent, **data}
        await self._trail.record(action, record.id, tenant=record.tenant, user=user, **said)

    # Approving.

    async def approve(
        self,
        plan_id: str,
        inputs: JsonObject | None = None,
        *,
        by: str = "",
        comment: str = "",
        expected: int | None = None,
    ) -> StoredPlan:
        """Allow the plan, as it is now, to be run with these inputs. Raises `PlanInvalid` where it could not be."""
        record = await self._record(plan_id)
        plan = await self.plan(_stored(record))
        program, _ = await self._preparation.program(plan)
        faults = check_inputs(plan, inputs or {})
        if faults:
            raise PlanInvalid(faults)
        allowed = Approval(
            digest=approval_digest(program, fill_inputs(plan, inputs or {})),
            by=by,
            at=self._clock.time(),
            comment=comment,
        )
        data = {**record.data, "approval": msgspec.to_builtins(allowed)}
        await self._recorded("plan.approve", record, user=by, digest=allowed.digest, comment=comment)
        kept = await self._store.put_record(
            msgspec.structs.replace(record, data=data), expected=record.version if expected is None else expected
        )
        self._remember(kept, plan, self._read.weight(plan_id))
        return _stored(kept)

    def approval_for(self, stored: StoredPlan, program: Program, inputs: JsonObject) -> str | None:
        """The digest of the approval that covers this start, or None where there is none and none is needed.

        Raises `PolicyViolationError` where one is needed and none covers it.
        """
        bound = approval_digest(program, inputs) if stored.approval is not None else ""
        if stored.approval is not None and stored.approval.digest == bound:
            return bound
        if not stored.requires_approval:
            return None
        what = "was approved with other inputs or tools" if stored.approval is not None else "is not approved"
        raise PolicyViolationError(
            f"The plan {stored.plan_id} {what}.",
            missing=["approval"],
            hint="A person has to approve it with the inputs that it is to be run with.",
        )


def approval_digest(program: Program, inputs: JsonObject) -> str:
    """The digest that an approval binds to: the plan, everything nested in it, its inputs and names of secrets."""
    return digest(
        {
            "plan": program.frozen,
            "bodies": program.frozen_bodies,
            "tools": program.fingerprints,
            "inputs": inputs,
            "secrets": list(program.secrets),
        }
    )


def _stored(record: Record) -> StoredPlan:
    stored = _FORM.read(record)
    if stored.revisions:
        return stored
    # Kept by an earlier version of the package, which did not say what it had been.
    content = PlanContent(plan=stored.plan, source=stored.source)
    first = PlanRevision(revision=stored.revision, digest=content_digest(content), at=stored.updated_at, by=stored.user)
    return msgspec.structs.replace(stored, revisions=(first,))


def _data(content: PlanContent, revisions: tuple[PlanRevision, ...]) -> JsonObject:
    kept: JsonObject = {"plan": content.plan, "revisions": msgspec.to_builtins(revisions)}
    return {**kept, "source": content.source}


def read_plan_document(source: str | JsonObject, most_steps: int = MAX_STEPS) -> Plan:
    """The plan that is written there: text is never a path. Raises `ReadError`, `PlanInvalid`."""
    return _read(source, most_steps)[0]


def _read(source: str | JsonObject, most_steps: int) -> tuple[Plan, str]:
    """The plan that is written there, and its text where it is one in the plan notation."""
    try:
        document, text = read_written(source, most_steps=most_steps)
    except TooManySteps as error:
        raise PlanInvalid(error.findings) from None
    plan: Any = document if isinstance(document, Plan) else document.body
    if not isinstance(plan, Plan):
        raise ReadError("The document is a tool without a plan of its own.", hint="Give a plan, or a composite.")
    if has_errors(plan.source.findings):
        # What could not be read is not in the plan: kept, it would be another plan than the one that was meant.
        raise PlanInvalid(plan.source.findings)
    return plan, text
