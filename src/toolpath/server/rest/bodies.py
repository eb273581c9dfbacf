"""Bodies of requests as records, read strictly and without trust."""

from __future__ import annotations

import re
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from fastapi import Header
from starlette.requests import Request

from toolpath.errors import Finding, closest
from toolpath.model.run import Priority
from toolpath.model.schedule import Missed, Overlap
from toolpath.model.template import Access, Channel
from toolpath.runs.naming import LONGEST_KEY
from toolpath.server.problems import Problem
from toolpath.server.rest.choices import choices_at
from toolpath.values import JsonObject

Body = TypeVar("Body")

#: No line ends and nothing that a store could stumble over.
Key = Annotated[str, msgspec.Meta(max_length=LONGEST_KEY, pattern=r"^[\x20-\x7e]*$")]
KeyHeader = Annotated[
    str, Header(max_length=LONGEST_KEY, pattern=r"^[\x20-\x7e]*$", description="As `idempotency_key`.")
]
Words = Annotated[str, msgspec.Meta(max_length=20_000, pattern=r"^[^\x00]*$")]
Id = Annotated[str, msgspec.Meta(max_length=200, pattern=r"^[A-Za-z0-9_.-]*$")]
Title = Annotated[str, msgspec.Meta(max_length=200, pattern=r"^[^\x00\n\r]*$")]
Path = Annotated[str, msgspec.Meta(max_length=1_000, pattern=r"^[^\x00]*$")]


class Sent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every body: an object without fields that nobody knows."""


class NewPlan(Sent, frozen=True, kw_only=True):
    """A request in words, which is planned, or a plan in any notation: one of the two.

    With `request_id` it becomes a further version under that request. `tools` limits what the planner may use.
    `decomposition`: the request taken apart, as `{query_type, sub_queries, confidence}`. `time_zone`: the zone that its
    days are meant in, as `Europe/Berlin`; else the service's.
    """

    request: Words = ""
    plan: JsonObject | str | None = None
    request_id: Id = ""
    tools: Annotated[list[Key], msgspec.Meta(max_length=1_000)] = []
    planner: Literal["model", "offline"] | None = None
    decomposition: JsonObject | None = None
    time_zone: Key = ""
    requires_approval: bool = False


class RequestToRoute(Sent, frozen=True, kw_only=True):
    """A request in words, and the names of the tools that it may mean; none: all.

    `on_multiple`: what follows where a name fits several. `run`: what was chosen is called.
    """

    request: Annotated[Words, msgspec.Meta(min_length=1)]
    tools: Annotated[list[Key], msgspec.Meta(max_length=1_000)] = []
    planner: Literal["model", "offline"] | None = None
    on_multiple: Literal["best", "all", "error"] | None = None
    run: bool = False


class PlanToCheck(Sent, frozen=True, kw_only=True):
    """A plan in any notation, that is not to be kept."""

    plan: JsonObject | str


class ChangedPlan(Sent, frozen=True, kw_only=True):
    """Another plan in place of the one that is there; `expected`: only if it is still at this revision."""

    plan: JsonObject | str
    comment: Words = ""
    """Why this revision."""
    expected: Annotated[int, msgspec.Meta(ge=1, le=2**53)] | None = None


class PlanRollback(Sent, frozen=True, kw_only=True):
    """Which revision is to be the newest again; `expected`: only if the plan is still at this one."""

    revision: Annotated[int, msgspec.Meta(ge=1, le=2**53)]
    expected: Annotated[int, msgspec.Meta(ge=1, le=2**53)] | None = None


class PlanDryRun(Sent, frozen=True, kw_only=True):
    """A plan in any notation, and the inputs that a run of it would be given."""

    plan: JsonObject | str
    inputs: JsonObject = {}


class StepTrial(Sent, frozen=True, kw_only=True):
    """One step of a plan in any notation, to be run alone: by its id, below the ids of what it is inside of.

    `arguments` stand in place of the step's own inputs, where it is a call; else these may read the plan's `inputs`.
    """

    plan: JsonObject | str
    step: Path
    inputs: JsonObject = {}
    arguments: JsonObject | None = None
    conversation_id: Id = ""


class PlanApproval(Sent, frozen=True, kw_only=True):
    """Approval of a plan with these inputs; `expected`: only if it is still at this revision."""

    inputs: JsonObject = {}
    comment: Words = ""
    expected: Annotated[int, msgspec.Meta(ge=1, le=2**53)] | None = None


class NewRun(Sent, frozen=True, kw_only=True):
    """Run to be begun: a stored plan, a plan in any notation, or one tool; one of the three.

    A run that has the same `idempotency_key` is not begun again: the first one is the answer.
    """

    plan_id: Id = ""
    plan: JsonObject | str | None = None
    tool: Words = ""
    inputs: JsonObject = {}
    conversation_id: Id = ""
    uploads: tuple[Id, ...] = ()
    """Uploads whose files are in its folder when it begins."""
    idempotency_key: Key = ""
    priority: Priority | None = None
    """Of the tenant's runs that wait for a worker, higher ones go first; null: that of the key."""


