"""`toolpath settings …` at work."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.kept import show_kept
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import table
from toolpath.cli.questions import person
from toolpath.cli.session import CommandSession, perform
from toolpath.values import encode
from toolpath.workspace.settings.stored_settings import Setting


def list_settings(options: GlobalOptions) -> int:
    """The settings, one a line."""

    async def work(session: CommandSession) -> int:
        _tell(session, options, await session.tp.stored_settings.all())
        return ExitCode.DONE

    return perform(options, work, sources=False)


def show_setting(options: GlobalOptions, name: str) -> int:
    """All that is said of one."""
    return show_kept(options, lambda tp: tp.stored_settings.get(name))


def set_settings(options: GlobalOptions, typed: Sequence[str]) -> int:
    """Store what was typed."""
    values = dict(map(_value, typed))

    async def work(session: CommandSession) -> int:
        _tell(session, options, await session.tp.stored_settings.change(values, user=person()))
        return ExitCode.DONE

    return perform(options, work, begins=True, sources=False)


def reset_settings(options: GlobalOptions, names: Sequence[str]) -> int:
    """Store these no more, or none at all."""

    async def work(session: CommandSession) -> int:
        stored = session.tp.stored_settings
        if names:
            found = await stored.change(dict.fromkeys(names), user=person())
        else:
            found = await stored.reset(user=person())
        _tell(session, options, found)
        return ExitCode.DONE

    return perform(options, work, sources=False)


def _value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"{text[:200]!r} is no setting.", hint="Write NAME=VALUE, as agent_rounds=20.")
    return name.strip(), value.strip()


def _tell(session: CommandSession, options: GlobalOptions, found: Sequence[Setting]) -> None:
    if options.json:
        session.output.result([msgspec.to_builtins(setting) for setting in found])
        return
    rows = [(each.name, encode(each.value).decode(), each.source, encode(each.default).decode()) for each in found]
    session.output.paragraph(table(rows, ("setting", "value", "from", "default")))
