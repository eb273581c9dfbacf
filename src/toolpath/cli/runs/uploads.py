"""Files of this machine that are brought to runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from toolpath.app import Toolpath
from toolpath.cli.exits import UsageError
from toolpath.cli.questions import person
from toolpath.providers.run_files.folder import PIECE


async def upload_files(tp: Toolpath, files: Sequence[str]) -> str:
    """The id of an upload of these files. Raises `UsageError`, `FileRefused`."""
    upload = await tp.files.create(user=person())
    try:
        for file in files:
            await tp.files.upload(upload, Path(file).name, pieces_of(file))
    except BaseException:
        await tp.files.delete(upload)
        raise
    return upload.upload_id


async def pieces_of(file: str) -> AsyncIterator[bytes]:
    """The bytes of the file, a piece at a time. Raises `UsageError`."""
    try:
        with await asyncio.to_thread(Path(file).open, "rb") as opened:
            while piece := await asyncio.to_thread(opened.read, PIECE):
                yield piece
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}.") from None
