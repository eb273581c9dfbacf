"""`toolpath worker` at work: from settings to a worker, and from signals to its end."""

from __future__ import annotations

import asyncio
import signal

from toolpath.app import Toolpath
from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import Output
from toolpath.cli.service.pauses import keep_pauses_short
from toolpath.cli.service.serving import EXAMPLES
from toolpath.cli.session import add_sources, settings_of, store_path
from toolpath.runs.opening import queue_of
from toolpath.server.worker import Worker
from toolpath.telemetry.telemetry import for_server, write_logs


def work(options: GlobalOptions, concurrency: int, grace: float) -> int:
    """Drive runs until a signal says stop."""
    settings = settings_of(options)
    queue = queue_of(settings)
    if queue is None:
        raise UsageError(
            "No queue is set, so there is nothing to take runs from.",
            hint='Set queue = "amqp://…" in toolpath.toml, or TOOLPATH_QUEUE. Without one `serve` drives runs itself.',
        )
    if store_path(settings) == ":memory:":
        raise UsageError("A worker cannot share a store in memory.", hint="Give --store a file or postgresql://….")

    async def inside(tp: Toolpath) -> None:
        async with tp:
            add_sources(tp, settings, otherwise=EXAMPLES)
            keep_pauses_short()
            reached = telemetry.metrics.store_answered if telemetry.metrics is not None else lambda _: None
            worker = Worker(tp, queue, concurrency=concurrency, grace=grace, reached=reached)
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, worker.stop)
            Output(options).say(f"Taking runs from the queue {settings.queue_name!r}, {concurrency} at once.")
            await worker.run()

    telemetry = for_server(settings)
    try:
        tp = Toolpath(store_path(settings), settings=settings, queue=queue, observer=telemetry.observer)
        write_logs(settings, tp.redact)
        telemetry.listen(settings.metrics_listen)
        asyncio.run(inside(tp))
    finally:
        telemetry.close()
    return ExitCode.DONE
