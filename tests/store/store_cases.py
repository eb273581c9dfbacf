"""Every store, and what the tests of the contract share. A new store is one more line in `STORES`."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path

from toolpath.model.events import AnyEvent, StepReady, StepSucceeded
from toolpath.model.run import RunInfo
from toolpath.ports import Blob, Journal, RunChange, Store
from toolpath.store.memory import MemoryStore
from toolpath.store.sqlite import SqliteStore
from toolpath.values import Handle


class Now:
    """A time that moves only when a test says so."""

    def __init__(self) -> None:
        self.at = 1_000.0

    def __call__(self) -> float:
        return self.at


STORES: dict[str, Callable[[Path, Now], Store]] = {
    "memory": lambda folder, now: MemoryStore(clock=now),
    "sqlite-file": lambda folder, now: SqliteStore(folder / "deep" / "runs.db", clock=now),
    "sqlite-memory": lambda folder, now: SqliteStore(":memory:", clock=now),
}


async def settled(outcome: Awaitable[None] | None) -> None:
    if outcome is not None:
        await outcome


async def keep(journal: Journal, *events: AnyEvent, blobs: tuple[Blob, ...] = (), **change: object) -> None:
    await settled(
        journal.append(events, blobs=blobs, change=RunChange(**change) if change else None)  # type: ignore[arg-type]
    )


async def new_run(store: Store, run_id: str = "run_1", **fields: object) -> Journal:
    await store.create_run(RunInfo(run_id=run_id, **fields))  # type: ignore[arg-type]
    return await store.drive(run_id, "host:1:a")


def ready(seq: int, path: str = "a") -> StepReady:
    return StepReady(seq, float(seq), path)


def blob(text: str) -> Blob:
    data = text.encode()
    return Blob(f"sha256:{hashlib.sha256(data).hexdigest()}", data)


def large(seq: int, kept: Blob) -> StepSucceeded:
    return StepSucceeded(seq, float(seq), "a", output=Handle(digest=kept.digest, size=len(kept.data)))
