"""The tree of errors, and the findings of a check. Pure; nothing here knows a plan.

    ToolpathError
      ReadError              a file or text that is no plan, composite or configuration
      PlanInvalid            a plan with error findings was started
      ExpressionError        text inside {{ }} that is not of the language
        Unresolved           a reference that has no value when it is evaluated
        OverBudget           an evaluation that would do more work than it may
      ToolNotFound           no tool of that name; AmbiguousTool: several
      SchemaError            a schema that is no JSON Schema, or a value that does not fit one
      ToolFailed             raised by a tool: it failed and need not be asked again
        ToolRetry            raised by a tool: it failed and may be asked again
        ToolTimeout, ToolUnavailable, ToolChanged, OutputInvalid, ChainExecutionError
        ChatFailed           a model gave no answer, or none that can be used
      NoToolFits             none of the tools does what was asked for
      PlanningFailed         no plan that checks came of a request
      PolicyViolationError   the caller may not do this; CredentialsRefused: nobody knows who asks
      RunNotFound, RunConflict (KeyReused: the key of another run), StaleEpoch
      RecordNotFound, RecordConflict
      FileRefused            a file that is none, leads out of its folder, or is too much
      StoreError             the journal cannot be read or written; Unstorable: it cannot hold what was given
      QueueError             the queue of runs cannot be reached, or takes no more
      SealBroken             a kept secret that no key at hand opens
      ConfigError, NoToolpath  settings that cannot be used; a context outside `async with Toolpath()`

Faults of a plan are findings (values); faults of a tool are recorded outcomes; misuse and broken ground raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, ClassVar, Literal

import msgspec
from rapidfuzz.distance import OSA


def closest(name: str, candidates: Iterable[str], limit: int = 3, threshold: float = 0.6) -> tuple[str, ...]:
    """The candidates most like `name`, nearest first: what 'did you mean' offers.

    Likeness is measured on lower-case letters and digits alone, so that `createauthor` finds `create_author`.
    """
    wanted = _folded(name[:100])
    scored: list[tuple[float, str]] = []
    for candidate in dict.fromkeys(islice(candidates, 20_000)):
        score = max(_likeness(wanted, _folded(n)) for n in (candidate[:200], candidate[-200:].rpartition(".")[2]))
        if score >= threshold:
            scored.append((-score, candidate))
    return tuple(candidate for _, candidate in sorted(scored)[:limit])


def _folded(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def _likeness(left: str, right: str) -> float:
    # Optimal string alignment: two neighbouring letters swapped count as one slip.
    return OSA.normalized_similarity(left, right)


Severity = Literal["error", "warning", "information"]
ChatFault = Literal[
    "rate_limit", "quota", "server", "connection", "timeout", "malformed", "refused", "too_long", "denied", "rejected"
]


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One fault or remark about a plan: what is wrong, where, what is there instead, and one fix."""

    code: str
    """Stable name of the rule that speaks, e.g. `unknown_tool`."""
    severity: Severity
    message: str
    path: str = ""
    """JSON pointer into the plan's canonical form, e.g. `/steps/1/inputs/authorId`."""
    line: int | None = None
    """Line in the file the plan was read from, from 1."""
    column: int | None = None
    """Column in that line, from 1."""
    hint: str = ""
    """One thing to do about it."""
    suggestions: tuple[str, ...] = ()
    """Names that may have been meant, nearest first."""

    def __str__(self) -> str:
        where = self.path or "plan"
        if self.line is not None:
            where = f"{self.line}:{self.column or 1} {where}"
        text = f"{where}: {self.severity} {self.code}: {self.message}"
        return _with_advice(text, self.suggestions, self.hint)


def _with_advice(text: str, suggestions: tuple[str, ...], hint: str) -> str:
    """The text, what may have been meant, and what to do: sentences that do not run into one another."""
    advice = f"Did you mean {' or '.join(repr(name) for name in suggestions)}? {hint}" if suggestions else hint
    if not advice:
        return text
    text = text.rstrip()
    return f"{text}{'' if text.endswith(_ENDS) else '.'} {advice}".rstrip()


_ENDS = (".", "!", "?", ":", "…")


class ToolpathError(Exception):
    """Base of every error of this package: a stable code, a message, and a hint what to do."""

    code: str = "toolpath_error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "", suggestions: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.suggestions = tuple(suggestions)

    def __str__(self) -> str:
        return _with_advice(self.message, self.suggestions, self.hint)


