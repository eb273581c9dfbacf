"""The model planner: shortlist, question, answer, check, at most a few repairs, and what happens when all fails."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Final, NoReturn

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check
from toolpath.checks.request.mandate import ASKING, mandated
from toolpath.checks.request.tools import acts
from toolpath.errors import ChatFailed, Finding, NoToolFits, PlanningFailed, ReadError, ToolpathError
from toolpath.expressions.quoted import readable
from toolpath.model.chat import ChatDelta, ChatReply, ChatRequest
from toolpath.model.plan import Call, Plan, every_step, freeze
from toolpath.model_output.page import visible
from toolpath.planner.by_model.prompt import RULES, first_request, repair_request
from toolpath.planner.by_model.reading import faults_of, read_answer, still_wrong, unreadable, with_tool_keys
from toolpath.planner.by_model.shortlist import allowed_tools, shortlist, with_bodies
from toolpath.planner.by_model.signatures import signatures
from toolpath.planner.learning.reliability import with_estimates, with_fallbacks
from toolpath.planner.records import (
    NO_TOOLS,
    Ground,
    Lesson,
    Outcome,
    PlanningRecord,
    PlanningResult,
    PlanRequest,
    Round,
    Selection,
    Shown,
)
from toolpath.planner.zones import zone_of
from toolpath.values import encode, plain, walk

#: What a model that does not say how sure it is counts as.
_UNSAID: Final = 0.6
#: Taken off for each answer that had to be mended.
_PER_REPAIR: Final = 0.1
#: The most that a plan which leaves a question open counts as, and one that no model made.
_WITH_QUESTIONS: Final = 0.5
_FALLBACK: Final = 0.3
#: Failures of a model that never said anything to the request: rules may stand in for it.
ABSENT: Final = frozenset({"connection", "timeout", "server", "rate_limit", "quota", "denied", "rejected", "too_long"})
_LONGEST_ANSWER: Final = 50_000
#: Characters of an answer that is read at once, without a thread of its own.
_SHORT: Final = 20_000
_MAX_LESSONS: Final = 5
#: Characters of the prompt that are neither rules, request, data nor tools.
_OTHER_ROOM: Final = 6_000
_LEAST_ROOM: Final = 2_000
#: Warnings that a model is told, once.
_TOLD_ONCE: Final = frozenset(("may_not_fit", "maybe_missing"))


async def plan_with_model(request: PlanRequest, ground: Ground) -> PlanningResult:
    """A plan that checks, and how it came about.

    Raises `NoToolFits` where no tool can do it, `PlanningFailed` where no plan that checks came of it and
    `ground.options.fallback` is `error` or there is no offline planner; each carries its record.
    """
    session = PlanningSession(request, ground)
    session.need_tools()
    try:
        return await session.mended(await session.ask(session.first_question()))
    except ChatFailed as failure:
        return await session.unanswered(failure)


class PlanningSession:
    """One request while it is being planned: its rounds, and what is left of its time, tokens and money."""

    def __init__(self, request: PlanRequest, ground: Ground) -> None:
        self.ground = ground
        self.options = options = ground.options
        decomposition = request.decomposition
        sure = decomposition.confidence if decomposition else None
        self.simplified = sure is not None and sure < options.simple_below
        self.catalog: Catalog = allowed_tools(request, ground.catalog)
        # A step that was carried out may have used a tool that is offered no more.
        self.checked = ground.catalog if request.kept else self.catalog
        self._callable = with_bodies(self.checked, ground.catalog)
        self.lessons: Sequence[Lesson] = ()
        if ground.lessons is not None:
            self.lessons = tuple(ground.lessons(request.text))[:_MAX_LESSONS]
        # An unsure decomposition is not shown; its parts would mislead.
        self.request = msgspec.structs.replace(
            request,
            text=readable(request.text),
            decomposition=None if self.simplified else decomposition,
        )
        shown = shortlist(self.request, self.catalog, options, ground.rank, self.lessons)
        told = [(self.catalog.tools[one.tool], self.catalog.stats.get(one.tool)) for one in shown]
        found = signatures(told, first=options.max_tools, size=self._room())
        self._told = tuple(text for _, text in found)
        self.shown: tuple[Shown, ...] = tuple(shown[place] for place, _ in found)
        self.offered = frozenset(one.tool for one in self.shown)
        self.offered_tools = Catalog({key: self.catalog.tools[key] for key in self.offered})
        self.rounds: list[Round] = []
        self._has_told = False
        self.sound: Plan | None = None
        """A plan without errors, which the model was told doubts of."""
        self.question = ChatRequest()
        self.prompt_size = 0
        self.started_at = ground.clock.time()
        self._started = ground.clock.monotonic()

    def _room(self) -> int:
        """Characters that the tools may take."""
        rest = len(RULES) + len(self.request.text) + len(encode([self.request.context, self.request.inputs]))
        return max(_LEAST_ROOM, min(self.options.tools_size, self.options.max_prompt - rest - _OTHER_ROOM))

    @property
    def repairs_left(self) -> int:
        """Rounds that may still be asked for."""
        return self.ground.options.max_repairs + 1 - len(self.rounds)

    def first_question(self) -> ChatRequest:
        """The first request to the model. Raises `ChatFailed` for one that is longer than a prompt may be."""
        self.question = first_request(
            self.request,
            self._told,
            self.ground.options,
            has_more=len(self._told) < len(self.catalog),
            now=datetime.fromtimestamp(self.started_at, zone_of(self.request.time_zone or self.options.time_zone)),
            lessons=self.lessons,
            simple=self.simplified,
        )
        self.prompt_size = len(self.question.system) + len(self.question.messages[0].text)
        if self.prompt_size > self.options.max_prompt:
            raise ChatFailed(
                f"The request is too long to be planned: {self.prompt_size:,} characters with the rules; "
                f"at most {self.options.max_prompt:,} are sent.",
                kind="too_long",
                hint="Put data into files or inputs that tools read.",
            )
        return self.question

    def limited(self, asked: ChatRequest) -> ChatRequest:
        """The question with the time that is left. Raises `ChatFailed` where time, tokens or money are used up."""
        options = self.ground.options
        left = options.timeout - (self.ground.clock.monotonic() - self._started)
        spent = sum((one.usage.total for one in self.rounds), 0)
        cost = sum(one.cost or 0.0 for one in self.rounds)
        if left <= 0:
            raise ChatFailed(f"Planning took longer than {options.timeout:g} s.", kind="timeout")
        if spent >= options.max_tokens:
            raise ChatFailed(f"Planning took {spent:,} tokens; it may take {options.max_tokens:,}.", kind="quota")
        if options.max_cost is not None and cost >= options.max_cost:
            raise ChatFailed(f"Planning cost {cost:.4f} USD; it may cost {options.max_cost:.4f}.", kind="quota")
        return msgspec.structs.replace(asked, timeout=left)

    async def ask(self, asked: ChatRequest) -> ChatReply:
        """The model's answer to one question. Raises `ChatFailed`."""
        began = self.ground.clock.monotonic()
        try:
            reply = await self.ground.chat(self.limited(asked))
        except ChatFailed as failure:
            self.rounds.append(Round(error=failure.message, duration=self.ground.clock.monotonic() - began))
            raise
        self.answered(reply, began)
        return reply

    def answered(self, reply: ChatReply, began: float) -> None:
        """Note an answer."""
        self.rounds.append(
            Round(
                answer=reply.text[:_LONGEST_ANSWER],
                usage=reply.usage,
                cost=reply.cost,
                duration=self.ground.clock.monotonic() - began,
                model=reply.model,
            )
        )

    async def stream(self, asked: ChatRequest) -> AsyncGenerator[ChatDelta]:
        """The model's answer to the first question while it is being written. Raises `ChatFailed`."""
        began = self.ground.clock.monotonic()
        text = ""
        try:
            async with aclosing(self.ground.chat.stream(self.limited(asked))) as pieces:
                async for piece in pieces:
                    text += piece.text
                    if piece.reply is not None:
                        self.answered(piece.reply, began)
                    yield piece
        except ChatFailed as failure:
            duration = self.ground.clock.monotonic() - began
            self.rounds.append(Round(answer=text[:_LONGEST_ANSWER], error=failure.message, duration=duration))
            raise

    async def mended(self, reply: ChatReply) -> PlanningResult:
        """The plan of an answer, after as many repairs as it needs and may have. Raises `ChatFailed`."""
        while True:
            try:
                is_short = len(reply.text) <= _SHORT
                plan, findings = self.read(reply) if is_short else await asyncio.to_thread(self.read, reply)
            except NoToolFits:
                if self.sound is None:
                    raise
                return self.planned(self.sound)
            is_sound = plan is not None and not findings
            uncovered = self._uncovered(plan) if plan is not None else ()
            if plan is not None and is_sound:
                has_news = bool(uncovered) and self.sound is None and not plan.questions
                if not has_news or self.repairs_left <= 0:
                    return self.planned(plan)
                self.sound = plan
            elif self.sound is not None:
                # What was mended without need is worse than before.
                return self.planned(self.sound)
            elif self.repairs_left <= 0:
                return await self.give_up(still_wrong(len(self.rounds), findings), findings)
            try:
                reply = await self.ask(
                    repair_request(self.question, reply.text, (*findings, *self._doubts(plan)), uncovered)
                )
            except ChatFailed:
                if self.sound is None:
                    raise
                return self.planned(self.sound)

    def _doubts(self, plan: Plan | None) -> tuple[Finding, ...]:
        """The warnings that a model is told of its plan, beside what is wrong with it; once."""
        if plan is None or self._has_told:
            return ()
        self._has_told = True
        return tuple(one for one in check(plan, self._callable, secrets=()) if one.code in _TOLD_ONCE)

    def _uncovered(self, plan: Plan) -> tuple[str, ...]:
        """Parts of the request that the plan does nothing about."""
        # Of a plan that is too long, that is told alone: to compare thousands of steps with the request takes long.
        if not self.request.is_words or plan.questions or not 0 < len(plan.steps) <= self.options.max_steps:
            return ()
        kept = frozenset(step.id for step in self.request.kept)
        return mandated(plan, self.request.text, self.checked, strict=False, kept=kept).origin.uncovered

    def read(self, reply: ChatReply) -> tuple[Plan | None, tuple[Finding, ...]]:
        """The plan of an answer and what is wrong with it. Raises `NoToolFits` where the answer says so."""
        try:
            plan = read_answer(reply.text, self.request, self.offered_tools)
        except ReadError as error:
            hint = "The answer was cut off; write a shorter plan." if reply.finish_reason == "length" else ""
            findings = unreadable(ReadError(error.message, findings=error.findings, hint=hint or error.hint))
            self._note(None, findings)
            return None, findings
        if not plan.steps and not plan.questions:
            self._note(plan, ())
            self.no_tool(plan.reasoning or "The model found no tool that does this.", plan)
        findings = self.faults(plan)
        self._note(plan, findings)
        return plan, findings

    def faults(self, plan: Plan) -> tuple[Finding, ...]:
        """The faults for which a plan for this request may not be carried out."""
        kept = [step.id for step in self.request.kept]
        faults = faults_of(plan, self._callable, self.offered, self.options, kept=kept)
        if plan.questions:
            # What is asked need not be given yet.
            faults = tuple(fault for fault in faults if fault.code != "missing_input")
        return (*faults, *stranger_findings(plan, self.request, self.checked))

    def _note(self, plan: Plan | None, findings: tuple[Finding, ...]) -> None:
        parsed = plain(freeze(plan))[0] if plan is not None else None
        self.rounds[-1] = msgspec.structs.replace(self.rounds[-1], plan=parsed, findings=findings)

    def planned(self, plan: Plan) -> PlanningResult:
        """The plan as it is handed over: with fallbacks, estimates and a confidence."""
        options = self.ground.options
        sure = _UNSAID if plan.confidence is None else plan.confidence
        sure -= _PER_REPAIR * (len(self.rounds) - 1 - (self.sound is not None))
        sure = min(sure, _WITH_QUESTIONS) if plan.questions else sure
        origin = msgspec.structs.replace(plan.origin, confidence=round(max(sure, 0.0), 3))
        plan = msgspec.structs.replace(with_tool_keys(plan, self.checked), origin=origin)
        plan = with_estimates(with_fallbacks(plan, self.checked, options), self.checked)
        kept = frozenset(step.id for step in self.request.kept)
        if self.request.is_words:
            known = encode(self.request.context).decode() if self.request.context else ""
            plan = mandated(plan, self.request.text, self.checked, strict=False, kept=kept, known=known)
        return PlanningResult(plan=plan, record=self.record(plan))

    async def unanswered(self, failure: ChatFailed) -> PlanningResult:
        """The plan that is made where the model gave no answer. Raises `PlanningFailed`."""
        return await self.give_up(failure.message, (), is_absent=failure.kind in ABSENT, hint=failure.hint)

    async def give_up(
        self, reason: str, findings: tuple[Finding, ...], *, is_absent: bool = False, hint: str = ""
    ) -> PlanningResult:
        """The offline planner's plan, marked as such. Raises `PlanningFailed` where there is none.

        What the model said and was refused for, rules do not do in its place: then their plan asks before it acts.
        `is_absent`: the failure is that the model could not be asked. `hint`: what can be done about it.
        """
        offline = self.ground.offline
        if self.ground.options.fallback == "error" or offline is None:
            record = self.record(None, outcome="failed", reason=reason)
            raise PlanningFailed(reason, findings=findings, record=record, hint=hint)
        reason = f"{reason.rstrip('.')}. {hint}" if hint else reason
        try:
            plan = await offline(self.request, self.catalog)
        except ToolpathError as error:
            record = self.record(None, outcome="failed", reason=f"{reason} Without a model: {error.message}")
            raise PlanningFailed(record.reason, findings=findings, record=record, hint=error.hint) from None
        sure = _FALLBACK if plan.confidence is None else min(plan.confidence, _FALLBACK)
        questions = plan.questions
        has_spoken = not is_absent or any(one.answer for one in self.rounds)
        is_acting = any(
            isinstance(step, Call) and acts(self.checked.get(step.tool)) for _, step in every_step(plan.block)
        )
        if has_spoken and is_acting:
            sure = min(sure, ASKING)
            questions = (
                *questions,
                f"The model's plan was refused: {reason[:300]} Is this one, made without it, what is meant?",
            )
        origin = msgspec.structs.replace(
            plan.origin,
            confidence=sure,
            questions=questions,
            reasoning=f"Planned without a model, because: {reason}\n{plan.reasoning}".strip(),
        )
        plan = msgspec.structs.replace(plan, origin=origin, metadata={**plan.metadata, "fallback": True})
        return PlanningResult(plan=plan, record=self.record(plan, outcome="fallback", reason=reason))

    def need_tools(self) -> None:
        """Raise `NoToolFits` where there is no tool to choose from."""
        if not self.offered:
            self.no_tool("none was found for it." if self.catalog else "none may be used for it.")

    def no_tool(self, reason: str, plan: Plan | None = None) -> NoReturn:
        """Say that no tool fits."""
        raise NoToolFits(
            f"No tool fits the request: {reason}",
            hint="" if len(self.ground.catalog) else NO_TOOLS,
            suggestions=[one.tool for one in self.shown[:3]],
            record=self.record(plan, outcome="no_tool", reason=reason),
        )

    def record(self, plan: Plan | None, *, outcome: Outcome = "planned", reason: str = "") -> PlanningRecord:
        """How it went so far."""
        return PlanningRecord(
            request=self.request.text,
            outcome=outcome,
            reason=reason,
            catalog=self.ground.catalog.digest,
            shown=self.shown,
            selections=selections_of(plan) if plan is not None else (),
            reasoning=plan.reasoning if plan is not None else "",
            confidence=plan.confidence if plan is not None else None,
            rounds=tuple(self.rounds),
            simplified=self.simplified,
            prompt_size=self.prompt_size,
            started_at=self.started_at,
            duration=self.ground.clock.monotonic() - self._started,
        )


