"""Session of a command: an open `Toolpath` by the global options, with the tools of settings, files and flags."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TextIO

from toolpath.access.acting import acting
from toolpath.access.caller import EVERYTHING, Caller
from toolpath.app import Toolpath
from toolpath.cli.exits import UsageError
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import Output
from toolpath.cli.questions import person
from toolpath.cli.requests import add_http
from toolpath.config import DEFAULT_STORE, Settings, load_settings
from toolpath.ports import Provider
from toolpath.providers.source_kinds import SOURCE_KINDS
from toolpath.telemetry.telemetry import for_command
from toolpath.values import JsonObject


class CommandSession:
    """One command at work: the door, the settings and the two streams."""

    def __init__(self, tp: Toolpath, settings: Settings, output: Output) -> None:
        self.tp = tp
        self.settings = settings
        self.output = output


def settings_of(options: GlobalOptions) -> Settings:
    """The settings in force for these options. Raises `ConfigError`."""
    return load_settings(options.config or None, store=options.store, **options.sources)


def perform(
    options: GlobalOptions,
    work: Callable[[CommandSession], Coroutine[Any, Any, int]],
    *,
    journal: bool = True,
    begins: bool = False,
    sources: bool = True,
) -> int:
    """Open a session, do the work in it, close it; returns the exit code that the work gives.

    Without `sources` the store alone is opened: no module is imported, no folder read, no server known.
    Without `journal`, runs are kept in memory. A store that is not there is made only for what `begins` something.
    """

    async def inside() -> int:
        async with opened(options, journal=journal, begins=begins, sources=sources) as session:
            return await work(session)

    return asyncio.run(inside())


@asynccontextmanager
async def opened(
    options: GlobalOptions, *, journal: bool = True, begins: bool = False, sources: bool = True
) -> AsyncIterator[CommandSession]:
    """A session with all tools added; providers are asked for their tools when something needs them."""
    settings = settings_of(options)
    telemetry = for_command(settings)
    with results_alone() as results:
        output = Output(options, results)
        if telemetry.fault:
            output.tell(f"Nothing is traced: {telemetry.fault}", "yellow")
        store = store_path(settings) if journal and (begins or is_there(settings)) else None
        try:
            async with Toolpath(store, settings=settings, observer=telemetry.observer) as tp:
                if sources:
                    add_sources(tp, settings)
                    tp.registry.on_listing = _telling(output)
                with acting(Caller(user=person(), permissions=EVERYTHING, door="cli")):
                    yield CommandSession(tp, settings, output)
        finally:
            telemetry.close()


def _telling(output: Output) -> Callable[[Provider], None]:
    """Says at a terminal which server is being started: some take seconds."""

    def tell(provider: Provider) -> None:
        if output.is_live and not getattr(provider, "is_local", False):
            output.say(f"Starting the server {provider.name!r} …", "dim")

    return tell


def is_there(settings: Settings) -> bool:
    """Whether there is a store to look into, or something in its place that opening it will tell of."""
    store = settings.store or DEFAULT_STORE
    if "://" in store:
        return True
    above = Path(store).parent
    return Path(store).exists() or (above.exists() and not above.is_dir())


def store_path(settings: Settings) -> str:
    """Where the journal is: what the settings say, else a file whose folder is made."""
    store = settings.store or DEFAULT_STORE
    if "://" not in store and store != ":memory:":
        try:
            Path(store).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"The folder of the store {store} cannot be made: {error.strerror}.") from None
    return store


def add_sources(tp: Toolpath, settings: Settings, *, otherwise: JsonObject | None = None) -> None:
    """Add the modules, folders and MCP servers that the settings name, and `mcp.json` where there is one.

    `otherwise`: the built-in groups that are switched on where there are none of these.
    """
    is_empty = not settings.http
    for kind in SOURCE_KINDS:
        named = getattr(settings, kind.setting)
        if kind.is_whole:
            named = (named,) if named else ()
        for value in named or ((kind.unnamed,) if kind.unnamed and Path(kind.unnamed).is_file() else ()):
            tp.sources.add_source(kind.setting, value)
            is_empty = False
    if settings.http:
        add_http(tp)
    if is_empty and otherwise:
        tp.sources.add_source("builtin", otherwise)


@contextlib.contextmanager
def results_alone() -> Iterator[TextIO]:
    """A stream to standard output; until the end whatever else is written there goes to standard error."""
    ours = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        if not _is_descriptor(ours, 1) or not _is_descriptor(sys.stderr, 2):
            yield ours
            return
        ours.flush()
        # Below Python too: a tool's own programs inherit the descriptor.
        results = os.fdopen(os.dup(1), "w", encoding=ours.encoding, errors=ours.errors)
        os.dup2(2, 1)
        try:
            yield results
        finally:
            with contextlib.suppress(OSError):
                # What tools left in the buffer, before the descriptor is the results' again.
                ours.flush()
            os.dup2(results.fileno(), 1)
            # A reader that went away early has been noticed when it was written to.
            with contextlib.suppress(OSError):
                results.close()


def _is_descriptor(stream: TextIO, number: int) -> bool:
    try:
        return stream.fileno() == number
    except (OSError, ValueError, AttributeError, io.UnsupportedOperation):
        return False
