"""`/api/file-upload`: uploads as that service's clients know them. A file that is refused hinders no other one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from toolpath.errors import FileRefused, ReadError
from toolpath.model.upload import UploadedFile
from toolpath.server.multipart import FormFiles
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.plan_service.answers import ServiceRoute
from toolpath.server.rest.described import answer
from toolpath.values import JsonObject
from toolpath.workspace.files.files import BLOCKED

router = APIRouter(prefix="/api/file-upload", route_class=ServiceRoute, include_in_schema=False)

_CAN_READ = [Depends(Needs("read"))]
_CAN_RUN = [Depends(Needs("run"))]


@router.post("/upload", dependencies=_CAN_RUN)
async def upload(
    request: Request, tp: Door, caller: Asker, upload_key: Annotated[str, Query(alias="uploadKey", max_length=200)] = ""
) -> Response:
    """Keep the files of the form, under a new key or beside those of `uploadKey`."""
    form = FormFiles(request)
    if upload_key:
        known = await tp.files.get(upload_key, tenant=caller.of_tenant)
    else:
        known = await tp.files.create(tenant=caller.tenant, user=caller.user)
    told: list[JsonObject] = []
    try:
        async for part in form:
            try:
                file = await tp.files.upload(known, part.name, part.pieces, media_type=part.media_type)
                told.append(_shown(file))
            except FileRefused as error:
                told.append({"originalName": part.name[:500], "success": False, "error": tp.redact(str(error))})
    except BaseException:
        if not upload_key:
            await tp.files.delete(known)
        raise
    if not told:
        if not upload_key:
            await tp.files.delete(known)
        raise ReadError("No files were uploaded.")
    good = sum(bool(each["success"]) for each in told)
    return answer(
        {
            "success": good > 0,
            "message": f"{good} of {len(told)} files were uploaded",
            "uploadKey": known.upload_id,
            "uploadedFiles": told,
            "totalFiles": len(told),
            "successfulFiles": good,
            "failedFiles": len(told) - good,
        },
        200 if good else 400,
    )


@router.get("/files/{upload_key}", dependencies=_CAN_READ)
async def files(upload_key: str, tp: Door, caller: Asker) -> Response:
    """The files of an upload."""
    known = await tp.files.get(upload_key, tenant=caller.of_tenant)
    shown = [_shown(file) for file in known.files]
    return answer({"success": True, "uploadKey": known.upload_id, "files": shown, "totalFiles": len(shown)})


@router.delete("/files/{upload_key}/{name}", dependencies=_CAN_RUN)
async def delete(upload_key: str, name: str, tp: Door, caller: Asker) -> Response:
    """Delete one file, by the name under which it is kept."""
    await tp.files.delete(await tp.files.get(upload_key, tenant=caller.of_tenant), name)
    return answer({"success": True, "message": "File deleted successfully"})


@router.get("/config", dependencies=_CAN_READ)
async def config(tp: Door) -> Response:
    """The kinds and sizes of files that may be uploaded."""
    settings = tp.settings
    return answer(
        {
            "success": True,
            "maxFileSize": settings.upload_bytes,
            "maxFilesPerUpload": settings.upload_count,
            "allowedExtensions": list(settings.upload_types),
            "blockedExtensions": list(BLOCKED),
        }
    )


def _shown(file: UploadedFile) -> JsonObject:
    return {
        "originalName": file.original_name or file.name,
        "name": file.name,
        "size": file.size,
        "type": file.type,
        "uploadTime": round(file.uploaded_at * 1000),
        "success": True,
        "error": None,
    }
