"""Data sets in files and folders, told by what is in their lines; and those lines. Nothing is planned here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec

from toolpath.cli.exits import UsageError
from toolpath.cli.output import clean
from toolpath.errors import closest
from toolpath.planner.scoring.gold import LONGEST_LINE
from toolpath.planner.scoring.people.shipped import DEVELOPMENT, FOLDER, SET_ASIDE, TOOL_SETS

Kind = Literal["tasks", "tool sets", "other", "nothing", "unreadable"]
#: Names of the requests that are shipped, in place of a path: both halves, or one.
SHIPPED: Final = {
    "people": (DEVELOPMENT, SET_ASIDE),
    "people/development": (DEVELOPMENT,),
    "people/set_aside": (SET_ASIDE,),
}
FORM = 'A line of a data set is {"query": "…", "gold_plan": […]}.'


@dataclass(frozen=True, slots=True)
class DataSet:
    """Requests with gold plans in one file."""

    name: str
    shown: str
    """Its file as it can be written anywhere."""
    file: str
    tool_sets: tuple[str, ...] = ()
    """Files that hold the tool sets which its tasks may name."""


@dataclass(frozen=True, slots=True)
class DataSetList:
    """Data sets that are to be gone through."""

    sets: tuple[DataSet, ...]
    left_out: tuple[str, ...]
    """Files of folders that hold neither requests with plans nor tool sets."""


class _Fields(msgspec.Struct):
    query: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    gold_plan: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    toolset: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    tools: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_FIELDS = msgspec.json.Decoder(_Fields)


def find_data_sets(paths: Sequence[str], tool_sets: Sequence[str] = ()) -> DataSetList:
    """The data sets of files and of folders, each once, in their order.

    Files of tool sets among `paths` are for all of them; those of a folder are for the data sets of that folder.
    Raises `UsageError` for what cannot be read, holds no data set, or has no gold plans.
    """
    given: list[str] = [*tool_sets]
    files: dict[Path, tuple[str, tuple[str, ...]]] = {}
    left_out: list[str] = []
    for path in paths:
        if path in SHIPPED and not Path(path).exists():
            for name in SHIPPED[path]:
                files.setdefault(FOLDER / name, (str(FOLDER / name), (str(FOLDER / TOOL_SETS),)))
            continue
        if Path(path).is_dir():
            tasks, beside, rest = _of_folder(path)
            left_out += rest
            for file in tasks:
                files.setdefault(Path(file).resolve(), (file, beside))
            continue
        match _kind(path):
            case "tool sets":
                given.append(path)
            case "unreadable":
                raise UsageError(f"{path} is no data set: none of its lines is a JSON object.", hint=FORM)
            case "other":
                raise UsageError(f"{path} has no gold plans: nothing can be scored.", hint=FORM)
            case _:
                files.setdefault(Path(path).resolve(), (path, ()))
    if not files:
        raise UsageError("Only tool sets are named: nothing can be scored.", hint=f"Name a data set too. {FORM}")
    stems = [Path(file).stem for file, _ in files.values()]
    return DataSetList(
        sets=tuple(
            DataSet(
                readable_name(stem if stems.count(stem) == 1 else file), readable_name(file), file, (*given, *beside)
            )
            for stem, (file, beside) in zip(stems, files.values(), strict=True)
        ),
        left_out=tuple(left_out),
    )


def readable_name(name: str) -> str:
    """A file's name, which may hold any byte, as text of every encoding and without control characters."""
    return clean(name).encode("utf-8", "replace").decode()


def _of_folder(folder: str) -> tuple[list[str], tuple[str, ...], list[str]]:
    """Its data sets, its tool sets, and the files that are neither."""
    try:
        files = sorted(str(path) for path in Path(folder).iterdir() if path.suffix == ".jsonl" and path.is_file())
    except OSError as error:
        raise UsageError(f"The folder {folder} cannot be read: {error.strerror}.") from None
    kinds = {file: _kind(file) for file in files}
    tasks = [file for file, kind in kinds.items() if kind == "tasks"]
    if not tasks:
        raise UsageError(f"The folder {folder} holds no data set.", hint=f"A data set is a .jsonl file. {FORM}")
    beside = tuple(file for file, kind in kinds.items() if kind == "tool sets")
    return tasks, beside, [file for file, kind in kinds.items() if kind not in ("tasks", "tool sets")]


def _kind(file: str) -> Kind:
    """The kind of a file's lines."""
    path = Path(file)
    if path.exists() and not path.is_file():
        # A pipe can be read once, and that is for the tasks.
        return "tasks"
    kind: Kind = "nothing"
    for _, line in lines_of(file):
        try:
            fields = _FIELDS.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            kind = "unreadable" if kind == "nothing" else kind
            continue
        if fields.gold_plan is not msgspec.UNSET:
            return "tasks"
        is_tools = msgspec.UNSET not in (fields.toolset, fields.tools) and fields.query is msgspec.UNSET
        kind = "tool sets" if is_tools else "other"
        if is_tools:
            return kind
    return kind


def lines_of(file: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that hold something, with their numbers; of one that is too long, as much as says so."""
    try:
        with Path(file).open("rb") as opened:
            number = 0
            while line := opened.readline(LONGEST_LINE + 2):
                number += 1
                rest = line
                while not rest.endswith(b"\n") and (rest := opened.readline(LONGEST_LINE)):
                    pass
                if line.strip():
                    yield number, line.strip() if len(line) <= LONGEST_LINE else line
    except OSError as error:
        near: Sequence[str] = ()
        if isinstance(error, FileNotFoundError):
            near = closest(file, SHIPPED) or closest(Path(file).name, _names_beside(Path(file)))
        raise UsageError(f"{file} cannot be read: {error.strerror}.", suggestions=near) from None


def _names_beside(path: Path) -> Iterable[str]:
    try:
        return sorted(one.name for one in path.parent.iterdir())
    except OSError:
        return ()
