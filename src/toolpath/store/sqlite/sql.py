"""The statements of `queries.sql` by name, read once. No statement is written anywhere else."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

import msgspec

from toolpath.values import made_ready

_PARTLY_INDEXED = ("plan_id", "conversation_id", "parent", "user", "name")
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


class Queries(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One field a statement; a name that is only here or only in the file fails when it is read."""

    insert_run: str
    select_run: str
    select_run_by_key: str
    select_runs: str
    select_run_times: str
    select_lost_runs: str
    select_unqueued_runs: str
    enqueue_run: str
    select_busy_tenants: str
    select_next_run: str
    move_turn: str
    take_turn: str
    select_queued: str
    select_standing: str
    select_standing_questions: str
    select_asking_runs: str
    select_drivers: str
    select_processes: str
    select_runs_of: str
    select_recent_ids: str
    take_run: str
    fence: str
    change_run: str
    insert_event: str
    insert_blob: str
    insert_blob_use: str
    release_run: str
    beat: str
    delete_drivers: str
    select_events: str
    select_blob: str
    select_blob_part: str
    insert_signal: str
    select_signals: str
    delete_signal: str
    select_cached: str
    upsert_cached: str
    delete_cached: str
    delete_mark: str
    delete_expired: str
    select_stats: str
    select_stats_of: str
    upsert_stats: str
    upsert_record: str
    select_record: str
    select_small_record: str
    select_records: str
    delete_record: str
    insert_audit: str
    delete_audit: str
    select_last_audit: str
    select_audit: str
    select_newest_audit: str
    delete_run: str
    insert_deleted: str
    select_deleted: str
    delete_events: str
    forget_deleted: str
    delete_signals: str
    delete_run_secrets: str
    delete_orphaned_blobs: str
    delete_blob_uses: str


def statements(text: str) -> dict[str, str]:
    """Name → statement of a text in which `-- name: …` lines head the statements; their comments go."""
    _, *parts = _NAME.split(text)
    return {
        name: "\n".join(line for line in body.splitlines() if not line.startswith("--")).strip()
        for name, body in zip(parts[::2], parts[1::2], strict=True)
    }


def filtered(statement: str, wanted: Mapping[str, Any]) -> str:
    """The statement with a condition for each column that has to have a value, so that the best index serves.

    The names are columns of ours; values travel as parameters of the same names.
    """
    # Quoted, because `user` is a word of SQL. The second half lets a partial index serve.
    conditions = (
        f'AND "{name}" = :{name}' + (f" AND \"{name}\" <> ''" if value and name in _PARTLY_INDEXED else "")
        for name, value in wanted.items()
    )
    return statement.replace("/* filters */", " ".join(conditions))


@functools.cache
def load_queries() -> Queries:
    """The statements of the SQLite store."""
    text = resources.files("toolpath.store.sqlite").joinpath("queries.sql").read_text(encoding="utf-8")
    return msgspec.convert(statements(text), Queries)


made_ready(Queries)
