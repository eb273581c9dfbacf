"""Commands on what people keep: its records are listed, shown, added, changed and forgotten, whatever the noun is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import msgspec

from toolpath.app import Toolpath
from toolpath.cli.exits import ExitCode
from toolpath.cli.options import GlobalOptions
from toolpath.cli.session import CommandSession, perform

Record = TypeVar("Record", bound=msgspec.Struct)


def list_kept(
    options: GlobalOptions,
    find: Callable[[Toolpath], Awaitable[Sequence[Record]]],
    row: Callable[[Record], tuple[Any, ...]],
    *,
    header: tuple[str, ...],
    none: str,
) -> int:
    """Print the records, one a row; `none` where there are none."""

    async def work(session: CommandSession) -> int:
        session.output.records(await find(session.tp), row=row, header=header, none=none)
        return ExitCode.DONE

    return perform(options, work, sources=False)


def show_kept(options: GlobalOptions, get: Callable[[Toolpath], Awaitable[msgspec.Struct]]) -> int:
    """Print all that is kept of one."""

    async def work(session: CommandSession) -> int:
        session.output.result(msgspec.to_builtins(await get(session.tp)))
        return ExitCode.DONE

    return perform(options, work, sources=False)


def add_kept(
    options: GlobalOptions,
    add: Callable[[Toolpath], Awaitable[Record]],
    told: Callable[[Record], str],
    *,
    sources: bool = False,
) -> int:
    """Keep one. With `sources`, the tools of the settings are there meanwhile."""

    async def work(session: CommandSession) -> int:
        made = await add(session.tp)
        session.output.done(told(made), made)
        return ExitCode.DONE

    return perform(options, work, begins=True, sources=sources)


def change_kept(
    options: GlobalOptions,
    get: Callable[[Toolpath], Awaitable[Record]],
    change: Callable[[Toolpath, Record], Awaitable[Record]],
    told: Callable[[Record], str],
) -> int:
    """Change the one that `get` finds."""

    async def work(session: CommandSession) -> int:
        made = await change(session.tp, await get(session.tp))
        session.output.done(told(made), made)
        return ExitCode.DONE

    return perform(options, work, sources=False)


def forget_kept(
    options: GlobalOptions,
    get: Callable[[Toolpath], Awaitable[Record]],
    forget: Callable[[Toolpath, Record], Awaitable[object]],
    name: Callable[[Record], str],
) -> int:
    """Forget the one that `get` finds, and tell its name."""

    async def work(session: CommandSession) -> int:
        known = await get(session.tp)
        await forget(session.tp, known)
        session.output.say(f"{name(known)} is gone.", "green")
        return ExitCode.DONE

    return perform(options, work, sources=False)
