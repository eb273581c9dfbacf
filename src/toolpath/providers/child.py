"""Child process of `process.py`: finds one function, calls it with the inputs on stdin, writes its result to stdout."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import sys
import traceback
from typing import Any

import msgspec

from toolpath.errors import OutputInvalid
from toolpath.model.tool import ToolResult
from toolpath.providers.functions import tool_from_function
from toolpath.providers.modules import find_function
from toolpath.providers.process import ERROR_TYPES, MARK
from toolpath.values import JsonObject, decode, encode, plain


def main() -> None:
    """Make the call that the command line names."""
    request = decode(sys.stdin.buffer.read())
    sys.path[:] = request["path"]
    out = os.dup(1)
    # Whatever the tool prints goes to stderr: stdout carries the answer alone.
    os.dup2(2, 1)
    try:
        answer = _told(_call(sys.argv[1], request["inputs"]))
    except BaseException as error:  # noqa: BLE001  # reported to the parent, whatever it is
        answer = _failed(error)
    sys.stdout.flush()
    sys.stderr.flush()
    data = encode(answer)
    with open(out, "wb") as stream:
        stream.write(MARK + len(data).to_bytes(8) + data)
    # Threads and children that the tool left behind are not waited for.
    os._exit(0)


def _call(reference: str, inputs: JsonObject) -> Any:
    body = tool_from_function(find_function(reference), isolation="none").body
    result = body.invoke(inputs, None)  # type: ignore[union-attr]
    return asyncio.run(_wait(result)) if inspect.isawaitable(result) else result


async def _wait(result: Any) -> Any:
    return await result


def _told(result: Any) -> JsonObject:
    if not isinstance(result, ToolResult):
        return {"output": plain(result)[0]}
    told = msgspec.structs.asdict(result)
    return {"output": plain(told.pop("output"))[0], "told": plain(told)[0]}


def _failed(error: BaseException) -> JsonObject:
    kind = next((name for name, kind in ERROR_TYPES.items() if isinstance(error, kind)), "")
    says: JsonObject = {}
    with contextlib.suppress(AttributeError):
        # Its frames stay here; the engine is told the place.
        error.where = _place(error)  # type: ignore[attr-defined]
    for name in ("code", "hint", "details", "retryable", "retry_after", "reached", "status_code", "where"):
        try:
            value = plain(getattr(error, name))[0]
        except (AttributeError, OutputInvalid):
            continue
        says[name] = value
    try:
        message = str(getattr(error, "message", None) or error)
    except Exception:  # noqa: BLE001  # an exception of a tool may itself be broken
        message = ""
    return {"type": type(error).__name__, "kind": kind, "message": message or type(error).__name__, "says": says}


def _place(error: BaseException) -> str:
    """The last line outside of this package that the error went through, `file:line in function`."""
    ours = __file__.rpartition("providers")[0]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(ours)]
    own = [
        frame for frame in frames if "site-packages" not in frame.filename and os.__file__[:-5] not in frame.filename
    ]
    found = (own or frames)[-1:]
    return "".join(f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in found)


if __name__ == "__main__":
    main()
