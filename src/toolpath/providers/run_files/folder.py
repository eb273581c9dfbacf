"""One folder of files, reached by its descriptor: no link, path or device leads out of it. Blocking: for threads.

Files appear whole: they are written under a name of the house and renamed when all of it is on the disk.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets as chance
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Self

import msgspec

from toolpath.errors import FileRefused, RecordNotFound, closest
from toolpath.providers.run_files.names import OWN, parts_of

#: Bytes that are read or written at once.
PIECE: Final = 256 * 1024
#: Folders in folders that are looked into.
_DEEPEST: Final = 40
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
#: Not followed, and not waited for: a link is no file, nor is a pipe.
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Quota(msgspec.Struct, frozen=True):
    """The most that a folder may hold."""

    bytes: int
    count: int


class FileEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file or folder in a folder."""

    name: str
    path: str
    """From the folder, with slashes."""
    type: str = "file"
    """`file` or `directory`."""
    size: int = 0
    """Bytes."""
    modified_at: float = 0.0
    """Unix time."""
    children: tuple[FileEntry, ...] = ()


class Folder:
    """A folder at `root`, which is made when something is written. Use it with `with`."""

    def __init__(self, root: Path, quota: Quota) -> None:
        self._root = root
        self._quota = quota
        self._at: int | None = None

    def __enter__(self) -> Self:
        with contextlib.suppress(FileNotFoundError):
            self._at = os.open(self._root, _DIRECTORY)
        return self

    def __exit__(self, *_: object) -> None:
        if self._at is not None:
            os.close(self._at)
            self._at = None

    # Reading.

    def tree(self, path: str = "") -> FileEntry:
        """The entry at the path, folders with what is in them, in the order of names. Raises `RecordNotFound`."""
        parts = parts_of(path)
        name = parts[-1] if parts else ""
        if self._at is None:
            if parts:
                raise self._missing(path)
            return FileEntry(name="", path="", type="directory")
        with self._inside(parts) as (at, base):
            return _tree(at, base, name)

    def entries(self) -> Iterator[FileEntry]:
        """All files, in the order of their paths."""
        yield from _files(self.tree())

    def entry(self, path: str) -> FileEntry:
        """The entry of one file. Raises `RecordNotFound`, `FileRefused`."""
        with self.reading(path) as handle:
            found = os.fstat(handle)
        parts = parts_of(path)
        return FileEntry(name=parts[-1], path="/".join(parts), size=found.st_size, modified_at=found.st_mtime)

    @contextlib.contextmanager
    def reading(self, path: str) -> Iterator[int]:
        """The file, open for reading. Raises `RecordNotFound`, and `FileRefused` for what is no file of its own."""
        parts = parts_of(path)
        if not parts:
            raise FileRefused("The folder itself is no file.", hint="Name a file in it.")
        if self._at is None:
            raise self._missing(path)
        with self._inside(parts[:-1]) as (at, _):
            try:
                handle = os.open(parts[-1], _READ, dir_fd=at)
            except FileNotFoundError:
                raise self._missing(path) from None
            except OSError as error:
                raise _refused(path, error) from None
        try:
            _check_file(os.fstat(handle), path)
            yield handle
        finally:
            os.close(handle)

    def read(self, path: str, most: int) -> bytes:
        """At most so many bytes of the file, from its begin."""
        pieces, left = [], most
        with self.reading(path) as handle:
            while left > 0 and (piece := os.read(handle, min(left, PIECE))):
                pieces.append(piece)
                left -= len(piece)
        return b"".join(pieces)

    # Writing.

    def write(self, path: str, pieces: Iterable[bytes], *, replace: bool = True) -> FileEntry:
        """Keep the file, whole or not at all. Raises `FileRefused` where it is too much or cannot be there."""
        with self.writing(path, replace=replace) as writing:
            for piece in pieces:
                writing.add(piece)
            return writing.done()

    @contextlib.contextmanager
    def writing(self, path: str, *, replace: bool = True, renames: bool = False) -> Iterator[FileWriting]:
        """A file that is being written, and that is nowhere to be seen before it is `done`.

        `renames`: where the name is taken by then, a number is added.
        """
        parts = parts_of(path)
        if not parts:
            raise FileRefused("A file needs a name.")
        self._make()
        with self._inside(parts[:-1], make=True) as (at, _):
            goal = _Goal(self, parts, at, replace=replace, renames=renames)
            room = self._room(goal)
            temporary = f"{OWN}{chance.token_hex(8)}"
            handle = os.open(temporary, _WRITE, 0o600, dir_fd=at)
            try:
                yield FileWriting(handle, room, goal, temporary)
            finally:
                os.close(handle)
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=at)

    def settle(self, temporary: str, size: int, goal: _Goal) -> tuple[str, ...]:
        """Have what was written be there under its name, if there is room now; gives the path."""
        with self._alone():
            # Others have written meanwhile.
            if size > self._room(goal):
                raise _full()
            parts = goal.parts
            if goal.renames:
                parts = (*parts[:-1], free_name(parts[-1], {name.casefold() for name in os.listdir(goal.at)}))
            try:
                os.rename(temporary, parts[-1], src_dir_fd=goal.at, dst_dir_fd=goal.at)
            except OSError as error:
                raise _refused("/".join(parts), error) from None
            return parts

    def _room(self, goal: _Goal) -> int:
        """Bytes that the file may have. Raises `FileRefused` where it cannot be there."""
        used = self.used()
        before = None if goal.renames else _size_of(goal.parts[-1], goal.at, "/".join(goal.parts), replace=goal.replace)
        if before is None and used.count >= self._quota.count:
            raise FileRefused(f"The folder has {used.count:,} files, which is the most.", hint="Delete some.")
        return self._quota.bytes - used.bytes + (before or 0)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process or thread settles a file in the folder meanwhile, where its disk has locks."""
        assert self._at is not None
        with contextlib.suppress(OSError):
            fcntl.flock(self._at, fcntl.LOCK_EX)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                fcntl.flock(self._at, fcntl.LOCK_UN)

    def delete(self, path: str) -> bool:
        """Delete the file, or the folder with all that is in it; whether it was there."""
        parts = parts_of(path)
        if not parts:
            raise FileRefused("The folder itself goes with its run.", hint="Name what is to be deleted.")
        if self._at is None:
            return False
        try:
            with self._inside(parts[:-1]) as (at, _):
                _delete(parts[-1], at)
        except (RecordNotFound, FileNotFoundError):
            return False
        return True

    def used(self) -> Quota:
        """Bytes and files that are there."""
        if self._at is None:
            return Quota(0, 0)
        total = count = 0
        for entry in _files(_tree(self._at, (), "")):
            total, count = total + entry.size, count + 1
        return Quota(total, count)

    # What was done, for calls that are made again after a crash.

    def note(self, key: str, text: bytes) -> None:
        """Keep what is said under this key of the house's own."""
        self._make()
        assert self._at is not None
        temporary = f"{OWN}{chance.token_hex(8)}"
        handle = os.open(temporary, _WRITE, 0o600, dir_fd=self._at)
        try:
            os.write(handle, text)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.rename(temporary, f"{OWN}{key}", src_dir_fd=self._at, dst_dir_fd=self._at)

    def noted(self, key: str) -> bytes | None:
        """The note under the key."""
        if self._at is None:
            return None
        try:
            handle = os.open(f"{OWN}{key}", _READ, dir_fd=self._at)
        except FileNotFoundError:
            return None
        try:
            return os.read(handle, PIECE)
        finally:
            os.close(handle)

    def _make(self) -> None:
        if self._at is None:
            self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._at = os.open(self._root, _DIRECTORY)

    @contextlib.contextmanager
    def _inside(self, parts: tuple[str, ...], *, make: bool = False) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The descriptor of a folder inside, found name by name. Raises `RecordNotFound`, `FileRefused`."""
        assert self._at is not None
        at = os.dup(self._at)
        try:
            for depth, name in enumerate(parts, 1):
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, 0o700, dir_fd=at)
                try:
                    inner = os.open(name, _DIRECTORY, dir_fd=at)
                except FileNotFoundError:
                    raise self._missing("/".join(parts[:depth])) from None
                except OSError as error:
                    raise _refused("/".join(parts[:depth]), error) from None
                os.close(at)
                at = inner
            yield at, parts
        finally:
            os.close(at)

    def _missing(self, path: str) -> RecordNotFound:
        known = [] if self._at is None else [entry.path for entry in _files(_tree(self._at, (), ""))]
        return RecordNotFound(f"There is no file {path[:200]!r}.", suggestions=closest(path[:200], known))


class _Goal:
    """Where a file is to be: `parts` of its path in `folder`, and the descriptor of the folder right above it."""

    def __init__(self, folder: Folder, parts: tuple[str, ...], at: int, *, replace: bool, renames: bool) -> None:
        self.folder = folder
        self.parts = parts
        self.at = at
        self.replace = replace
        self.renames = renames


class FileWriting:
    """A file that is being written."""

    def __init__(self, handle: int, room: int, goal: _Goal, temporary: str) -> None:
        self._handle = handle
        self._room = room
        self._goal = goal
        self._temporary = temporary
        self.size = 0

    def add(self, piece: bytes) -> None:
        """Write more of it. Raises `FileRefused` where the folder is full."""
        self.size += len(piece)
        if self.size > self._room:
            raise _full()
        view = memoryview(piece)
        while view:
            view = view[os.write(self._handle, view) :]

    def done(self) -> FileEntry:
        """All of it is written: now it is there. Raises `FileRefused` where others have filled the folder meanwhile."""
        os.fsync(self._handle)
        parts = self._goal.folder.settle(self._temporary, self.size, self._goal)
        os.fsync(self._goal.at)
        modified = os.fstat(self._handle).st_mtime
        return FileEntry(name=parts[-1], path="/".join(parts), size=self.size, modified_at=modified)


def free_name(name: str, taken: set[str]) -> str:
    """The name, with a number where it is taken. `taken`: names without regard to capitals."""
    if name.casefold() not in taken:
        return name
    stem, dot, ending = name.rpartition(".")
    for number in range(2, len(taken) + 3):
        found = f"{stem} ({number}){dot}{ending}" if dot and stem else f"{name} ({number})"
        if found.casefold() not in taken:
            return found
    raise AssertionError("so many names cannot be taken")


def _full() -> FileRefused:
    return FileRefused("The folder has no room for the file.", hint="Delete files, or raise the limit run_files_bytes.")


def _check_file(found: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise FileRefused(f"{path[:200]!r} is no file, but a folder, link or device.")
    if found.st_nlink > 1:
        # It may be a file of somebody else, by another name.
        raise FileRefused(f"{path[:200]!r} is a link to a file.")


def _size_of(name: str, at: int, path: str, *, replace: bool) -> int | None:
    """Bytes of the file that is there. Raises `FileRefused` for what a file does not replace."""
    try:
        found = os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        _refuse_alike(name, at, path)
        return None
    if stat.S_ISDIR(found.st_mode):
        raise FileRefused(f"{path[:200]!r} is a folder.")
    if not replace:
        raise FileRefused(f"There is a file {path[:200]!r} already.", hint="Give it another name.")
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def _refuse_alike(name: str, at: int, path: str) -> None:
    """Two names that differ in capitals alone are one on some systems."""
    folded = name.casefold()
    for other in os.listdir(at):
        if other != name and other.casefold() == folded:
            raise FileRefused(f"{path[:200]!r} differs from the file {other!r} in capitals alone.")


def _refused(path: str, error: OSError) -> FileRefused:
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO):
        return FileRefused(f"{path[:200]!r} is, or leads through, what is no file or folder of its own.")
    return FileRefused(f"{path[:200]!r} cannot be used: {error.strerror or error}.")


def _tree(at: int, base: tuple[str, ...], name: str) -> FileEntry:
    """The folder with what is in it; links, devices and what the house keeps are left out."""
    children: list[FileEntry] = []
    names = sorted(os.listdir(at)) if len(base) < _DEEPEST else []
    for each in names:
        if each.startswith(OWN) or not _is_text(each):
            continue
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            # Else somebody has taken it away just now.
            children += _entry(each, at, (*base, each))
    return FileEntry(
        name=name,
        path="/".join(base),
        type="directory",
        modified_at=os.fstat(at).st_mtime,
        children=tuple(children),
    )


def _entry(name: str, at: int, parts: tuple[str, ...]) -> tuple[FileEntry, ...]:
    about = os.stat(name, dir_fd=at, follow_symlinks=False)
    if stat.S_ISDIR(about.st_mode):
        inner = os.open(name, _DIRECTORY, dir_fd=at)
        try:
            return (_tree(inner, parts, name),)
        finally:
            os.close(inner)
    if stat.S_ISREG(about.st_mode) and about.st_nlink == 1:
        return (FileEntry(name=name, path="/".join(parts), size=about.st_size, modified_at=about.st_mtime),)
    return ()


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _files(entry: FileEntry) -> Iterator[FileEntry]:
    if entry.type == "file":
        yield entry
    for child in entry.children:
        yield from _files(child)


def _delete(name: str, at: int) -> None:
    """Delete what has the name; of a link itself, never what it leads to."""
    if stat.S_ISDIR(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
        shutil.rmtree(name, dir_fd=at)
    else:
        os.unlink(name, dir_fd=at)


def remove(root: Path) -> None:
    """Delete a folder with all that is in it, where it is there. What it links to stays."""
    with contextlib.suppress(FileNotFoundError):
        above = os.open(root.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _delete(root.name, above)
        finally:
            os.close(above)
