"""`toolpath keys create|list|revoke`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from toolpath.access.keys import Key, Keys
from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import table
from toolpath.cli.session import CommandSession, perform
from toolpath.notation.reading.durations import HINT, seconds


def create_key(options: GlobalOptions, name: str, scopes: list[str], lasts: str, who: dict[str, Any]) -> int:
    """Make a key; its text goes to stdout alone, so that it can be put where it belongs."""
    duration = seconds(lasts)
    if duration is None:
        raise UsageError(f"{lasts!r} is no time.", hint=HINT)

    async def work(session: CommandSession) -> int:
        keys = _keys(session)
        key, text = await keys.create(name=name, scopes=scopes, lasts=duration or None, **who)
        if options.json:
            session.output.result({**_shown(key), "key": text})
            return ExitCode.DONE
        session.output.say(f"{key.id} opens {', '.join(key.scopes)} {_until(key)}. It is shown this once:")
        session.output.result(text)
        return ExitCode.DONE

    return perform(options, work, begins=True, sources=False)


def list_keys(options: GlobalOptions, tenant: str) -> int:
    """The keys, one a line."""

    async def work(session: CommandSession) -> int:
        found = await _keys(session).list(tenant=tenant or None)
        now = session.tp.clock.time()
        if options.json:
            session.output.result([{**_shown(key), "state": key.state(now)} for key in found])
        elif not found:
            session.output.say("No keys.", "dim")
        else:
            rows = [(k.id, k.state(now), k.name, k.tenant, k.user, " ".join(k.scopes), _until(k)) for k in found]
            session.output.paragraph(table(rows, ("key", "state", "name", "tenant", "user", "scopes", "lasts")))
        return ExitCode.DONE

    return perform(options, work, sources=False)


def revoke_key(options: GlobalOptions, key_id: str) -> int:
    """Let a key open nothing any more."""

    async def work(session: CommandSession) -> int:
        key = await _keys(session).revoke(key_id)
        if options.json:
            session.output.result({**_shown(key), "state": "revoked"})
        session.output.say(f"{key.id} ({key.name}) opens nothing any more.")
        return ExitCode.DONE

    return perform(options, work, sources=False)


def _keys(session: CommandSession) -> Keys:
    return Keys(session.tp.store, session.tp.clock, session.tp.trail)


def _shown(key: Key) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(key)
    return shown


def _until(key: Key) -> str:
    if key.expires_at is None:
        return "for ever"
    return f"until {datetime.fromtimestamp(key.expires_at, UTC):%Y-%m-%d %H:%M}Z"
