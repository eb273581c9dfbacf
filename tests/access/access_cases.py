"""Servers that ask for credentials, keys and tokens to show them, and what a refusal looks like in the log."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
import jwt
from tests.server.serving_cases import serving

from toolpath import Settings, Toolpath
from toolpath.access.credentials import credentials_of
from toolpath.access.keys import Keys
from toolpath.server.asgi import create_app

SECRET = "a secret of at least sixty-four bytes, so that it would do for every hash there is"
ISSUER, AUDIENCE = "https://login.example.org", "toolpath"
JWT = {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE}
RUNS = "/api/v1/runs/run_1"


class Guarded:
    """A server that asks everybody who they are, and the store behind it."""

    def __init__(self, tp: Toolpath, client: httpx.AsyncClient) -> None:
        self.tp = tp
        self.client = client
        self.keys = Keys(tp.store, tp.clock)

    async def key(self, *scopes: str, **who: Any) -> dict[str, str]:
        """The header with a new key."""
        _, text = await self.keys.create(name="test", scopes=scopes or ("*",), **who)
        return bearer(text)


@asynccontextmanager
async def guarded(
    store: Any = None,
    env: Mapping[str, str] | None = None,
    *,
    is_local: bool = False,
    tools: Any = (),
    clock: Any = None,
    chat: Any = None,
    queue: Any = None,
    **settings: Any,
) -> AsyncIterator[Guarded]:
    """A real server, for everybody with credentials; with `is_local` for everybody on this machine."""
    # How many requests a test makes in a second is the machine's affair: what counts them says so.
    given = Settings(**{"rate_limit": "off", **settings})
    tp = Toolpath(store, settings=given, clock=clock, chat=chat, queue=queue)
    tp.add(*tools)
    known = credentials_of(tp.settings, tp.store, tp.clock, env or {}, is_local=is_local)
    async with serving(create_app(tp, credentials=known)) as client:
        yield Guarded(tp, client)


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


def claims(**more: Any) -> dict[str, Any]:
    """Those of a good token; None takes one away."""
    now = int(time.time())
    good = {"sub": "ada", "iss": ISSUER, "aud": AUDIENCE, "exp": now + 300, "scope": "read run", **more}
    return {name: value for name, value in good.items() if value is not None}


def token(key: Any = SECRET, algorithm: str = "HS256", headers: dict[str, Any] | None = None, **more: Any) -> str:
    return jwt.encode(claims(**more), key, algorithm=algorithm, headers=headers)
