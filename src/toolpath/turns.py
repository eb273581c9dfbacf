"""Runs that wait, as Protocols: what a store knows of turns and questions; a queue of what nobody can read."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from toolpath.model.asking import AskingRun
from toolpath.model.run import Standing


class Turns(Protocol):
    """Runs that wait for a worker, and those that wait for people. A part of `ports.Store`."""

    async def enqueue(self, run_id: str) -> bool:
        """Give the run a turn among those that wait for a worker; false where it has one.

        Turns go round by tenant. Of one tenant's runs those that were begun come first, then those of higher priority,
        then the older ones.
        """
        ...

    async def next_run(self, *, most_of_tenant: int = 0) -> str | None:
        """Take the turn of the run that comes next, and give the run's id; None where none has a turn.

        Nobody drives it yet: whoever asked is to do so at once, or it is lost. Tenants that have `most_of_tenant` runs
        under way are passed over; 0: none are.
        """
        ...

    async def queued(self, limit: int) -> list[str]:
        """Ids of the runs that have a turn, the first `limit` of them."""
        ...

    async def standing(self) -> Standing:
        """How many runs have not ended, and what they wait for people to say."""
        ...

    async def asking_runs(
        self, *, tenant: str | None = None, limit: int = 50, after: tuple[float, str] | None = None
    ) -> list[AskingRun]:
        """The runs that wait for people, longest first; `after` are `since` and id of the last of the page before."""
        ...


@runtime_checkable
class PutsAside(Protocol):
    """A `Queue` that keeps what no worker could read."""

    async def put_aside(self) -> int:
        """How many messages lie aside. Raises `QueueError`."""
