"""`toolpath runs list|show|events|watch`: looking into the journal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import get_args

import msgspec
from rich.text import Text

from toolpath.app import Toolpath
from toolpath.cli.exits import ExitCode, UsageError, of_result
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import STYLES, clean, moment, short, table
from toolpath.cli.questions import as_json, how_to_answer
from toolpath.cli.runs.execution import follow, report
from toolpath.cli.runs.lines import event_line
from toolpath.cli.session import CommandSession, perform
from toolpath.errors import closest
from toolpath.model.event_views import words_of
from toolpath.model.events import encode_event
from toolpath.model.run import RunInfo, RunResult, RunStatus, StepResult
from toolpath.model.sub_plan import plan_id, split_plan_id
from toolpath.projections.paths import ancestors
from toolpath.projections.sub_plans import events_inside, sub_plans
from toolpath.recovery.presence import is_driven_elsewhere
from toolpath.runs.reader import PAGE, PAGE_BYTES
from toolpath.values import JsonObject, duration_text

_PAGE = 1000
_STATUSES: tuple[str, ...] = get_args(RunStatus)
_LEFT = "no process drives it"


async def run_id_of(tp: Toolpath, given: str) -> str:
    """The full id of a run: `last` is the newest one, the beginning or end of an id will do where it is unique.

    A colon and the path of a call behind it mean the plan that the call began.
    """
    root, path = split_plan_id(given)
    if path:
        return plan_id(await run_id_of(tp, root), path)
    if given != "last":
        runs = [info.run_id for info in await tp.runs(limit=_PAGE)]
        fitting = [run for run in runs if run.startswith(given) or run.endswith(given)]
        if len(fitting) > 1 and given not in fitting:
            raise UsageError(f"{given!r} could be any of {len(fitting)} runs.", suggestions=fitting[:3])
        return given if len(fitting) != 1 else fitting[0]
    newest = await tp.runs(limit=1)
    if not newest:
        raise UsageError("There are no runs yet.", hint="toolpath run FILE makes one.")
    return str(newest[0].run_id)


def check_status(status: str) -> None:
    """Raise `UsageError` for what is neither a status nor empty."""
    if status and status not in _STATUSES:
        raise UsageError(
            f"No run is ever {status!r}.",
            suggestions=closest(status, _STATUSES),
            hint=f"A status is one of {', '.join(_STATUSES)}.",
        )


def list_runs(options: GlobalOptions, status: str, limit: int) -> int:
    """The newest runs, one a line."""

    async def work(session: CommandSession) -> int:
        check_status(status)
        runs = await session.tp.runs(status=status or None, limit=limit)
        if options.json:
            session.output.result([row_of(info) for info in runs])
            return ExitCode.DONE
        if not runs:
            session.output.say("No runs.")
            return ExitCode.DONE
        rows = [
            (
                info.run_id,
                Text(_status(info, session.tp.clock.time()), style=STYLES.get(info.status, "")),
                short(info.name, 40),
                moment(info.created_at),
                duration_text(info.ended_at - info.created_at) if info.ended_at else "",
            )
            for info in runs
        ]
        session.output.paragraph(table(rows, ("run", "status", "plan", "started", "took")))
        return ExitCode.DONE

    return perform(options, work, sources=False)


def show_run(options: GlobalOptions, run: str, *, tree: bool = False) -> int:
    """One run with all its steps, or the tree of the plans inside it."""

    async def work(session: CommandSession) -> int:
        run_id = await run_id_of(session.tp, run)
        result = await session.tp.result(run_id)
        if tree:
            return _show_tree(session, options, result)
        if options.json:
            session.output.result(as_json(result))
            return ExitCode.DONE
        info = await session.tp.store.get_run(split_plan_id(run_id)[0])
        left = _is_left(info, session.tp.clock.time())
        session.output.paragraph(_described(result, _LEFT if left else result.reason))
        if result.status == "waiting":
            how_to_answer(result, session.output)
        elif left:
            session.output.tell(f"Go on with: toolpath runs resume {run_id}")
        return ExitCode.DONE

    return perform(options, work, sources=False)


def _show_tree(session: CommandSession, options: GlobalOptions, result: RunResult) -> int:
    root, path = split_plan_id(result.run_id)
    # Those of a plan inside a run lie below it.
    plans = [plan for plan in sub_plans(root, result.results) if not path or plan.call != path]
    if options.json:
        session.output.result([msgspec.to_builtins(plan) for plan in plans])
        return ExitCode.DONE
    session.output.paragraph(f"{result.run_id}  {result.status}")
    known = {result.run_id: 0}
    for plan in plans:
        depth = known[plan.plan_id] = known.get(plan.parent, 0) + 1
        session.output.paragraph(f"{'  ' * depth}{plan.plan_id}  {plan.title}  {plan.status}")
    return ExitCode.DONE


def row_of(info: RunInfo) -> JsonObject:
    """The run's row as JSON; what is for its next driver alone is left out."""
    row: JsonObject = msgspec.to_builtins(msgspec.structs.replace(info, intent=""))
    return row


