"""Plan templates and schedules over GraphQL: looked at, kept, published and run."""

from __future__ import annotations

import msgspec
import strawberry
from graphql import GraphQLError

from toolpath.errors import RecordNotFound, SchemaError
from toolpath.model.schedule import Schedule
from toolpath.model.template import PlanTemplate
from toolpath.server.graphql.doors import Info, NeedsScope
from toolpath.server.graphql.executions import shown_execution
from toolpath.server.graphql.types import ExecutionWithChaining, moment, text
from toolpath.values import JsonObject
from toolpath.workspace.schedules import ScheduleDraft
from toolpath.workspace.templates import TemplateDraft

_READ = NeedsScope("read")
_RUN = NeedsScope("run")
_PAGE = 100


@strawberry.type(description="What a run of a template is given.")
class TemplateParameter:
    """One parameter."""

    name: str
    type: str = strawberry.field(description="JSON Schema's word; empty: any.")
    description: str
    required: bool


@strawberry.type(description="A version of a template.")
class TemplateVersion:
    """Version of a template, as it is told of."""

    version: int
    digest: str
    created_at: str
    created_by: str
    comment: str


@strawberry.type(description="A plan with parameters that is kept.")
class Template:
    """A template, with one version of its document."""

    id: strawberry.ID
    title: str
    group: str
    description: str
    access: str
    channels: list[str]
    published: int = strawberry.field(description="The version that the channels run; 0: a draft.")
    version: int = strawberry.field(description="Of the document shown.")
    revision: int
    versions: list[TemplateVersion]
    updated_at: str
    kept: strawberry.Private[PlanTemplate]

    @strawberry.field(extensions=[_READ], description="What a run of it is given.")
    async def parameters(self, info: Info) -> list[TemplateParameter]:
        """Read from its document."""
        needed = await info.context.tp.templates.parameters(self.kept, version=self.version)
        return [
            TemplateParameter(name=each.name, type=each.type, description=each.description, required=each.required)
            for each in needed.parameters
        ]

    @strawberry.field(extensions=[_READ], description="As it was saved, as JSON text.")
    async def document(self, info: Info) -> str:
        """The document of the version."""
        return text(await info.context.tp.templates.document(self.kept, self.version))


@strawberry.type(description="When a template or a stored plan is run by itself.")
class ScheduledRuns:
    """A schedule."""

    id: strawberry.ID
    title: str
    template_id: str
    plan_id: str
    inputs: str = strawberry.field(description="JSON text.")
    cron: str
    time_zone: str
    once: str | None
    paused: bool
    next_at: str | None
    revision: int


@strawberry.type
class TemplateQuery:
    """Queries of templates and schedules: what can be looked at."""

    @strawberry.field(extensions=[_READ], description="Plan templates, newest first; `before` is an id.")
    async def plan_templates(
        self, info: Info, group: str | None = None, limit: int = 20, before: strawberry.ID | None = None
    ) -> list[Template]:
        """A page of the caller's."""
        tp, tenant = info.context.tp, info.context.caller.of_tenant
        if before is not None:
            await tp.templates.get(before, tenant=tenant)
        found = await tp.templates.newest(tenant=tenant, group=group, limit=_page(limit), before=before)
        return [_shown(template) for template in found]

    @strawberry.field(
        extensions=[_READ], description="A plan template by its id, group.title or title; null: there is none."
    )
    async def plan_template(self, info: Info, id: strawberry.ID, version: int | None = None) -> Template | None:
        """With its newest document, or with that of a version."""
        try:
            template = await _theirs(info, id)
        except RecordNotFound:
            return None
        if version is not None:
            await info.context.tp.templates.document(template, version)
        return _shown(template, version)

    @strawberry.field(extensions=[_READ], description="Schedules, newest first; `before` is an id.")
    async def schedules(self, info: Info, limit: int = 20, before: strawberry.ID | None = None) -> list[ScheduledRuns]:
        """A page of the caller's."""
        tp, tenant = info.context.tp, info.context.caller.of_tenant
        if before is not None:
            await tp.schedules.get(before, tenant=tenant)
        return [
            _scheduled(each) for each in await tp.schedules.newest(tenant=tenant, limit=_page(limit), before=before)
        ]


