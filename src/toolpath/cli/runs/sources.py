"""The tools that a run began with, loaded again where this command does not name them."""

from __future__ import annotations

from pathlib import Path

from toolpath.app import Toolpath
from toolpath.cli.requests import NAMES, add_http
from toolpath.cli.session import Session
from toolpath.config import Settings
from toolpath.errors import ToolpathError
from toolpath.model.events import AnyEvent, RunStarted
from toolpath.providers.mcp.config import provider_of
from toolpath.providers.modules import is_file
from toolpath.values import JsonObject


def add_recorded(session: Session, events: list[AnyEvent]) -> None:
    """Add the modules, folders and servers that the run's first event names. What cannot be had again is told."""
    started = events[0] if events else None
    if not isinstance(started, RunStarted):
        return
    for source in started.sources.get("providers", ()):
        try:
            _add(session.tp, session.settings, source)
        except ToolpathError as error:
            session.output.tell(f"Tools that the run began with cannot be loaded again: {error}", "yellow")
    if not NAMES.isdisjoint(started.tools):
        add_http(session.tp)


def _add(tp: Toolpath, settings: Settings, source: JsonObject) -> None:
    match source:
        case {"module": str(module)} if module not in {_resolved(named) for named in settings.tools}:
            tp.add_module(module)
        case {"folder": str(folder)} if folder not in {str(Path(named).resolve()) for named in settings.folders}:
            tp.add_folder(folder)
        case {"mcp": str(name)} if name not in tp.registry.providers:
            tp.add(provider_of(source))
        case _:
            pass


def _resolved(module: str) -> str:
    return str(Path(module).resolve()) if is_file(module) else module
