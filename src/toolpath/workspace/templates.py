"""Stored plan templates: documents with parameters, their versions, and where they are published."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, Final, cast

import msgspec

from toolpath.access.trail import Trail
from toolpath.checks.check import has_errors
from toolpath.errors import (
    PlanInvalid,
    PolicyViolationError,
    RecordConflict,
    RecordNotFound,
    RunConflict,
    SchemaError,
    closest,
)
from toolpath.machine import new_id
from toolpath.model.events import PlanRevised, RunStarted
from toolpath.model.plan import Plan, thaw
from toolpath.model.template import (
    Access,
    Channel,
    Parameter,
    PlanTemplate,
    TemplateParameters,
    TemplateRun,
    TemplateVersion,
)
from toolpath.model.versions import DocumentDiff
from toolpath.notation.nodes import TooManySteps, plain
from toolpath.notation.printing import plan_to_dict
from toolpath.notation.template import TemplateDocument, escaped, read_template, template_of
from toolpath.notation.template_config import DEFAULT_GROUP, content_of_config, read_config
from toolpath.notation.tree import read_tree
from toolpath.ports import Store
from toolpath.runs.beside_the_loop import weight_of
from toolpath.runs.preparation import KEPT, KEPT_PARTS, Preparation
from toolpath.runs.weighted_cache import WeightedCache
from toolpath.values import JsonObject
from toolpath.workspace.document_diff import diff_of
from toolpath.workspace.template_records import TemplateContent, TemplateRecords, revision_of, version_of
from toolpath.workspace.template_tools import check_tool, tool_of

#: Versions that are kept; older ones go.
_MOST_VERSIONS: Final = 1_000
#: Templates on one page.
_PAGE: Final = 500
CHANNELS: Final[tuple[Channel, ...]] = ("tool", "http", "conversation", "mcp")


class TemplateDraft(msgspec.Struct, frozen=True, kw_only=True):
    """Draft of a template; None: as it was, or as the document says."""

    title: str | None = None
    group: str | None = None
    description: str | None = None
    access: Access | None = None
    comment: str = ""
    """Why this version."""


class Templates:
    """The plan templates of one Toolpath."""

    def __init__(
        self, store: Store, preparation: Preparation, trail: Trail, *, mark: Callable[[], Awaitable[None]]
    ) -> None:
        """`mark` is told when what is published as tools has changed."""
        self._store = store
        self._preparation = preparation
        self._clock = trail.clock
        self._records = TemplateRecords(store, trail)
        self._mark = mark
        self._read: WeightedCache[str, TemplateDocument] = WeightedCache(number=KEPT, weight=KEPT_PARTS)

    # Saving.

    async def save(
        self,
        source: str | JsonObject | Plan,
        draft: TemplateDraft | None = None,
        *,
        template: PlanTemplate | None = None,
        expected: int | None = None,
        tenant: str = "",
        user: str = "",
    ) -> PlanTemplate:
        """Keep the document: as a new template, or as a further version of `template`.

        A document equal to the newest version adds none. The title is the draft's, else the document's own. Raises
        `ReadError` and `PlanInvalid` for what is no plan, `RecordConflict` where the title is taken in its group or the
        template is not at the revision `expected`, `PolicyViolationError` for one that is read-only.
        """
        draft = draft or TemplateDraft()
        content, is_theirs = await self._content(source)
        document = content.document
        said = read_config(document) if is_theirs else None
        title = _first(draft.title, template and template.title, said and said.title, document.get("name"))
        now = self._clock.time()
        version = content.version(TemplateVersion(version=1, digest="", at=now, by=user, comment=draft.comment))
        if template is None:
            made = PlanTemplate(
                template_id=new_id("tpl", now),
                title=title,
                group=_first(draft.group, said and said.group, DEFAULT_GROUP),
                description=_description(draft, said.description if said else str(document.get("description") or "")),
                access=draft.access or "editable",
                versions=(version,),
                tenant=tenant,
                user=user,
            )
            return await self._records.put(made, content, None, "template.create", by=user)
        _refuse_read_only(template)
        check_revision(template, expected)
        latest = template.versions[-1]
        versions = template.versions
        # What came as data says nothing of the text that there is.
        if latest.digest != version.digest or version.written not in ("", latest.written):
            versions = (*versions, msgspec.structs.replace(version, version=latest.version + 1))
            # What is published stays, however old it is.
            kept = [each for each in versions[:-_MOST_VERSIONS] if each.version == template.published]
            versions = (*kept, *versions[-_MOST_VERSIONS:])
        changed = msgspec.structs.replace(
            template,
            title=title,
            group=_first(draft.group, template.group),
            description=_description(draft, template.description),
            access=draft.access or template.access,
            versions=versions,
        )
        if changed == template:
            return template
        return await self._changed(template, changed, content, user)

    async def change(
        self, template: PlanTemplate, draft: TemplateDraft, *, expected: int | None = None, user: str = ""
    ) -> PlanTemplate:
        """Change what is said of the template, not its document. A read-only one can be made editable, and no more."""
        check_revision(template, expected)
        if draft.access != "editable" or (draft.title, draft.group, draft.description) != (None, None, None):
            _refuse_read_only(template)
        changed = msgspec.structs.replace(
            template,
            title=_first(draft.title, template.title),
            group=_first(draft.group, template.group),
            description=_description(draft, template.description),
            access=draft.access or template.access,
        )
        return await self._changed(template, changed, None, user)

    async def _changed(
        self, before: PlanTemplate, changed: PlanTemplate, content: TemplateContent | None, user: str
    ) -> PlanTemplate:
        is_renamed = "tool" in changed.channels and changed.key != before.key
        if is_renamed:
            plan = (await self.read(before, before.published)).plan()
            await self._check_tool(changed, plan, before.published)
        kept = await self._records.put(changed, content, before, "template.update", by=user)
        if _is_told(changed.channels) and (before.key, before.description) != (changed.key, changed.description):
            await self._mark()
        return kept

    async def roll_back(self, template: PlanTemplate, version: int, *, user: str = "") -> PlanTemplate:
        """Make the document of an earlier version the newest one, comments and all. Raises `RecordNotFound`."""
        earlier = await self.text(template, version) or await self.document(template, version)
        return await self.save(
            earlier,
            TemplateDraft(comment=f"as version {version}"),
            template=template,
            tenant=template.tenant,
            user=user,
        )

    async def publish(
        self, template: PlanTemplate, channels: Iterable[str], *, version: int | None = None, user: str = ""
    ) -> PlanTemplate:
        """Let a version, else the newest, be run in these channels, and in no others.

        Raises `SchemaError` for a channel that there is none of, `PlanInvalid` for a version that does not check.
        """
        _refuse_read_only(template)
        wanted = tuple(dict.fromkeys(channels))
        unknown = next((name for name in wanted if name not in CHANNELS), None)
        if unknown is not None or not wanted:
            said = f"{unknown!r} is no channel" if unknown is not None else "No channel is named"
            raise SchemaError(f"{said}.", hint=f"There are {', '.join(CHANNELS)}.")
        number = template.version if version is None else version
        read = await self.read(template, number)
        plan = read.plan()
        if not read.fixed:
            await self._preparation.program(plan, template.tenant)
        if "tool" in wanted:
            await self._check_tool(template, plan, number)
        kept: Any = tuple(name for name in CHANNELS if name in wanted)
        changed = msgspec.structs.replace(template, channels=kept, published=number)
        return await self._published(template, changed, "template.publish", user)

    async def withdraw(self, template: PlanTemplate, *, user: str = "") -> PlanTemplate:
        """Make the template a draft, which no channel runs."""
        _refuse_read_only(template)
        changed = msgspec.structs.replace(template, channels=(), published=0)
        return await self._published(template, changed, "template.withdraw", user)

    async def _check_tool(self, template: PlanTemplate, plan: Plan, version: int) -> None:
        catalog = await self._preparation.catalog_with({tool_of(template, plan).key}, template.tenant)
        check_tool(template, await self.read(template, version), plan, catalog, house=self._preparation.house_groups)

    async def _published(self, before: PlanTemplate, changed: PlanTemplate, action: str, user: str) -> PlanTemplate:
        after = await self._records.put(changed, None, before, action, by=user)
        if _is_told((*before.channels, *after.channels)):
            await self._mark()
        return after

    async def delete(self, template: PlanTemplate, *, user: str = "") -> None:
        """Forget the template with all its versions; its runs stay. Raises `PolicyViolationError` where read-only."""
        _refuse_read_only(template)
        await self._records.delete(template, by=user)
        if _is_told(template.channels):
            await self._mark()

    async def from_run(
        self, run_id: str, draft: TemplateDraft | None = None, *, tenant: str = "", user: str = ""
    ) -> PlanTemplate:
        """Keep the plan of a run that succeeded as a template. Raises `RunConflict` where it did not."""
        info = await self._store.get_run(run_id)
        if not info.status.startswith("completed"):
            raise RunConflict(f"The run {run_id} is {info.status}.", hint="Save one that is completed.")
        events = await self._store.read_events(run_id)
        last = next(event for event in reversed(events) if isinstance(event, RunStarted | PlanRevised))
        plan = thaw(last.plan)
        # In the plan of a run `<<` is text, whatever stands behind it.
        document = await self._preparation.aside.do(lambda: escaped(plan_to_dict(plan)), weight_of([plan]))
        return await self.save(cast("JsonObject", document), draft, tenant=tenant, user=user)

    # Finding.

    async def get(self, name: str, *, tenant: str | None = None) -> PlanTemplate:
        """The template of that id, `group.title`, or title where one alone has it. Raises `RecordNotFound`."""
        known = await self.by_id(name)
        if known is not None and (tenant is None or known.tenant == tenant):
            return known
        listed = [each async for each in self.every(tenant=tenant)]
        found = [each for each in listed if each.key == name] or [each for each in listed if each.title == name]
        if len(found) == 1:
            return found[0]
        if found:
            keys = ", ".join(repr(each.key) for each in found[:5])
            raise RecordNotFound(f"{len(found)} templates are called {name[:100]!r}.", hint=f"Say which: {keys}.")
        near = closest(name, (name for each in listed for name in (each.key, each.title)))
        raise RecordNotFound(f"There is no template {name[:100]!r}.", suggestions=near)

    async def newest(
        self, *, tenant: str | None = None, group: str | None = None, limit: int = 50, before: str | None = None
    ) -> list[PlanTemplate]:
        """The newest first; `before` is the last id of the page before."""
        return await self._records.newest(tenant=tenant, group=group, limit=limit, before=before)

    async def revision(self) -> int:
        """A number that grows with each change of what is published to tools and MCP clients, in any process."""
        return await revision_of(self._store)

    async def by_id(self, template_id: str) -> PlanTemplate | None:
        """The template of that id, of any tenant; None where there is none."""
        return await self._records.get(template_id)

    async def every(self, *, tenant: str | None = None, group: str | None = None) -> AsyncIterator[PlanTemplate]:
        """All of them, newest first, read a page at a time."""
        page = await self.newest(tenant=tenant, group=group, limit=_PAGE)
        while page:
            for template in page:
                yield template
            if len(page) < _PAGE:
                return
            page = await self.newest(tenant=tenant, group=group, limit=_PAGE, before=page[-1].template_id)

    async def document(self, template: PlanTemplate, version: int | None = None) -> JsonObject:
        """The document of a version; None: the newest. Raises `RecordNotFound`."""
        return await self._records.document(template, template.version if version is None else version)

    async def text(self, template: PlanTemplate, version: int | None = None) -> str:
        """The text that a version was written as, comments and all; None: the newest. Empty: it came as data."""
        return await self._records.text(template, template.version if version is None else version)

    async def diff(self, template: PlanTemplate, earlier: int, later: int) -> DocumentDiff:
        """The changes in the later version. Raises `RecordNotFound`."""
        before, after = await asyncio.gather(self.document(template, earlier), self.document(template, later))
        names = (f"{template.key} {earlier}", f"{template.key} {later}")
        texts = await self.text(template, earlier), await self.text(template, later)
        weight = weight_of([before, after, *texts])
        return await self._preparation.aside.do(lambda: diff_of(before, after, names=names, texts=texts), weight)

    # Running.

    def open_to(self, template: PlanTemplate, channel: Channel) -> int:
        """The version that the channel runs. Raises `PolicyViolationError` where it is not published there."""
        if template.published and channel in template.channels:
            return template.published
        said = f"is published in {', '.join(template.channels)}" if template.published else "is a draft"
        raise PolicyViolationError(
            f"The template {template.key!r} {said}.",
            missing=[f"channel:{channel}"],
            hint=f"Publish it in the channel {channel!r}.",
        )

    async def run_of(
        self, template: PlanTemplate, values: JsonObject | None = None, *, version: int | None = None
    ) -> TemplateRun:
        """The run of a version with these values, for `Toolpath.start` and `run`. Raises `PlanInvalid`."""
        return TemplateRun(template.template_id, await self.plan(template, values, version=version))

    async def plan(
        self, template: PlanTemplate, values: JsonObject | None = None, *, version: int | None = None
    ) -> Plan:
        """The plan of a version, to run with these values as its inputs. Raises `PlanInvalid` where one is missing."""
        read = await self.read(template, version)
        if not read.fixed:
            return read.unfilled
        weight = self._read.weight(version_of(template, template.version if version is None else version).digest)
        return await self._preparation.aside.do(lambda: read.plan_for(values or {}), weight)

    async def parameters(self, template: PlanTemplate, *, version: int | None = None) -> TemplateParameters:
        """The parameters of a run of the template."""
        return parameters_of(await self.read(template, version))

    async def read(self, template: PlanTemplate, version: int | None = None) -> TemplateDocument:
        """The document of a version, read."""
        known = version_of(template, template.version if version is None else version)
        read = self._read.get(known.digest)
        if read is None:
            document = await self.document(template, known.version)
            weight = weight_of([document])
            read = await self._preparation.aside.do(
                lambda: read_template(document, most_steps=self._preparation.most_steps), weight
            )
            self._read.put(known.digest, read, weight)
        return read

    async def titled(self, title: str, group: str, *, tenant: str) -> PlanTemplate | None:
        """The template that has this title in its group, or None."""
        wanted = PlanTemplate(template_id="", title=title, group=group, tenant=tenant)
        owner = await self._records.titled(wanted)
        return None if owner is None else await self._records.get(owner)

    async def _content(self, source: str | JsonObject | Plan) -> tuple[TemplateContent, bool]:
        """The content, and whether it is the plan execution service's JSON. Raises `PlanInvalid`, `ReadError`."""

        def work() -> tuple[TemplateContent, bool]:
            given: Any = plan_to_dict(source) if isinstance(source, Plan) else source
            tree = read_tree(given, most_steps=self._preparation.most_steps)
            read = template_of(tree)
            findings = read.plan().source.findings
            if has_errors(findings):
                # What could not be read is not in the plan: kept, it would be another one than was meant.
                raise PlanInvalid(findings)
            document = plain(tree)
            assert isinstance(document, dict)
            if read.is_config:
                document = content_of_config(document, {use.name for use in read.uses})
            return TemplateContent(
                document, source if isinstance(source, str) and not read.is_config else ""
            ), read.is_config

        try:
            return await self._preparation.aside.do(work, weight_of([source]))
        except TooManySteps as error:
            raise PlanInvalid(error.findings) from None


