"""Connections that the doctor tries beside the store: the queue, the model, the collector of traces."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from toolpath.config import Settings
from toolpath.errors import ConfigError, ToolpathError, needs_extra
from toolpath.llm.choice import choose_model
from toolpath.ports import PutsAside
from toolpath.runs.opening import queue_of
from toolpath.telemetry.exporters import endpoint, traces_wanted

Verdict = Literal["good", "warning", "bad"]
#: Seconds that each has to answer.
_WITHIN = 5.0
_OTLP = "http://localhost:4318"


class Remark(msgspec.Struct, frozen=True):
    """One thing that was looked at."""

    verdict: Verdict
    subject: str
    text: str


async def reach(settings: Settings, env: Mapping[str, str]) -> list[Remark]:
    """Remarks on what the settings and the environment name: whether it can be reached."""
    return [await _queue(settings), await _model(settings, env), await _traces(env)]


async def _queue(settings: Settings) -> Remark:
    if not settings.queue:
        return Remark("good", "queue", "none is set; the process that starts a run drives it")
    where = without_password(settings.queue)
    try:
        with needs_extra("workers", "The queue"):
            queue = queue_of(settings)
        assert queue is not None  # its address is set
        # The queue itself looks for its broker until it is there; here one look is enough.
        fault = await _fault_of(settings.queue, 5672)
        if fault:
            return Remark("bad", "queue", f"{where}: {fault}")
        try:
            async with asyncio.timeout(_WITHIN):
                await queue.open()
                waiting = await queue.depth()
                aside = await queue.put_aside() if isinstance(queue, PutsAside) else 0
        finally:
            await queue.close()
    except (ToolpathError, TimeoutError) as error:
        return Remark("bad", "queue", f"{where}: {error or 'no answer'}")
    name = settings.queue_prefix + settings.queue_name
    told = f"{where}; {waiting} runs wait in {name!r}"
    if aside:
        return Remark("warning", "queue", f"{told}; {aside} messages that no worker could read lie in '{name}.dead'")
    return Remark("good", "queue", told)


async def _model(settings: Settings, env: Mapping[str, str]) -> Remark:
    try:
        choice = choose_model(settings, env)
    except ConfigError as error:
        return Remark("warning", "model", str(error))
    if choice is None:
        return Remark("good", "model", "none is set; requests are planned by rules")
    name = f"{choice.model} of {choice.api}"
    if not choice.base_url:
        # Asking would cost money.
        return Remark("good", "model", f"{name}; its key is set, whether it is taken was not tried")
    where = without_password(choice.base_url)
    fault = await _fault_of(choice.base_url, 443 if where.startswith("https") else 80)
    return Remark("warning" if fault else "good", "model", f"{name} at {where}{f': {fault}' if fault else ''}")


async def _traces(env: Mapping[str, str]) -> Remark:
    try:
        wanted = traces_wanted(env)
        if not wanted:
            return Remark("good", "traces", "none are wanted; OTEL_EXPORTER_OTLP_ENDPOINT says where they go")
        with needs_extra("telemetry", "Tracing"):
            import opentelemetry.sdk  # noqa: F401
    except ConfigError as error:
        return Remark("warning", "traces", str(error))
    if "otlp" not in wanted:
        return Remark("good", "traces", f"to the {' and '.join(wanted)}")
    where = endpoint(env) or _OTLP
    fault = await _fault_of(where, 443 if where.startswith("https") else 80)
    told = f"to {without_password(where)}"
    return Remark("warning" if fault else "good", "traces", f"{told}: {fault}" if fault else told)


async def _fault_of(url: str, port: int) -> str:
    """Why nobody listens there; empty where somebody does."""
    try:
        split = urlsplit(url)
        host, at = split.hostname, split.port or port
        if not host:
            return "it names no host"
        async with asyncio.timeout(_WITHIN):
            _, writer = await asyncio.open_connection(host, at)
        writer.close()
    except TimeoutError:
        return f"no answer within {_WITHIN:g} s"
    except OSError as error:
        return f"cannot be reached: {error.strerror or error}"
    except ValueError as error:
        return f"it cannot be read: {error}"
    return ""


def without_password(url: str) -> str:
    """The address without user and password."""
    url = re.sub(r"([?&]\w*password)=[^&]*", r"\1=[redacted]", url)
    scheme, there, rest = url.partition("://")
    if not there or "@" not in rest:
        return url
    return f"{scheme}://[redacted]@{rest.rpartition('@')[2]}"
