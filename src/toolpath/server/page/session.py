"""`/session`: a person's key or token becomes a cookie that no script can read, and is forgotten again."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from toolpath.access.caller import Caller
from toolpath.server.entry.heads import COOKIE, credentials_in
from toolpath.server.parts import Asker
from toolpath.server.problems import Problem
from toolpath.server.rest.described import answer, shows
from toolpath.server.rest.views import SessionDetail

router = APIRouter(prefix="/session", tags=["session"])

#: Seconds after which a person signs in again.
_LIFETIME: Final = 12 * 3600


def _detail(caller: Caller) -> SessionDetail:
    return SessionDetail(
        user=caller.user, tenant=caller.tenant, scopes=tuple(sorted(caller.scopes)), signed_in=bool(caller.key)
    )


@router.get("", responses=shows(SessionDetail, "Who asks, and what they may do."))
async def show(caller: Asker) -> Response:
    """Who asks: by cookie, by key, or on an open server anybody."""
    return answer(_detail(caller))


@router.post("", status_code=201, responses=shows(SessionDetail, "Signed in; the cookie is set.", status=201))
async def sign_in(request: Request, caller: Asker) -> Response:
    """Exchange the key or token of the request's header for a cookie of this origin."""
    headers = {"authorization": request.headers.get("authorization", ""), "x-api-key": request.headers.get("x-api-key")}
    credential = credentials_in({name: value for name, value in headers.items() if value})
    if credential is None:
        raise Problem(401, "unauthorized", "No key or token was shown.", hint="Send it as `Authorization: Bearer …`.")
    shown = answer(_detail(caller), 201)
    shown.set_cookie(
        COOKIE,
        credential,
        max_age=_LIFETIME,
        path=str(request.scope.get("root_path", "")) or "/",
        # A proxy that is not trusted may still say that the browser came by TLS: it can only make the cookie safer.
        secure="https" in (request.url.scheme, request.headers.get("x-forwarded-proto", "")),
        httponly=True,
        samesite="strict",
    )
    return shown


@router.delete("", status_code=204, responses={204: {"description": "Signed out."}})
async def sign_out(request: Request) -> Response:
    """Forget the cookie."""
    gone = Response(status_code=204)
    gone.delete_cookie(COOKIE, path=str(request.scope.get("root_path", "")) or "/", httponly=True, samesite="strict")
    return gone
