"""Where the folders of runs and uploads are: below one folder, that all processes of a store share."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, Literal, TypeVar, get_args

from toolpath.errors import ConfigError, FileRefused
from toolpath.providers.run_files.folder import PIECE, FileEntry, Folder, Quota, remove

_T = TypeVar("_T")
_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,119}")
Owner = Literal["runs", "uploads"]
OWNERS: Final[tuple[Owner, ...]] = get_args(Owner)


class Folders:
    """The folders of one store. `base`: where they are; None: nowhere, unless they last as long as this process."""

    def __init__(self, base: Path | None, quota: Quota, *, is_lasting: bool = True) -> None:
        self._base = base
        self._own: Path | None = None
        """A folder of this process alone, for a store in memory."""
        self._is_lasting = is_lasting
        self.quota = quota

    def place(self, owner: Owner, owner_id: str) -> Path:
        """Where the folder of a run or an upload is. Raises `ConfigError` where there is no place for any."""
        # An id that somebody chose may be no name of a folder.
        name = owner_id if _PLAIN.fullmatch(owner_id) else hashlib.sha256(owner_id.encode()).hexdigest()
        return self._at_hand() / owner / name

    def folder(self, owner: Owner, owner_id: str, quota: Quota | None = None) -> Folder:
        """The folder of a run or an upload."""
        return Folder(self.place(owner, owner_id), quota or self.quota)

    async def do(self, owner: Owner, owner_id: str, work: Callable[[Folder], _T], quota: Quota | None = None) -> _T:
        """Do some work in the folder, in a thread. Raises `FileRefused` where the disk cannot."""
        folder = self.folder(owner, owner_id, quota)

        def inside() -> _T:
            try:
                with folder:
                    return work(folder)
            except OSError as error:
                raise FileRefused(f"The files cannot be reached: {error.strerror or error}.") from None

        return await asyncio.to_thread(inside)

    async def copy(self, upload_id: str, name: str, run_id: str) -> FileEntry:
        """Copy a file of an upload into a run's folder, under another name where that one is taken.

        Raises `RecordNotFound`, `FileRefused`.
        """
        source, goal = self.folder("uploads", upload_id), self.folder("runs", run_id)

        def inside() -> FileEntry:
            try:
                with source, goal, source.reading(name) as handle, goal.writing(name, renames=True) as writing:
                    while piece := os.read(handle, PIECE):
                        writing.add(piece)
                    return writing.done()
            except OSError as error:
                raise FileRefused(f"The file cannot be kept: {error.strerror or error}.") from None

        return await asyncio.to_thread(inside)

    async def remove(self, owner: Owner, owner_id: str) -> None:
        """Delete the folder with all that is in it."""
        if self._base is not None or self._own is not None:
            await asyncio.to_thread(remove, self.place(owner, owner_id))

    def names(self, owner: Owner) -> Iterator[Path]:
        """The folders that are there."""
        base = self._base or self._own
        if base is not None and (base / owner).is_dir():
            yield from (base / owner).iterdir()

    def close(self) -> None:
        """Delete what lasts as long as this process."""
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)
            self._own = None

    def _at_hand(self) -> Path:
        if self._base is not None:
            return self._base
        if self._is_lasting:
            raise ConfigError(
                "There is no folder for the files of runs.",
                hint="Set files_dir to one that all processes of this store share.",
            )
        if self._own is None:
            self._own = Path(tempfile.mkdtemp(prefix="toolpath-files-"))
        return self._own