def selections_of(plan: Plan) -> tuple[Selection, ...]:
    """The tools of a plan, each with why it was chosen as far as the planner said it."""
    why = plan.metadata.get("why", {})
    return tuple(
        Selection(step=step.id, tool=step.tool, reasoning=str(why.get(step.id, "")))
        for _, step in every_step(plan.block)
        if isinstance(step, Call)
    )


_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")


def stranger_findings(plan: Plan, request: PlanRequest, catalog: Catalog) -> Iterator[Finding]:
    """An error for each mail address in an input that neither the request nor the call's tool has.

    Other values may be worked out of a request, as a date is; an address of a person is there or is not.
    """
    given = (request.text + encode([request.context, request.inputs]).decode()).casefold()
    done = {step.id for step in request.kept}
    for at, step in every_step(plan.block):
        if not isinstance(step, Call) or step.id in done:
            continue
        tool = catalog.get(step.tool)
        known = given if tool is None else given + f"{tool.description} {encode(tool.input_schema).decode()}".casefold()
        for path, value in walk(step.inputs, f"{at}/inputs"):
            if not isinstance(value, str):
                continue
            for address in _ADDRESS.findall(value):
                if address.casefold() not in known:
                    yield Finding(
                        code="address_not_given",
                        severity="error",
                        message=f"The request does not name the address {visible(address)}.",
                        path=path,
                        hint="Take addresses from the request, or from the result of an earlier step.",
                    )
