"""Answers to fields of files: a file of an upload is copied into the folder of the run, which keeps it."""

from __future__ import annotations

from typing import Any

import msgspec

from toolpath.errors import FileRefused, RecordNotFound, SchemaError
from toolpath.model.forms import ChosenFile, chosen_file, field_type
from toolpath.model.upload import KIND, UploadedFile
from toolpath.ports import Store
from toolpath.providers.run_files.folder import Folder
from toolpath.providers.run_files.folders import Folders
from toolpath.providers.run_files.names import ending_of
from toolpath.values import Json, JsonObject, made_ready


class FileAnswers:
    """The files that people answer forms of one store's runs with."""

    def __init__(self, store: Store, folders: Folders) -> None:
        self._store = store
        self._folders = folders

    async def kept(self, run_id: str, tenant: str, form: JsonObject, values: JsonObject) -> JsonObject:
        """The typed answers, with `{path, name, size, type}` for each file, which the run's folder has from now on.

        Raises `SchemaError` with every fault: an upload of the run's tenant has no such file, or the field takes none
        like it. Then nothing is kept.
        """
        fields = [field for field in form.get("inputs", []) if field_type(field).is_file]
        given = {str(field["name"]): field for field in fields if values.get(str(field["name"])) is not None}
        found: dict[str, tuple[ChosenFile, UploadedFile]] = {}
        faults: list[tuple[str, str]] = []
        for name, field in given.items():
            try:
                found[name] = await self._found(field, values[name], tenant)
            except FileRefused as error:
                faults.append((f"/{name}", error.message))
        if faults:
            raise _unfit(faults)
        return {**values, **await self._copied(run_id, found)}

    async def _found(self, field: JsonObject, value: Json, tenant: str) -> tuple[ChosenFile, UploadedFile]:
        """The upload's file that is meant. Raises `FileRefused`, in the same words where it is another tenant's."""
        chosen = chosen_file(value)
        if chosen is None:
            raise FileRefused("A file of an upload is answered: {upload_id, name}.")
        record = await self._store.get_record(KIND, chosen.upload_id[:200]) if chosen.upload_id else None
        if record is None or record.tenant != tenant:
            raise FileRefused(f"There is no upload {chosen.upload_id[:100]!r}.")
        files = msgspec.convert(record.data.get("files", ()), tuple[UploadedFile, ...])
        named = [file for file in files if chosen.name in (file.name, file.original_name)]
        matches = named if chosen.name else list(files)
        if len(matches) != 1:
            known = ", ".join(file.name for file in files[:5]) or "none"
            what = f"has no file {chosen.name[:200]!r}" if chosen.name else "has several files, or none: name one"
            raise FileRefused(f"The upload {what}. It has: {known}.")
        _check(matches[0], field)
        return chosen, matches[0]

    async def _copied(self, run_id: str, found: dict[str, tuple[ChosenFile, UploadedFile]]) -> JsonObject:
        """Copy the files: all, or none. Raises `SchemaError`."""
        kept: dict[str, Any] = {}
        for name, (chosen, file) in found.items():
            try:
                entry = await self._folders.copy(chosen.upload_id, file.name, run_id)
            except (FileRefused, RecordNotFound) as error:
                # Somebody has deleted it meanwhile, or the run's folder is full.
                await self._forget(run_id, [one["path"] for one in kept.values()])
                raise _unfit([(f"/{name}", error.message)]) from None
            original = file.original_name or file.name
            kept[name] = {"path": entry.path, "name": original, "size": entry.size, "type": file.type}
        return kept

    async def _forget(self, run_id: str, paths: list[str]) -> None:
        def delete(folder: Folder) -> None:
            for path in paths:
                folder.delete(path)

        await self._folders.do("runs", run_id, delete)


def _check(file: UploadedFile, field: JsonObject) -> None:
    """Raise `FileRefused` for a file that the field does not take."""
    accept = [str(one).lower().lstrip(".") for one in field.get("accept") or ()]
    if accept and ending_of(file.name) not in accept:
        raise FileRefused(f"{file.name} is no file of these: {', '.join(accept)}.")
    most = field.get("max_bytes")
    if isinstance(most, int) and file.size > most:
        raise FileRefused(f"{file.name} has {file.size:,} bytes; {most:,} are the most.")


def _unfit(faults: list[tuple[str, str]]) -> SchemaError:
    told = "; ".join(f"{at[1:]}: {what}" for at, what in faults)
    return SchemaError(f"The answer does not fit the form: {told}", faults=faults)


made_ready(UploadedFile)
