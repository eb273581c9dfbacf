"""The statements of `queries.sql` by name, read once, and how they are given their values."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

import msgspec

from toolpath.store.sqlite.sql import statements
from toolpath.values import made_ready

# A colon that is no part of a cast.
_TABLE = re.compile(
    r"\b(FROM|JOIN|INTO|UPDATE|TABLE)\s+"
    r"(runs|listed|drivers|events|blobs|blob_uses|signals|cache|tool_stats|records|audit_inbox|audit)\b"
)
_PARAMETER = re.compile(r"(?<![:\w]):(\w+)")


class Queries(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One field a statement; a name that is only here or only in the file fails when it is read."""

    insert_run: str
    select_inserted: str
    select_run: str
    select_last_seq: str
    select_run_by_key: str
    select_runs: str
    select_run_times: str
    select_lost_runs: str
    select_unqueued_runs: str
    enqueue_run: str
    lock_turns: str
    select_busy_tenants: str
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
    append: str
    tell: str
    select_fence: str
    release_run: str
    beat: str
    hold_presence: str
    delete_drivers: str
    select_times: str
    select_events: str
    select_blob: str
    select_blob_part: str
    insert_signal: str
    select_signals: str
    delete_signals: str
    select_cached: str
    upsert_cached: str
    replace_mark: str
    delete_cached: str
    delete_expired: str
    select_stats: str
    insert_stats: str
    select_stats_of: str
    update_stats: str
    insert_record: str
    update_record: str
    select_record: str
    select_records: str
    delete_record: str
    insert_audit_inbox: str
    select_is_kept: str
    select_is_unlinked: str
    count_unlinked: str
    select_audit_inbox: str
    delete_audit_inbox: str
    commit_soon: str
    lock_audit: str
    insert_audit: str
    delete_audit: str
    select_last_audit: str
    select_audit_of: str
    select_audit: str
    select_newest_audit: str
    delete_runs: str
    delete_run_events: str
    delete_run_signals: str
    lock_blobs: str
    delete_run_secrets: str
    delete_orphaned_blobs: str
    delete_blob_uses: str


@functools.cache
def load_queries(schema: str = "") -> Queries:
    """The statements of the PostgreSQL store, with the schema before each table where one is given.

    A pooler between this process and the server may say where tables are looked for: nothing is left to that.
    """
    text = resources.files("toolpath.store.postgres").joinpath("queries.sql").read_text(encoding="utf-8")
    found = statements(text)
    if schema:
        found = {name: _TABLE.sub(rf'\1 "{schema}".\2', statement) for name, statement in found.items()}
    return msgspec.convert(found, Queries)


@functools.lru_cache(maxsize=512)
def numbered(statement: str) -> tuple[str, tuple[str, ...]]:
    """The statement with `$1`, `$2`, … in place of its named parameters, and their names in that order."""
    names: dict[str, int] = {}
    text = _PARAMETER.sub(lambda found: f"${names.setdefault(found[1], len(names) + 1)}", statement)
    return text, tuple(names)


def bound(statement: str, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """The numbered statement and, after it, its values: what a connection's methods take."""
    text, names = numbered(statement)
    return (text, *(values[name] for name in names))


made_ready(Queries)
