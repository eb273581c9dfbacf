"""`toolpath audit list|export|verify|prune`."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from toolpath.access.pruned import prune_trail
from toolpath.access.verifying import entries_of, verify
from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import short, table
from toolpath.cli.session import CommandSession, perform
from toolpath.model.record import AuditEntry
from toolpath.notation.reading.durations import HINT, seconds


def list_entries(options: GlobalOptions, limit: int, *, tenant: str, subject: str) -> int:
    """The newest entries, one a line."""

    async def work(session: CommandSession) -> int:
        newest: deque[AuditEntry] = deque(maxlen=limit)
        async for entry in entries_of(session.tp.store, tenant=tenant or None):
            if not subject or entry.subject == subject:
                newest.append(entry)
        if options.json:
            session.output.result([msgspec.to_builtins(entry) for entry in newest])
        elif not newest:
            session.output.say("Nothing was done yet.")
        else:
            rows = [(e.seq, _when(e), e.user, e.action, e.subject, short(e.data, 100)) for e in newest]
            session.output.paragraph(table(rows, ("entry", "when", "who", "did", "to", "with")))
        return ExitCode.DONE

    return perform(options, work, sources=False)


def export_entries(options: GlobalOptions, *, tenant: str, after: int) -> int:
    """All entries, one a line of JSON."""

    async def work(session: CommandSession) -> int:
        async for entry in entries_of(session.tp.store, tenant=tenant or None, after=after):
            session.output.line(entry)
        return ExitCode.DONE

    return perform(options, work, sources=False)


def verify_trail(options: GlobalOptions, against: str) -> int:
    """Say whether the trail is whole."""
    noted = _noted(Path(against)) if against else {}

    async def work(session: CommandSession) -> int:
        verdict = await verify(session.tp.store, noted=noted)
        if options.json:
            session.output.result({**msgspec.to_builtins(verdict), "good": verdict.good})
        for fault in verdict.faults:
            session.output.tell(fault, "red")
        for run_id in verdict.unended:
            session.output.tell(f"The run {run_id} has ended, and its end is not in the trail.", "yellow")
        if verdict.unlinked:
            some = "entry was" if verdict.unlinked == 1 else "entries were"
            session.output.tell(f"{verdict.unlinked} {some} kept, and in no chain before this.", "yellow")
        if verdict.good:
            session.output.say(
                f"{verdict.entries} entries, none changed, removed or moved. Head: {verdict.head or '-'}"
            )
        return ExitCode.DONE if verdict.good else ExitCode.FAILED

    return perform(options, work, sources=False)


def prune_entries(options: GlobalOptions, older_than: str, *, dry_run: bool) -> int:
    """Let go of old entries; how many on stdout."""
    age = seconds(older_than)
    if age is None:
        raise UsageError(f"{older_than!r} is no time.", hint=HINT.replace("30s", "400d"))

    async def work(session: CommandSession) -> int:
        tp = session.tp
        if not tp.trail.is_kept:
            raise UsageError(
                "The audit trail is not written, so nothing could tell what went.", hint="The setting is audit."
            )
        count = await prune_trail(tp.store, tp.trail, before=tp.clock.time() - age, dry_run=dry_run)
        if options.json:
            session.output.result({"entries": count, "dry_run": dry_run})
        else:
            done = "would be let go of" if dry_run else "let go of"
            session.output.write(f"{count} entr{'y' if count == 1 else 'ies'} {done}.")
        return ExitCode.DONE

    return perform(options, work, sources=False)


def _noted(file: Path) -> dict[int, str]:
    decoder = msgspec.json.Decoder(AuditEntry)
    try:
        entries = [decoder.decode(line) for line in file.read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}.") from None
    except msgspec.MsgspecError as error:
        raise UsageError(f"{file} is no export of the trail: {error}.") from None
    return {entry.seq: entry.digest for entry in entries}


def _when(entry: AuditEntry) -> str:
    return f"{datetime.fromtimestamp(entry.at, UTC):%Y-%m-%d %H:%M:%S}Z"