def _is_left(info: RunInfo, now: float) -> bool:
    """Whether the run is to go on, but its process has ended."""
    return info.status in ("pending", "running") and not is_driven_elsewhere(info, now)


def _status(info: RunInfo, now: float) -> str:
    why = _LEFT if _is_left(info, now) else info.reason
    return f"{info.status} ({why})" if why else info.status


def _described(result: RunResult, reason: str) -> Text:
    text = Text()
    text.append(result.run_id, style="bold")
    text.append("  ")
    text.append(result.status.replace("_", " "), style=STYLES.get(result.status, ""))
    text.append(f"{f' ({reason})' if reason else ''}  {duration_text(result.total_duration)}")
    if result.cost:
        text.append(f"  {result.cost:.4f} USD")
    for step in in_tree_order(result.results):
        text.append("\n")
        text.append_text(_step(step))
    if result.error is not None:
        text.append(f"\n{result.error.type}: {clean(result.error.message)}", style="red")
    for warning in result.warnings[:20]:
        text.append(f"\nwarning {warning.code}: {clean(warning.message)}", style="yellow")
    if result.outputs is not None:
        text.append(f"\noutputs  {short(result.outputs, 2000)}")
    return text


def _step(step: StepResult) -> Text:
    depth = step.path.count("/")
    text = Text("  " * (depth + 1))
    text.append(step.status.replace("_", " ").ljust(9), style=STYLES.get(step.status, ""))
    text.append(f" {clean(step.path)}")
    if step.tool:
        text.append(f"  {clean(step.tool)}", style="dim")
    if step.duration:
        text.append(f"  {duration_text(step.duration)}", style="dim")
    if step.attempts > 1:
        text.append(f"  {step.attempts} attempts", style="yellow")
    if step.cached:
        text.append("  cached", style="dim")
    if step.error is not None:
        text.append(f"  {short(words_of(step.error), 300)}", style="red")
        if step.error.where:
            text.append(f"\n{'  ' * (depth + 2)}at {clean(step.error.where)}", style="dim")
    elif step.reason:
        text.append(f"  {short(step.reason, 300)}", style="dim")
    elif step.output is not None:
        text.append(f"  → {short(step.output, 120)}", style="dim")
    return text


def show_events(options: GlobalOptions, run: str, after: int) -> int:
    """The run's events: as lines of text, or as JSON lines with `--json`."""

    async def work(session: CommandSession) -> int:
        run_id, path = split_plan_id(await run_id_of(session.tp, run))
        since: float | None = None
        last = after
        while events := await session.tp.store.read_events(run_id, after=last, limit=PAGE, most_bytes=PAGE_BYTES):
            for event in events_inside(events, path):
                since = event.at if since is None else since
                if options.json:
                    session.output.write(encode_event(event).decode())
                elif line := event_line(event, since):
                    session.output.paragraph(f"{event.seq:6} {line}")
            last = events[-1].seq
        return ExitCode.DONE

    return perform(options, work, sources=False)


def watch_run(options: GlobalOptions, run: str) -> int:
    """Show the run until it ends or waits for a person, in whichever process it is driven."""

    async def work(session: CommandSession) -> int:
        tp = session.tp
        run_id = await run_id_of(tp, run)
        result, _ = await follow(tp, run_id, session.output)
        report(result, session.output)
        return of_result(result)

    return perform(options, work, sources=False)


_COUNTS = re.compile(r"\[(\d+)\]|#(\d+)|~(\d+)")


def in_tree_order(results: Sequence[StepResult]) -> list[StepResult]:
    """The records, each below what it is a part of; side by side by item and visit, then as they first appeared."""
    by_path = {result.path: result for result in results}
    below: dict[str, list[StepResult]] = {}
    for result in results:
        parent = next((path for path in ancestors(result.path) if path in by_path), "")
        below.setdefault(parent, []).append(result)
    first = {result.path: position for position, result in enumerate(results)}
    found: list[StepResult] = []
    waiting = [""]
    while waiting:
        parent = waiting.pop()
        if parent:
            found.append(by_path[parent])
        inside = sorted(below.get(parent, ()), key=lambda result: (_item(result.path, parent), first[result.path]))
        waiting += [result.path for result in reversed(inside)]
    return found


def _item(path: str, parent: str) -> tuple[int, ...]:
    """The number of the item, visit and entry by which the path goes below its parent; zeros for what has none."""
    rest = path.removeprefix(parent)
    match = _COUNTS.match(rest)
    return (int(next(group for group in match.groups() if group)),) if match else (0,)
