"""`/files`: uploads for runs that are to come. `/runs/{run_id}/files`: what the folder of a run holds."""

from __future__ import annotations

import mimetypes
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response, StreamingResponse

from toolpath.errors import RunConflict
from toolpath.model.run import ENDED_RUN
from toolpath.model.upload import Upload
from toolpath.server.multipart import FormFiles
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.problems import Problem
from toolpath.server.rest.described import Described, answer, problems, shows
from toolpath.server.rest.paging import ROWS, Before, Limit, one_page
from toolpath.server.rest.runs import RunId
from toolpath.server.rest.views import FileRow, FileTree, UploadPage, UploadRow
from toolpath.server.visibility import visible_run

router = APIRouter(tags=["files"])

UploadId = Annotated[str, Path(max_length=200, description="The upload's id.")]
FilePath = Annotated[str, Path(max_length=1_000, description="Path in the folder, with slashes.")]
FileName = Annotated[str, Path(max_length=300, description="Name of the file, as it is kept.")]
_CAN_READ = [Depends(Needs("read"))]
_CAN_RUN = [Depends(Needs("run"))]
#: Who answers a form may bring the file that it asks for.
_CAN_BRING = [Depends(Needs("run", or_also="answer"))]
_TAKES = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {"files": {"type": "array", "items": {"type": "string", "format": "binary"}}},
                }
            }
        },
    }
}
_TAKES_BYTES = {"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {}}}}}
_BYTES: Described = {200: {"description": "The file.", "content": {"application/octet-stream": {"schema": {}}}}}


@router.post(
    "/files",
    status_code=201,
    responses={**shows(UploadRow, "The files are kept.", status=201), **problems(404, 409, 415)},
    openapi_extra=_TAKES,
    dependencies=_CAN_BRING,
)
async def upload(request: Request, tp: Door, caller: Asker) -> Response:
    """Upload files, for runs that are to come: all of them, or none."""
    form = FormFiles(request)
    made = await tp.files.create(tenant=caller.tenant, user=caller.user)
    try:
        await _take(tp, made, form)
    except BaseException:
        await tp.files.delete(made)
        raise
    return _shown(await tp.files.get(made.upload_id), 201)


@router.post(
    "/files/{upload_id}",
    responses={**shows(UploadRow, "The files are kept beside the others."), **problems(404, 409, 415)},
    openapi_extra=_TAKES,
    dependencies=_CAN_RUN,
)
async def add(upload_id: UploadId, request: Request, tp: Door, caller: Asker) -> Response:
    """Add files to an upload. Those that were kept before one is refused stay."""
    known = await tp.files.get(upload_id, tenant=caller.of_tenant)
    await _take(tp, known, FormFiles(request))
    return _shown(await tp.files.get(upload_id))


async def _take(tp: Door, upload: Upload, form: FormFiles) -> None:
    count = 0
    async for part in form:
        await tp.files.upload(upload, part.name, part.pieces, media_type=part.media_type)
        count += 1
    if not count:
        raise Problem(422, "invalid_request", "The form has no file.", hint="As `curl -F files=@report.pdf` sends one.")


@router.get("/files", responses={**shows(UploadPage, "Newest first."), **problems(404)}, dependencies=_CAN_READ)
async def listed(tp: Door, caller: Asker, limit: Limit = ROWS, before: Before = None) -> Response:
    """The caller's uploads, newest first, a page at a time."""
    if before is not None:
        await tp.files.get(before, tenant=caller.of_tenant)
    found = await tp.files.newest(tenant=caller.of_tenant, limit=limit + 1, before=before)
    page, mark = one_page(found, limit, lambda each: each.upload_id)
    return answer(UploadPage(uploads=tuple(_row(each) for each in page), next=mark))


@router.get(
    "/files/{upload_id}", responses={**shows(UploadRow, "The upload."), **problems(404)}, dependencies=_CAN_READ
)
async def show(upload_id: UploadId, tp: Door, caller: Asker) -> Response:
    """One upload with its files."""
    return _shown(await tp.files.get(upload_id, tenant=caller.of_tenant))


@router.get("/files/{upload_id}/{name}", responses={**_BYTES, **problems(404)}, dependencies=_CAN_READ)
async def download_uploaded(upload_id: UploadId, name: FileName, tp: Door, caller: Asker) -> Response:
    """One file of an upload."""
    known = await tp.files.get(upload_id, tenant=caller.of_tenant)
    size = next((file.size for file in known.files if file.name == name), None)
    if size is None:
        raise Problem(404, "unknown_record", f"The upload has no file {name[:200]!r}.")
    return StreamingResponse(tp.files.uploaded(known, name), headers=attachment(name, size), media_type=_ANY)


@router.delete(
    "/files/{upload_id}",
    status_code=204,
    responses={204: {"description": "It is gone; runs keep what they were given."}, **problems(404)},
    dependencies=_CAN_RUN,
)
async def delete(upload_id: UploadId, tp: Door, caller: Asker) -> Response:
    """Delete an upload."""
    await tp.files.delete(await tp.files.get(upload_id, tenant=caller.of_tenant))
    return Response(status_code=204)


@router.delete(
    "/files/{upload_id}/{name}",
    status_code=204,
    responses={204: {"description": "It is gone."}, **problems(404, 409)},
    dependencies=_CAN_RUN,
)
async def delete_uploaded(upload_id: UploadId, name: FileName, tp: Door, caller: Asker) -> Response:
    """Delete one file of an upload."""
    await tp.files.delete(await tp.files.get(upload_id, tenant=caller.of_tenant), name)
    return Response(status_code=204)


@router.get("/runs/{run_id}/files", responses={**shows(FileTree, "The tree."), **problems(404)}, dependencies=_CAN_READ)
async def tree(
    run_id: RunId,
    tp: Door,
    caller: Asker,
    path: Annotated[str, Query(max_length=1_000, description="Of a folder in it alone.")] = "",
) -> Response:
    """The tree of the run's folder."""
    await visible_run(tp, caller, run_id)
    return answer(FileTree(run_id=run_id, tree=await tp.files.tree(run_id, path)))


@router.get("/runs/{run_id}/files/{path:path}", responses={**_BYTES, **problems(404)}, dependencies=_CAN_READ)
async def download(run_id: RunId, path: FilePath, tp: Door, caller: Asker) -> Response:
    """One file of the run."""
    await visible_run(tp, caller, run_id)
    entry = await tp.files.entry(run_id, path)
    return StreamingResponse(tp.files.pieces(run_id, path), headers=attachment(entry.name, entry.size), media_type=_ANY)


@router.put(
    "/runs/{run_id}/files/{path:path}",
    status_code=201,
    responses={**shows(FileRow, "The file is kept.", status=201), **problems(404, 409)},
    openapi_extra=_TAKES_BYTES,
    dependencies=_CAN_RUN,
)
async def put(run_id: RunId, path: FilePath, request: Request, tp: Door, caller: Asker) -> Response:
    """Keep the body as a file of a run that goes on, in place of one with this path."""
    info = await visible_run(tp, caller, run_id)
    if info.status in ENDED_RUN:
        raise RunConflict(f"The run {run_id} has ended: {info.status}.", hint="Its files are as it left them.")
    entry = await tp.files.put(run_id, path, request.stream())
    return answer(FileRow(name=entry.name, path=entry.path, size=entry.size, modified_at=entry.modified_at), 201)


@router.delete(
    "/runs/{run_id}/files/{path:path}",
    status_code=204,
    responses={204: {"description": "It is gone."}, **problems(404)},
    dependencies=_CAN_RUN,
)
async def remove(run_id: RunId, path: FilePath, tp: Door, caller: Asker) -> Response:
    """Delete a file or folder of the run."""
    await visible_run(tp, caller, run_id)
    await tp.files.remove(run_id, path)
    return Response(status_code=204)


_ANY = "application/octet-stream"


def attachment(name: str, size: int) -> dict[str, str]:
    """The headers with which a browser keeps the file, and never shows it as a page of this server."""
    guessed = mimetypes.guess_type(name)[0] or _ANY
    return {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        "Content-Length": str(size),
        "Content-Security-Policy": "sandbox",
        "X-File-Type": guessed,
    }


def _shown(upload: Upload, status: int = 200) -> Response:
    place = {"Location": f"/api/v1/files/{upload.upload_id}"} if status == 201 else None
    return answer(_row(upload), status, place)


def _row(upload: Upload) -> UploadRow:
    return UploadRow(upload_id=upload.upload_id, files=upload.files, created_at=upload.created_at)
