"""`toolpath eval`: a planner on requests whose right plans are known, line by line; a bad line is said and left out."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from toolpath.catalog.search import ToolSearch
from toolpath.catalog.snapshot import Catalog
from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.figures import as_json, draw, rows_of
from toolpath.cli.options import Options
from toolpath.cli.output import Output, table
from toolpath.cli.session import Session, perform
from toolpath.clock import SystemClock
from toolpath.errors import ConfigError, NoToolFits, PlanningFailed, ReadError, ToolpathError
from toolpath.model.chat import Usage
from toolpath.planner.choose import ground_of
from toolpath.planner.evaluation import Attempt, summary_of
from toolpath.planner.gold import (
    LONGEST_LINE,
    Task,
    catalog_of,
    gold_calls,
    made_calls,
    read_task,
    read_tool_set,
    tool_set_of,
    tool_sets_of,
)
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.records import Planned, PlanningRecord, PlanRequest
from toolpath.planner.score import score_plan
from toolpath.ports import Chat

PLANNERS = ("offline", "model")
#: Bad lines that are told one by one.
_TOLD = 20
#: So many requests that a model does not answer, one after the other, end the evaluation.
_SILENT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRequest:
    """What was typed after `eval`."""

    file: str
    planner: str = "offline"
    limit: int | None = None
    tool_sets: tuple[str, ...] = ()
    plot: str = ""
    concurrency: int = 1


@dataclass(slots=True)
class Evaluation:
    """One data set while it is gone through."""

    session: Session
    clock: SystemClock
    chat: Chat | None = None
    sets: dict[str, Catalog] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    bad: list[tuple[str, int, str]] = field(default_factory=list)
    left_out: int = 0
    silent: int = 0
    """Requests that the model did not answer, one after the other."""
    _indices: dict[str, ToolSearch] = field(default_factory=dict)

    async def attempt(self, line: int, task: Task) -> Attempt:
        """Plan one task and score it. Raises `ReadError` for a task that cannot be scored."""
        catalog = await self._tools_of(task)
        gold = gold_calls(task, catalog)
        began = self.clock.monotonic()
        record: PlanningRecord | None = None
        known: dict[str, Any] = {"line": line, "task": task.id, "wants_plan": bool(gold)}
        try:
            planned = await self._plan(task.query, catalog)
            record = planned.record
            made = made_calls(planned.plan)
            known["score"] = score_plan(made, gold, with_arguments=task.arguments != "unlabelled")
            known["confidence"] = planned.plan.confidence or 0.0
        except NoToolFits as refusal:
            record = refusal.record
            known["came"] = "refusal"
        except ToolpathError as failure:
            record = getattr(failure, "record", None)
            known |= {"came": "failure", "error": failure.message}
        unanswered = record is not None and bool(record.rounds) and all(one.error for one in record.rounds)
        self.silent = self.silent + 1 if unanswered else 0
        return Attempt(
            seconds=self.clock.monotonic() - began,
            usage=record.usage if record else Usage(),
            cost=record.cost if record else 0.0,
            **known,
        )

    async def _tools_of(self, task: Task) -> Catalog:
        """What the task may be planned with: its own tools, its tool set, else what is connected."""
        if task.tools is not None:
            return catalog_of(task.tools)
        if task.toolset is not None:
            return tool_set_of(task.toolset, self.sets)
        if task.toolsets:
            return tool_sets_of(task.toolsets, self.sets, task.excluded_tools)
        connected = await self.session.tp.tools()
        if not connected.tools:
            raise ReadError("It names no tools, and none are connected.", hint="Give tools, a toolset, or --tools.")
        return connected

    async def _plan(self, text: str, catalog: Catalog) -> Planned:
        if self.chat is None:
            plan = plan_offline(text, catalog, search=self._index(catalog))
            return Planned(plan=plan, record=PlanningRecord(request=text, planner="offline"))
        from toolpath.planner.llm import plan_with_model  # noqa: PLC0415  # only who has a model pays for what it needs

        ground = ground_of(catalog, self.chat, self.clock, self.session.settings)
        # The rules' plan in place of the model's would be scored as the model's.
        alone = msgspec.structs.replace(ground.options, fallback="error")
        return await plan_with_model(PlanRequest(text=text), msgspec.structs.replace(ground, options=alone))

    def _index(self, catalog: Catalog) -> ToolSearch:
        if catalog.digest not in self._indices:
            self._indices = {catalog.digest: ToolSearch(catalog.tools.values(), stats=catalog.stats)}
        return self._indices[catalog.digest]


def evaluate(options: Options, request: EvaluationRequest) -> int:
    """Score the planner on the data set; returns the exit code: 3 where lines could not be read."""
    if request.planner not in PLANNERS:
        raise UsageError(f"{request.planner!r} is no planner.", hint="Planners are offline and model.")
    if request.plot and Path(request.plot).suffix.lower() != ".svg":
        raise UsageError(f"{request.plot} would hold an SVG picture.", hint="Name a file that ends with .svg.")

    async def work(session: Session) -> int:
        clock = SystemClock()
        chat = await _model(session) if request.planner == "model" else None
        evaluation = Evaluation(session, clock, chat)
        _read_tool_sets(request.tool_sets, evaluation)
        await _go_through(request, evaluation)
        _report(request, evaluation)
        return ExitCode.INVALID if evaluation.bad else ExitCode.DONE

    return perform(options, work, journal=False)


async def _model(session: Session) -> Chat:
    chat = await session.tp.planning.model()
    if chat is None:
        raise ConfigError(
            "No model is configured for planning.",
            hint="Set TOOL_PLANNER_LLM and the provider's key, or take the offline planner.",
        )
    return chat


def _read_tool_sets(files: Sequence[str], evaluation: Evaluation) -> None:
    for file in files:
        for number, line in _lines(file):
            try:
                found = read_tool_set(line)
            except ReadError as error:
                _bad(evaluation, file, number, error)
            else:
                evaluation.sets.setdefault(found.toolset, catalog_of(found.tools))


async def _go_through(request: EvaluationRequest, evaluation: Evaluation) -> None:
    """Plan the tasks, some at a time, and note them in their order."""
    under_way: deque[tuple[int, asyncio.Task[Attempt]]] = deque()
    with _progress(evaluation.session.output) as tell:
        try:
            for number, line in _lines(request.file):
                if request.limit is not None and len(evaluation.attempts) + len(under_way) >= request.limit:
                    while under_way:
                        await _note(*under_way.popleft(), request, evaluation, tell)
                    if len(evaluation.attempts) >= request.limit:
                        break
                try:
                    task = read_task(line)
                except ReadError as error:
                    _bad(evaluation, request.file, number, error)
                    continue
                if not task.is_sound:
                    evaluation.left_out += 1
                    continue
                under_way.append((number, asyncio.create_task(evaluation.attempt(number, task))))
                if len(under_way) >= request.concurrency:
                    await _note(*under_way.popleft(), request, evaluation, tell)
            while under_way:
                await _note(*under_way.popleft(), request, evaluation, tell)
        finally:
            for _, left in under_way:
                left.cancel()
            await asyncio.gather(*(left for _, left in under_way), return_exceptions=True)


async def _note(
    number: int,
    planned: asyncio.Task[Attempt],
    request: EvaluationRequest,
    evaluation: Evaluation,
    tell: Callable[[str], None],
) -> None:
    try:
        made = await planned
    except ReadError as error:
        _bad(evaluation, request.file, number, error)
        return
    evaluation.attempts.append(made)
    tell(f"{len(evaluation.attempts):,} planned, {sum(one.is_right for one in evaluation.attempts):,} right")
    if evaluation.silent >= _SILENT:
        raise PlanningFailed(f"The model did not answer {_SILENT} requests in a row: {made.error}")


@contextmanager
def _progress(output: Output) -> Iterator[Callable[[str], None]]:
    """Where it is told how far it is: to a person who watches, else nowhere."""
    if not output.is_live:
        yield lambda text: None
        return
    with output.people.status("Planning …") as status:
        yield status.update


def _lines(file: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that hold something, with their numbers; of one that is too long, as much as says so."""
    try:
        with Path(file).open("rb") as opened:
            number = 0
            while line := opened.readline(LONGEST_LINE + 2):
                number += 1
                rest = line
                while not rest.endswith(b"\n") and (rest := opened.readline(LONGEST_LINE)):
                    pass
                if line.strip():
                    yield number, line.strip() if len(line) <= LONGEST_LINE else line
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None


