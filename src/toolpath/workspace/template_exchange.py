"""Plan templates from and to other stores and systems, as documents."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from toolpath.errors import PlanInvalid, PolicyViolationError, ReadError, RecordConflict, SchemaError
from toolpath.model.template import Imported, PlanTemplate
from toolpath.notation.template_config import config_of, read_config
from toolpath.values import JsonObject
from toolpath.workspace.templates import TemplateDraft, Templates

#: Templates that one import takes.
_MOST = 1_000


class TemplateExchange:
    """Export and import of the templates of one Toolpath."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    async def exported(self, *, tenant: str | None = None, group: str | None = None) -> list[JsonObject]:
        """All templates as documents that `import_all` takes, those of one group alone where one is named."""
        return [
            # What is published is an earlier document: this one is a draft.
            await self.config(each if each.published == each.version else msgspec.structs.replace(each, channels=()))
            async for each in self._templates.every(tenant=tenant, group=group)
        ]

    async def config(self, template: PlanTemplate, *, version: int | None = None) -> JsonObject:
        """The template as the plan execution service has it, with our document as `plan` where it is one."""
        document = await self._templates.document(template, version)
        parameters = (await self._templates.parameters(template, version=version)).parameters
        made = config_of(template, document, parameters)
        is_theirs = (await self._templates.read(template, version)).is_config
        return made if is_theirs else {**made, "plan": document}

    async def import_all(self, documents: Sequence[JsonObject], *, tenant: str = "", user: str = "") -> list[Imported]:
        """Take documents that were exported here or there; each is taken or not, and what it says is told.

        One whose title is taken in its group becomes a further version of the template there.
        """
        if len(documents) > _MOST:
            raise ReadError(f"There are {len(documents):,} templates; at most {_MOST:,} are imported at once.")
        return [await self._import(document, tenant, user) for document in documents]

    async def _import(self, document: JsonObject, tenant: str, user: str) -> Imported:
        title = ""
        try:
            config = read_config(document)
            title = config.title
            template = await self._templates.titled(title, config.group, tenant=tenant)
            own = document.get("plan")
            draft = TemplateDraft(title=title, group=config.group, description=config.description or None)
            source = own if isinstance(own, dict) else document
            made = await self._templates.save(source, draft, template=template, tenant=tenant, user=user)
        except (SchemaError, PlanInvalid, PolicyViolationError, ReadError, RecordConflict) as error:
            return Imported(title=title, error=str(error))
        try:
            if config.channels and (made.published, made.channels) != (made.version, config.channels):
                made = await self._templates.publish(made, config.channels, user=user)
            if config.access == "readOnly":
                await self._templates.change(made, TemplateDraft(access="readOnly"), user=user)
        except (PlanInvalid, PolicyViolationError, RecordConflict, SchemaError) as error:
            return Imported(title=title, template_id=made.template_id, error=f"It is kept as a draft: {error}")
        return Imported(title=title, template_id=made.template_id)
