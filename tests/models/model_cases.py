"""What the tests of stored models share: a server that plays a provider, and a plan of one agent."""

from __future__ import annotations

from typing import Any

from toolpath import Settings, Toolpath
from toolpath.model.run import RunContext
from toolpath.testing.model_replies import Calls
from toolpath.testing.model_server import ModelServer
from toolpath.workspace.models.models import ModelDraft

KEY = "sk-secret-0123456789"
DONE = Calls(calls=(("terminate", {"message": "ended"}),))
#: Nothing of the machine's own models.
BARE = Settings()


def agent(model: str | None = None, **fields: Any) -> dict[str, Any]:
    """A plan of one agent that may call nothing."""
    step = {"requirement": "Do it.", "tools": ["none"], **fields}
    return {"name": "one", "steps": [{"id": "a", "agent": {**step, **({"model": model} if model else {})}}]}


def at(server: ModelServer, name: str = "fast", **fields: Any) -> ModelDraft:
    """A model of OpenAI's language on this server."""
    given = {"name": name, "model": f"{name}-1", "base_url": f"{server.url}/v1", "key": KEY, **fields}
    return ModelDraft(**given)


def of(tenant: str) -> RunContext:
    """A context of somebody of this tenant."""
    return RunContext("ada", tenant=tenant)


async def journal(tp: Toolpath) -> str:
    """Everything that the store has of runs, events, records and the trail, as one text."""
    texts = []
    for info in await tp.runs():
        texts += [repr(event) for event in await tp.events(info.run_id)]
    texts += [repr(entry) for entry in await tp.trail.entries()]
    for kind in ("model", "model_default", "setting", "mcp_server"):
        texts += [repr(record) for record in await tp.store.list_records(kind, limit=100)]
    return "\n".join(texts)
