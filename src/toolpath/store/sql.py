"""The statements of `queries.sql` by name, read once. No statement is written anywhere else."""

from __future__ import annotations

import functools
import re
from importlib import resources

import msgspec

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


class Queries(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One field a statement; a name that is only here or only in the file fails when it is read."""

    insert_run: str
    select_number: str
    select_run: str
    select_run_by_key: str
    select_runs: str
    select_runs_of_status: str
    select_recent_ids: str
    take_run: str
    fence: str
    fence_and_change: str
    select_fence: str
    insert_event: str
    insert_blob: str
    insert_blob_use: str
    release_run: str
    beat: str
    select_events: str
    select_blob: str
    insert_signal: str
    select_signals: str
    select_latest_signal: str
    delete_signal: str
    select_cached: str
    upsert_cached: str
    delete_cached: str
    delete_expired: str
    select_stats: str
    select_stats_of: str
    upsert_stats: str
    delete_run: str
    delete_events: str
    delete_signals: str
    delete_orphaned_blobs: str
    delete_blob_uses: str


def statements(text: str) -> dict[str, str]:
    """Name → statement of a text in which `-- name: …` lines head the statements; their comments go."""
    _, *parts = _NAME.split(text)
    return {
        name: "\n".join(line for line in body.splitlines() if not line.startswith("--")).strip()
        for name, body in zip(parts[::2], parts[1::2], strict=True)
    }


@functools.cache
def load_queries() -> Queries:
    """The statements of the SQLite store."""
    text = resources.files("toolpath.store").joinpath("queries.sql").read_text(encoding="utf-8")
    return msgspec.convert(statements(text), Queries)
