"""Files of this machine that are brought to runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from toolpath.app import Toolpath
from toolpath.cli.exits import UsageError
from toolpath.model.forms import field_type
from toolpath.providers.run_files.folder import PIECE
from toolpath.values import JsonObject


async def upload_files(tp: Toolpath, files: Sequence[str], *, tenant: str = "", user: str = "") -> str:
    """The id of an upload of these files. Raises `UsageError`, `FileRefused`."""
    upload = await tp.files.create(tenant=tenant, user=user)
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


async def with_files(tp: Toolpath, run_id: str, form: JsonObject, values: JsonObject, *, user: str = "") -> JsonObject:
    """The answers to a form, with uploads of the files of this machine that fields of files name.

    Raises `UsageError`, `FileRefused`.
    """
    found = dict(values)
    for field in form.get("inputs") or []:
        name = str(field.get("name"))
        file = values.get(name, values.get(str(field.get("label"))))
        if field_type(field).is_file and isinstance(file, str) and file:
            tenant = (await tp.store.get_run(run_id)).tenant
            found.pop(str(field.get("label")), None)
            found[name] = {"upload_id": await upload_files(tp, [file], tenant=tenant, user=user)}
    return found