def _bad(evaluation: Evaluation, file: str, number: int, error: ReadError) -> None:
    said = " ".join(str(error).split())
    evaluation.bad.append((file, number, said))
    if len(evaluation.bad) <= _TOLD:
        evaluation.session.output.tell(f"{file}:{number}: {said}", "red")


def _report(request: EvaluationRequest, evaluation: Evaluation) -> None:
    output, attempts, bad = evaluation.session.output, evaluation.attempts, evaluation.bad
    summary = summary_of(attempts)
    if output.options.json:
        unreadable = [{"file": file, "line": line, "message": said} for file, line, said in bad]
        about = {"file": request.file, "planner": request.planner, "left_out": evaluation.left_out}
        output.result({**about, "unreadable": unreadable, **as_json(summary, attempts)})
    else:
        output.paragraph(table(rows_of(summary), ("measure", "value")))
    if len(bad) > _TOLD:
        output.tell(f"… and {len(bad) - _TOLD:,} more lines that cannot be read.", "red")
    if not attempts:
        output.tell(f"{request.file} holds no task that could be planned: nothing was measured.", "yellow")
    if evaluation.left_out:
        output.say(f"{evaluation.left_out:,} tasks were left out: by their own marks their gold plans are not sound.")
    if request.plot:
        draw(request.plot, f"{Path(request.file).name}: the {request.planner} planner", summary, attempts)
        output.say(f"Drawn in {request.plot}.")
