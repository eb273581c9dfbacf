"""Structured logs: what becomes of runs, and whatever any library logs, as one JSON object a line or as text.

Every line passes the redactor twice, as values and as text. A line written inside a call names its run and step.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor

from toolpath.model import events as ev
from toolpath.model.event_views import level_of, line_of
from toolpath.model.events import AnyEvent, Failure, event_type
from toolpath.telemetry.calls import End, OpenAttempts
from toolpath.telemetry.metrics import ended_as
from toolpath.values import Json, type_names

#: Libraries that say at `info` what matters to nobody but their authors.
_CHATTY = ("httpx", "httpx2", "mcp", "aio_pika", "aiormq", "asyncio", "watchfiles", "uvicorn.error")
#: What uvicorn says, as an error, of each WebSocket that was refused with an answer: the refusal has its own line.
_UNTRUE = "ASGI callable returned without completing handshake."
_LONGEST = 2_000

Redact = Callable[[str], str]


def set_up_logs(*, level: str, as_json: bool, redact: Redact, stream: TextIO | None = None) -> None:
    """Have everything that this process logs written to standard error; for programs that are this process's own."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _redacting(redact),
    ]
    renderers: list[Processor] = (
        [structlog.processors.JSONRenderer(default=repr)]
        if as_json
        else [_sentence_first, structlog.dev.ConsoleRenderer(colors=_colours(stream or sys.stderr))]
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(
        _Redacted(
            redact,
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
        )
    )
    handler.addFilter(lambda record: record.msg != _UNTRUE)
    # No line tells which function of which thread wrote it, and looking for that takes as long as the line itself.
    logging._srcfile = None
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in _CHATTY:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _sentence_first(logger: Any, method: str, event: EventDict) -> EventDict:
    """Of an event of a run, for people, what it says comes before its name."""
    if event.get("logger") != _RUNS or "text" not in event:
        return event
    return {**event, "event": event.pop("text"), "type": event["event"]}


def _colours(stream: TextIO) -> bool:
    import os  # noqa: PLC0415

    return stream.isatty() and not os.environ.get("NO_COLOR")


class _Redacted(structlog.stdlib.ProcessorFormatter):
    """A formatter whose lines hold no secret, wherever in them it was put together."""

    def __init__(self, redact: Redact, **options: Any) -> None:
        super().__init__(**options)
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        return self._redact(super().format(record))


def _redacting(redact: Redact) -> Processor:
    def process(logger: Any, method: str, event: EventDict) -> EventDict:
        return {name: _redacted(value, redact) for name, value in event.items()}

    return process


def _redacted(value: Any, redact: Redact) -> Any:
    match value:
        case str():
            text = redact(value)
            return text if len(text) <= _LONGEST * 10 else f"{text[: _LONGEST * 10]} …"
        case dict():
            return {_redacted(key, redact): _redacted(item, redact) for key, item in value.items()}
        case list() | tuple():
            return [_redacted(item, redact) for item in value]
        case _ if type(value) in type_names or isinstance(value, logging.LogRecord):
            return value
        case _:
            return redact(repr(value))


_RUNS = "toolpath.runs"
_LEVELS = {name.lower(): number for name, number in logging.getLevelNamesMapping().items()}


class RunLog:
    """An observer that logs what becomes of runs: their life, what fails, what waits for people."""

    def __init__(self) -> None:
        self._log = structlog.get_logger(_RUNS)
        # Of the library below: to ask the one above, it makes a logger each time.
        self._is_wanted = logging.getLogger(_RUNS).isEnabledFor
        self._steps: dict[str, OpenAttempts] = {}

    def taken(self, run_id: str, events: Sequence[AnyEvent]) -> None:
        """The run is driven here from now on."""
        first = events[0] if events else None
        self._steps[run_id] = OpenAttempts(events)
        if isinstance(first, ev.RunStarted) and len(events) == 1:
            who = {name: first.context[name] for name in ("tenant", "user_id") if first.context.get(name)}
            plan = str(first.plan.get("name", ""))[:200]
            self._log.info("run.started", run_id=run_id, plan=plan, **who, text=_text(first))

    def left(self, run_id: str) -> None:
        """The run is not driven here any more."""
        self._steps.pop(run_id, None)

    def calling(self, run_id: str, path: str, attempt: int) -> Callable[[], None]:
        """Have all that is logged inside the call name it."""
        tokens = structlog.contextvars.bind_contextvars(run_id=run_id, step=path, attempt=attempt)
        return lambda: structlog.contextvars.reset_contextvars(**tokens)

    def committed(self, run_id: str, events: Sequence[AnyEvent], seconds: float) -> None:
        """Log what happened."""
        calls = self._steps.get(run_id) or OpenAttempts()
        for event in events:
            end = calls.follow(event)
            level = level_of(event)
            # Most events are logged at a level that nobody wants: their lines are not even made.
            if level and self._is_wanted(_LEVELS[level]):
                getattr(self._log, level)(event_type(event), run_id=run_id, **_fields(event, end), text=_text(event))


def _text(event: AnyEvent) -> str:
    """The event's line, in which no text of a tool ends the line or moves the terminal."""
    line = line_of(event)[:_LONGEST]
    return line if line.isprintable() else "".join(each if each.isprintable() else repr(each)[1:-1] for each in line)


def _fields(event: AnyEvent, end: object) -> dict[str, Json]:
    """The fields of a line beside the event's name: no inputs, no outputs."""
    fields: dict[str, Json] = {}
    if path := getattr(event, "path", ""):
        fields["step"] = path
    if isinstance(end, End):
        if end.call.tool:
            fields |= {"tool": end.call.tool, "attempt": end.call.attempt}
        if end.call.started_at is not None:
            fields["seconds"] = round(max(0.0, end.at - end.call.started_at), 6)
    for name in ("tool", "reason", "delay", "budget", "used", "limit", "by", "approved", "epoch", "code", "message"):
        value = getattr(event, name, None)
        if value not in (None, ""):
            fields[name] = value[:_LONGEST] if isinstance(value, str) else value
    error = getattr(event, "error", None)
    if isinstance(error, Failure):
        fields |= {"error": error.type, "error_code": error.code, "error_message": error.message[:_LONGEST]}
    if status := ended_as(event):
        fields["status"] = status
    return fields
