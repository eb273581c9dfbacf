"""Views that answers show: runs, questions, plans, tools as records of their own, so that what is inside may change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from toolpath.errors import Finding
from toolpath.model.conversation import Conversation, ConversationMessage, FoundMessage, OpenTurn, Summary
from toolpath.model.events import AnyEvent, Failure, RunStarted, Warned
from toolpath.model.language_model import MASK, LanguageModel
from toolpath.model.mcp_server import McpServer
from toolpath.model.record import AuditEntry
from toolpath.model.run import RunInfo, RunStatus, StepResult
from toolpath.model.schedule import Missed, Overlap, Schedule, Tick
from toolpath.model.sub_plan import SubPlan
from toolpath.model.template import Access, Channel, Imported, Parameter, PlanTemplate
from toolpath.model.tool import Example, Requires, Tool, ToolStats
from toolpath.model.upload import UploadedFile
from toolpath.projections.comparison import Comparison
from toolpath.projections.results import run_result
from toolpath.projections.sub_plans import sub_result
from toolpath.providers.run_files.folder import FileEntry
from toolpath.server.questions import Question, questions_of
from toolpath.server.rest.plan_views import PLAN_VIEWS
from toolpath.server.rest.planning_views import PLANNING_VIEWS
from toolpath.server.shown import shown_results
from toolpath.values import Json, JsonObject
from toolpath.workspace.settings.stored_settings import Setting


class RestView(msgspec.Struct, frozen=True, kw_only=True):
    """Base of every answer."""


class RunRow(RestView, frozen=True, kw_only=True):
    """A run in a list. Times are Unix time in seconds."""

    run_id: str
    status: RunStatus
    name: str = ""
    reason: str = ""
    created_at: float = 0.0
    updated_at: float = 0.0
    ended_at: float | None = None
    user: str = ""
    tenant: str = ""
    plan_id: str = ""
    conversation_id: str = ""
    parent: str = ""
    """The run that it was forked from."""
    priority: int = 0
    last_seq: int = 0
    """Number of its latest event."""


class RunDetail(RunRow, frozen=True, kw_only=True):
    """A run as it stands, with what its steps gave so far."""

    success: bool = False
    inputs: JsonObject = {}
    outputs: Json = None
    error: Failure | None = None
    results: tuple[StepResult, ...] = ()
    left_out: int = 0
    """The last so many results are told without inputs and output, which would take too much: the events have them."""
    failed_steps: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    warnings: tuple[str, ...] = ()
    total_duration: float = 0.0
    cost: float = 0.0
    sub_plan: SubPlan | None = None
    """Of a plan inside a run: in which plan it was begun, and by which call."""


class SubPlanList(RestView, frozen=True, kw_only=True):
    """The plans inside a run, in the order in which they were begun."""

    plans: tuple[SubPlan, ...]


class RunPage(RestView, frozen=True, kw_only=True):
    """Runs, newest first. `next` is the `before` of the next page; null: this was the last."""

    runs: tuple[RunRow, ...]
    next: str | None = None


class EventPage(RestView, frozen=True, kw_only=True):
    """Events of a run in order. `last` is the `after` of the next page; `ended`: none will come after these."""

    events: tuple[JsonObject, ...]
    last: int
    ended: bool


class QuestionPage(RestView, frozen=True, kw_only=True):
    """Questions that wait for people, in runs that wait or still do something else, by the run that has waited longest.

    `next` is the `after` of the next page; null: this was the last.
    """

    questions: tuple[Question, ...]
    next: str | None = None


class ToolRow(RestView, frozen=True, kw_only=True):
    """A tool in a list."""

    key: str
    title: str = ""
    description: str = ""
    category: str = ""
    effect: str = ""
    source: str = ""
    """Where it comes from: `mcp`, `folder`, `builtin`, `templates`, or `program`."""
    score: float | None = None
    """How well it fits what was searched for; greater is better."""


class ToolDetail(ToolRow, frozen=True, kw_only=True):
    """Tool with all that a caller should know of it."""

    input_schema: JsonObject = {}
    output_schema: JsonObject | None = None
    capabilities: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    aliases: tuple[str, ...] = ()
    idempotent: bool = False
    requires: Requires = Requires()
    cost: float | None = None
    timeout: float | None = None
    version: str = ""
    fingerprint: str = ""


class ToolPage(RestView, frozen=True, kw_only=True):
    """Tools by key, or best first. `next` is the `after` of the next page; null: this was the last."""

    tools: tuple[ToolRow, ...]
    problems: tuple[str, ...] = ()
    """Why tools of a server are not there."""
    next: str | None = None


class StatsRow(RestView, frozen=True, kw_only=True):
    """Statistics of a tool from its calls. Durations in seconds, cost in USD."""

    key: str
    calls: int
    failures: int = 0
    timeouts: int = 0
    failure_rate: float | None = None
    average_duration: float | None = None
    p50_duration: float | None = None
    p95_duration: float | None = None
    cost: float = 0.0


class StatsPage(RestView, frozen=True, kw_only=True):
    """Statistics by key of the tool."""

    stats: tuple[StatsRow, ...]


class CallOutcome(RestView, frozen=True, kw_only=True):
    """Outcome of one call; a run like any other stands behind it."""

    run_id: str
    status: RunStatus
    success: bool = False
    output: Json = None
    error: Failure | None = None
    duration: float = 0.0
    questions: tuple[Question, ...] = ()


class AuditPage(msgspec.Struct, frozen=True, kw_only=True):
    """Entries of the audit trail, oldest first."""

    entries: tuple[AuditEntry, ...]
    next: int | None
    """Number to go on after, where there are more."""


class SessionDetail(RestView, frozen=True, kw_only=True):
    """Who asks, and what they may do."""

    user: str
    tenant: str
    scopes: tuple[str, ...]
    signed_in: bool
    """They showed a key or token; else the server is open to this machine."""


class TemplateRow(RestView, frozen=True, kw_only=True):
    """A plan template in a list."""

    template_id: str
    title: str
    group: str
    description: str = ""
    version: int
    """The newest."""
    published: int = 0
    """The version that its channels run; 0: it is a draft."""
    channels: tuple[Channel, ...] = ()
    access: Access = "editable"
    user: str = ""
    revision: int = 0
    created_at: float = 0.0
    updated_at: float = 0.0


class TemplateDetail(PlanTemplate, frozen=True, kw_only=True, omit_defaults=False):
    """A plan template with the document of one version, what a run is to be given, and what the check says."""

    shown: int
    """The version whose document this is."""
    document: JsonObject
    source: str = ""
    """The text that it was written as, comments and all; empty: it came as data."""
    parameters: tuple[Parameter, ...]
    input_schema: JsonObject
    findings: tuple[Finding, ...] = ()
    """Empty too where the plan is only whole when a run starts."""


class TemplatePage(RestView, frozen=True, kw_only=True):
    """Templates, newest first. `next` is the `before` of the next page; null: this was the last."""

    templates: tuple[TemplateRow, ...]
    next: str | None = None


class TemplateExport(RestView, frozen=True, kw_only=True):
    """Templates as documents."""

    templates: tuple[JsonObject, ...]


class TemplateImported(RestView, frozen=True, kw_only=True):
    """Outcome of an import, document by document in its order."""

    templates: tuple[Imported, ...]


class ScheduleRow(RestView, frozen=True, kw_only=True):
    """A schedule. Times are Unix time in seconds."""

    schedule_id: str
    title: str
    template_id: str = ""
    plan_id: str = ""
    inputs: JsonObject = {}
    uploads: tuple[str, ...] = ()
    cron: str = ""
    once: float | None = None
    time_zone: str = "UTC"
    overlap: Overlap = "skip"
    missed: Missed = "last"
    paused: bool = False
    next_at: float | None = None
    """When it is due next; null: never, or it is paused."""
    upcoming: tuple[float, ...] = ()
    """The next times at which it is due, or would be if it were not paused."""
    ticks: tuple[Tick, ...] = ()
    """The latest, newest last."""
    user: str = ""
    revision: int = 0
    created_at: float = 0.0
    updated_at: float = 0.0


class SchedulePage(RestView, frozen=True, kw_only=True):
    """Schedules, newest first. `next` is the `before` of the next page; null: this was the last."""

    schedules: tuple[ScheduleRow, ...]
    next: str | None = None


class FileRow(RestView, frozen=True, kw_only=True):
    """A file of a run. `size` is bytes, `modified_at` Unix time."""

    name: str
    path: str
    size: int = 0
    modified_at: float = 0.0


class FileTree(RestView, frozen=True, kw_only=True):
    """Tree of the folder of a run, folders with what is in them."""

    run_id: str
    tree: FileEntry


class UploadRow(RestView, frozen=True, kw_only=True):
    """An upload with its files. Times are Unix time in seconds."""

    upload_id: str
    files: tuple[UploadedFile, ...] = ()
    created_at: float = 0.0


class UploadPage(RestView, frozen=True, kw_only=True):
    """Uploads, newest first. `next` is the `before` of the next page; null: this was the last."""

    uploads: tuple[UploadRow, ...]
    next: str | None = None


class ConversationRow(RestView, frozen=True, kw_only=True):
    """A conversation. Times are Unix time in seconds."""

    conversation_id: str
    title: str = ""
    user: str = ""
    """Who may see it; empty: everybody of the tenant."""
    messages: int = 0
    characters: int = 0
    turn: OpenTurn | None = None
    """The turn that goes on; null: none does."""
    summary: Summary | None = None
    """What stands for the oldest messages when a model is told of it; null: they are told as they are."""
    last_at: float = 0.0
    revision: int = 0
    created_at: float = 0.0


class ConversationPage(RestView, frozen=True, kw_only=True):
    """Conversations, newest first. `next` is the `before` of the next page; null: this was the last."""

    conversations: tuple[ConversationRow, ...]
    next: str | None = None


class MessagePage(RestView, frozen=True, kw_only=True):
    """Messages, oldest first. `next` is the `before` of the page before them; null: there is none."""

    messages: tuple[ConversationMessage, ...]
    next: int | None = None


class FoundPage(RestView, frozen=True, kw_only=True):
    """Places at which a text was found."""

    found: tuple[FoundMessage, ...]


class TurnRow(RestView, frozen=True, kw_only=True):
    """A turn that was begun."""

    conversation_id: str
    run_id: str
    number: int
    """Of the message that it answers."""
    is_new: bool = True
    """False: the same message was there already."""


class ModelRow(RestView, frozen=True, kw_only=True):
    """A model. Its key and the values of its headers are never shown."""

    model_id: str
    name: str
    tenant: str = ""
    """Empty: the house's."""
    api: str = "openai"
    model: str = ""
    base_url: str = ""
    key: str = ""
    """Asterisks where there is one."""
    headers: dict[str, str] = {}
    """Names, with asterisks."""
    temperature: float | None = None
    top_p: float | None = None
    completions_path: str = ""
    description: str = ""
    type: str = "GENERAL"
    is_default: bool = False
    revision: int = 0
    created_at: float = 0.0
    updated_at: float = 0.0


