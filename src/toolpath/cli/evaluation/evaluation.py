"""`toolpath eval`: a planner or the router on data sets, line by line; a bad line is said and left out."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.cli.evaluation.data_sets import FORM, DataSet, find_data_sets, lines_of, readable_name
from toolpath.cli.evaluation.examiner import Examiner
from toolpath.cli.evaluation.figures import BadLine, Measured, as_json, draw, tables_of
from toolpath.cli.evaluation.groups import compared_text, groups_text
from toolpath.cli.exits import ExitCode, UsageError, writing
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import Output
from toolpath.cli.session import CommandSession, perform
from toolpath.errors import ConfigError, PlanningFailed, ReadError, closest
from toolpath.machine import SystemClock
from toolpath.planner.scoring.evaluation import TaskAttempt, compared
from toolpath.planner.scoring.gold import catalog_of, read_task, read_tool_set
from toolpath.ports import Chat

_ATTEMPTS = msgspec.json.Decoder(TaskAttempt)
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
    keep: str = ""
    """File that every plan made is written to."""
    against: str = ""
    """File that another evaluation has kept."""
    beside: str = ""
    """Who else is scored on the same tasks: a planner, or `router`."""

    @property
    def subject(self) -> str:
        """The subject that is scored, in words."""
        return f"the router ({self.planner})" if self.router else f"the {self.planner} planner"

    @property
    def other(self) -> EvaluationRequest:
        """The same for who is scored beside it."""
        planner = self.planner if self.beside == "router" else self.beside
        keep = str(Path(self.keep).with_suffix(f".{self.beside}{Path(self.keep).suffix}")) if self.keep else ""
        return replace(self, planner=planner, router=self.beside == "router", keep=keep, plot="", beside="")


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

    def note(self, measured: Measured, made: TaskAttempt) -> None:
        """Keep the outcome of a task. Raises `PlanningFailed` where the model has been silent for too long."""
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


def evaluate(options: GlobalOptions, request: EvaluationRequest) -> int:
    """Score on the data sets; returns the exit code: 3 where lines could not be read, 130 where it was interrupted."""
    _check(request)
    found = find_data_sets(request.paths, request.tool_sets)
    before = _read_kept(request.against) if request.against else ()

    async def work(session: CommandSession) -> int:
        if found.left_out:
            session.output.say(f"Left out, as they hold no requests with gold plans: {', '.join(found.left_out)}.")
        evaluation = await _begun(request, found.sets, session)
        other = await _begun(request.other, found.sets, session) if request.beside else None
        failed: PlanningFailed | None = None
        is_interrupted = False
        try:
            await _go_through(evaluation)
            if other is not None:
                # What is wrong with a line is told once.
                other.told = _TOLD
                await _go_through(other)
        except PlanningFailed as failure:
            failed = failure
        except asyncio.CancelledError:
            # What has been paid for is shown all the same; a second Ctrl-C ends at once.
            _resume_current()
            is_interrupted = True
        if other is None:
            _report(evaluation, before, is_interrupted=is_interrupted)
        else:
            seconds = [one for each in other.begun for one in each.attempts]
            _report(evaluation, seconds, is_interrupted=is_interrupted, other=request.other)
        if failed is not None:
            raise failed
        if is_interrupted:
            return ExitCode.INTERRUPTED
        return ExitCode.INVALID if evaluation.bad else ExitCode.DONE

    return perform(options, work, journal=False)


async def _begun(request: EvaluationRequest, sets: tuple[DataSet, ...], session: CommandSession) -> Evaluation:
    chat = await _model(session) if request.planner == "model" else None
    examiner = Examiner(session, SystemClock(), chat, request.router)
    evaluation = Evaluation(request, sets, examiner, session.output)
    _read_tool_sets(evaluation)
    return evaluation


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
    if request.beside and request.beside not in (*PLANNERS, "router"):
        raise UsageError(
            f"{request.beside!r} is no planner.",
            suggestions=closest(request.beside, (*PLANNERS, "router")),
            hint="--beside takes offline, model or router.",
        )
    if request.beside and request.against:
        raise UsageError("Two are compared: give --beside or --against.")
    if request.beside and request.other.subject == request.subject:
        raise UsageError(f"{request.subject.capitalize()} would be compared with itself.", hint="Name another one.")
    _check_picture(request.plot)
    for file in filter(None, (request.plot, request.keep, request.other.keep if request.beside else "")):
        with writing(file):
            was_there = Path(file).exists()
            Path(file).open("ab").close()
            if not was_there:
                Path(file).unlink()


def _check_picture(name: str) -> None:
    if name:
        path = Path(name)
        if path.suffix.lower() != ".svg":
            raise UsageError(
                f"{name} cannot be drawn: SVG is the only format.", hint="Name a file that ends with .svg."
            )


async def _model(session: CommandSession) -> Chat:
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
    under_way: deque[tuple[int, asyncio.Task[TaskAttempt]]] = deque()
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


def _report(
    evaluation: Evaluation,
    before: Sequence[TaskAttempt],
    *,
    is_interrupted: bool,
    other: EvaluationRequest | None = None,
) -> None:
    """`before`: attempts to compare with, of `other` where that is given."""
    output, request, measured = evaluation.output, evaluation.request, evaluation.begun
    attempts = [one for each in measured for one in each.attempts]
    comparison = compared(attempts, before) if request.against or other else None
    names = ("now", "before") if other is None else (f"by {request.subject}", f"by {other.subject}")
    if output.options.json:
        about = {"planner": request.planner, "router": request.router, "interrupted": is_interrupted}
        about |= {"beside": None if other is None else {"planner": other.planner, "router": other.router}}
        output.result({**about, **as_json(measured, evaluation.bad, comparison)})
    elif attempts or not evaluation.bad:
        output.paragraph(tables_of(measured))
        for text in (*groups_text(attempts), *compared_text(comparison, *names)):
            output.paragraph(text)
    if comparison is not None and comparison.tasks < len(attempts):
        left = len(attempts) - comparison.tasks
        output.say(
            f"{left:,} of {len(attempts):,} tasks are not compared: the other one lacks their id, or their request."
        )
    for file, made in ((request.keep, attempts), (other.keep if other is not None else "", before)):
        if file:
            _keep(file, made)
            output.say(f"Every plan is kept in {file}.")
    _tell_unmeasured(evaluation)
    _tell_rest(evaluation, is_interrupted=is_interrupted)
    left_out = sum(one.left_out for one in measured)
    if left_out:
        output.say(f"{left_out:,} tasks were left out: by their own marks their gold plans are not sound.")
    if request.plot:
        named = Path(measured[0].file).name if len(measured) == 1 else f"{len(measured)} data sets"
        draw(request.plot, f"{named}: {request.subject}", measured)
        output.say(f"Drawn in {request.plot}.")


def _tell_unmeasured(evaluation: Evaluation) -> None:
    """Say which lines could not be read, and of which files nothing was planned."""
    output = evaluation.output
    if len(evaluation.bad) > evaluation.told:
        output.tell(f"… and {len(evaluation.bad) - evaluation.told:,} more lines that cannot be read.", "red")
    for one in evaluation.begun:
        if one.is_complete and not one.attempts:
            form = "" if any(line.file == one.file for line in evaluation.bad) else f" {FORM}"
            output.tell(f"{one.file} holds no task that could be planned: nothing was measured.{form}", "yellow")


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


def _keep(file: str, attempts: Sequence[TaskAttempt]) -> None:
    """Write the attempts. Raises `UsageError` where the file cannot be written."""
    with writing(file):
        Path(file).write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in attempts))


def _read_kept(file: str) -> list[TaskAttempt]:
    """The attempts that an evaluation has kept. Raises `UsageError` for a file that holds something else."""
    attempts = []
    for number, line in lines_of(file):
        try:
            attempts.append(_ATTEMPTS.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"{file}:{number} is no attempt: {error}", hint="Name a file that --keep wrote.") from None
    return attempts
