"""`/api/file-browser`: what the folder of a run holds, as that service's clients know it."""

from __future__ import annotations

import mimetypes
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response, StreamingResponse

from toolpath.providers.run_files.folder import FileEntry
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.plan_service.answers import ServiceRoute
from toolpath.server.rest.described import answer
from toolpath.server.rest.files import attachment
from toolpath.server.visibility import visible_run
from toolpath.values import JsonObject

router = APIRouter(
    prefix="/api/file-browser",
    route_class=ServiceRoute,
    include_in_schema=False,
    dependencies=[Depends(Needs("read"))],
)

FilePath = Annotated[str, Query(max_length=1_000)]
#: Bytes of a file that are shown as text.
_MOST_SHOWN: Final = 1_000_000


@router.get("/tree/{plan_id:path}")
async def tree(plan_id: str, tp: Door, caller: Asker) -> Response:
    """The tree of the run's folder."""
    run_id = plan_id.partition(":")[0]
    await visible_run(tp, caller, run_id)
    return answer({"success": True, "data": _shown(await tp.files.tree(run_id), name=run_id)})


@router.get("/content/{plan_id:path}")
async def content(plan_id: str, path: FilePath, tp: Door, caller: Asker) -> Response:
    """The text of one file; of a large one its begin."""
    run_id = plan_id.partition(":")[0]
    await visible_run(tp, caller, run_id)
    entry = await tp.files.entry(run_id, path)
    data = await tp.files.read(run_id, path, most=_MOST_SHOWN)
    is_binary = b"\0" in data
    shown: JsonObject = {
        "name": entry.name,
        "path": entry.path,
        "size": entry.size,
        "mimeType": mimetypes.guess_type(entry.name)[0] or "application/octet-stream",
        "isBinary": is_binary,
        "truncated": entry.size > len(data),
        "content": None if is_binary else data.decode("utf-8", "replace"),
    }
    return answer({"success": True, "data": shown})


@router.get("/download/{plan_id:path}")
async def download(plan_id: str, path: FilePath, tp: Door, caller: Asker) -> Response:
    """One file as it is."""
    run_id = plan_id.partition(":")[0]
    await visible_run(tp, caller, run_id)
    entry = await tp.files.entry(run_id, path)
    headers = attachment(entry.name, entry.size)
    return StreamingResponse(tp.files.pieces(run_id, path), headers=headers, media_type="application/octet-stream")


def _shown(entry: FileEntry, *, name: str = "") -> JsonObject:
    shown: JsonObject = {
        "name": name or entry.name,
        "path": entry.path,
        "type": entry.type,
        "size": entry.size,
        "lastModified": round(entry.modified_at * 1000),
    }
    if entry.type == "directory":
        shown["children"] = [_shown(child) for child in entry.children]
    return shown