class ModelList(RestView, frozen=True, kw_only=True):
    """The caller's own models by name, then the house's."""

    models: tuple[ModelRow, ...]


class ModelTrial(RestView, frozen=True, kw_only=True):
    """Outcome of a request to the model."""

    valid: bool
    message: str
    available: tuple[str, ...] = ()
    """Models that the provider lists."""


class McpServerList(RestView, frozen=True, kw_only=True):
    """MCP servers by name; a tenant is not told how they are reached."""

    servers: tuple[McpServer, ...]
    commands: bool = False
    """Programs may be added as servers, too: the setting `mcp_commands` is on."""


class SettingList(RestView, frozen=True, kw_only=True):
    """Settings that may be changed while processes run."""

    settings: tuple[Setting, ...]


#: Every answer, for the description of the interface.
VIEWS: tuple[type, ...] = (
    *PLAN_VIEWS,
    *PLANNING_VIEWS,
    RunRow,
    RunDetail,
    RunPage,
    SubPlanList,
    Comparison,
    EventPage,
    QuestionPage,
    SessionDetail,
    ToolDetail,
    ToolPage,
    StatsPage,
    CallOutcome,
    AuditPage,
    TemplateDetail,
    TemplatePage,
    TemplateExport,
    TemplateImported,
    ScheduleRow,
    SchedulePage,
    ConversationRow,
    ConversationPage,
    MessagePage,
    FoundPage,
    TurnRow,
    ModelRow,
    ModelList,
    ModelTrial,
    McpServer,
    McpServerList,
    SettingList,
    FileRow,
    FileTree,
    UploadRow,
    UploadPage,
)


