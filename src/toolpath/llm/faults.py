"""Faults of requests to a model, in our words: the kind, whether to ask again, and no key.

Loads pydantic-ai, so it is imported only when a model is asked.
"""

from __future__ import annotations

from typing import Final

from pydantic_ai import exceptions as wire

from toolpath.errors import ChatFailed, ChatFault
from toolpath.llm.choice import ModelChoice
from toolpath.model.model_providers import MODEL_PROVIDERS
from toolpath.model.redaction import Redactor

_LONGEST: Final = 300
_DENIED, _MISSING, _TIMED_OUT = (401, 403), 404, (408, 504)


def fault_of(error: Exception, choice: ModelChoice) -> ChatFailed:
    """The failure that an exception of the client stands for."""
    where = f"{choice.api}'s {choice.model!r}"
    said = _said(error, choice)
    match error:
        case wire.ModelRateLimitError():
            return _failed(error, f"{where} is asked too often: {said}", "rate_limit", retryable=True)
        case wire.ModelQuotaExceededError():
            hint = "The provider's account has no credit left; top it up or choose another model."
            return _failed(error, f"{where} refuses to work: {said}", "quota", hint=hint)
        case wire.ModelContextWindowExceededError():
            return _failed(error, f"The request is longer than {where} can read: {said}", "too_long")
        case wire.ModelTimeoutError() | wire.ModelRequestTimeout():
            return _failed(error, f"{where} did not answer in time.", "timeout", retryable=True)
        case wire.ModelHTTPError():
            return _http_fault(error, choice, where, said)
        case wire.ModelConnectionError():
            address = choice.base_url or "the provider"
            hint = f"Is {address} up, and is {_setting(choice, 'address')} right?"
            return _failed(error, f"{where} cannot be reached: {said}", "connection", retryable=True, hint=hint)
        case wire.ContentFilterError():
            return _failed(error, f"{where} refused to answer: {said}", "refused")
        case wire.UnexpectedModelBehavior():
            return _failed(error, f"{where} answered with what is no reply: {said}", "malformed", retryable=True)
        case LookupError():
            # The client looks for what an answer has to have.
            told = f"{where} answered with what is no reply: a part of it is missing ({type(error).__name__}: {said})"
            return _failed(error, told, "malformed", retryable=True)
        case wire.ModelAPIError():
            return _failed(error, f"{where} failed: {said}", "server", retryable=True)
        case _:
            return _failed(error, f"{where} failed: {type(error).__name__}: {said}", "malformed")


def _http_fault(error: wire.ModelHTTPError, choice: ModelChoice, where: str, said: str) -> ChatFailed:
    status = error.status_code
    if status in _DENIED:
        hint = f"Check {_setting(choice, 'key')}."
        return _failed(error, f"{where} refused the key ({status}): {said}", "denied", hint=hint)
    if status == _MISSING:
        hint = f"Set {_setting(choice, 'model')} to a model that the provider has."
        return _failed(error, f"{where} is not there (404): {said}", "rejected", hint=hint)
    if status in _TIMED_OUT:
        return _failed(error, f"{where} did not answer in time ({status}).", "timeout", retryable=True)
    if status == 413:
        return _failed(error, f"The request is longer than {where} can read: {said}", "too_long")
    if status >= 500 or status == 409:
        return _failed(error, f"{where} failed ({status}): {said}", "server", retryable=True)
    return _failed(error, f"{where} rejected the request ({status}): {said}", "rejected")


def _setting(choice: ModelChoice, part: str) -> str:
    """Where the key, the address or the model's name at its provider is set."""
    if choice.name:
        return f"the {'base URL' if part == 'address' else part} of the stored model {choice.name!r}"
    known = MODEL_PROVIDERS[choice.api]
    return {"key": known.keys[0], "address": known.address_variable, "model": "TOOL_PLANNER_MODEL"}[part]


def _failed(error: Exception, message: str, kind: ChatFault, *, retryable: bool = False, hint: str = "") -> ChatFailed:
    if retryable and isinstance(error, wire.ModelHTTPError) and error.provider_retry_hint is False:
        retryable = False
    return ChatFailed(
        message,
        kind=kind,
        retryable=retryable,
        retry_after=error.retry_after if isinstance(error, wire.ModelAPIError) else None,
        status=error.status_code if isinstance(error, wire.ModelHTTPError) else None,
        hint=hint,
    )


def _said(error: Exception, choice: ModelChoice) -> str:
    """The words of the provider, short, in one line, and without the key."""
    body = error.body if isinstance(error, wire.ModelAPIError) else None
    text = ""
    if isinstance(body, dict):
        inner = body.get("error", body)
        text = str(inner.get("message", "")) if isinstance(inner, dict) else str(inner)
    text = " ".join((text or str(error)).split())
    secrets = [secret for secret in (choice.key, *choice.headers.values()) if secret]
    text = Redactor(secrets).text(text) if secrets else text
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
