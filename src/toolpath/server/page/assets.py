"""Files of the web page, `/` and `/assets/*`, as `make ui` built them, with the headers that keep it to itself."""

from __future__ import annotations

import gzip
import secrets
from functools import lru_cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from toolpath.server.problems import Problem

router = APIRouter(include_in_schema=False)

#: Where the built files lie: in the wheel as in the repository.
BUILT: Final = Path(__file__).parent / "static"
#: In the page's HTML, where the word is put that its styles are known by.
_NONCE: Final = b"__nonce__"
_TYPES: Final = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".json": "application/json",
}
#: What the page may load and talk to: this server alone. Editors write their styles at run time, known by the nonce.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_ALWAYS: Final = {
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


@router.get("/")
async def page() -> Response:
    """The page. It asks for credentials itself where they are needed."""
    nonce = secrets.token_urlsafe(16)
    html = _read("index.html")
    if html is None:
        raise Problem(404, "not_found", "The page is not built.", hint="Run `make ui`.")
    headers = {**_ALWAYS, "Content-Security-Policy": _POLICY.format(nonce=nonce), "Cache-Control": "no-store"}
    return Response(html.replace(_NONCE, nonce.encode()), media_type="text/html; charset=utf-8", headers=headers)


@router.get("/assets/{name}")
async def asset(name: str, request: Request) -> Response:
    """One of its files. Their names change with what is in them, so that they may be kept for ever."""
    kind = _TYPES.get(Path(name).suffix)
    content = None if kind is None or not name.isascii() else _read(f"assets/{name}")
    if content is None or kind is None:
        raise Problem(404, "not_found", f"The page has no file {name[:100]!r}.")
    headers = {**_ALWAYS, "Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
    # A worker has a policy of its own: that of the file it was begun from.
    headers["Content-Security-Policy"] = "default-src 'none'; script-src 'self'"
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        content = _packed(f"assets/{name}")
    return Response(content, media_type=kind, headers=headers)


@lru_cache(maxsize=256)
def _names() -> frozenset[str]:
    return frozenset(path.relative_to(BUILT).as_posix() for path in BUILT.rglob("*") if path.is_file())


def _read(name: str) -> bytes | None:
    """The file, or None. Only names that were there when the server began are files."""
    return _content(name) if name in _names() else None


@lru_cache(maxsize=256)
def _content(name: str) -> bytes:
    return (BUILT / name).read_bytes()


@lru_cache(maxsize=256)
def _packed(name: str) -> bytes:
    return gzip.compress(_content(name), 9, mtime=0)