def _is_told(channels: Iterable[str]) -> bool:
    """Whether somebody keeps a list of what is published in one of the channels."""
    return not {"tool", "mcp"}.isdisjoint(channels)


def parameters_of(document: TemplateDocument) -> TemplateParameters:
    """The parameters of a run of the document, as a list and as a schema."""
    schema = document.plan().inputs
    required = schema.get("required", ())
    parameters = tuple(
        Parameter(
            name=name,
            type=_type(each),
            description=str(each.get("description", "")) if isinstance(each, dict) else "",
            required=name in required,
        )
        for name, each in schema.get("properties", {}).items()
    )
    return TemplateParameters(parameters=parameters, schema=schema)


def _type(schema: Any) -> str:
    found = schema.get("type", "") if isinstance(schema, dict) else ""
    return found if isinstance(found, str) else ""


def _refuse_read_only(template: PlanTemplate) -> None:
    if template.access == "readOnly":
        raise PolicyViolationError(
            f"The template {template.key!r} is read-only.", hint="Make it editable first, or save a copy."
        )


def check_revision(template: PlanTemplate, expected: int | None) -> None:
    """Raise `RecordConflict` where the template that is at hand is not the one that a change was made for."""
    if expected is not None and expected != template.revision:
        raise RecordConflict(f"The template {template.key!r} was changed meanwhile.", hint="Look at it again.")


def _first(*values: Any) -> str:
    return next((text for text in (str(value).strip() for value in values if value) if text), "")


def _description(draft: TemplateDraft, otherwise: str) -> str:
    return otherwise if draft.description is None else draft.description.strip()