def run_row(info: RunInfo) -> RunRow:
    """The run as a list shows it."""
    return RunRow(**{name: getattr(info, name) for name in RunRow.__struct_fields__})


def run_detail(info: RunInfo, events: Sequence[AnyEvent], path: str = "", *, results: bool = True) -> RunDetail:
    """The run, or the plan that the call at `path` began, as its journal tells so far. Raises `RunNotFound`.

    `results`: with what its steps gave.
    """
    row = {name: getattr(info, name) for name in RunRow.__struct_fields__}
    if not events and not path:
        return RunDetail(**row)
    result = run_result(info.run_id, events, row=info, parked=info.status == "waiting")
    first: AnyEvent | None = events[0] if events else None
    inputs = first.inputs if isinstance(first, RunStarted) else {}
    if path:
        call = next((each for each in result.results if each.path == path), None)
        inputs = call.inputs if call is not None and isinstance(call.inputs, dict) else {}
        result = sub_result(result, path)
        row |= {"run_id": result.run_id, "name": result.sub_plan.title if result.sub_plan else "", "parent": ""}
    shown, left_out = shown_results(result.results) if results else ((), 0)
    # The journal may have gone on since the row was read.
    row |= {"status": result.status, "reason": result.reason, "last_seq": events[-1].seq}
    return RunDetail(
        **row,
        success=result.success,
        inputs=inputs,
        sub_plan=result.sub_plan,
        outputs=result.outputs,
        error=result.error,
        results=shown,
        left_out=left_out,
        failed_steps=result.failed_steps,
        questions=questions_of(result),
        warnings=tuple(warning.message for warning in result.warnings if isinstance(warning, Warned)),
        total_duration=result.total_duration,
        cost=result.cost,
    )


