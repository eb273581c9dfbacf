"""Records of plan templates in the store: each with its title, which it alone has in its group, and its documents."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from toolpath.access.trail import Trail
from toolpath.errors import RecordConflict, RecordNotFound, SchemaError
from toolpath.model.record import Record
from toolpath.model.template import PlanTemplate, TemplateVersion
from toolpath.ports import Store
from toolpath.values import JsonObject, digest
from toolpath.workspace.document_contents import DocumentContents
from toolpath.workspace.record_form import RecordForm

#: The record whose version grows with each change of what is published to tools and MCP clients.
PUBLISHED: Final = ("templates_published", "all")
#: Characters of a title, a group and a description.
_LONGEST: Final = 200
_LONGEST_DESCRIPTION: Final = 20_000
#: Half a character, which no store keeps.
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
#: Seconds for which a title is kept for a template that is still being written.
_CLAIM: Final = 60.0

_FORM: Final = RecordForm("template", PlanTemplate, id="template_id", copied={"title": "name", "group": "parent"})


class TemplateContent(msgspec.Struct, frozen=True):
    """Content of a version: its document, and the text that it was written as, where there is one."""

    document: JsonObject
    text: str = ""

    def version(self, version: TemplateVersion) -> TemplateVersion:
        """The version with the digests of this content."""
        written = digest(self.text) if self.text else ""
        return msgspec.structs.replace(version, digest=digest(self.document), written=written)


class TemplateRecords:
    """The templates of one store."""

    def __init__(self, store: Store, trail: Trail) -> None:
        self._store = store
        self._contents = DocumentContents(store, "template_version")
        self._texts = DocumentContents(store, "template_text")
        self._trail = trail

    async def get(self, template_id: str) -> PlanTemplate | None:
        """The template, or None."""
        record = await self._store.get_record("template", template_id)
        return None if record is None else _FORM.read(record)

    async def newest(
        self, *, tenant: str | None, group: str | None = None, limit: int, before: str | None = None
    ) -> list[PlanTemplate]:
        """The newest first; `before` is the last id of the page before."""
        records = await self._store.list_records("template", tenant=tenant, parent=group, limit=limit, before=before)
        return [_FORM.read(record) for record in records]

    async def document(self, template: PlanTemplate, version: int) -> JsonObject:
        """The document of a version. Raises `RecordNotFound`."""
        known = version_of(template, version)
        content = await self._contents.get(template.template_id, known.digest)
        if content is None:
            raise RecordNotFound(f"Version {known.version} of {template.key!r} is gone.")
        document = content["document"]
        assert isinstance(document, dict)
        return document

    async def text(self, template: PlanTemplate, version: int) -> str:
        """The text that a version was written as; empty where it came as data, or the text is gone."""
        known = version_of(template, version)
        content = await self._texts.get(template.template_id, known.written) if known.written else None
        return "" if content is None else str(content["text"])

    async def delete(self, template: PlanTemplate, *, by: str) -> None:
        """Forget the template with all its documents."""
        await self._recorded("template.delete", template, by)
        latest = await self.get(template.template_id)
        await self._store.delete_record("template", template.template_id)
        for known in (template, latest or template):
            await self._let_go(known)
        await self._forget_all(template.template_id)

    async def put(
        self,
        template: PlanTemplate,
        content: TemplateContent | None,
        before: PlanTemplate | None,
        action: str,
        *,
        by: str,
    ) -> PlanTemplate:
        """Keep title, content and template, in this order: what another one has meanwhile is never taken from it."""
        _check_words(template)
        renamed = before is None or _title_id(before) != _title_id(template)
        if renamed:
            await self._claim(template)
        if content is not None:
            owner, tenant = template.template_id, template.tenant
            await self._contents.put(owner, digest(content.document), {"document": content.document}, tenant=tenant)
            if content.text:
                await self._texts.put(owner, digest(content.text), {"text": content.text}, tenant=tenant)
        await self._recorded(action, template, by)
        try:
            kept = await self._store.put_record(
                _FORM.written(template), expected=0 if before is None else template.revision
            )
        except RecordConflict:
            if renamed:
                await self._let_go(template)
            if await self.get(template.template_id) is None:
                # It was deleted meanwhile: nobody else forgets the document.
                await self._forget_all(template.template_id)
            raise RecordConflict(
                f"The template {template.key!r} was changed meanwhile.", hint="Look at it again."
            ) from None
        if before is not None:
            if renamed:
                await self._let_go(before)
            used = {version.digest for version in template.versions}
            gone = {version.digest for version in before.versions} - used
            await self._contents.forget(template.template_id, gone)
            unwritten = {one.written for one in before.versions} - {one.written for one in template.versions} - {""}
            await self._texts.forget(template.template_id, unwritten)
        return _FORM.read(kept)

    async def _forget_all(self, template_id: str) -> None:
        await self._contents.forget_all(template_id)
        await self._texts.forget_all(template_id)

    async def _claim(self, template: PlanTemplate) -> None:
        """Take the title for this template. Raises `RecordConflict` where another one has it."""
        # Who comes in between has made a newer one of it, over which nothing is written.
        record = await self._store.get_record("template_title", _title_id(template))
        owner = None if record is None else await self._owner(record)
        if owner is not None and owner != template.template_id:
            raise RecordConflict(
                f"There is already a template {template.title!r} in the group {template.group!r}.",
                hint="Give it another title, or save a version of that one.",
            )
        claim = Record(
            kind="template_title",
            id=_title_id(template),
            tenant=template.tenant,
            name=template.title,
            data={"template_id": template.template_id},
        )
        await self._store.put_record(claim, expected=0 if record is None else record.version)

    async def _let_go(self, template: PlanTemplate) -> None:
        """Free the title of this template, unless it is another one's, or the template's own still."""
        record = await self._store.get_record("template_title", _title_id(template))
        if record is None or record.data["template_id"] != template.template_id:
            return
        owner = await self.get(template.template_id)
        if owner is None or _title_id(owner) != record.id:
            await self._store.delete_record("template_title", record.id)

    async def titled(self, template: PlanTemplate) -> str | None:
        """Id of the template that has this one's title, or is about to.

        A title whose template is gone is nobody's: its process died before it had kept or renamed the template.
        Raises `SchemaError` for a title that no template may have.
        """
        _check_words(template)
        record = await self._store.get_record("template_title", _title_id(template))
        return None if record is None else await self._owner(record)

    async def _owner(self, record: Record) -> str | None:
        named = str(record.data["template_id"])
        owner = await self._store.get_record("template", named)
        if owner is not None and _title_id(_FORM.read(owner)) == record.id:
            return named
        return named if self._trail.clock.time() - record.updated_at < _CLAIM else None

    async def _recorded(self, action: str, template: PlanTemplate, user: str) -> None:
        said = {"template": template.key, "version": template.version, "channels": list(template.channels)}
        await self._trail.record(action, template.template_id, tenant=template.tenant, user=user, **said)


async def revision_of(store: Store) -> int:
    """A number that grows with each change of what is published to tools and MCP clients, in any process."""
    record = await store.get_record(*PUBLISHED)
    return 0 if record is None else record.version


def version_of(template: PlanTemplate, version: int) -> TemplateVersion:
    """The version of a template. Raises `RecordNotFound`."""
    for known in template.versions:
        if known.version == version:
            return known
    first = template.versions[0].version
    raise RecordNotFound(
        f"The template {template.key!r} has no version {version}.",
        hint=f"It has {first} to {template.version}.",
    )


def _check_words(template: PlanTemplate) -> None:
    if not template.title or not template.group:
        raise SchemaError("A template needs a title and a group.", hint="Write 'name' in its plan, or say the title.")
    for what, text, most in (
        ("title", template.title, _LONGEST),
        ("group", template.group, _LONGEST),
        ("description", template.description, _LONGEST_DESCRIPTION),
        ("comment", "".join(version.comment for version in template.versions[-1:]), _LONGEST_DESCRIPTION),
    ):
        if _SURROGATE.search(text):
            raise SchemaError(f"The {what} of a template holds half a character.", hint="Write whole characters.")
        if len(text) > most or "\0" in text or (what in ("title", "group") and "\n" in text):
            raise SchemaError(f"The {what} of a template has at most {most:,} characters, all in one line.")


def _title_id(template: PlanTemplate) -> str:
    return digest([template.tenant, template.group, template.title])
