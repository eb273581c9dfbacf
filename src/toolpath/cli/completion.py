"""Shell completion: what is offered when a run, tool, status or plan is to be typed.

It comes while somebody types: the store is only looked into, sources are read as text, no module is imported and no
server started; whatever is away or broken offers nothing.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolpath.config import Settings

Offers = list[tuple[str, str]]
"""What may be typed, each with what it is, where there is something to say."""
Completer = Callable[[Any, str], Offers]

#: The mark of a command line whose global option still lacks its value: nothing else is to be typed there.
LACKING = "toolpath.lacking"
_PLANS = (".yaml", ".yml", ".json")
_MOST_FILES = 500


def run_completer(*statuses: str) -> Completer:
    """Ids of the newest runs, of those in these statuses where some are given, and `last`."""

    def offered(ctx: Any, incomplete: str) -> Offers:
        from toolpath.store.glance import glance_runs

        settings = _settings(ctx)
        if settings is None:
            return []
        beginning = "" if "last".startswith(incomplete) else incomplete
        rows = glance_runs(_store(settings), beginning, statuses=statuses)
        newest = [("last", "the newest run")] if rows and not statuses else []
        return newest + [(run, f"{status} {_shown(name)}".rstrip()) for run, name, status in rows]

    return offered


def status_completer(*, ended: bool = False) -> Completer:
    """The states that runs may be in; with `ended` those that are ends."""

    def offered(ctx: Any, incomplete: str) -> Offers:
        from typing import get_args

        from toolpath.model.run import ENDED_RUN, RunStatus

        return [(status, "") for status in get_args(RunStatus) if not ended or status in ENDED_RUN]

    return offered


def tools(ctx: Any, incomplete: str) -> Offers:
    """Keys of the tools that modules and folders declare, and of those that were called before."""
    from toolpath.cli.declared import declared_tools
    from toolpath.store.glance import glance_tools

    settings = _settings(ctx)
    if settings is None:
        return []
    known = {*declared_tools(settings.tools, settings.folders), *glance_tools(_store(settings), incomplete)}
    return [(key, "") for key in sorted(key for key in known if key.startswith(incomplete))]


def plans(ctx: Any, incomplete: str) -> Offers:
    """Files that may be plans, and folders on the way to them."""
    return [] if _settings(ctx) is None else list(_files(incomplete))


def plans_and_tools(ctx: Any, incomplete: str) -> Offers:
    """Plans in files, and tools."""
    return plans(ctx, incomplete) + tools(ctx, incomplete)


def _files(incomplete: str) -> Iterator[tuple[str, str]]:
    above, _, beginning = incomplete.rpartition("/")
    place = f"{above}/" if "/" in incomplete else ""
    with contextlib.suppress(OSError, ValueError), os.scandir(os.path.expanduser(place) or ".") as entries:
        fitting = (
            f"{place}{entry.name}{'/' if entry.is_dir() else ''}"
            for entry in entries
            if entry.name.startswith(beginning)
            and (beginning.startswith(".") or not entry.name.startswith("."))
            and (entry.is_dir() or entry.name.lower().endswith(_PLANS))
        )
        yield from ((name, "") for name in sorted(fitting)[:_MOST_FILES])


def _settings(ctx: Any) -> Settings | None:
    """The settings in force for what is typed so far; None where they cannot be read."""
    from toolpath.cli.options import named_sources
    from toolpath.config import load_settings
    from toolpath.errors import ToolpathError

    root = ctx.find_root()
    if root.meta.get(LACKING):
        return None
    given = root.params
    try:
        return load_settings(
            given.get("config") or None,
            store=given.get("store") or "",
            **named_sources(given),
        )
    except (ToolpathError, OSError, ValueError):
        return None


def _store(settings: Settings) -> str:
    from toolpath.config import DEFAULT_STORE

    return settings.store or DEFAULT_STORE


def _shown(name: str) -> str:
    # A plan's name comes from anywhere; a shell prints it as it is.
    return "".join(letter for letter in name if letter.isprintable() and letter not in "`$\\\"'")[:40]