@strawberry.type
class TemplateMutation:
    """Mutations of templates and schedules: what can be done."""

    @strawberry.mutation(
        extensions=[_RUN],
        description="Keep a document, JSON text or YAML, as a plan template; with `id` as a version of that one.",
    )
    async def save_plan_template(
        self,
        info: Info,
        document: str,
        id: strawberry.ID | None = None,
        title: str | None = None,
        group: str | None = None,
        expected: int | None = None,
    ) -> Template:
        """One equal to the newest version adds none."""
        tp, caller = info.context.tp, info.context.caller
        draft = TemplateDraft(title=title, group=group)
        if id is None:
            made = await tp.templates.save(document, draft, tenant=caller.tenant, user=caller.user)
        else:
            known = await _theirs(info, id)
            made = await tp.templates.save(
                document, draft, template=known, expected=expected, tenant=known.tenant, user=caller.user
            )
        return _shown(made)

    @strawberry.mutation(extensions=[_RUN], description="Let a version be run in these channels; none: it is a draft.")
    async def publish_plan_template(
        self, info: Info, id: strawberry.ID, channels: list[str], version: int | None = None
    ) -> Template:
        """The newest version, unless another one is named."""
        tp, user = info.context.tp, info.context.caller.user
        template = await _theirs(info, id)
        if channels:
            kept = await tp.templates.publish(template, channels, version=version, user=user)
        else:
            kept = await tp.templates.withdraw(template, user=user)
        return _shown(kept)

    @strawberry.mutation(extensions=[_RUN], description="Make the document of an earlier version the newest one.")
    async def roll_back_plan_template(self, info: Info, id: strawberry.ID, version: int) -> Template:
        """As a further version."""
        tp, user = info.context.tp, info.context.caller.user
        return _shown(await tp.templates.roll_back(await _theirs(info, id), version, user=user))

    @strawberry.mutation(extensions=[_RUN], description="Forget a plan template; its runs stay.")
    async def delete_plan_template(self, info: Info, id: strawberry.ID) -> bool:
        """Whether it was there."""
        try:
            template = await _theirs(info, id)
        except RecordNotFound:
            return False
        await info.context.tp.templates.delete(template, user=info.context.caller.user)
        return True

    @strawberry.mutation(
        extensions=[_RUN],
        description="Run the version that is published in the channel `http`, and answer when it has ended or waits "
        "for people. `inputs` is JSON text.",
    )
    async def run_plan_template(
        self, info: Info, id: strawberry.ID, inputs: str = "{}", idempotency_key: str = ""
    ) -> ExecutionWithChaining:
        """The run; where one has the key already, that one."""
        tp, caller = info.context.tp, info.context.caller
        template, given = await _theirs(info, id), _inputs(inputs)
        what = await tp.templates.run_of(template, given, version=tp.templates.open_to(template, "http"))
        run = await tp.start(
            what, given, context=caller.context(), idempotency_key=idempotency_key, priority=caller.priority
        )
        await info.context.rested(run.run_id)
        return await shown_execution(tp, await tp.store.get_run(run.run_id))

    @strawberry.mutation(
        extensions=[_RUN], description="Keep a schedule of a template; it runs with the caller's permissions."
    )
    async def schedule_plan_template(
        self,
        info: Info,
        id: strawberry.ID,
        cron: str,
        time_zone: str = "UTC",
        inputs: str = "{}",
        title: str = "",
    ) -> ScheduledRuns:
        """As `POST /schedules` does; what else a schedule can say is said there."""
        tp, caller = info.context.tp, info.context.caller
        template = await _theirs(info, id)
        draft = ScheduleDraft(
            template_id=template.template_id,
            inputs=_inputs(inputs),
            cron=cron,
            time_zone=time_zone,
            title=title or None,
        )
        permissions = tuple(sorted(caller.permissions))
        made = await tp.schedules.create(draft, tenant=caller.tenant, user=caller.user, permissions=permissions)
        return _scheduled(made)

    @strawberry.mutation(
        extensions=[_RUN],
        description="Change what is given of a schedule; `paused` has it rest, and go on. From now on it runs with the "
        "caller's permissions.",
    )
    async def change_schedule(
        self,
        info: Info,
        id: strawberry.ID,
        cron: str | None = None,
        time_zone: str | None = None,
        inputs: str | None = None,
        title: str | None = None,
        paused: bool | None = None,
        expected: int | None = None,
    ) -> ScheduledRuns:
        """As `PUT /schedules/{id}` does; `expected` is the revision that it was changed from."""
        tp, caller = info.context.tp, info.context.caller
        schedule = await tp.schedules.get(id, tenant=caller.of_tenant)
        draft = ScheduleDraft(
            cron=cron,
            time_zone=time_zone,
            inputs=None if inputs is None else _inputs(inputs),
            title=title,
            paused=paused,
        )
        permissions = tuple(sorted(caller.permissions))
        kept = await tp.schedules.change(schedule, draft, expected=expected, user=caller.user, permissions=permissions)
        return _scheduled(kept)

    @strawberry.mutation(extensions=[_RUN], description="Forget a schedule; its runs stay.")
    async def delete_schedule(self, info: Info, id: strawberry.ID) -> bool:
        """Whether it was there."""
        tp, caller = info.context.tp, info.context.caller
        try:
            schedule = await tp.schedules.get(id, tenant=caller.of_tenant)
        except RecordNotFound:
            return False
        await tp.schedules.delete(schedule, user=caller.user)
        return True


async def _theirs(info: Info, name: str) -> PlanTemplate:
    return await info.context.tp.templates.get(name, tenant=info.context.caller.of_tenant)


def _page(limit: int) -> int:
    if not 1 <= limit <= _PAGE:
        raise GraphQLError(f"A page has 1 to {_PAGE} entries.", extensions={"code": "invalid_request"})
    return limit


def _inputs(values: str) -> JsonObject:
    try:
        given: JsonObject = msgspec.json.decode(values, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError) as error:
        raise SchemaError(f"`inputs` is no JSON object: {error}") from None
    return given


def _shown(template: PlanTemplate, version: int | None = None) -> Template:
    return Template(
        id=strawberry.ID(template.template_id),
        title=template.title,
        group=template.group,
        description=template.description,
        access=template.access,
        channels=list(template.channels),
        published=template.published,
        version=template.version if version is None else version,
        revision=template.revision,
        versions=[
            TemplateVersion(
                version=each.version,
                digest=each.digest,
                created_at=moment(each.at),
                created_by=each.by,
                comment=each.comment,
            )
            for each in template.versions
        ],
        updated_at=moment(template.updated_at),
        kept=template,
    )


def _scheduled(schedule: Schedule) -> ScheduledRuns:
    return ScheduledRuns(
        id=strawberry.ID(schedule.schedule_id),
        title=schedule.title,
        template_id=schedule.template_id,
        plan_id=schedule.plan_id,
        inputs=text(schedule.inputs),
        cron=schedule.cron,
        time_zone=schedule.time_zone,
        once=None if schedule.once is None else moment(schedule.once),
        paused=schedule.paused,
        next_at=None if schedule.next_at is None else moment(schedule.next_at),
        revision=schedule.revision,
    )