def template_row(template: PlanTemplate) -> TemplateRow:
    """The template as a list shows it."""
    return TemplateRow(**{name: getattr(template, name) for name in TemplateRow.__struct_fields__})


def schedule_row(schedule: Schedule, upcoming: Iterable[float] = ()) -> ScheduleRow:
    """The schedule as it is shown."""
    names = (name for name in ScheduleRow.__struct_fields__ if name != "upcoming")
    return ScheduleRow(**{name: getattr(schedule, name) for name in names}, upcoming=tuple(upcoming))


def conversation_row(conversation: Conversation) -> ConversationRow:
    """The conversation as it is shown."""
    return ConversationRow(**{name: getattr(conversation, name) for name in ConversationRow.__struct_fields__})


def model_row(model: LanguageModel) -> ModelRow:
    """The model as it is shown."""
    names = (name for name in ModelRow.__struct_fields__ if name not in ("key", "headers"))
    hidden = dict.fromkeys(model.headers, MASK)
    return ModelRow(**{name: getattr(model, name) for name in names}, key=MASK if model.has_key else "", headers=hidden)


def tool_row(tool: Tool, score: float | None = None, *, source: str = "") -> ToolRow:
    """The tool as a list shows it."""
    return ToolRow(
        key=tool.key,
        title=tool.title,
        description=tool.description,
        category=tool.category,
        effect=tool.effect,
        source=source,
        score=None if score is None else round(score, 6),
    )


def tool_detail(tool: Tool, *, source: str = "") -> ToolDetail:
    """View of a tool with all that a caller should know of it."""
    names = (name for name in ToolDetail.__struct_fields__ if name not in ("score", "source"))
    return ToolDetail(**{name: getattr(tool, name) for name in names}, source=source)


def stats_row(key: str, stats: ToolStats) -> StatsRow:
    """The row of one tool's statistics."""
    return StatsRow(
        key=key,
        calls=stats.calls,
        failures=stats.failures,
        timeouts=stats.timeouts,
        failure_rate=stats.failure_rate,
        average_duration=stats.average_duration,
        p50_duration=stats.percentile(0.5),
        p95_duration=stats.percentile(0.95),
        cost=stats.cost,
    )
