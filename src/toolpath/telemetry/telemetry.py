"""The telemetry of one process: what is wanted by settings and environment, put together and shut down."""

from __future__ import annotations

import errno
import logging
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from toolpath.config import Settings
from toolpath.errors import ConfigError, needs_extra
from toolpath.ports import Observer
from toolpath.telemetry.exporters import make_provider, traces_wanted

if TYPE_CHECKING:
    from wsgiref.simple_server import WSGIServer

    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Tracer

    from toolpath.telemetry.metrics import Metrics

_log = logging.getLogger("toolpath.telemetry")
#: Seconds that the last spans have to be sent when the process ends.
_FLUSH = 5_000


class Telemetry:
    """Logs, metrics and traces of one process."""

    def __init__(
        self,
        observer: Observer | None,
        *,
        metrics: Metrics | None = None,
        provider: TracerProvider | None = None,
        fault: str = "",
    ) -> None:
        self.observer = observer
        """For `Toolpath(observer=…)`; None: nothing observes."""
        self.metrics = metrics
        self.fault = fault
        """Why there are no traces though the environment wants them."""
        self._provider = provider
        self._listener: WSGIServer | None = None

    @property
    def tracer(self) -> Tracer | None:
        """For spans of the server itself."""
        return None if self._provider is None else self._provider.get_tracer("toolpath.server")

    def listen(self, address: str) -> str:
        """Answer `/metrics` on `HOST:PORT` until closed, where there is no server to do it; gives where that is.

        Of `HOST:PORT-PORT` the first that is free is taken: each worker of a machine has its own. Where none is, the
        process works without, and says so in its log. Raises `ConfigError` for what is no address.
        """
        if self.metrics is None or not address:
            return ""
        from prometheus_client import start_http_server

        host, ports = _places(address)
        for port in ports:
            try:
                self._listener, _ = start_http_server(port, host, self.metrics.registry)
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    continue
                raise _no_place(address, error) from None
            except (ValueError, OverflowError) as error:
                raise _no_place(address, error) from None
            return f"{host}:{self._listener.server_port}"
        _log.warning(
            "Metrics are not served: %s is taken, as by another worker. Give a range, as metrics_listen = %r.",
            address,
            f"{host}:{ports[0]}-{ports[0] + 15}",
        )
        return ""

    def close(self) -> None:
        """Send what is left."""
        if self._listener is not None:
            self._listener.shutdown()
            self._listener.server_close()
        if self._provider is not None:
            self._provider.force_flush(_FLUSH)
            self._provider.shutdown()


def _places(address: str) -> tuple[str, range]:
    """Host and ports of `HOST:PORT` or `HOST:PORT-PORT`. Raises `ConfigError`."""
    host, _, port = address.rpartition(":")
    first, dash, last = port.partition("-")
    try:
        ports = range(int(first), int(last if dash else first) + 1)
    except ValueError as error:
        raise _no_place(address, error) from None
    if not ports or ports[0] < 0 or ports[-1] > 65_535:
        raise _no_place(address, ValueError("ports lie from 0 to 65535, the smaller first"))
    return host.strip("[]") or "127.0.0.1", ports


def _no_place(address: str, error: Exception) -> ConfigError:
    return ConfigError(
        f"Metrics cannot be served on metrics_listen = {address!r}: {error}.", hint="Write HOST:PORT or HOST:PORT-PORT."
    )


def for_server(settings: Settings, env: Mapping[str, str] | None = None) -> Telemetry:
    """Of a server or worker: runs that are logged, metrics, and traces where the environment wants them.

    The lines of the log are written as soon as `write_logs` knows which secrets they must not hold.
    Raises `ConfigError` where the packages of the extra `telemetry` are not installed.
    """
    with needs_extra("telemetry", "Telemetry"):
        from toolpath.telemetry.logs import RunLog
        from toolpath.telemetry.metrics import Metrics
    metrics = Metrics()
    return _watched([RunLog(), metrics], settings, os.environ if env is None else env, metrics)


def write_logs(settings: Settings, redact: Callable[[str], str]) -> None:
    """Write all that this process logs to standard error. `redact` takes secrets out of every line."""
    from toolpath.telemetry.logs import set_up_logs

    as_json = settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())
    set_up_logs(level=settings.log_level, as_json=as_json, redact=redact)


def for_command(settings: Settings, env: Mapping[str, str] | None = None) -> Telemetry:
    """Of a command that runs something itself: traces where the environment wants them, nothing else.

    What keeps it from tracing stands in `fault`: variables that are set for other programs must not stop this one.
    """
    try:
        return _watched([], settings, os.environ if env is None else env)
    except ConfigError as error:
        return Telemetry(None, fault=str(error))


def _watched(
    observers: list[Observer], settings: Settings, env: Mapping[str, str], metrics: Metrics | None = None
) -> Telemetry:
    provider = None
    wanted = traces_wanted(env)
    if wanted:
        provider = make_provider(wanted, env)
        from opentelemetry import trace

        from toolpath.telemetry.traces import Traces

        # The MCP library and whatever tools use look for the provider of the process.
        trace.set_tracer_provider(provider)
        observers.append(Traces(provider, content=settings.trace_content))
    if not observers:
        return Telemetry(None)
    from toolpath.telemetry.watch import Watch

    return Telemetry(Watch(*observers), metrics=metrics, provider=provider)
