"""`toolpath runs prune` and `toolpath backup`: letting go of old runs, keeping a copy of all."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import Output
from toolpath.cli.runs.history import check_status, row_of
from toolpath.cli.session import CommandSession, perform, settings_of
from toolpath.config import DEFAULT_STORE
from toolpath.notation.reading.durations import HINT, seconds
from toolpath.store.sqlite.backup import back_up


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """Choice of the runs that are to go."""

    older_than: str
    status: str = ""
    keep: int = 0
    dry_run: bool = False


def prune(options: GlobalOptions, asked: Pruning) -> int:
    """Delete old runs; their ids on stdout."""
    age = seconds(asked.older_than)
    if age is None:
        raise UsageError(f"{asked.older_than!r} is no time.", hint=HINT.replace("30s", "30d"))
    check_status(asked.status)

    async def work(session: CommandSession) -> int:
        gone = await session.tp.prune(age, status=asked.status or None, keep=asked.keep, dry_run=asked.dry_run)
        if options.json:
            session.output.result([row_of(info) for info in gone])
        else:
            for info in gone:
                session.output.write(info.run_id)
        done = "would be deleted" if asked.dry_run else "deleted"
        session.output.say(f"{len(gone)} run{'' if len(gone) == 1 else 's'} {done}.")
        return ExitCode.DONE

    return perform(options, work, sources=False)


def backup(options: GlobalOptions, file: str, *, force: bool) -> int:
    """Copy the store into a file, while runs go on."""
    settings = settings_of(options)
    store, output, target = settings.store or DEFAULT_STORE, Output(options), Path(file)
    if "://" in store:
        raise UsageError(
            "The store is in PostgreSQL, which has its own means.",
            hint="pg_dump --format=custom --schema=toolpath; the page on operation says how it comes back.",
        )
    if store == ":memory:" or not Path(store).is_file():
        raise UsageError(f"There is no store {store} to copy.", hint="Name it with --store.")
    if target.is_dir() or (target.exists() and target.samefile(store)):
        raise UsageError(f"{file} cannot be the copy.", hint="Name a file of its own.")
    if target.exists() and not force:
        raise UsageError(f"{file} is there already.", hint="Write over it with --force.")
    size = asyncio.run(asyncio.to_thread(back_up, Path(store), target))
    if options.json:
        output.result({"file": file, "bytes": size})
    output.say(f"{file} holds all of {store} as it was now, {size:,} bytes. Use it with --store {file}.")
    return ExitCode.DONE
