"""Runs of a SQLite file that wait for a worker, each with its turn, or for people."""

from __future__ import annotations

import json
import sqlite3

from toolpath.model.open_questions import AskingRun
from toolpath.model.run import Standing
from toolpath.store.encoding import asking_run
from toolpath.store.rows import given
from toolpath.store.sqlite.file import SqliteFile
from toolpath.store.sqlite.sql import filtered


class SqliteWaitingRuns(SqliteFile):
    """Runs that wait: for a worker, or for people."""

    async def enqueue(self, run_id: str) -> bool:
        """Give the run a turn among those that wait for a worker; false where it has one."""
        return await self._write(
            lambda connection: connection.execute(self._sql.enqueue_run, {"run_id": run_id}).rowcount > 0
        )

    async def next_run(self, *, most_of_tenant: int = 0) -> str | None:
        """Take the turn of the run that comes next, and give the run's id; None where none has a turn."""
        if not await self.queued(1):
            # Without the file's lock.
            return None
        now = self._clock()

        def work(connection: sqlite3.Connection) -> str | None:
            full: list[str] = []
            if most_of_tenant:
                busy = connection.execute(self._sql.select_busy_tenants, {"most": most_of_tenant})
                full = [tenant for (tenant,) in busy]
            row = connection.execute(self._sql.select_next_run, {"full": json.dumps(full)}).fetchone()
            if row is None:
                return None
            if row["head"] != row["number"]:
                connection.execute(self._sql.move_turn, {"turn": row["turn"], "head": row["head"]})
            connection.execute(self._sql.take_turn, {"number": row["number"], "now": now})
            return str(row["run_id"])

        return await self._write(work)

    async def queued(self, limit: int) -> list[str]:
        """Ids of the runs that have a turn, the first `limit` of them."""
        values = {"limit": max(limit, 0)}
        return await self._read(
            lambda connection: [run_id for (run_id,) in connection.execute(self._sql.select_queued, values)]
        )

    async def standing(self, *, tenant: str | None = None) -> Standing:
        """How many runs have not ended, and what they wait for people to say."""
        wanted = given(tenant=tenant)

        def work(connection: sqlite3.Connection) -> Standing:
            counted = connection.execute(filtered(self._sql.select_standing, wanted), wanted)
            runs = {row["status"]: row["runs"] for row in counted}
            asked = connection.execute(filtered(self._sql.select_standing_questions, wanted), wanted)
            return Standing(runs, {row["kind"]: row["questions"] for row in asked})

        return await self._read(work)

    async def asking_runs(
        self, *, tenant: str | None = None, limit: int = 50, after: tuple[float, str] | None = None
    ) -> list[AskingRun]:
        """The runs that wait for people, longest first; `after` are `since` and id of the last of the page before."""
        wanted = given(tenant=tenant)
        since, run_id = after or (float("-inf"), "")
        values = {**wanted, "since": since, "run_id": run_id, "limit": max(limit, 0)}
        statement = filtered(self._sql.select_asking_runs, wanted)
        return await self._read(lambda connection: [asking_run(row) for row in connection.execute(statement, values)])