class ToolCall(Sent, frozen=True, kw_only=True):
    """The arguments of one call."""

    inputs: JsonObject = {}
    conversation_id: Id = ""
    idempotency_key: Key = ""


class Cancellation(Sent, frozen=True, kw_only=True):
    """Why a run is stopped, for its journal."""

    reason: Words = ""


class Resumption(Sent, frozen=True, kw_only=True):
    """`accept_tool`: tools that changed since the run began may be used as they are now."""

    accept_tool: bool = False


class Fork(Sent, frozen=True, kw_only=True):
    """Fork of a run: done again is everything from a step on, or what other inputs change."""

    from_step: Path = ""
    inputs: JsonObject | None = None
    repeat_writes: bool = False
    """Finished writes may be made again."""
    priority: Priority | None = None
    """That of the run where none is said."""


class Decision(Sent, frozen=True, kw_only=True):
    """Whether a step may be done."""

    approved: bool = True
    comment: Words = ""


class Answer(Sent, frozen=True, kw_only=True):
    """The values of a form's fields by name or label, or that nobody answers it; `step` where several wait."""

    step: Path = ""
    values: JsonObject = {}
    declined: bool = False


class Settlement(Sent, frozen=True, kw_only=True):
    """Settlement of a write in doubt: `retry` makes it again, `done` with its output, or `failed`.

    `accept_tool`: tools that changed since the run began may be used as they are now.
    """

    step: Path = ""
    outcome: Literal["retry", "done", "failed", "accept_tool"]
    output: Any = None


#: Every body, for the description of the interface.
_Title = Annotated[str, msgspec.Meta(max_length=200, pattern=r"^[^\x00\n]*$")]
_Version = Annotated[int, msgspec.Meta(ge=1, le=2**31)]


class TemplateWords(Sent, frozen=True, kw_only=True):
    """Words on a template beside its document; null: as it was, or as the document says."""

    title: _Title | None = None
    group: _Title | None = None
    description: Words | None = None
    access: Access | None = None
    comment: Words = ""
    """Why this version."""


class NewTemplate(TemplateWords, frozen=True, kw_only=True):
    """A document with parameters `<<name>>`, or the id of a run whose plan becomes one: one of the two."""

    document: JsonObject | str | None = None
    run_id: Id = ""


class ChangedTemplate(TemplateWords, frozen=True, kw_only=True):
    """A further version, or other words; `expected`: only if the template is still at this revision."""

    document: JsonObject | str | None = None
    expected: Annotated[int, msgspec.Meta(ge=1, le=2**53)] | None = None


class TemplateRollback(Sent, frozen=True, kw_only=True):
    """Which version is to be the newest again."""

    version: _Version


class TemplatePublication(Sent, frozen=True, kw_only=True):
    """The channels in which a version is run, the newest where none is said; no channel: it becomes a draft."""

    channels: Annotated[list[Channel], msgspec.Meta(max_length=10)]
    version: _Version | None = None


class TemplateImport(Sent, frozen=True, kw_only=True):
    """Documents of templates, as `export` gives them or another system."""

    templates: Annotated[list[JsonObject], msgspec.Meta(max_length=1_000)]


class TemplateStart(Sent, frozen=True, kw_only=True):
    """Values of the template's parameters, and how the run is begun."""

    inputs: JsonObject = {}
    conversation_id: Id = ""
    uploads: tuple[Id, ...] = ()
    """Uploads whose files are in its folder when it begins."""
    idempotency_key: Key = ""
    priority: Priority | None = None
    """Of the tenant's runs that wait for a worker, higher ones go first; null: that of the key."""


class ScheduleWords(Sent, frozen=True, kw_only=True):
    """Words of a schedule; null: as it was, or the usual. `expected`: only if it is still at this revision.

    It runs a template or a stored plan, by a cron line of five or six fields in a time zone, or `once`, at a Unix time.
    """

    title: _Title | None = None
    template_id: Words | None = None
    plan_id: Id | None = None
    inputs: JsonObject | None = None
    uploads: Annotated[tuple[Id, ...], msgspec.Meta(max_length=20)] | None = None
    cron: Key | None = None
    once: Annotated[float, msgspec.Meta(ge=0, le=253402300799)] | None = None
    time_zone: Key | None = None
    overlap: Overlap | None = None
    missed: Missed | None = None
    paused: bool | None = None
    expected: Annotated[int, msgspec.Meta(ge=1, le=2**53)] | None = None


class NewConversation(Sent, frozen=True, kw_only=True):
    """A conversation that is begun. Without a title it gets its first message's first words."""

    title: Title = ""
    conversation_id: Annotated[str, msgspec.Meta(max_length=100, pattern=r"^([A-Za-z0-9][A-Za-z0-9_.:-]*)?$")] = ""
    """An id of one's own; empty: one is made."""


class ConversationTitle(Sent, frozen=True, kw_only=True):
    """Another title of a conversation."""

    title: Title


