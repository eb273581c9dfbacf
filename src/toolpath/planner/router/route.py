"""One request, the connected tools, and what becomes of it: calls as a plan, a text, or a clear refusal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from toolpath.catalog.search import Hit, search
from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check
from toolpath.checks.request.mandate import mandated
from toolpath.errors import ChatFailed, Finding, ReadError
from toolpath.expressions.quoted import readable
from toolpath.model.chat import ChatReply, ChatRequest, Message, Usage
from toolpath.model.plan import Call, Plan
from toolpath.model_output.found import ModelText
from toolpath.model_output.model_text import read_model_text
from toolpath.model_output.plans import CUT_OFF, called, named_inputs
from toolpath.planner.router.calls import ChosenCall, filled_from_request, plan_of_calls
from toolpath.planner.router.entries import connected_names, entries_of, entry_of, normalise
from toolpath.planner.router.match import match_name, rank_by_name
from toolpath.planner.router.prompt import route_request
from toolpath.planner.router.routing_records import (
    DEFAULTS,
    Candidate,
    Outcome,
    Routed,
    RouteRecord,
    RouterOptions,
    ToolEntry,
    ToolMatch,
)
from toolpath.ports import Chat, Clock
from toolpath.values import Json, JsonObject, encode

Fill = Callable[[str, str, Catalog], JsonObject | None]
"""Key of a tool, request, catalogue → the tool's inputs; None where the request does not say them."""
Find = Callable[[Catalog, str, int], Sequence[Hit]]
"""Catalogue, text, at most so many → the tools that fit, best first."""
_CONFIDENCE: Final = {"exact": 0.9, "alias": 0.85, "fuzzy": 0.6, "several": 0.5, "none": 0.0}
_OFFLINE: Final = 0.6
_LONGEST_ANSWER: Final = 50_000
_LARGEST_ANSWER: Final = 200_000
_SUGGESTIONS: Final = 3
#: Characters of an answer that is read at once, without a thread of its own.
_SHORT: Final = 20_000


def search_anew(catalog: Catalog, text: str, limit: int) -> Sequence[Hit]:
    """The tools that fit a text, by an index for this question."""
    return search(catalog, text, limit=limit)


async def route(
    request: str,
    catalog: Catalog,
    clock: Clock,
    *,
    chat: Chat | None = None,
    tools: Sequence[str] = (),
    options: RouterOptions = DEFAULTS,
    fill: Fill = filled_from_request,
    find: Find = search_anew,
) -> Routed:
    """The route that the request takes with these tools (names; none given: all of the catalogue).

    `fill` reads the inputs of a tool that is named without any out of the request's words; `find` gives the nearest of
    many tools.

    Without a model, or where it fails, the words of the request decide. Raises `ToolNotFound` or `AmbiguousTool` for
    names of tools that are wrong, nothing else.
    """
    all_tools = _named(catalog, tools)
    connected = _connected(request, all_tools, options, find)
    routing = RoutingAttempt(request, connected, clock, options, fill=fill, whole=all_tools)
    if chat is not None:
        try:
            return await routing.ask(chat)
        except ChatFailed as failure:
            routing.error = str(failure)
            if routing.refused is not None:
                # What the model chose was refused for a reason: words do not choose in its place.
                return routing.again(routing.refused)
    return routing.without_model()


def _named(catalog: Catalog, tools: Sequence[str]) -> Catalog:
    if not tools:
        return catalog
    found = [catalog.find(name) for name in dict.fromkeys(tools)]
    return Catalog({tool.key: tool for tool in found}, catalog.stats)


def _connected(request: str, catalog: Catalog, options: RouterOptions, find: Find) -> Catalog:
    """The tools that a model is shown: those that the request calls by their keys, and the nearest to its words."""
    if len(catalog) <= options.max_tools:
        return catalog
    words = (word.strip("`\"'.,:;!?()") for word in request[: options.max_request].split())
    named = [catalog.tools[word] for word in dict.fromkeys(words) if word in catalog.tools]
    near = [hit.tool for hit in find(catalog, request, options.max_tools)]
    return Catalog({tool.key: tool for tool in [*named, *near][: options.max_tools]}, catalog.stats)


