"""Following a run to its end, or to where only a person can go on: showing it, asking, and the exit code."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from toolpath.app import Toolpath
from toolpath.cli.exits import ExitCode, of_result
from toolpath.cli.output import STYLES, Output
from toolpath.cli.questions import answer_all, as_json, held, how_to_answer, may_ask
from toolpath.cli.runs.lines import event_line
from toolpath.cli.runs.live import LiveView
from toolpath.errors import StoreError
from toolpath.model.event_views import words_of
from toolpath.model.events import AnyEvent, Failure
from toolpath.model.run import RunResult
from toolpath.runs.run import Run
from toolpath.values import Json, duration_text

Feed = Callable[[AnyEvent], None]


class ResultView(Protocol):
    """View of a result as it is written: the `whole` of it as JSON, else what people want of it."""

    def __call__(self, result: RunResult, *, whole: bool) -> Json:
        """The value that is written."""
        ...


#: Characters of a failure that are shown at the end; `runs show` has more.
_MOST = 2000


async def finish(
    tp: Toolpath, run: Run, output: Output, *, after: int = 0, no_input: bool = False, view: ResultView | None = None
) -> int:
    """Follow the run beyond `after`, ask the person at the terminal where it asks, write its result; the exit code.

    `view`: what is written for the result, whether or not the run succeeded.
    """
    while True:
        result, after = await follow(tp, run.run_id, output, after)
        if result.status != "waiting" or held(result) or not may_ask(output, no_input):
            break
        if not await answer_all(tp, result, output):
            break
    report(result, output, view)
    return of_result(result)


async def follow(
    tp: Toolpath, run_id: str, output: Output, after: int = 0, *, until: type[AnyEvent] | None = None
) -> tuple[RunResult, int]:
    """Show the run's events beyond `after` until it ends or parks; gives its result and its last event's number.

    With `until`, an event of that type is enough.
    """
    last = after
    try:
        with shown(output) as feed:
            if after and output.is_live:
                # A new tree needs what went before; lines of text were written already.
                for event in await tp.events(run_id):
                    if event.seq <= after:
                        feed(event)
            async for event in tp.watch(run_id, after=after):
                last = event.seq
                feed(event)
                if until is not None and isinstance(event, until):
                    break
        return await tp.result(run_id), last
    except StoreError:
        output.tell(f"The run stands where it is. It can go on: toolpath runs resume {run_id}", "yellow")
        raise
    except asyncio.CancelledError:
        output.tell(f"Interrupted. It can go on: toolpath runs resume {run_id}", "yellow")
        raise


@contextmanager
def shown(output: Output) -> Iterator[Feed]:
    """Where events go to be seen: a live tree, lines of text, or nowhere."""
    if output.options.quiet:
        yield _nowhere
    elif output.is_live:
        with LiveView(output.people) as view:
            yield view.feed
    else:
        since = time.time()

        def line(event: AnyEvent) -> None:
            nonlocal since
            since = min(since, event.at)
            if text := event_line(event, since):
                output.say(text)

        yield line


def _nowhere(event: AnyEvent) -> None:
    pass


def report(result: RunResult, output: Output, view: ResultView | None = None) -> None:
    """The result on stdout, and for people how it went and what to do next."""
    code = of_result(result)
    if view is not None:
        output.result(view(result, whole=output.options.json))
    elif output.options.json:
        output.result(as_json(result))
    elif result.success:
        output.result(result.outputs)
    if result.status == "waiting":
        how_to_answer(result, output)
        return
    if result.status in ("pending", "running", "paused"):
        output.tell(f"Run {result.run_id} is {result.status}: toolpath runs resume {result.run_id} goes on with it.")
        return
    words = result.status.replace("_", " ")
    reason = f" ({result.reason})" if result.reason else ""
    style = STYLES.get(result.status, "")
    output.say(f"Run {result.run_id} {words}{reason} in {duration_text(result.total_duration)}.", style)
    if code in (ExitCode.FAILED, ExitCode.TIMEOUT, ExitCode.BUDGET, ExitCode.POLICY):
        _explain_failure(result, output)


def _explain_failure(result: RunResult, output: Output) -> None:
    known = f" (run {result.run_id})" if output.options.quiet else ""
    shown = _own_errors(result)
    whole = result.error
    if whole is not None and not any(whole.message == error.message for error in shown.values()):
        output.tell(f"{_lines(f'{whole.type}: {whole.message}')}{known}", "red")
        known = ""
    # A server that is away fails every step that needs it, with one and the same words.
    same: dict[tuple[str, str], list[str]] = {}
    for path, error in shown.items():
        same.setdefault((_lines(words_of(error)), error.where), []).append(path)
    for (words, where), paths in same.items():
        output.tell(f"{', '.join(paths)}: {words}{known}", "red")
        if output.options.verbose and where:
            output.tell(f"    at {where}")
    for hint in dict.fromkeys(error.hint for error in (*shown.values(), whole) if error is not None and error.hint):
        output.tell(hint)
    output.say(f"toolpath runs show {result.run_id} tells more; toolpath runs retry {result.run_id} tries what failed.")


def _own_errors(result: RunResult) -> dict[str, Failure]:
    """Path → failure of the first ten steps that failed, without loops and branches that only repeat what is below."""
    failed = [step for step in result.results if step.error and step.status in ("failed", "timed_out")]
    first = {step.path: step.error for step in failed[:10] if step.error}
    for path, error in list(first.items()):
        below = (f"{path}/", f"{path}[", f"{path}~")
        if any(step.error and step.error.message == error.message and step.path.startswith(below) for step in failed):
            del first[path]
    return first


def _lines(message: str) -> str:
    """A message with its lines, set in so that none of them can be taken for a line of this program."""
    text = message if len(message) <= _MOST else f"{message[: _MOST - 1]}…"
    return text.rstrip().replace("\n", "\n    ")
