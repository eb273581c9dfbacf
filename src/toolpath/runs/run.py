"""The handle of a run that was started or taken up."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from toolpath.model.events import AnyEvent
from toolpath.model.run import RunInfo, RunResult
from toolpath.ports import Signal


class Hold(Protocol):
    """Access of a handle to its run."""

    async def result(self, run_id: str) -> RunResult:
        """The result of the run."""
        ...

    async def tell(self, run_id: str, signal: Signal) -> Run:
        """Tell the run something."""
        ...

    def watch(self, run_id: str, after: int = 0) -> AsyncIterator[AnyEvent]:
        """Its events."""
        ...


class Run:
    """A run that was started or taken up here."""

    def __init__(self, run_id: str, drives: Hold, stored: RunInfo | None = None) -> None:
        self.run_id = run_id
        self.stored = stored
        """Its row as it was stored; None where it was there already and taken up."""
        self._drives = drives

    @property
    def id(self) -> str:
        """The run's id."""
        return self.run_id

    async def result(self) -> RunResult:
        """The result, as soon as the run has ended, is paused, or waits for people alone."""
        return await self._drives.result(self.run_id)

    async def cancel(self, reason: str = "") -> None:
        """Stop it; calls under way are cut off."""
        await self._drives.tell(self.run_id, Signal(kind="cancel", data={"reason": reason}))

    async def pause(self) -> None:
        """Start nothing new in it until it is resumed."""
        await self._drives.tell(self.run_id, Signal(kind="pause"))

    def events(self) -> AsyncIterator[AnyEvent]:
        """Its events from the first one on, as they come, until it ends or waits for people alone."""
        return self._drives.watch(self.run_id)

    def __repr__(self) -> str:
        return f"Run({self.run_id!r})"
