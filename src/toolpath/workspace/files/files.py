"""Files of runs and uploads: brought, read, joined to a run at its start, gone with it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from toolpath.access.trail import Trail
from toolpath.config import Settings
from toolpath.errors import (
    FileRefused,
    RecordConflict,
    RecordNotFound,
    RunConflict,
    RunNotFound,
    SchemaError,
    StoreError,
    ToolpathError,
)
from toolpath.machine import new_id
from toolpath.model.run import RunContext
from toolpath.model.upload import KIND, Upload, UploadedFile
from toolpath.ports import Store
from toolpath.providers.run_files.folder import PIECE, FileEntry, FileWriting, Folder, Quota, free_name
from toolpath.providers.run_files.folders import OWNERS, Folders
from toolpath.providers.run_files.names import as_safe_name, ending_of, parts_of
from toolpath.runs.run import Run
from toolpath.values import JsonObject
from toolpath.workspace.record_form import RecordForm

#: In a run's metadata: the names of the files that were uploaded for it.
METADATA: Final = "uploaded_files"
#: What is never taken: programs that a double click starts.
BLOCKED: Final = ("bat", "cmd", "com", "dll", "exe", "jar", "msi", "scr")
_PAGE: Final = 200
_TRIES: Final = 20
_DAY: Final = 86_400.0
#: Uploads whose files one run begins with.
_MOST_JOINED: Final = 100
_FORM = RecordForm(KIND, Upload, id="upload_id")


class Files:
    """The files of one store's runs, and the uploads."""

    def __init__(
        self,
        store: Store,
        folders: Folders,
        trail: Trail,
        settings: Settings,
        *,
        start: Callable[..., Awaitable[Run]],
    ) -> None:
        self._store = store
        self._folders = folders
        self._trail = trail
        self._settings = settings
        self._start = start
        self._beginning: set[str] = set()
        """Ids of runs whose files are being joined here."""

    # Uploads.

    async def create(self, *, tenant: str = "", user: str = "") -> Upload:
        """A new upload without files."""
        now = self._trail.clock.time()
        upload = Upload(upload_id=new_id("upload", now), tenant=tenant, user=user, created_at=now)
        return await self._keep(upload)

    async def upload(
        self, upload: Upload, name: str, content: bytes | AsyncIterable[bytes], *, media_type: str = ""
    ) -> UploadedFile:
        """Add a file to the upload; it is there as a whole or not at all. Raises `FileRefused`.

        `name` is made a safe one; where the upload has a file of that name, a number is added.
        """
        kept = as_safe_name(name)
        _check_type(kept, self._settings)
        _check_count(await self.get(upload.upload_id), self._settings)
        most = Quota(self._settings.upload_bytes, self._settings.upload_count)
        what = f"An uploaded file has at most {most.bytes:,} bytes."
        entry = await self._written("uploads", upload.upload_id, kept, content, most=most, too_much=what)
        file = UploadedFile(
            name=entry.name,
            original_name="" if name == entry.name else name[:500],
            size=entry.size,
            type=media_type[:100],
            uploaded_at=self._trail.clock.time(),
        )

        def with_it(found: Upload) -> tuple[UploadedFile, ...]:
            _check_count(found, self._settings)
            return (*found.files, file)

        try:
            await self._changed(upload.upload_id, with_it)
        except StoreError:
            # Whether it was kept nobody knows: the file goes with the upload.
            raise
        except ToolpathError as error:
            await self._folders.do("uploads", upload.upload_id, lambda folder: folder.delete(file.name))
            if isinstance(error, RecordNotFound):
                await self._folders.remove("uploads", upload.upload_id)
            raise
        return file

    async def get(self, upload_id: str, *, tenant: str | None = None) -> Upload:
        """The upload. Raises `RecordNotFound`, in the same words where it is another tenant's."""
        record = await self._store.get_record(KIND, upload_id[:200])
        if record is None or (tenant is not None and record.tenant != tenant):
            raise RecordNotFound(f"There is no upload {upload_id[:100]!r}.")
        return _FORM.read(record)

    async def newest(self, *, tenant: str | None = None, limit: int = 50, before: str | None = None) -> list[Upload]:
        """Uploads, newest first."""
        records = await self._store.list_records(KIND, tenant=tenant, limit=limit, before=before)
        return [_FORM.read(record) for record in records]

    async def delete(self, upload: Upload, name: str = "") -> None:
        """Delete one file of the upload, or all of it. Raises `RecordNotFound`. Runs keep what they were given."""
        if not name:
            await self._store.delete_record(KIND, upload.upload_id)
            await self._folders.remove("uploads", upload.upload_id)
            return
        if all(file.name != name for file in upload.files):
            raise RecordNotFound(
                f"The upload has no file {name[:200]!r}.", suggestions=[file.name for file in upload.files][:3]
            )
        await self._changed(upload.upload_id, lambda found: tuple(file for file in found.files if file.name != name))
        await self._folders.do("uploads", upload.upload_id, lambda folder: folder.delete(name))

    def uploaded(self, upload: Upload, name: str) -> AsyncIterator[bytes]:
        """The bytes of one of its files."""
        return self._pieces("uploads", upload.upload_id, name)

    async def _changed(self, upload_id: str, files: Callable[[Upload], tuple[UploadedFile, ...]]) -> None:
        for _ in range(_TRIES):
            known = await self.get(upload_id)
            with contextlib.suppress(RecordConflict):
                await self._keep(msgspec.structs.replace(known, files=files(known)), expected=known.revision)
                return
        raise RecordConflict(f"The upload {upload_id} is being changed by others.", hint="Try again.")

    async def _keep(self, upload: Upload, *, expected: int = 0) -> Upload:
        return _FORM.read(await self._store.put_record(_FORM.written(upload), expected=expected))

    # Files of a run.

    async def start(
        self,
        what: Any,
        inputs: JsonObject | None = None,
        *,
        uploads: Sequence[str],
        only: Sequence[str] | None = None,
        context: RunContext | None = None,
        run_id: str | None = None,
        start: Callable[..., Awaitable[Run]] | None = None,
        **more: Any,
    ) -> Run:
        """Begin a run as `Toolpath.start` does, with the files of these uploads in its folder from the first moment.

        `only`: names of those that are joined; None: all. `start`: what begins the run; None: as any is begun.
        The run's `metadata` has their names as `uploaded_files`, and
        agents are told them. Raises `RecordNotFound` for an upload or a name that is not there, or is another tenant's,
        and `RunConflict` where another run has the id.
        """
        context = context or RunContext()
        starts = start or self._start
        run_id = run_id or new_id("run", self._trail.clock.time())
        if run_id in self._beginning:
            raise RunConflict(f"A run {run_id!r} is being begun.", hint="Give the new run another id.")
        self._beginning.add(run_id)
        try:
            if await self._is_stored(run_id):
                # It has its files. Whether this asks for the same run says its idempotency key.
                return await starts(what, inputs, context=context, run_id=run_id, **more)
            joining = partial(self.join, run_id, uploads, tenant=context.tenant or None, only=only)
            begin = partial(starts, what, inputs, run_id=run_id, **more)
            run = await self._begun(run_id, context, joining, begin)
        finally:
            self._beginning.discard(run_id)
        if run.run_id != run_id:
            # There was a run with the same key.
            await self._folders.remove("runs", run_id)
        return run

    async def _begun(
        self,
        run_id: str,
        context: RunContext,
        joining: Callable[[], Awaitable[list[str]]],
        begin: Callable[..., Awaitable[Run]],
    ) -> Run:
        try:
            names = await joining()
            told = RunContext.from_json({**context.as_json(), "metadata": {**context.metadata, METADATA: names}})
            return await begin(context=told)
        except StoreError:
            # Whether the run was stored nobody knows yet: if not, the files go with the sweep, as they do where
            # somebody leaves off in the middle.
            raise
        except ToolpathError:
            if not await self._is_stored(run_id):
                await self._folders.remove("runs", run_id)
            raise

    async def _is_stored(self, run_id: str) -> bool:
        try:
            await self._store.get_run(run_id)
        except RunNotFound:
            return False
        return True

    async def join(
        self, run_id: str, uploads: Sequence[str], *, tenant: str | None = None, only: Sequence[str] | None = None
    ) -> list[str]:
        """Copy the files of the uploads, or those of these names alone, into the run's folder; gives their names there.

        An upload that is named twice is joined once. Raises `RecordNotFound`, and `SchemaError` for too many of them,
        before anything is copied.
        """
        distinct = dict.fromkeys(uploads)
        if len(distinct) > _MOST_JOINED:
            raise SchemaError(f"A run begins with the files of at most {_MOST_JOINED} uploads.")
        found = [await self.get(upload_id, tenant=tenant) for upload_id in distinct]
        wanted = None if only is None else _chosen(found, only)
        names: list[str] = []
        for upload in found:
            upload_id = upload.upload_id
            for file in upload.files:
                if wanted is not None and (upload_id, file.name) not in wanted:
                    continue
                name = free_name(file.name, {known.casefold() for known in names})
                await self._written("runs", run_id, name, self._pieces("uploads", upload_id, file.name))
                names.append(name)
        return names

    async def tree(self, run_id: str, path: str = "") -> FileEntry:
        """The tree of the run's folder."""
        return await self._folders.do("runs", run_id, lambda folder: folder.tree(path))

    async def entry(self, run_id: str, path: str) -> FileEntry:
        """The entry of one file. Raises `RecordNotFound`."""
        return await self._folders.do("runs", run_id, lambda folder: folder.entry(path))

    async def read(self, run_id: str, path: str, *, most: int = 1_000_000) -> bytes:
        """At most so many bytes of a file, from its begin. Raises `RecordNotFound`."""
        return await self._folders.do("runs", run_id, lambda folder: folder.read(path, most))

    def pieces(self, run_id: str, path: str) -> AsyncIterator[bytes]:
        """The bytes of a file, a piece at a time."""
        return self._pieces("runs", run_id, path)

    async def put(self, run_id: str, path: str, content: bytes | AsyncIterable[bytes]) -> FileEntry:
        """Keep a file in the run's folder, in place of one of the same path. Raises `FileRefused`, `RunNotFound`."""
        info = await self._store.get_run(run_id)
        await self._trail.record("files.put", run_id, tenant=info.tenant, path=path[:1000])
        return await self._written("runs", run_id, path, content)

    async def remove(self, run_id: str, path: str) -> None:
        """Delete a file or folder of the run. Raises `RecordNotFound`."""
        info = await self._store.get_run(run_id)
        await self._trail.record("files.delete", run_id, tenant=info.tenant, path=path[:1000])
        if not await self._folders.do("runs", run_id, lambda folder: folder.delete(path)):
            raise RecordNotFound(f"There is no file {path[:200]!r}.")

    # Retention.

    async def forget_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the files of runs that are gone."""
        for run_id in run_ids:
            await self._folders.remove("runs", run_id)

    async def sweep(self) -> int:
        """Delete uploads that are too old, and folders whose run or upload is gone for a day; gives how many."""
        now, gone = self._trail.clock.time(), 0
        old = now - self._settings.upload_days * _DAY
        late = [upload for upload in await self._all() if upload.created_at < old]
        scheduled = await self._scheduled() if late else set()
        for upload in late:
            if upload.upload_id not in scheduled:
                await self.delete(upload)
                gone += 1
        for owner in OWNERS:
            for place in await asyncio.to_thread(list, self._folders.names(owner)):
                age = now - (await asyncio.to_thread(place.stat)).st_mtime
                if age > _DAY and not await self._is_owned(owner, place.name):
                    await self._folders.remove(owner, place.name)
                    gone += 1
        return gone

    async def _scheduled(self) -> set[str]:
        """Ids of the uploads that schedules give to their runs."""
        found: set[str] = set()
        before = None
        while page := await self._store.list_records("schedule", limit=_PAGE, before=before):
            found.update(upload_id for record in page for upload_id in record.data.get("uploads", ()))
            before = page[-1].id
        return found

    async def _is_owned(self, owner: str, name: str) -> bool:
        if owner == "uploads":
            return await self._store.get_record(KIND, name) is not None
        if len(name) == 64 and not name.startswith("run_"):
            # The digest of an id that somebody chose: whose it is cannot be told.
            return True
        return await self._is_stored(name)

    async def _all(self) -> list[Upload]:
        found: list[Upload] = []
        while page := await self.newest(limit=_PAGE, before=found[-1].upload_id if found else None):
            found += page
        return found

    # Bytes, a piece at a time, each in a thread.

    async def _written(
        self,
        owner: Any,
        owner_id: str,
        path: str,
        content: bytes | AsyncIterable[bytes],
        *,
        most: Quota | None = None,
        too_much: str = "",
    ) -> FileEntry:
        parts_of(path)
        quota = self._folders.quota
        if most is not None:
            quota = Quota(quota.bytes, min(quota.count, most.count))
        folder = self._folders.folder(owner, owner_id, quota)
        stack = contextlib.ExitStack()
        size = 0
        try:
            writing = await asyncio.to_thread(_opened, stack, folder, path, renames=owner == "uploads")
            async for piece in _in_pieces(content):
                size += len(piece)
                if most is not None and size > most.bytes:
                    raise FileRefused(too_much)
                await asyncio.to_thread(writing.add, piece)
            return await asyncio.to_thread(writing.done)
        except OSError as error:
            raise FileRefused(f"The file cannot be kept: {error.strerror or error}.") from None
        finally:
            await asyncio.shield(asyncio.to_thread(stack.close))

    async def _pieces(self, owner: Any, owner_id: str, path: str) -> AsyncIterator[bytes]:
        folder = self._folders.folder(owner, owner_id)
        stack = contextlib.ExitStack()

        def open_it() -> int:
            stack.enter_context(folder)
            return stack.enter_context(folder.reading(path))

        try:
            handle = await asyncio.to_thread(open_it)
            while piece := await asyncio.to_thread(os.read, handle, PIECE):
                yield piece
        finally:
            await asyncio.shield(asyncio.to_thread(stack.close))


def _check_type(name: str, settings: Settings) -> None:
    ending = ending_of(name)
    allowed = tuple(one.lower().lstrip(".") for one in settings.upload_types)
    if ending in BLOCKED or (allowed and ending not in allowed):
        known = f"Allowed are {', '.join(allowed)}." if allowed else f"Refused are {', '.join(BLOCKED)}."
        raise FileRefused(f"Files with the ending {ending or 'of none'!r} are not taken.", hint=known)


def _check_count(upload: Upload, settings: Settings) -> None:
    if len(upload.files) >= settings.upload_count:
        raise FileRefused(f"An upload has at most {settings.upload_count} files.", hint="Begin another one.")


def _chosen(uploads: Sequence[Upload], names: Sequence[str]) -> set[tuple[str, str]]:
    """Upload and name of each file that has one of these names, or was brought under it.

    Raises `RecordNotFound`.
    """
    chosen: set[tuple[str, str]] = set()
    files = [(upload.upload_id, file) for upload in uploads for file in upload.files]
    for name in names:
        found = {(upload_id, file.name) for upload_id, file in files if file.name == name}
        found = found or {(upload_id, file.name) for upload_id, file in files if file.original_name == name}
        if not found:
            raise RecordNotFound(
                f"The upload has no file {name[:200]!r}.", suggestions=[file.name for _, file in files][:3]
            )
        chosen |= found
    return chosen


def _opened(stack: contextlib.ExitStack, folder: Folder, path: str, *, renames: bool) -> FileWriting:
    stack.enter_context(folder)
    return stack.enter_context(folder.writing(path, renames=renames))


async def _in_pieces(content: bytes | AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The content in pieces that are worth a thread each."""
    if isinstance(content, bytes):
        for begin in range(0, len(content), PIECE):
            yield content[begin : begin + PIECE]
        return
    held = bytearray()
    async for piece in content:
        held += piece
        if len(held) >= PIECE:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)
