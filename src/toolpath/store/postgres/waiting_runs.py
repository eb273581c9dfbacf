"""Runs of the database that wait for a worker, each with its turn, or for people."""

from __future__ import annotations

from typing import Any

from toolpath.model.open_questions import AskingRun
from toolpath.model.run import Standing
from toolpath.store.encoding import asking_run
from toolpath.store.postgres.ground import PostgresGround
from toolpath.store.postgres.sql import bound
from toolpath.store.rows import given
from toolpath.store.sqlite.sql import filtered


class PostgresWaitingRuns(PostgresGround):
    """Runs that wait: for a worker, or for people."""

    async def enqueue(self, run_id: str) -> bool:
        """Give the run a turn among those that wait for a worker; false where it has one."""
        return await self._value(self._sql.enqueue_run, {"run_id": run_id}) is not None

    async def next_run(self, *, most_of_tenant: int = 0) -> str | None:
        """Take the turn of the run that comes next, and give the run's id; None where none has a turn."""
        values: dict[str, Any] = {"full": [], "now": self._now()}
        if not most_of_tenant:
            return await self._value(self._sql.take_turn, values)  # type: ignore[no-any-return]

        async def work(connection: Any) -> str | None:
            async with connection.transaction():
                await connection.execute(*bound(self._sql.lock_turns, {"schema": self._address.schema}))
                busy = await connection.fetch(*bound(self._sql.select_busy_tenants, {"most": most_of_tenant}))
                values["full"] = [row["tenant"] for row in busy]
                return await connection.fetchval(*bound(self._sql.take_turn, values))  # type: ignore[no-any-return]

        return await self._run(work) if await self.queued(1) else None

    async def queued(self, limit: int) -> list[str]:
        """Ids of the runs that have a turn, the first `limit` of them."""
        rows = await self._rows(self._sql.select_queued, {"limit": max(limit, 0)})
        return [row["run_id"] for row in rows]

    async def standing(self, *, tenant: str | None = None) -> Standing:
        """How many runs have not ended, and what they wait for people to say."""
        wanted = given(tenant=tenant)
        runs = await self._rows(filtered(self._sql.select_standing, wanted), wanted)
        asked = await self._rows(filtered(self._sql.select_standing_questions, wanted), wanted)
        return Standing({row["status"]: row["runs"] for row in runs}, {row["kind"]: row["questions"] for row in asked})

    async def asking_runs(
        self, *, tenant: str | None = None, limit: int = 50, after: tuple[float, str] | None = None
    ) -> list[AskingRun]:
        """The runs that wait for people, longest first; `after` are `since` and id of the last of the page before."""
        wanted = given(tenant=tenant)
        since, run_id = after or (float("-inf"), "")
        values = {**wanted, "since": since, "run_id": run_id, "limit": max(limit, 0)}
        rows = await self._rows(filtered(self._sql.select_asking_runs, wanted), values)
        return [asking_run(row) for row in rows]
