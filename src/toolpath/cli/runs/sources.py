"""The tools that a run began with, loaded again where this command does not name them."""

from __future__ import annotations

from toolpath.cli.requests import NAMES, add_http
from toolpath.cli.session import Session
from toolpath.errors import ToolpathError
from toolpath.model.events import AnyEvent, RunStarted


def add_recorded(session: Session, events: list[AnyEvent]) -> None:
    """Add the modules, folders and servers that the run's first event names. What cannot be had again is told."""
    started = events[0] if events else None
    if not isinstance(started, RunStarted):
        return
    for source in started.sources.get("providers", ()):
        try:
            session.tp.sources.add_recorded(source)
        except ToolpathError as error:
            session.output.tell(f"Tools that the run began with cannot be loaded again: {error}", "yellow")
    if not NAMES.isdisjoint(started.tools):
        add_http(session.tp)