class NewMessage(Sent, frozen=True, kw_only=True):
    """Message in a conversation. Sent again with the same `message_id` it adds nothing."""

    text: Annotated[str, msgspec.Meta(max_length=200_000, pattern=r"^[^\x00]*$")] = ""
    message_id: Key = ""
    template: Words = ""
    """Id, `group.title` or title of a plan template that answers; empty: an agent does."""
    inputs: JsonObject | None = None
    """Values of the template's parameters; null: the text is the one that it needs."""
    tools: Annotated[list[Key], msgspec.Meta(max_length=1_000)] = []
    """Names of the tools that the agent may call; none: all that are selectable."""
    model: Words = ""
    uploads: tuple[Id, ...] = ()
    """Uploads whose files are in the folder of the turn's run when it begins."""


class ModelWords(Sent, frozen=True, kw_only=True):
    """Words on a model; null: as it was, or the usual. `expected`: only if it is still at this revision.

    `key` and `headers` are sealed and never shown; what is sent back masked stays as it was, an empty key goes.
    """

    name: Words | None = None
    api: Key | None = None
    model: Words | None = None
    base_url: Words | None = None
    key: Words | None = None
    headers: dict[str, str] | None = None
    temperature: float | None = None
    top_p: float | None = None
    completions_path: Key | None = None
    description: Words | None = None
    type: Key | None = None
    expected: Annotated[int, msgspec.Meta(ge=1, le=2**53)] | None = None


class McpServerWords(Sent, frozen=True, kw_only=True):
    """Words on an MCP server; null: as it was, or the usual. `expected`: only if it is still at this revision.

    The values of `env` and `headers` are sealed and never shown; what is sent back masked stays as it was.
    """

    name: Words | None = None
    url: Words | None = None
    command: Words | None = None
    args: Annotated[tuple[Words, ...], msgspec.Meta(max_length=1_000)] | None = None
    env: dict[str, str] | None = None
    headers: dict[str, str] | None = None
    enabled: bool | None = None
    timeout: float | None = None
    trust_annotations: bool | None = None
    expected: Annotated[int, msgspec.Meta(ge=1, le=2**53)] | None = None


class McpServerImport(Sent, frozen=True, kw_only=True, rename={"servers": "mcpServers"}):
    """Servers by name, as other MCP clients write them."""

    servers: JsonObject


class SettingValues(Sent, frozen=True, kw_only=True):
    """Settings by name; null: as it is without the store."""

    values: JsonObject


BODIES: tuple[type, ...] = (
    NewPlan,
    RequestToRoute,
    PlanToCheck,
    ChangedPlan,
    PlanApproval,
    PlanRollback,
    PlanDryRun,
    StepTrial,
    NewRun,
    ToolCall,
    Cancellation,
    Resumption,
    Fork,
    Decision,
    Answer,
    Settlement,
    NewTemplate,
    ChangedTemplate,
    TemplateRollback,
    TemplatePublication,
    TemplateImport,
    TemplateStart,
    ScheduleWords,
    NewConversation,
    ConversationTitle,
    NewMessage,
    TemplateWords,
    ModelWords,
    McpServerWords,
    McpServerImport,
    SettingValues,
)

_PLACE = re.compile(r"^(?P<what>.*?)(?: - at `(?P<at>.*)`)?$", re.DOTALL)
_UNKNOWN = re.compile(r"unknown field `(.*?)`")
_NO_CHOICE = re.compile(r"^Invalid enum value ")


class JsonBody(Generic[Body]):
    """A dependency that reads the request's body as the record. Raises `Problem` for everything else.

    `optional`: nothing at all is the record with its defaults.
    """

    def __init__(self, record: type[Body], *, optional: bool = False) -> None:
        self._record = record
        self._decoder = msgspec.json.Decoder(record)
        self._optional = optional

    async def __call__(self, request: Request) -> Body:
        """The record."""
        data = await request.body()
        if not data and self._optional:
            return self._record()
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media != "application/json" and not (media.startswith("application/") and media.endswith("+json")):
            raise Problem(
                415, "unsupported_media_type", "The body must be JSON.", hint="Send Content-Type: application/json."
            )
        try:
            return self._decoder.decode(data)
        except msgspec.ValidationError as error:
            raise self._wrong(str(error)) from None
        except (ValueError, RecursionError) as error:
            raise Problem(400, "unreadable", f"The body is no JSON: {error}") from None

    def _wrong(self, told: str) -> Problem:
        found = _PLACE.match(told)
        what, at = (told, "") if found is None else (found["what"], found["at"] or "")
        unknown = _UNKNOWN.search(what)
        suggestions = closest(unknown[1], self._record.__struct_fields__) if unknown else ()  # type: ignore[attr-defined]
        path = at.removeprefix("$").replace(".", "/").replace("[", "/").replace("]", "")
        choices = choices_at(self._record, path.split("/")[1:]) if _NO_CHOICE.match(what) else ()
        hint = f"One of {', '.join(choices)}." if choices else ""
        finding = Finding(
            code="invalid_body", severity="error", message=f"{what}.", path=path, suggestions=suggestions, hint=hint
        )
        where = f" at {path}" if path else ""
        message = f"The body is not as described: {what}{where}."
        return Problem(422, "invalid_request", message, findings=(finding,), suggestions=suggestions, hint=hint)
