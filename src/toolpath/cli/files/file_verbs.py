"""`toolpath files …` at work."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

from toolpath.cli.exits import ExitCode, writing
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import table
from toolpath.cli.runs.history import run_id_of
from toolpath.cli.session import CommandSession, perform
from toolpath.cli.uploads import pieces_of
from toolpath.errors import RunConflict
from toolpath.model.run import ENDED_RUN
from toolpath.providers.run_files.folder import FileEntry


def list_files(options: GlobalOptions, run: str) -> int:
    """The files, one a line."""

    async def work(session: CommandSession) -> int:
        run_id = await run_id_of(session.tp, run)
        found = [*_files(await session.tp.files.tree(run_id))]
        if options.json:
            session.output.result([{"path": each.path, "size": each.size} for each in found])
        elif not found:
            session.output.say(f"The run {run_id} has no files.", "dim")
        else:
            session.output.paragraph(table([(each.path, each.size) for each in found], ("file", "bytes")))
        return ExitCode.DONE

    return perform(options, work, sources=False)


def get_file(options: GlobalOptions, run: str, path: str, to: str) -> int:
    """Write its bytes, a piece at a time."""

    async def work(session: CommandSession) -> int:
        tp = session.tp
        run_id = await run_id_of(tp, run)
        await tp.files.entry(run_id, path)
        if not to:
            async for piece in tp.files.pieces(run_id, path):
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
            return ExitCode.DONE
        with writing(to), await asyncio.to_thread(Path(to).open, "wb") as opened:
            async for piece in tp.files.pieces(run_id, path):
                await asyncio.to_thread(opened.write, piece)
        return ExitCode.DONE

    return perform(options, work, sources=False)


def put_file(options: GlobalOptions, run: str, file: str, path: str) -> int:
    """Keep it."""

    async def work(session: CommandSession) -> int:
        tp = session.tp
        run_id = await run_id_of(tp, run)
        info = await tp.store.get_run(run_id)
        if info.status in ENDED_RUN:
            raise RunConflict(f"The run {run_id} has ended: {info.status}.", hint="Its files are as it left them.")
        entry = await tp.files.put(run_id, path or Path(file).name, pieces_of(file))
        session.output.say(f"Kept as {entry.path}: {entry.size:,} bytes.", "green")
        return ExitCode.DONE

    return perform(options, work, sources=False)


def delete_file(options: GlobalOptions, run: str, path: str) -> int:
    """Delete it."""

    async def work(session: CommandSession) -> int:
        run_id = await run_id_of(session.tp, run)
        await session.tp.files.remove(run_id, path)
        session.output.say(f"{path} is gone.", "green")
        return ExitCode.DONE

    return perform(options, work, sources=False)


def _files(entry: FileEntry) -> Iterator[FileEntry]:
    if entry.type == "file":
        yield entry
    for child in entry.children:
        yield from _files(child)
