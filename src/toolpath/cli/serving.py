"""`toolpath serve`: the service on one address, in one process or several, until it is told to stop."""

from __future__ import annotations

import ipaddress
import signal
import socket
from functools import partial

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from toolpath.app import Toolpath
from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.options import Options
from toolpath.cli.output import Output
from toolpath.cli.session import add_sources, settings_of, store_path
from toolpath.server.asgi import create_app

#: Seconds that requests under way have to finish after the server was told to stop.
GRACE = 10


def serve(options: Options, host: str, port: int, workers: int) -> int:
    """Serve until a signal says stop; what runs then is left where it stands and taken up by the next start."""
    settings = settings_of(options)
    if workers > 1 and store_path(settings) == ":memory:":
        raise UsageError("Several processes cannot share a store in memory.", hint="Give --store a file.")
    _refuse_others(host)
    listener = _listener(host, port)
    config = uvicorn.Config(
        partial(app_of, options),
        factory=True,
        workers=workers,
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    # uvicorn raises the signal again when it has stopped: for this process that is its good end.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _heard)
    Output(options).tell(f"Listening on {_address(listener)}")
    if workers > 1:
        Multiprocess(config, sockets=[listener]).run()
    else:
        uvicorn.Server(config).run(sockets=[listener])
    return ExitCode.DONE


def app_of(options: Options) -> FastAPI:
    """The service with the tools that the options name."""
    settings = settings_of(options)
    tp = Toolpath(store_path(settings), settings=settings)
    add_sources(tp, settings)
    return create_app(tp)


def _heard(number: int, frame: object) -> None:
    pass


def _refuse_others(host: str) -> None:
    """Without credentials the server answers this machine alone."""
    try:
        is_local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_local = False
    if not is_local:
        raise UsageError(
            f"{host} can be reached from elsewhere, and the server asks nobody who they are.",
            hint="Serve on 127.0.0.1.",
        )


def _listener(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(where[:2], family=family, backlog=2048)
    except OSError as error:
        raise UsageError(
            f"{host}:{port} cannot be listened on: {error.strerror or error}.", hint="Give another --port; 0 is any."
        ) from None


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
