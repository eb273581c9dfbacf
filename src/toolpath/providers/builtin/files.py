"""The group `files`: tools that work in the folder of the run, and nowhere else.

What changes a file is noted beside it under the call's key, before and after: a call that is made again after a crash
finds that it has happened, and does not happen twice.
"""

from __future__ import annotations

import fnmatch
import hashlib
import threading
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

import msgspec

from toolpath.errors import FileRefused, RecordNotFound, ToolFailed, ToolpathError
from toolpath.model.tool import Body, Tool
from toolpath.providers.builtin.groups import BuiltinGroup, options_of
from toolpath.providers.builtin.tables import SEPARATORS, table_text
from toolpath.providers.run_files.folder import FileEntry, Folder
from toolpath.providers.run_files.folders import Folders
from toolpath.providers.surroundings import Surroundings
from toolpath.values import Json, JsonObject

#: Calls on one file of which it is noted that they were made.
_NOTED: Final = 200
#: Matches of a search, entries of a list.
_MOST_FOUND: Final = 1_000
_LONGEST_LINE: Final = 2_000
#: Of one run's calls that change a file one at a time does: runs share these.
_LOCKS: Final = tuple(threading.Lock() for _ in range(64))


class FilesOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the group `files`."""

    read_lines: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 500
    """The most lines that one call reads."""
    read_chars: Annotated[int, msgspec.Meta(ge=100, le=10_000_000)] = 100_000
    """The most characters that one call reads."""
    max_bytes: Annotated[int, msgspec.Meta(ge=1_000, le=200_000_000)] = 20_000_000
    """A larger file is not read, searched or changed in parts."""


_Work = Callable[[Folder, JsonObject, str], Json]


def files_group(given: JsonObject, surroundings: Surroundings) -> BuiltinGroup:
    """The tools of the group. Raises `ConfigError`."""
    tools = FileTools(options_of("files", given, FilesOptions), lambda: surroundings.folders)
    return BuiltinGroup(tools.all(), said="in the folder of the run")


class FileTools:
    """The tools over the folders of one Toolpath."""

    def __init__(self, options: FilesOptions, folders: Callable[[], Folders | None]) -> None:
        self._options = options
        self._folders = folders

    def all(self) -> list[Tool]:
        """The tools."""
        return [*self._reading(), *self._changing()]

    def _reading(self) -> list[Tool]:
        path, text = _PATH, _TEXT
        lines = {"type": "integer", "minimum": 1, "maximum": self._options.read_lines}
        return [
            self._tool("list", "List the files of the run.", self._list, {"pattern": text}),
            self._tool(
                "read",
                "Read lines of a text file; `next_line` is where to go on.",
                self._read,
                {"path": path, "from_line": {"type": "integer", "minimum": 1}, "lines": lines},
                needs=["path"],
            ),
            self._tool(
                "search",
                "Find the lines that hold a text, in one file or in those that match a pattern.",
                self._search,
                {"text": {"type": "string", "minLength": 1}, "pattern": text, "ignore_case": {"type": "boolean"}},
                needs=["text"],
            ),
            self._tool("count", "Count bytes, characters, words and lines.", self._count, {"path": path}, ["path"]),
        ]

    def _changing(self) -> list[Tool]:
        path, text = _PATH, _TEXT
        return [
            self._tool(
                "write",
                "Write a text file, in place of one that is there.",
                self._write,
                {"path": path, "text": text},
                ["path", "text"],
                effect="write",
            ),
            self._tool(
                "write_table",
                "Write rows as a table, in place of a file that is there: comma-separated values in a file whose name "
                "ends with .csv, tab-separated ones with .tsv.",
                self._write_table,
                _TABLE,
                ["path", "rows"],
                effect="write",
            ),
            self._tool(
                "append",
                "Add text to the end of a file.",
                self._append,
                {"path": path, "text": text},
                ["path", "text"],
                effect="write",
            ),
            self._tool(
                "replace",
                "Replace a text in a file; it has to stand there once, unless `all`.",
                self._replace,
                {"path": path, "old": {"type": "string", "minLength": 1}, "new": text, "all": {"type": "boolean"}},
                ["path", "old", "new"],
                effect="write",
            ),
            self._tool(
                "split",
                "Split a text file into parts of about as many lines each, beside it.",
                self._split,
                {"path": path, "parts": {"type": "integer", "minimum": 2, "maximum": 100}},
                ["path"],
                effect="write",
            ),
            self._tool("copy", "Copy a file.", self._copy, {"path": path, "to": path}, ["path", "to"], effect="write"),
            self._tool(
                "delete", "Delete a file or folder.", self._delete, {"path": path}, ["path"], effect="destructive"
            ),
        ]

    def _tool(
        self,
        name: str,
        description: str,
        work: _Work,
        properties: JsonObject,
        needs: list[str] | None = None,
        effect: Literal["read", "write", "destructive"] = "read",
    ) -> Tool:
        async def invoke(inputs: JsonObject, context: Any) -> Json:
            return await self._done(work, inputs, context)

        return Tool(
            name=name,
            group="files",
            description=description,
            category="files",
            input_schema={
                "type": "object",
                "properties": properties,
                "required": needs or [],
                "additionalProperties": False,
            },
            effect=effect,
            # Made again under its key, a call finds what it has done.
            idempotent=True,
            body=Body(invoke=invoke, wants_context=True),
        )

    async def _done(self, work: _Work, inputs: JsonObject, context: Any) -> Json:
        folders = self._folders()
        if folders is None:
            raise ToolFailed("There are no folders of runs here.", hint="Use the tool in a Toolpath.")
        key = context.idempotency_key
        try:
            return await folders.do("runs", context.run_id, lambda folder: work(folder, inputs, key))
        except ToolpathError as error:
            raise ToolFailed(error.message, hint=str(error)[len(error.message) :].strip()) from None

    # What only reads.

    def _list(self, folder: Folder, inputs: JsonObject, key: str) -> Json:
        found = [_said(entry) for entry in _matching(folder, inputs.get("pattern", ""))]
        return {"files": found[:_MOST_FOUND], "left_out": max(0, len(found) - _MOST_FOUND)}

    def _read(self, folder: Folder, inputs: JsonObject, key: str) -> Json:
        lines = self._text(folder, inputs["path"]).splitlines(keepends=True)
        first = inputs.get("from_line", 1)
        wanted = lines[first - 1 : first - 1 + inputs.get("lines", self._options.read_lines)]
        text, count = "", 0
        for line in wanted:
            if count and len(text) + len(line) > self._options.read_chars:
                break
            text, count = text + line, count + 1
        after = first + count
        return {
            "text": text[: self._options.read_chars],
            "lines": len(lines),
            "next_line": after if after <= len(lines) else None,
            "cut": len(text) > self._options.read_chars,
        }

    def _search(self, folder: Folder, inputs: JsonObject, key: str) -> Json:
        # A text and no pattern: of those some take for ever on some lines.
        folded = str.casefold if inputs.get("ignore_case") else str
        wanted = folded(inputs["text"])
        found: list[Json] = []
        skipped: list[Json] = []
        for entry in _matching(folder, inputs.get("pattern", "")):
            try:
                lines = self._text(folder, entry.path).splitlines()
            except (ToolFailed, FileRefused, RecordNotFound):
                skipped.append(entry.path)
                continue
            for number, line in enumerate(lines, 1):
                if wanted in folded(line):
                    found.append({"path": entry.path, "line": number, "text": line[:_LONGEST_LINE]})
                    if len(found) >= _MOST_FOUND:
                        return {"found": found, "skipped": skipped, "is_all": False}
        return {"found": found, "skipped": skipped, "is_all": True}

    def _count(self, folder: Folder, inputs: JsonObject, key: str) -> Json:
        text = self._text(folder, inputs["path"])
        size = folder.entry(inputs["path"]).size
        return {"bytes": size, "characters": len(text), "words": len(text.split()), "lines": len(text.splitlines())}

    # What changes something.

    def _write(self, folder: Folder, inputs: JsonObject, key: str) -> Json:
        return _said(folder.write(inputs["path"], [_bytes(inputs["text"])]))

    def _write_table(self, folder: Folder, inputs: JsonObject, key: str) -> Json:
        path, rows = inputs["path"], inputs["rows"]
        separator = next((sign for ending, sign in SEPARATORS.items() if path.lower().endswith(ending)), "")
        if not separator:
            raise ToolFailed(f"{path!r} is no name of a table.", hint=f"End it with {' or '.join(SEPARATORS)}.")
        text = table_text(rows, inputs.get("columns"), separator)
        return {**_said(folder.write(path, [_bytes(text)])), "rows": len(rows)}

    def _append(self, folder: Folder, inputs: JsonObject, key: str) -> Json:
        added = _bytes(inputs["text"])
        return self._once(folder, inputs["path"], key, lambda before: ((before or b"") + added, {"added": len(added)}))

    def _replace(self, folder: Folder, inputs: JsonObject, key: str) -> Json:
        old, new, every = inputs["old"], inputs["new"], inputs.get("all", False)

        def change(before: bytes | None) -> tuple[bytes, JsonObject]:
            text = "" if before is None else _decoded(before, inputs["path"])
            count = text.count(old)
            if before is None or not count:
                raise ToolFailed(f"The text to replace does not stand in {inputs['path']!r}.")
            if count > 1 and not every:
                raise ToolFailed(
                    f"The text to replace stands {count} times in {inputs['path']!r}.",
                    hint="Give more of the text around it, or all=true.",
                )
            return _bytes(text.replace(old, new)), {"replaced": count}

        return self._once(folder, inputs["path"], key, change)

    def _split(self, folder: Folder, inputs: JsonObject, key: str) -> Json:
        path, parts = inputs["path"], inputs.get("parts", 10)
        lines = self._text(folder, path).splitlines(keepends=True)
        each = max(1, -(-len(lines) // parts))
        stem, dot, ending = path.rpartition(".")
        stem, ending = (stem, dot + ending) if stem and "/" not in ending else (path, "")
        pieces = [lines[begin : begin + each] for begin in range(0, len(lines), each)]
        made = [
            folder.write(f"{stem}.part{number:03d}{ending}", [_bytes("".join(piece))])
            for number, piece in enumerate(pieces, 1)
        ]
        return {"files": [_said(entry) for entry in made]}

    def _copy(self, folder: Folder, inputs: JsonObject, key: str) -> Json:
        return _said(folder.write(inputs["to"], [self._content(folder, inputs["path"])]))

    def _delete(self, folder: Folder, inputs: JsonObject, key: str) -> Json:
        return {"deleted": folder.delete(inputs["path"])}

    def _once(
        self, folder: Folder, path: str, key: str, change: Callable[[bytes | None], tuple[bytes, JsonObject]]
    ) -> Json:
        """Change the file, unless the call with this key has changed it. One call at a time does."""
        ledger = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()
        with _LOCKS[int(ledger[:4], 16) % len(_LOCKS)]:
            noted: dict[str, JsonObject] = msgspec.json.decode(folder.noted(ledger) or b"{}", type=dict[str, Any])
            try:
                before: bytes | None = self._content(folder, path)
            except RecordNotFound:
                before = None
            now, known = _digest(before), noted.get(key)
            if known is not None and (known["after"] == now or known["done"]):
                return known["result"]
            if known is not None and known["before"] != now:
                raise ToolFailed(f"Whether {path!r} was changed by this call cannot be told: it was changed since.")
            content, result = change(before)
            said = {"before": now, "after": _digest(content), "result": result, "done": False}
            folder.note(ledger, _ledger(noted, key, said))
            folder.write(path, [content])
            folder.note(ledger, _ledger(noted, key, {**said, "done": True}))
            return result

    def _text(self, folder: Folder, path: str) -> str:
        return _decoded(self._content(folder, path), path)

    def _content(self, folder: Folder, path: str) -> bytes:
        size, most = folder.entry(path).size, self._options.max_bytes
        if size > most:
            raise ToolFailed(f"{path!r} has {size:,} bytes; the most that is read is {most:,}.", hint="Split it.")
        return folder.read(path, most)


_TEXT: JsonObject = {"type": "string"}
_PATH: JsonObject = {"type": "string", "minLength": 1, "maxLength": 1_000, "description": "In the folder of the run."}
_TABLE: JsonObject = {
    "path": _PATH,
    "rows": {
        "type": "array",
        "items": {"type": ["object", "array"]},
        "description": "Objects by column, or lists of as many values as there are columns.",
    },
    "columns": {
        "type": "array",
        "items": _TEXT,
        "minItems": 1,
        "description": "Names of the columns, in their order; none: those of the objects.",
    },
}


def _matching(folder: Folder, pattern: str) -> list[FileEntry]:
    """The files whose path or name matches, with `*` and `?`; all where no pattern is given."""
    return [
        entry
        for entry in folder.entries()
        if not pattern or fnmatch.fnmatchcase(entry.path, pattern) or fnmatch.fnmatchcase(entry.name, pattern)
    ]


def _said(entry: FileEntry) -> JsonObject:
    return {"path": entry.path, "size": entry.size}


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _decoded(data: bytes, path: str) -> str:
    if b"\0" in data[:10_000]:
        raise ToolFailed(f"{path!r} is no text.", hint="Documents are read with documents.to_markdown.")
    return data.decode("utf-8-sig", "replace")


def _digest(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


def _ledger(noted: dict[str, JsonObject], key: str, said: JsonObject) -> bytes:
    noted.pop(key, None)
    kept = dict([*noted.items(), (key, said)][-_NOTED:])
    return msgspec.json.encode(kept)