class RoutingAttempt:
    """One request while it is being routed, and its trace."""

    def __init__(
        self,
        request: str,
        catalog: Catalog,
        clock: Clock,
        options: RouterOptions,
        *,
        fill: Fill = filled_from_request,
        whole: Catalog | None = None,
    ) -> None:
        """`whole`: all connected tools, of which the catalogue has the nearest; None: these are all."""
        self._fill = fill
        self._whole = catalog if whole is None else whole
        self.refused: Routed | None = None
        """The route of the last answer, which was refused."""
        self.request = readable(request)
        self.catalog = catalog
        self.entries: tuple[ToolEntry, ...] = entries_of(catalog)
        self.options = options
        self.error = ""
        self._clock = clock
        self._began = clock.monotonic()
        self._at = clock.time()
        self._prompt = ""
        self._answers: list[str] = []
        self._calls: tuple[tuple[str, Json], ...] = ()
        self._decisions: list[ToolMatch] = []
        self._findings: tuple[Finding, ...] = ()
        self._usage = Usage()
        self._cost: float | None = None

    async def ask(self, chat: Chat) -> Routed:
        """Let a model choose. Raises `ChatFailed`."""
        if len(self.request) > self.options.max_request:
            raise ChatFailed(
                f"The request has {len(self.request):,} characters; at most {self.options.max_request:,} are routed.",
                kind="too_long",
            )
        asked = route_request(self.request, self.entries, self.options)
        self._prompt = "\n\n".join((asked.system, *(message.text for message in asked.messages)))
        question = asked
        for left in range(self.options.max_repairs, -1, -1):
            reply = await chat(question)
            self._note(reply)
            routed = await self._answered(reply, is_last=left == 0)
            if routed is not None:
                return routed
            question = _again(asked, reply.text, self._findings)
        raise AssertionError("the last round always gives an end")

    def _note(self, reply: ChatReply) -> None:
        self._answers.append(reply.text[:_LONGEST_ANSWER])
        self._usage += reply.usage
        if reply.cost is not None:
            self._cost = (self._cost or 0.0) + reply.cost

    async def _answered(self, reply: ChatReply, *, is_last: bool) -> Routed | None:
        """The route that an answer names; None: it is worth asking again."""
        self._decisions, self._findings, self.error = [], (), ""
        try:
            found = await _read(reply)
        except ReadError as error:
            self.error = error.message
            self._findings = error.findings
            # What looks like a call and cannot be read is never taken for an answer without calls.
            message = f"The answer of the model cannot be read: {error.message}"
            self.refused = self._end("refused", message=message, text=reply.text[:_LONGEST_ANSWER])
            return self.refused if is_last else None
        calls = _asked(found, self.entries)
        self._calls = tuple(calls)
        if not calls:
            return self._end("text", text=found.prose or reply.text)
        routed = self._called(calls, text=found.prose)
        if is_last or routed.plan is not None or not self._findings:
            return routed
        self.refused = routed
        return None

    def again(self, refused: Routed) -> Routed:
        """The route of an answer that was refused, since no other answer came."""
        return msgspec.structs.replace(refused, record=msgspec.structs.replace(refused.record, error=self.error))

    def _called(self, calls: Sequence[tuple[str, Json]], *, text: str = "") -> Routed:
        """The plan of these calls, or why there is none. All names are decided, so that all faults are told at once."""
        if len(calls) > self.options.max_calls:
            message = f"{len(calls)} calls were asked for; at most {self.options.max_calls} are made for one request."
            self._findings = (Finding(code="too_many_calls", severity="error", message=message),)
            return self._end("refused", message=message, text=text)
        chosen: list[ChosenCall] = []
        for name, inputs in calls:
            self._connect(name)
            decision = match_name(name, self.entries, self.catalog, self.options)
            self._decisions.append(decision)
            for key in decision.tools:
                given = _given(inputs, self.catalog.tools[key].input_schema)
                if given is None:
                    return self._unnamed(key, text=text)
                filled = given or self._fill(key, self.request, self.catalog) or {}
                chosen.append(ChosenCall(tool=key, inputs=filled, asked=name))
        refused = [decision for decision in self._decisions if not decision.tools]
        if refused:
            return self._no_match(refused, text=text)
        return self._planned(chosen, text=text)

    def _unnamed(self, key: str, *, text: str) -> Routed:
        message = f"The arguments of {key} are given without their names, and it takes fewer."
        hint = "Give each by the name of its parameter."
        self._findings = (Finding(code="inputs_not_named", severity="error", message=message, hint=hint),)
        return self._end("refused", message=f"{message} {hint}", text=text)

    def _connect(self, name: str) -> None:
        """Take in a tool that is called by its key, though it was not among the nearest."""
        tool = self._whole.tools.get(name)
        if tool is not None and name not in self.catalog.tools:
            self.catalog = Catalog({**self.catalog.tools, name: tool}, self._whole.stats)
            self.entries = (*self.entries, entry_of(tool))

    def _planned(self, chosen: Sequence[ChosenCall], *, text: str, limit: float = 1.0) -> Routed:
        sure = min((_CONFIDENCE[decision.how] for decision in self._decisions), default=0.0)
        reasoning = "; ".join(f"{one.asked} → {', '.join(one.tools)} ({one.how})" for one in self._decisions)
        plan = plan_of_calls(self.request, chosen, reasoning=reasoning, confidence=min(sure, limit))
        plan = mandated(plan, self.request, self.catalog, strict=not self._answers)
        self._findings = tuple(
            finding for finding in check(plan, self.catalog, secrets=()) if finding.severity == "error"
        )
        if self._findings:
            message = "The chosen tools cannot be called so: " + " ".join(finding.message for finding in self._findings)
            return self._end("refused", message=message, text=text)
        return self._end("tools", plan=plan, text=text)

    def _no_match(self, refused: Sequence[ToolMatch], *, text: str = "") -> Routed:
        suggestions = _suggestions(refused)
        message = no_match(self.entries, of=len(self._whole))
        several = next((one for one in refused if one.how == "several"), None)
        if several is not None:
            message += f" {several.reason}"
        self._findings = tuple(
            Finding(
                code="unknown_tool",
                severity="error",
                message=f"{one.asked!r:.80}: {one.reason}",
                suggestions=tuple(candidate.tool for candidate in one.candidates[:_SUGGESTIONS]),
            )
            for one in refused
        )
        return self._end("no_match", message=message, suggestions=suggestions, text=text)

    def without_model(self) -> Routed:
        """Let the words of the request decide: names and capabilities in it, else the search, else the only tool."""
        named = _named_in(self.request, self.entries)
        if not named:
            decision = self._found()
            self._decisions = [decision]
            if not decision.tools:
                return self._no_match([decision])
            named = [(decision.asked, decision.tools)]
        else:
            self._decisions = [ToolMatch(asked=name, how="exact", tools=tools) for name, tools in named]
        chosen: list[ChosenCall] = []
        missing: list[ChosenCall] = []
        for name, tools in named:
            for key in tools:
                inputs = self._fill(key, self.request, self.catalog)
                (missing if inputs is None else chosen).append(ChosenCall(tool=key, inputs=inputs or {}, asked=name))
        if missing:
            message = f"What {missing[0].tool} needs cannot be read from the request without a model."
            return self._end("refused", message=message, suggestions=(missing[0].tool,))
        return self._planned(chosen, text="", limit=_OFFLINE)

    def _found(self) -> ToolMatch:
        """The one tool that the request's words find, if it only reads."""
        by_name = match_name(self.request, self.entries, self.catalog, self.options)
        if by_name.tools or (by_name.candidates and by_name.candidates[0].score >= self.options.threshold):
            return by_name
        hits = search(self.catalog, self.request, limit=_SUGGESTIONS)
        candidates = tuple(Candidate(hit.tool.key, round(hit.score / hits[0].score, 4)) for hit in hits)
        candidates = candidates or rank_by_name(self.request, self.entries)
        readers = [entry.id for entry in self.entries if self.catalog.tools[entry.id].is_read]
        best: str | None = None
        if len(self.entries) == 1 and readers:
            best, reason = readers[0], "It is the only tool."
        elif hits and hits[0].tool.is_read and (len(hits) == 1 or hits[0].score >= 1.5 * hits[1].score):
            best, reason = hits[0].tool.key, "Its words fit the request, and no other's do as well."
        else:
            reason = "No tool clearly fits the words of the request, or the one that does writes."
        tools = () if best is None else (best,)
        return ToolMatch(
            asked=self.request,
            how="none" if best is None else "fuzzy",
            tools=tools,
            candidates=candidates,
            reason=reason,
        )

    def _end(
        self,
        outcome: Outcome,
        *,
        plan: Plan | None = None,
        text: str = "",
        message: str = "",
        suggestions: tuple[str, ...] = (),
    ) -> Routed:
        record = RouteRecord(
            request=self.request,
            outcome=outcome,
            at=self._at,
            prompt=self._prompt,
            connected=tuple(entry.id for entry in self.entries),
            answers=tuple(self._answers),
            calls=self._calls,
            decisions=tuple(self._decisions),
            order=tuple(step.tool for step in plan.steps if isinstance(step, Call)) if plan is not None else (),
            findings=self._findings,
            error=self.error,
            used_model=bool(self._answers),
            usage=self._usage,
            cost=self._cost,
            duration=self._clock.monotonic() - self._began,
        )
        return Routed(plan=plan, text=text, message=message, suggestions=suggestions, record=record)


