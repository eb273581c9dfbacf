"""`toolpath eval`: a planner or the router on data sets, line by line; a bad line is said and left out."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from toolpath.catalog.snapshot import Catalog
from toolpath.cli.evaluation.data_sets import FORM, DataSet, find_data_sets, lines_of, readable_name
from toolpath.cli.evaluation.examiner import Examiner
from toolpath.cli.evaluation.figures import BadLine, Measured, as_json, draw, tables_of
from toolpath.cli.exits import ExitCode, UsageError, writing
from toolpath.cli.options import Options
from toolpath.cli.output import Output
from toolpath.cli.session import Session, perform
from toolpath.clock import SystemClock
from toolpath.errors import ConfigError, PlanningFailed, ReadError, closest
from toolpath.planner.scoring.evaluation import Attempt
from toolpath.planner.scoring.gold import catalog_of, read_task, read_tool_set
from toolpath.ports import Chat

PLANNERS = ("offline", "model")
#: Bad lines that are told one by one, and of those that say the same of one file.
_TOLD = 20
_ALIKE = 3
#: So many requests that a model does not answer, one after the other, end the evaluation.
_SILENT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRequest:
    """Words that were typed after `eval`."""

    paths: tuple[str, ...]
    planner: str = "offline"
    router: bool = False
    limit: int | None = None
    tool_sets: tuple[str, ...] = ()
    plot: str = ""
    concurrency: int = 1

    @property
    def subject(self) -> str:
        """What is scored, in words."""
        return f"the router ({self.planner})" if self.router else f"the {self.planner} planner"


@dataclass(slots=True)
class Evaluation:
    """The data sets while they are gone through."""

    request: EvaluationRequest
    sets: tuple[DataSet, ...]
    examiner: Examiner
    output: Output
    tools: dict[tuple[str, ...], dict[str, Catalog]] = field(default_factory=dict)
    """Tool sets by name, for each list of files that they come from."""
    bad: list[BadLine] = field(default_factory=list)
    begun: list[Measured] = field(default_factory=list)
    silent: int = 0
    """Requests that the model did not answer, one after the other."""
    told: int = 0
    """Bad lines that were told one by one."""
    _alike: Counter[tuple[str, str]] = field(default_factory=Counter)

    def note(self, measured: Measured, made: Attempt) -> None:
        """Keep what came of a task. Raises `PlanningFailed` where the model has been silent for too long."""
        measured.attempts.append(made)
        self.silent = 0 if made.answered else self.silent + 1
        if self.silent >= _SILENT:
            raise PlanningFailed(f"The model did not answer {_SILENT} requests in a row: {made.error}")

    def note_bad(self, file: str, line: int, error: ReadError) -> None:
        """Keep what is wrong with a line, and say it unless there are many."""
        bad = BadLine(file=file, line=line, message=" ".join(str(error).split()))
        self.bad.append(bad)
        self._alike[file, bad.message] += 1
        if self.told < _TOLD and self._alike[file, bad.message] <= _ALIKE:
            self.told += 1
            self.output.tell(f"{file}:{line}: {bad.message}", "red")


def evaluate(options: Options, request: EvaluationRequest) -> int:
    """Score on the data sets; returns the exit code: 3 where lines could not be read, 130 where it was interrupted."""
    _check(request)
    found = find_data_sets(request.paths, request.tool_sets)

    async def work(session: Session) -> int:
        if found.left_out:
            session.output.say(f"Left out, as they hold no requests with gold plans: {', '.join(found.left_out)}.")
        chat = await _model(session) if request.planner == "model" else None
        examiner = Examiner(session, SystemClock(), chat, request.router)
        evaluation = Evaluation(request, found.sets, examiner, session.output)
        _read_tool_sets(evaluation)
        failed: PlanningFailed | None = None
        is_interrupted = False
        try:
            await _go_through(evaluation)
        except PlanningFailed as failure:
            failed = failure
        except asyncio.CancelledError:
            # What has been paid for is shown all the same; a second Ctrl-C ends at once.
            _resume_current()
            is_interrupted = True
        _report(evaluation, is_interrupted=is_interrupted)
        if failed is not None:
            raise failed
        if is_interrupted:
            return ExitCode.INTERRUPTED
        return ExitCode.INVALID if evaluation.bad else ExitCode.DONE

    return perform(options, work, journal=False)


def _resume_current() -> None:
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


def _check(request: EvaluationRequest) -> None:
    """Refuse what cannot be meant, before anything is planned."""
    if request.planner == "router":
        raise UsageError("The router is no planner.", hint="Say --router; --planner then says who chooses.")
    if request.planner not in PLANNERS:
        raise UsageError(
            f"{request.planner!r} is no planner.",
            suggestions=closest(request.planner, PLANNERS),
            hint="Planners are offline and model; --router scores the router.",
        )
    if request.plot:
        path = Path(request.plot)
        if path.suffix.lower() != ".svg":
            raise UsageError(
                f"{request.plot} cannot be drawn: SVG is the only format.", hint="Name a file that ends with .svg."
            )
        with writing(request.plot):
            was_there = path.exists()
            path.open("ab").close()
            if not was_there:
                path.unlink()


async def _model(session: Session) -> Chat:
    chat = await session.tp.planning.model(opened=True)
    if chat is None:
        raise ConfigError(
            "No model is configured for planning.",
            hint="Set TOOL_PLANNER_LLM and the provider's key, or take the offline planner.",
        )
    return chat


def _read_tool_sets(evaluation: Evaluation) -> None:
    """Read every file of tool sets once; of two sets of one name in a list of files the first counts."""
    files = dict.fromkeys(file for one in evaluation.sets for file in one.tool_sets)
    read = {file: _tool_sets_of(file, evaluation) for file in files}
    for one in evaluation.sets:
        together: dict[str, Catalog] = {}
        for file in one.tool_sets:
            together = {**read[file], **together}
        evaluation.tools[one.tool_sets] = together


def _tool_sets_of(file: str, evaluation: Evaluation) -> dict[str, Catalog]:
    sets: dict[str, Catalog] = {}
    for number, line in lines_of(file):
        try:
            found = read_tool_set(line)
        except ReadError as error:
            evaluation.note_bad(readable_name(file), number, error)
        else:
            sets.setdefault(found.toolset, catalog_of(found.tools))
    return sets


async def _go_through(evaluation: Evaluation) -> None:
    with _progress(evaluation.output) as tell:
        for data_set in evaluation.sets:
            measured = Measured(data_set=data_set.name, file=data_set.shown)
            evaluation.begun.append(measured)
            await _measure(data_set, measured, evaluation, tell)
            measured.is_complete = True


async def _measure(data_set: DataSet, measured: Measured, evaluation: Evaluation, tell: Callable[[str], None]) -> None:
    """Plan the tasks of one data set, some at a time, and note them in their order."""
    under_way: deque[tuple[int, asyncio.Task[Attempt]]] = deque()
    limit, sets = evaluation.request.limit, evaluation.tools[data_set.tool_sets]

    async def note_next() -> None:
        number, planned = under_way.popleft()
        try:
            made = await planned
        except ReadError as error:
            evaluation.note_bad(measured.file, number, error)
            return
        evaluation.note(measured, made)
        done = measured.attempts
        tell(f"{measured.data_set}: {len(done):,} planned, {sum(one.is_right for one in done):,} right")

    try:
        for number, line in lines_of(data_set.file):
            if limit is not None and len(measured.attempts) + len(under_way) >= limit:
                while under_way:
                    await note_next()
                if len(measured.attempts) >= limit:
                    break
            try:
                task = read_task(line)
            except ReadError as error:
                evaluation.note_bad(measured.file, number, error)
                continue
            if not task.is_sound:
                measured.left_out += 1
                continue
            under_way.append((number, asyncio.create_task(evaluation.examiner.attempt(number, task, sets))))
            if len(under_way) >= evaluation.request.concurrency:
                await note_next()
        while under_way:
            await note_next()
    finally:
        for _, left in under_way:
            left.cancel()
        await asyncio.gather(*(left for _, left in under_way), return_exceptions=True)


@contextmanager
def _progress(output: Output) -> Iterator[Callable[[str], None]]:
    """Where it is told how far it is: to a person who watches, else nowhere."""
    if not output.is_live:
        yield lambda text: None
        return
    with output.people.status("Planning …") as status:
        yield status.update


def _report(evaluation: Evaluation, *, is_interrupted: bool) -> None:
    output, request, measured = evaluation.output, evaluation.request, evaluation.begun
    if output.options.json:
        about = {"planner": request.planner, "router": request.router, "interrupted": is_interrupted}
        output.result({**about, **as_json(measured, evaluation.bad)})
    else:
        output.paragraph(tables_of(measured))
    if len(evaluation.bad) > evaluation.told:
        output.tell(f"… and {len(evaluation.bad) - evaluation.told:,} more lines that cannot be read.", "red")
    for one in measured:
        if one.is_complete and not one.attempts:
            form = "" if any(line.file == one.file for line in evaluation.bad) else f" {FORM}"
            output.tell(f"{one.file} holds no task that could be planned: nothing was measured.{form}", "yellow")
    _tell_rest(evaluation, is_interrupted=is_interrupted)
    left_out = sum(one.left_out for one in measured)
    if left_out:
        output.say(f"{left_out:,} tasks were left out: by their own marks their gold plans are not sound.")
    if request.plot:
        named = Path(measured[0].file).name if len(measured) == 1 else f"{len(measured)} data sets"
        draw(request.plot, f"{named}: {request.subject}", measured)
        output.say(f"Drawn in {request.plot}.")


def _tell_rest(evaluation: Evaluation, *, is_interrupted: bool) -> None:
    """Say what an end before the end left undone."""
    partial = [one for one in evaluation.begun if not one.is_complete]
    if not partial:
        return
    said = "Interrupted" if is_interrupted else "Ended"
    told = ", ".join(f"{one.data_set} after {len(one.attempts):,} of its tasks" for one in partial)
    rest = ", ".join(one.name for one in evaluation.sets[len(evaluation.begun) :])
    left = f"; not begun: {rest}" if rest else ""
    evaluation.output.tell(f"{said}: {told}{left}. The figures are of what was done.", "yellow")
