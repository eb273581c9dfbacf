"""Trial of a model: a real request to its provider's list of models, or for a few words where there is no list."""

from __future__ import annotations

import json
from typing import Final

import httpx2
import msgspec

from toolpath.errors import ChatFailed, ToolpathError
from toolpath.llm.chat import ChatLimits, ModelChat
from toolpath.llm.choice import ModelChoice
from toolpath.model.chat import ChatRequest, Message
from toolpath.model.model_providers import MODEL_PROVIDERS
from toolpath.model.redaction import Redactor
from toolpath.providers.builtin.reach import Reach
from toolpath.values import Json
from toolpath.workspace.models.guarded import GuardedTransport

#: Seconds for all of it.
WITHIN: Final = 15.0
_LARGEST: Final = 5_000_000
_MOST: Final = 1_000


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of a trial."""

    valid: bool
    message: str
    available: tuple[str, ...] = ()
    """Models that the provider lists."""


class _NoList(Exception):
    """The server has no list of models."""


async def try_model(choice: ModelChoice, reach: Reach) -> Trial:
    """Whether the provider takes the key and has the model. Raises nothing: what is wrong is told."""
    try:
        names = await _listed(choice, reach)
    except _NoList:
        return await _asked(choice, reach)
    except ToolpathError as error:
        return Trial(valid=False, message=_clean(error.message, choice))
    except (httpx2.TimeoutException, TimeoutError):
        return Trial(valid=False, message=f"{_where(choice)} did not answer within {WITHIN:g} s.")
    except (httpx2.TransportError, httpx2.InvalidURL) as error:
        told = _clean(str(error) or type(error).__name__, choice)
        return Trial(valid=False, message=f"{_where(choice)} cannot be reached: {told}")
    if not choice.model or choice.model in names or not names:
        return Trial(
            valid=True, message=f"{_where(choice)} takes the key and lists {len(names)} models.", available=names
        )
    message = f"{_where(choice)} takes the key, and lists no model {choice.model!r}."
    return Trial(valid=False, message=message, available=names)


async def _listed(choice: ModelChoice, reach: Reach) -> tuple[str, ...]:
    url, headers = _request(choice)
    transport = GuardedTransport(lambda: reach) if choice.is_guarded else None
    async with (
        httpx2.AsyncClient(timeout=WITHIN, transport=transport, follow_redirects=False) as client,
        client.stream("GET", url, headers={**headers, **choice.headers}) as response,
    ):
        content = bytearray()
        async for piece in response.aiter_bytes():
            content += piece
            if len(content) > _LARGEST:
                raise ChatFailed(f"{_where(choice)} answers with more than {_LARGEST:,} bytes.", kind="malformed")
    match response.status_code:
        case 401 | 403:
            raise ChatFailed(f"{_where(choice)} refused the key ({response.status_code}).", kind="denied")
        case 200:
            return _names(bytes(content), choice)
        case 400 | 404 | 405 | 501:
            raise _NoList
        case status:
            raise ChatFailed(f"{_where(choice)} answered {status}.", kind="server")


def _request(choice: ModelChoice) -> tuple[str, dict[str, str]]:
    provider = MODEL_PROVIDERS[choice.api]
    url = f"{(choice.base_url or provider.address).rstrip('/')}{provider.list_path}"
    if provider.key_header:
        return url, {provider.key_header: choice.key, **provider.list_headers}
    return url, {"Authorization": f"Bearer {choice.key}"} if choice.key else {}


def _names(content: bytes, choice: ModelChoice) -> tuple[str, ...]:
    try:
        document: Json = json.loads(content)
    except (ValueError, RecursionError):
        raise ChatFailed(f"{_where(choice)} answers with what is no JSON.", kind="malformed") from None
    if not isinstance(document, dict):
        raise _NoList
    listed = document.get("data", document.get("models"))
    if not isinstance(listed, list):
        raise _NoList
    found = (each.get("id") or each.get("name") for each in listed[:_MOST] if isinstance(each, dict))
    return tuple(name.removeprefix("models/")[:200] for name in found if isinstance(name, str))


async def _asked(choice: ModelChoice, reach: Reach) -> Trial:
    if not choice.model:
        return Trial(valid=False, message=f"{_where(choice)} lists no models.")
    transport = GuardedTransport(lambda: reach) if choice.is_guarded else None
    request = ChatRequest(messages=(Message(text="Say: yes"),), max_tokens=16)
    async with ModelChat(choice, limits=ChatLimits(timeout=WITHIN, max_retries=0), transport=transport) as chat:
        try:
            await chat(request)
        except ChatFailed as error:
            return Trial(valid=False, message=_clean(error.message, choice))
        except ToolpathError as error:
            return Trial(valid=False, message=error.message)
    return Trial(valid=True, message=f"{_where(choice)} answered.")


def _where(choice: ModelChoice) -> str:
    return choice.base_url or choice.api


def _clean(text: str, choice: ModelChoice) -> str:
    secrets = [secret for secret in (choice.key, *choice.headers.values()) if secret]
    return Redactor(secrets).text(text)[:500] if secrets else text[:500]