def no_match(entries: Sequence[ToolEntry], *, of: int = 0) -> str:
    """The sentence that says that no tool was meant, with those that are there, or the nearest of so many."""
    names = ", ".join(connected_names(entries))
    nearest = f", the nearest {len(entries)} of {of}" if of > len(entries) else ""
    return f"Agent could not determine a matching tool. Connected tools{nearest}: [{names}]"


def _suggestions(refused: Sequence[ToolMatch]) -> tuple[str, ...]:
    found = [one for decision in refused for one in decision.candidates if one.score > 0.4]
    return tuple(dict.fromkeys(one.tool for one in found))[:_SUGGESTIONS]


async def _read(reply: ChatReply) -> ModelText:
    text = reply.text
    if len(text) > _LARGEST_ANSWER:
        raise ReadError(f"It has {len(text):,} characters; at most {_LARGEST_ANSWER:,} are read.")
    found = read_model_text(text) if len(text) <= _SHORT else await asyncio.to_thread(read_model_text, text)
    if found.calls and reply.finish_reason == "length":
        raise ReadError(CUT_OFF)
    return found


def _given(inputs: Json, schema: JsonObject) -> JsonObject | None:
    """The inputs by name, of a tool with this schema; None where there are more of them than it has."""
    names = schema.get("properties")
    if isinstance(inputs, dict) or (isinstance(names, dict) and names):
        return named_inputs(inputs, tuple(names) if isinstance(names, dict) else ())
    # `None` and the like, where there is nothing to be given.
    return {}


