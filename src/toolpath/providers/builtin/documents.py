"""The group `documents`: documents of the run's folder as Markdown, read in a process of its own that may be killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from typing import Annotated, Any, Final

import msgspec

from toolpath.errors import ToolFailed, ToolpathError, ToolTimeout
from toolpath.model.tool import Body, Tool
from toolpath.providers.builtin.groups import BuiltinGroup, options_of
from toolpath.providers.run_files.names import ending_of
from toolpath.providers.surroundings import Surroundings
from toolpath.values import Json, JsonObject, made_ready

#: Characters that are given besides the file that all of it is written to.
_PREVIEW: Final = 2_000


class DocumentsOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the group `documents`."""

    timeout: Annotated[float, msgspec.Meta(gt=0, le=600)] = 60.0
    """Seconds for one document."""
    max_bytes: Annotated[int, msgspec.Meta(ge=1_000, le=1_000_000_000)] = 50_000_000
    """Of the document."""
    max_chars: Annotated[int, msgspec.Meta(ge=1_000, le=50_000_000)] = 1_000_000
    """Of the Markdown: the rest is left out."""
    memory: Annotated[int, msgspec.Meta(ge=100_000_000, le=2**36)] = 1_000_000_000
    """Bytes that the process may take."""


class DocumentText(msgspec.Struct, frozen=True):
    """Text that was read out of a document."""

    markdown: str = ""
    cut: bool = False
    fault: str = ""


def documents_group(given: JsonObject, surroundings: Surroundings) -> BuiltinGroup:
    """The tool of the group. Raises `ConfigError`."""
    options = options_of("documents", given, DocumentsOptions)

    async def invoke(inputs: JsonObject, context: Any) -> Json:
        return await _to_markdown(surroundings, options, inputs, context.run_id)

    tool = Tool(
        name="to_markdown",
        group="documents",
        description="A document of the run's folder as Markdown: PDF, Word (docx), Excel (xlsx), HTML, CSV, text. With "
        "`save_as` all of it is written to that file, and its begin is given.",
        category="files",
        input_schema={
            "type": "object",
            "properties": {
                "path": {"type": "string", "minLength": 1, "maxLength": 1_000},
                "save_as": {"type": "string", "minLength": 1, "maxLength": 1_000},
            },
            "required": ["path"],
            "additionalProperties": False,
        },
        effect="write",
        idempotent=True,
        timeout=options.timeout + 10,
        body=Body(invoke=invoke, wants_context=True),
    )
    return BuiltinGroup([tool], said="documents of the run's folder")


async def _to_markdown(surroundings: Surroundings, options: DocumentsOptions, inputs: JsonObject, run_id: str) -> Json:
    folders, path = surroundings.folders, inputs["path"]
    if folders is None:
        raise ToolFailed("There are no folders of runs here.", hint="Use the tool in a Toolpath.")
    try:
        entry = await folders.do("runs", run_id, lambda folder: folder.entry(path))
        if entry.size > options.max_bytes:
            raise ToolFailed(f"{path!r} has {entry.size:,} bytes; the most that is read is {options.max_bytes:,}.")
        with contextlib.ExitStack() as stack:
            handle = await asyncio.to_thread(_opened, stack, folders.folder("runs", run_id), path)
            read = await _read(handle, ending_of(entry.name), options)
        if read.fault:
            raise ToolFailed(f"{path!r} cannot be read: {read.fault}")
        shown: JsonObject = {"markdown": read.markdown, "characters": len(read.markdown), "cut": read.cut}
        if saved := inputs.get("save_as"):
            content = read.markdown.encode("utf-8", "replace")
            await folders.do("runs", run_id, lambda folder: folder.write(saved, [content]))
            shown |= {"markdown": read.markdown[:_PREVIEW], "path": saved}
        return shown
    except ToolFailed:
        raise
    except ToolpathError as error:
        raise ToolFailed(error.message, hint=str(error)[len(error.message) :].strip()) from None


def _opened(stack: contextlib.ExitStack, folder: Any, path: str) -> int:
    stack.enter_context(folder)
    handle: int = stack.enter_context(folder.reading(path))
    return handle


async def _read(handle: int, ending: str, options: DocumentsOptions) -> DocumentText:
    """Have the document read by a process that takes neither more memory nor time than it may."""
    said = msgspec.json.encode({"ending": ending, "chars": options.max_chars, "memory": options.memory})
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-m",
        "toolpath.providers.builtin.document_reader",
        said.decode(),
        str(int(options.timeout) + 1),
        stdin=handle,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PATH": os.defpath, "LANG": "C.UTF-8"},
    )
    try:
        async with asyncio.timeout(options.timeout):
            # No character takes more than 12 bytes in JSON.
            assert process.stdout is not None
            told = await process.stdout.read(-1)
            await process.wait()
    except TimeoutError:
        raise ToolTimeout(
            f"The document was not read within {options.timeout:g} seconds.", hint="Raise builtin.documents.timeout."
        ) from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    try:
        return msgspec.json.decode(told, type=DocumentText)
    except msgspec.DecodeError:
        return DocumentText(fault="it takes more memory or time than it may, or breaks what reads it.")


made_ready(DocumentText)
