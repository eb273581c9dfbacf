"""Views of events: what each says to people in one line, how loud a log says it, and the state that a step is in then.

One table, `VIEWS`, for the lines and the live tree of the command line, for logs, and for the page's lists of events,
which the service hands their texts. Texts are as tools wrote them: whoever prints one cleans it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from toolpath.model import events as ev
from toolpath.model.events import Failure
from toolpath.values import duration_text

Level = Literal["", "debug", "info", "warning", "error"]
_LONGEST = 400


class View(msgspec.Struct, frozen=True, kw_only=True):
    """View of the events of one type."""

    level: Level | Callable[[Any], Level] = "info"
    """How loud a log says it; empty: not at all."""
    line: Callable[[Any], str]
    """What happened, in one line."""
    is_detail: bool = False
    """Whether those who follow a run are told nothing of it: it is for logs, and for lists of all events."""
    status: str | Callable[[Any], str] = ""
    """What its step, or the run, is from then on; empty: what it was."""
    zh: str
    """Its name in Chinese, for the page: `ui/event_texts.py` writes it there."""
    note: Callable[[Any], str] | None = None
    """What stands beside the status while it lasts."""


def words_of(failure: Failure) -> str:
    """Why something failed; an error that is none of ours with its type, since `KeyError` says more than `'tea'`."""
    if failure.code == "tool_failed" and failure.type not in ("ToolFailed", "SettledFailed"):
        return f"{failure.type}: {failure.message}"
    return failure.message


def _short(text: object, limit: int = 120) -> str:
    found = str(text)
    return found if len(found) <= limit else f"{found[: limit - 1]}…"


def _why(message: str) -> str:
    # One line an event; the report at the end has all lines.
    first, more, _ = message.strip().partition("\n")
    return _short(f"{first} …" if more else first, _LONGEST)


def _because(event: Any) -> str:
    return f": {event.reason}" if event.reason else ""


def _reason(event: Any) -> str:
    return str(event.reason)


def _share(event: ev.StepProgress, between: str) -> str:
    return f"{event.progress:g}{between}{event.total:g}" if event.total else f"{event.progress:g}"


def _run_started(event: ev.RunStarted) -> str:
    name = _short(event.plan.get("name", ""), 80)
    return f"run {event.run_id} started{f': {name}' if name else ''}"


def _started(event: ev.StepStarted) -> str:
    attempt = f", attempt {event.attempt}" if event.attempt > 1 else ""
    return f"{event.path} started{f' ({event.tool})' if event.tool else ''}{attempt}"


def _retrying(event: ev.StepRetrying) -> str:
    return f"{event.path} attempt {event.attempt} failed, again in {event.delay:g} s: {_why(words_of(event.error))}"


def _succeeded(event: ev.StepSucceeded) -> str:
    return f"{event.path} succeeded {'from the cache' if event.cached else f'in {duration_text(event.duration)}'}"


def _failed(word: str) -> Callable[[Any], str]:
    return lambda event: (
        f"{event.path} {word}{' (continued)' if event.continued else ''}: {_why(words_of(event.error))}"
    )


def _failed_note(event: ev.StepFailed | ev.StepTimedOut) -> str:
    return event.error.message + (" (continued)" if event.continued else "")


def _cancelled(event: ev.StepCancelled) -> str:
    return f"{event.path} cancelled{' (whether its write happened is not known)' if event.in_doubt else ''}"


def _decided(event: ev.ApprovalDecided) -> str:
    return f"{event.path} was {'approved' if event.approved else 'denied'}{_by(event)}"


def _answered(event: ev.InputReceived) -> str:
    if event.timed_out:
        return f"{event.path} got no answer in time"
    return f"{event.path} was {'declined' if event.declined else 'answered'}{_by(event)}"


def _by(event: Any) -> str:
    return f" by {event.by}" if event.by else ""


def _run_failed(event: ev.RunFailed) -> str:
    return f"run failed: {_why(words_of(event.error) if event.error else event.reason)}"


VIEWS: dict[type[ev.Event], View] = {
    ev.RunStarted: View(zh="运行开始", line=_run_started, status="running"),
    ev.RunPaused: View(zh="运行暂停", line=lambda e: f"run paused{_because(e)}", status="paused"),
    ev.RunResumed: View(zh="运行继续", line=lambda e: f"run resumed{_because(e)}", status="running"),
    ev.RunAuthorized: View(
        zh="运行获得授权", line=lambda e: f"run goes on with the rights{_by(e) or ' of somebody else'}", is_detail=True
    ),
    ev.ToolsFrozen: View(zh="工具已固定", line=lambda e: f"tools frozen: {_short(', '.join(e.tools))}", is_detail=True),
    ev.RunCompleted: View(
        zh="运行完成", line=lambda e: f"run {e.status.replace('_', ' ')}", status=lambda e: str(e.status)
    ),
    ev.RunFailed: View(
        zh="运行失败",
        level="error",
        line=_run_failed,
        status="failed",
        note=lambda e: e.error.message if e.error else e.reason,
    ),
    ev.RunCancelled: View(
        zh="运行已取消", line=lambda e: f"run cancelled{_because(e)}", status="cancelled", note=_reason
    ),
    ev.StepReady: View(zh="步骤就绪", level="", line=lambda e: f"{e.path} is ready", is_detail=True, status="ready"),
    ev.StepStarted: View(zh="步骤开始", level="debug", line=_started, status="running"),
    ev.StepProgress: View(
        zh="步骤进展",
        level="",
        line=lambda e: f"{e.path} {_share(e, ' of ')} {_short(e.message)}".rstrip(),
        note=lambda e: f"{_share(e, '/')} {e.message}".strip(),
    ),
    ev.StepRetrying: View(
        zh="步骤重试",
        level="warning",
        line=_retrying,
        status="retrying",
        note=lambda e: f"attempt {e.attempt} failed: {e.error.message}",
    ),
    ev.FallbackStarted: View(
        zh="改用备用工具",
        level="warning",
        line=lambda e: f"{e.path} falls back to {e.tool}",
        status="running",
        note=lambda e: f"fallback {e.index}: {e.tool}",
    ),
    ev.StepSucceeded: View(
        zh="步骤成功",
        level="debug",
        line=_succeeded,
        status="succeeded",
        note=lambda e: "from the cache" if e.cached else "",
    ),
    ev.StepFailed: View(zh="步骤失败", level="warning", line=_failed("failed"), status="failed", note=_failed_note),
    ev.StepTimedOut: View(
        zh="步骤超时", level="warning", line=_failed("timed out"), status="timed_out", note=_failed_note
    ),
    ev.StepSkipped: View(
        zh="步骤跳过", level="debug", line=lambda e: f"{e.path} skipped{_because(e)}", status="skipped", note=_reason
    ),
    ev.StepCancelled: View(
        zh="步骤已取消",
        # What ended them has a line of its own, and may end thousands at once.
        level=lambda e: "warning" if e.in_doubt else "debug",
        line=_cancelled,
        status="cancelled",
        note=_reason,
    ),
    ev.StepUnknown: View(
        zh="写入结果不明",
        level="error",
        line=lambda e: f"{e.path} was interrupted: whether its write happened is not known",
        status="unknown",
        note=lambda e: "whether this write happened is not known",
    ),
    ev.StepWaiting: View(
        zh="步骤等待人工",
        level="",
        line=lambda e: f"{e.path} waits for a person ({e.reason})",
        status="waiting",
        note=lambda e: f"for a person: {e.reason}",
    ),
    ev.StateWritten: View(
        zh="变量已写入",
        level="",
        line=lambda e: f"{e.source or e.path or 'run'} sets {_short(', '.join(e.values))}",
        is_detail=True,
    ),
    ev.BranchTaken: View(zh="转到其他步骤", level="", line=lambda e: f"{e.source} leads to {e.target}", is_detail=True),
    ev.ApprovalRequested: View(zh="请求批准", line=lambda e: f"{e.path} asks for approval of {e.tool or 'its steps'}"),
    ev.ApprovalDecided: View(zh="批准已决定", line=_decided, is_detail=True, status="ready"),
    ev.InputRequested: View(zh="请求填写", line=lambda e: f"{e.path} asks: {_short(e.form.get('title', ''))}"),
    ev.InputReceived: View(zh="已收到填写", line=_answered, is_detail=True, status="ready"),
    ev.BudgetExceeded: View(
        zh="超出预算", level="warning", line=lambda e: f"budget of {e.budget} exceeded: {e.used:g} of {e.limit:g}"
    ),
    ev.PlanRevised: View(zh="计划已修订", line=lambda e: f"plan revised, {len(e.kept)} steps stay: {_why(e.reason)}"),
    ev.Warned: View(
        zh="警告", level="warning", line=lambda e: f"{e.path or 'run'}: warning {e.code}: {_why(e.message)}"
    ),
}


def level_of(event: ev.AnyEvent) -> Level:
    """How loud a log says it; empty: not at all."""
    level = VIEWS[type(event)].level
    return level if isinstance(level, str) else level(event)


def line_of(event: ev.AnyEvent) -> str:
    """The event in one line."""
    return VIEWS[type(event)].line(event)


def is_detail(event: ev.AnyEvent) -> bool:
    """Whether those who follow a run are told nothing of it."""
    return VIEWS[type(event)].is_detail


def status_of(event: ev.AnyEvent) -> str:
    """The status of its step from then on, or of the run where it names no step; empty: as before."""
    status = VIEWS[type(event)].status
    return status if isinstance(status, str) else status(event)


def note_of(event: ev.AnyEvent) -> str:
    """The note beside the status; empty: none."""
    note = VIEWS[type(event)].note
    return "" if note is None else note(event)
