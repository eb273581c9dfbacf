"""A schedule as it is kept: what is run when, and what came of it lately. Data only."""

from __future__ import annotations

from typing import Literal

import msgspec

from toolpath.values import JsonObject

#: What a tick does while the run of an earlier one has not ended: nothing, or begin beside it.
Overlap = Literal["skip", "allow"]
#: What becomes of ticks that nobody was there for: none of them is run, the last one, or each.
Missed = Literal["skip", "last", "all"]
TickOutcome = Literal["started", "overlapped", "missed", "failed"]


class Tick(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One time at which the schedule was due, or was run by hand."""

    at: float
    """Unix time at which it was due."""
    outcome: TickOutcome
    run_id: str = ""
    by_hand: bool = False
    error: str = ""
    """Why no run could be begun."""


class Schedule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A template or stored plan that is run at times."""

    schedule_id: str
    title: str
    template_id: str = ""
    """Of the two one is given: the template, whose published version is run, or the newest of a draft; or the plan."""
    plan_id: str = ""
    inputs: JsonObject = {}
    uploads: tuple[str, ...] = ()
    """Ids of uploads whose files each of its runs has: kept as long as the schedule has them."""
    cron: str = ""
    """Five fields, or six with seconds first; of the two one is given."""
    once: float | None = None
    """Unix time of the only tick."""
    time_zone: str = "UTC"
    overlap: Overlap = "skip"
    missed: Missed = "last"
    paused: bool = False
    next_at: float | None = None
    """Unix time of the next tick; None: there is none, or it is paused."""
    since: float = 0.0
    """Ticks up to this Unix time are dealt with."""
    ticks: tuple[Tick, ...] = ()
    """The latest, newest last."""
    last_run: str = ""
    """Id of the run that the latest tick began which began one."""
    tenant: str = ""
    user: str = ""
    """For whom it runs: who saved it last."""
    permissions: tuple[str, ...] = ()
    """With which it runs: theirs when it was saved."""
    revision: int = 0
    """One more with each change; what `expected` of a change is compared with."""
    created_at: float = 0.0
    updated_at: float = 0.0
