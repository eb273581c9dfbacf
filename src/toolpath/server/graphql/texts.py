"""Plans and executions that clients keep as two texts, in records of their own; and stored plans shown as such."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

import msgspec
import strawberry
from graphql import GraphQLError

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.errors import RecordConflict, RecordNotFound, RunNotFound
from toolpath.machine import new_id
from toolpath.model.record import Record
from toolpath.model.run import RunInfo
from toolpath.model.stored import StoredPlan
from toolpath.server.graphql.types import Execution, Plan, moment, text
from toolpath.server.visibility import visible_plan, visible_run

Kind = Literal["plan", "execution"]
_KINDS = {"plan": "plan_text", "execution": "execution_text"}
#: The most that is looked through for one page.
FARTHEST = 1_000
_LONGEST = 1_000_000
_T = TypeVar("_T", Plan, Execution)


async def kept(tp: Toolpath, caller: Caller, kind: Kind, input: str, output: str) -> Record:
    """Keep two texts."""
    _check(input, output)
    now = tp.clock.time()
    data = {"input": input, "output": output, "user": caller.user}
    record = Record(kind=_KINDS[kind], id=new_id(kind, now), tenant=caller.tenant, data=data)
    return await tp.store.put_record(record, expected=0)


async def found(tp: Toolpath, caller: Caller, kind: Kind, id: str) -> Record | None:
    """The texts of that id that are the caller's to see."""
    record = await tp.store.get_record(_KINDS[kind], id)
    return record if record is not None and caller.sees(record.tenant) else None


async def changed(tp: Toolpath, record: Record, input: str | None, output: str | None) -> Record:
    """Put other texts in place of those given. Raises `RecordConflict` where somebody else did so meanwhile."""
    given = {name: value for name, value in (("input", input), ("output", output)) if value is not None}
    _check(*given.values())
    data = {**record.data, **given}
    return await tp.store.put_record(msgspec.structs.replace(record, data=data), expected=record.version)


async def forgotten(tp: Toolpath, kind: Kind, id: str) -> bool:
    """Forget the texts; whether they were there."""
    return await tp.store.delete_record(_KINDS[kind], id)


async def listed(tp: Toolpath, caller: Caller, kind: Kind, limit: int) -> list[Record]:
    """The newest first."""
    return await tp.store.list_records(_KINDS[kind], tenant=caller.of_tenant, limit=limit)


def page(items: list[_T], limit: int, offset: int) -> list[_T]:
    """The part of a list, newest first, that was asked for."""
    return sorted(items, key=lambda item: (item.created_at, item.id), reverse=True)[offset : offset + limit]


def reach(limit: int, offset: int) -> int:
    """How many are looked at for this page. Raises `GraphQLError` for one that cannot be given."""
    if limit < 0 or offset < 0:
        raise GraphQLError("limit and offset must not be negative.", extensions={"code": "invalid_request"})
    if limit > 100 or limit + offset > FARTHEST:
        message = f"A page has at most 100 entries, of the newest {FARTHEST:,}."
        raise GraphQLError(message, extensions={"code": "too_large"})
    return limit + offset


def shown(record: Record, make: Callable[..., _T]) -> _T:
    """The texts as GraphQL shows them."""
    return make(
        id=strawberry.ID(record.id),
        input=str(record.data.get("input", "")),
        output=str(record.data.get("output", "")),
        created_at=moment(record.created_at),
        updated_at=moment(record.updated_at),
    )


def plan_as_texts(stored: StoredPlan) -> Plan:
    """A stored plan: what was asked for, and the plan in its notation."""
    return Plan(
        id=strawberry.ID(stored.plan_id),
        input=stored.request,
        output=text(stored.plan),
        created_at=moment(stored.created_at),
        updated_at=moment(stored.updated_at),
    )


async def their_plan(tp: Toolpath, caller: Caller, plan_id: str) -> StoredPlan | None:
    """The stored plan, where there is one that is the caller's to see."""
    try:
        return await visible_plan(tp, caller, plan_id)
    except RecordNotFound:
        return None


async def their_run(tp: Toolpath, caller: Caller, run_id: str) -> RunInfo | None:
    """The run's row, where there is one that is the caller's to see."""
    try:
        return await visible_run(tp, caller, run_id)
    except RunNotFound:
        return None


def missing(kind: Kind) -> RecordNotFound:
    """The error of the chaining system for what is not there."""
    return RecordNotFound("Plan not found" if kind == "plan" else "Execution not found")


def refused(what: str, hint: str) -> RecordConflict:
    """The error for what cannot be changed."""
    return RecordConflict(what, hint=hint)


def _check(*texts: str) -> None:
    if any(len(given) > _LONGEST for given in texts):
        message = f"A text has at most {_LONGEST:,} characters."
        raise GraphQLError(message, extensions={"code": "too_large"})