def _asked(found: ModelText, entries: Sequence[ToolEntry]) -> list[tuple[str, Json]]:
    """The calls of an answer; of one that is nothing but the name of a capability, a call of it."""
    calls = called(found)
    if calls:
        return [(call.tool, call.inputs) for call in calls]
    name = found.prose.strip().strip("`\"'. ")
    known = {one for entry in entries for one in (*entry.capabilities, entry.call_name)}
    return [(name, {})] if name and (name in known or ("." in name and normalise(name) in known)) else []


def _named_in(request: str, entries: Sequence[ToolEntry]) -> list[tuple[str, tuple[str, ...]]]:
    """Full names and capabilities that stand in the request, in its order, with the tools that have them."""
    text = f" {' '.join(request.split())} ".lower()
    found: dict[str, tuple[int, str]] = {}
    for entry in entries:
        for name in (entry.id, entry.call_name, *entry.capabilities):
            # A bare word may be an ordinary one; a name with a sign in it is meant.
            at = text.find(f" {name.lower()} ") if "." in name or "_" in name else -1
            if at >= 0 and (entry.id not in found or at < found[entry.id][0]):
                found[entry.id] = (at, name)
    ordered = sorted(found.items(), key=lambda one: one[1][0])
    return [(name, (key,)) for key, (_, name) in ordered]


def _again(asked: ChatRequest, answer: str, findings: Sequence[Finding]) -> ChatRequest:
    told = encode({"wrong_in_your_answer": [str(finding)[:500] for finding in findings[:10]]}).decode()
    again = Message(text=f"{told}\n\nAnswer again, in one of the forms, with these faults mended.")
    said = Message(role="assistant", text=answer[:20_000] or "-")
    return msgspec.structs.replace(asked, messages=(*asked.messages, said, again))
