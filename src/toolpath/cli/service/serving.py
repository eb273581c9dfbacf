"""`toolpath serve`: the service on one address, in one process or several, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import signal
import socket
import tempfile
from functools import partial

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from toolpath.access.credentials import credentials_of, require_credentials
from toolpath.app import Toolpath
from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import Output
from toolpath.cli.service.browser import open_page
from toolpath.cli.service.pauses import keep_pauses_short
from toolpath.cli.session import add_sources, settings_of, store_path
from toolpath.runs.opening import queue_of
from toolpath.server.asgi import create_app
from toolpath.server.entry.protocol import protocol_of
from toolpath.telemetry.telemetry import for_server, write_logs
from toolpath.values import JsonObject

#: What there is to begin with, where no tools are named.
EXAMPLES: JsonObject = {"examples": {}}
#: Seconds that requests under way have to finish after the server was told to stop.
GRACE = 10
#: Seconds after which one of several processes that does not answer is ended and begun anew.
STARTING = 60


def serve(options: GlobalOptions, host: str, port: int, workers: int, *, opens: bool = False) -> int:
    """Serve until a signal says stop; what runs then is left where it stands and taken up by the next start.

    `opens`: the page is opened in the browser of the person here, where there is one.
    """
    settings = settings_of(options)
    if workers > 1 and store_path(settings) == ":memory:":
        raise UsageError("Several processes cannot share a store in memory.", hint="Give --store a file.")
    listener = _listener(host, port)
    is_local = ipaddress.ip_address(listener.getsockname()[0]).is_loopback
    if not is_local:
        with contextlib.ExitStack() as stack:
            stack.callback(listener.close)
            asyncio.run(_require_credentials(options))
            stack.pop_all()
    config = uvicorn.Config(
        partial(app_of, options, is_local=is_local),
        factory=True,
        http=protocol_of(settings.request_timeout),
        ws_max_size=settings.max_body,
        # Without these, every client that says where it comes from would be believed.
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        workers=workers,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        # On a busy machine a process takes longer to start than it is usually given, and would be begun anew for ever.
        timeout_worker_healthcheck=STARTING,
    )
    # uvicorn raises the signal again when it has stopped: for this process that is its good end.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _heard)
    Output(options).tell(f"Listening on {_address(listener)}")
    if opens:
        open_page(_page(listener))
    if workers > 1:
        with tempfile.TemporaryDirectory(prefix="toolpath-metrics-") as shared:
            # Where the processes put their figures together, so that each can answer for all.
            os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", shared)
            Multiprocess(config, sockets=[listener]).run()
    else:
        uvicorn.Server(config).run(sockets=[listener])
    return ExitCode.DONE


def app_of(options: GlobalOptions, *, is_local: bool) -> FastAPI:
    """The service with the tools that the options name, open to everybody only where this machine alone reaches it."""
    settings = settings_of(options)
    telemetry = for_server(settings)
    queue = queue_of(settings)
    tp = Toolpath(store_path(settings), settings=settings, observer=telemetry.observer, queue=queue)
    write_logs(settings, tp.redact)
    add_sources(tp, settings, otherwise=EXAMPLES)
    credentials = credentials_of(settings, tp.store, tp.clock, os.environ, is_local=is_local)
    app = create_app(tp, credentials=credentials, telemetry=telemetry)
    keep_pauses_short()
    return app


def _heard(number: int, frame: object) -> None:
    pass


async def _require_credentials(options: GlobalOptions) -> None:
    """Raise `ConfigError` where nobody could show credentials that are taken: a server that others reach needs them."""
    settings = settings_of(options)
    async with Toolpath(store_path(settings), settings=settings) as tp:
        await require_credentials(settings, tp.store, tp.clock, os.environ)


def _listener(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.create_server(where[:2], family=family, backlog=2048) as made:
            # Named as TCP: only of such sockets does asyncio turn the waiting for full packets off, without which an
            # answer in two writes waits for the client's delayed acknowledgement.
            return socket.socket(made.family, made.type, socket.IPPROTO_TCP, fileno=made.detach())
    except OSError as error:
        raise UsageError(
            f"{host}:{port} cannot be listened on: {error.strerror or error}.", hint="Give another --port; 0 is any."
        ) from None


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _page(listener: socket.socket) -> str:
    """Where a browser of this machine finds the page, also of what listens on every address."""
    host, port = listener.getsockname()[:2]
    everywhere = ipaddress.ip_address(host).is_unspecified
    own = ("[::1]" if ":" in host else "127.0.0.1") if everywhere else f"[{host}]" if ":" in host else host
    return f"http://{own}:{port}/"
