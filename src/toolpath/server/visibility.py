"""Visibility for a caller. A thing of another tenant is as if it were not there, in words too."""

from __future__ import annotations

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.errors import RecordNotFound, RunNotFound, closest
from toolpath.model.run import RunInfo
from toolpath.model.stored import StoredPlan
from toolpath.model.sub_plan import split_plan_id

#: How many of a caller's newest runs are looked through for what they may have meant.
_LOOKED_AT = 200


async def visible_run(tp: Toolpath, caller: Caller, run_id: str) -> RunInfo:
    """The run's row, for the id of a plan inside it too. Raises `RunNotFound`, also where it is not theirs."""
    try:
        info = await tp.store.get_run(split_plan_id(run_id)[0])
    except RunNotFound:
        raise await _no_run(tp, caller, run_id) from None
    if not caller.sees(info.tenant):
        raise await _no_run(tp, caller, run_id)
    return info


async def _no_run(tp: Toolpath, caller: Caller, run_id: str) -> RunNotFound:
    theirs = await tp.store.list_runs(tenant=caller.of_tenant, limit=_LOOKED_AT)
    near = closest(run_id[:100], [info.run_id for info in theirs], threshold=0.8)
    return RunNotFound(f"There is no run {run_id[:100]!r}.", suggestions=near)


def may_read_prompts(caller: Caller, user: str) -> bool:
    """Whether what a model was told for that user, and what it wrote, is for the caller: who asked, and `admin`."""
    return caller.may("admin") or (bool(user) and user == caller.user)


async def visible_plan(tp: Toolpath, caller: Caller, plan_id: str) -> StoredPlan:
    """The stored plan. Raises `RecordNotFound`, in the same words where it is not theirs."""
    stored = await tp.plans.get(plan_id)
    if not caller.sees(stored.tenant):
        raise RecordNotFound(f"There is no plan {plan_id[:100]!r}.")
    return stored


async def visible_request(tp: Toolpath, caller: Caller, request_id: str) -> None:
    """Raise `RecordNotFound` where there is no such request, or where it is not theirs."""
    await tp.plans.request(request_id, tenant=caller.of_tenant)