class ReadError(ToolpathError):
    """A file or text that cannot be read as what it should be; `findings` say where."""

    code = "unreadable"

    def __init__(self, message: str, *, findings: Iterable[Finding] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.findings = tuple(findings)

    def __str__(self) -> str:
        # A message that says it already is not said again.
        told = [finding for finding in self.findings if finding.message not in self.message]
        return "\n".join([super().__str__(), *(f"  {finding}" for finding in told)])


class PlannerAnswer(ReadError):
    """The document is no plan of ours but the answer of a planner, which `read_model_plan` reads."""


class PlanInvalid(ToolpathError):
    """A plan with errors was to be started; `findings` holds all that the check found."""

    code = "plan_invalid"

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        errors = [finding for finding in self.findings if finding.severity == "error"]
        super().__init__(f"The plan has {len(errors)} error{'s' if len(errors) != 1 else ''}; nothing was started.")

    def __str__(self) -> str:
        shown = [f for f in self.findings if f.severity == "error" or f.code == "provider_problem"]
        return "\n".join([super().__str__(), *(f"  {finding}" for finding in shown)])


class ExpressionError(ToolpathError):
    """Text inside {{ }} that is not of the expression language, or cannot be computed."""

    code = "expression"

    def __init__(
        self, message: str, *, code: str = "", offset: int = 0, hint: str = "", suggestions: Iterable[str] = ()
    ) -> None:
        super().__init__(message, hint=hint, suggestions=suggestions)
        if code:
            self.code = code  # one class, several stable codes of the language
        self.offset = offset
        """Character of the source string at which it went wrong, from 0."""


class Unresolved(ExpressionError):
    """A reference that has no value: an unknown variable, or a key that is not there."""

    code = "unresolved"


class OverBudget(ExpressionError):
    """An evaluation that would take more steps, memory or depth than it may."""

    code = "expression_budget"


class ToolNotFound(ToolpathError):
    """No tool of that name is registered."""

    code = "unknown_tool"


class AmbiguousTool(ToolpathError):
    """Several tools have that bare name; `suggestions` holds their keys."""

    code = "ambiguous_tool"


class SchemaError(ToolpathError):
    """A schema that is no JSON Schema, or what was given cannot be what it is to be; `faults` lists each."""

    code = "schema"

    def __init__(
        self,
        message: str,
        *,
        faults: Iterable[tuple[str, str]] = (),
        hint: str = "",
        suggestions: Iterable[str] = (),
    ) -> None:
        super().__init__(message, hint=hint, suggestions=suggestions)
        self.faults = tuple(faults)
        """Pairs of JSON pointer into the value and what is wrong there."""


class ToolFailed(ToolpathError):
    """Raise it in a tool to say that it failed; the message goes into the record.

    `code` is one of the codes of failures (`docs/reference/errors.md`); by some of them, such as `not_found` and
    `permission`, the engine knows that the same call would fail again.
    """

    code = "tool_failed"

    def __init__(
        self, message: str = "The tool failed.", *, details: Any = None, hint: str = "", code: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.details = details
        if code:
            self.code = code


class ToolRetry(ToolFailed):
    """Raise it in a tool to say that the same call may succeed later, `retry_after` seconds from now."""

    code = "tool_retry"
    retryable = True

    def __init__(
        self,
        message: str = "Try again.",
        *,
        retry_after: float | None = None,
        details: Any = None,
        code: str = "",
    ) -> None:
        super().__init__(message, details=details, code=code)
        self.retry_after = retry_after


class ToolTimeout(ToolFailed):
    """A call that took longer than it may."""

    code = "timeout"
    retryable = True


class ToolUnavailable(ToolFailed):
    """The server behind a tool cannot be reached, or went away during the call.

    `reached` says whether the call may have arrived: then a write is in doubt.
    """

    code = "connection"
    retryable = True

    def __init__(self, message: str, *, reached: bool = True, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reached = reached


class ToolChanged(ToolFailed):
    """The tool is not the one that was checked when the run began; it was not called."""

    code = "tool_changed"


class OutputInvalid(ToolFailed):
    """A result that does not fit the tool's output schema, or is no JSON."""

    code = "invalid_output"


class ChainExecutionError(ToolFailed):
    """A chain that failed without recovery; `result` is the dictionary that `execute_chain` returns."""

    code = "chain_failed"

    def __init__(
        self,
        message: str,
        *,
        step_index: int | None = None,
        step_name: str | None = None,
        result: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.step_index = step_index
        self.step_name = step_name
        self.result = result or {}


class ChatFailed(ToolFailed):
    """A model gave no answer, or none that can be used; `kind` says why. Keys never stand in it."""

    code = "chat_failed"

    def __init__(
        self,
        message: str,
        *,
        kind: ChatFault = "rejected",
        retryable: bool = False,
        retry_after: float | None = None,
        status: int | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind: ChatFault = kind
        self.retryable = retryable  # type: ignore[misc]  # one class, since callers tell its kinds apart by `kind`
        self.retry_after = retry_after
        """Seconds after which the provider wants to be asked again, where it said so."""
        self.status = status
        """Of HTTP."""


class NoToolFits(ToolpathError):
    """No tool does what was asked for; `suggestions` are the nearest, `record` says how they were looked for."""

    code = "no_tool_fits"

    def __init__(self, message: str, *, hint: str = "", suggestions: Iterable[str] = (), record: Any = None) -> None:
        super().__init__(message, hint=hint, suggestions=suggestions)
        self.record = record


class PlanningFailed(ToolpathError):
    """No plan that checks came of a request; `findings` say what was wrong with the last one, `record` how it went."""

    code = "planning_failed"

    def __init__(self, message: str, *, findings: Iterable[Finding] = (), record: Any = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.findings = tuple(findings)
        self.record = record


class PolicyViolationError(ToolpathError):
    """The caller, the case or the budget does not allow it; `missing` says what would."""

    code = "policy"

    def __init__(self, message: str, *, missing: Iterable[str] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.missing = tuple(missing)


class CredentialsRefused(ToolpathError):
    """No credentials where they are needed, or such as are unknown, expired, revoked or forged.

    `reason` is for the log, `key` the id of the credential where it is known; neither holds the credential.
    """

    code = "unauthorized"

    def __init__(self, message: str, reason: str = "", *, key: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reason = reason
        self.key = key


class RunNotFound(ToolpathError):
    """No run of that id is stored."""

    code = "unknown_run"


class StepNotFound(ToolpathError, KeyError):
    """A result has no such step."""

    code = "unknown_step"


class RunConflict(ToolpathError):
    """The run is not in a state in which this can be done."""

    code = "run_conflict"


class KeyReused(RunConflict):
    """The idempotency key has begun another run: another plan, or other inputs."""

    code = "idempotency_key_reused"


class StaleEpoch(ToolpathError):
    """Another process has taken over the run; what this one still does is refused."""

    code = "stale_epoch"


class RecordNotFound(ToolpathError):
    """No such thing is stored: a plan, a key, a page."""

    code = "unknown_record"


class RecordConflict(ToolpathError):
    """Record that is not what the change was made for: somebody else was there first."""

    code = "record_conflict"


class FileRefused(ToolpathError):
    """A file that cannot be kept or read: its name, kind or size, or what it is."""

    code = "file_refused"


class StoreError(ToolpathError):
    """The journal cannot be read or written: locked, corrupt, full, or not ours."""

    code = "store"


class Unstorable(StoreError):
    """A text or number that was given, and that no store of this kind can hold."""

    code = "unstorable"


class QueueError(ToolpathError):
    """The queue of runs cannot be reached, or takes no more. What was stored is found again by its workers."""

    code = "queue"


class SealBroken(ToolpathError):
    """A secret that is kept sealed, and that no key at hand opens."""

    code = "seal_broken"


class ConfigError(ToolpathError):
    """A setting that cannot be used; the message names it and its source."""

    code = "config"


class NoToolpath(ToolpathError):
    """A context that is bound to no Toolpath was used outside `async with Toolpath()`."""

    code = "no_toolpath"


@contextmanager
def needs_extra(extra: str, purpose: str) -> Iterator[None]:
    """Around imports: a package that is not there becomes a `ConfigError` that names the extra which brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "toolpath":
            raise
        raise ConfigError(
            f"{purpose} needs the package {error.name!r}, which is not installed.",
            hint=f"pip install 'toolpath[{extra}]'",
        ) from None
