"""The queue of runs on RabbitMQ, through Taskiq: one durable queue with priorities, one message a run to be driven.

A message is acknowledged when its drive is over, so a worker that dies gives its runs back at once. Nothing here is
relied on for truth: what the broker loses is found in the store, what it repeats finds the run taken.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Annotated, Any, Literal
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

import msgspec
from aio_pika import ExchangeType
from aio_pika.exceptions import (
    CONNECTION_EXCEPTIONS,
    AuthenticationError,
    ChannelPreconditionFailed,
    DeliveryError,
    ProbableAuthenticationError,
)
from taskiq import AckableMessage, Context, TaskiqDepends
from taskiq.acks import AcknowledgeType
from taskiq.exceptions import SendTaskError
from taskiq.receiver import Receiver
from taskiq_aio_pika import AioPikaBroker
from taskiq_aio_pika.exchange import Exchange
from taskiq_aio_pika.queue import Queue, QueueType

from toolpath.errors import ConfigError, QueueError

#: Priorities reach from 0 to this; a run's own priority 0 is the middle.
MOST_PRIORITY = 9
MIDDLE = 5
#: Seconds of silence after which broker and worker give each other up; the broker allows about two of these.
HEARTBEAT = 5
#: Seconds that taking a run into the queue may last.
PATIENCE = 2.0
#: Seconds between attempts to reach the broker.
RECONNECT = 1.0
#: A drive that lasts longer than this, in seconds, is acknowledged while it goes on: a broker ends consumers that hold
#: a message for long (RabbitMQ's `consumer_timeout`, 30 minutes). From then on the store alone tells when it is lost.
HOLD = 900.0

_TASK = "toolpath.drive"
_log = logging.getLogger("toolpath.queue")
_FAULTS = (*CONNECTION_EXCEPTIONS, TimeoutError)

Kind = Literal["classic", "quorum"]
Work = Callable[[str], Awaitable[None]]


class RabbitQueue:
    """Runs that wait for a worker, at the broker of `url` (`amqp://user:password@host:5672/vhost`).

    `name` is the queue's: those who share it share its runs. `most` is how many may wait in it, without bound if None.
    `kind` is how the broker keeps it: `quorum` on several nodes of a cluster. `heartbeat`: seconds, unless `url` says.
    """

    def __init__(  # settings of one queue
        self,
        url: str,
        *,
        name: str = "toolpath",
        most: int | None = None,
        hold: float = HOLD,
        kind: Kind = "classic",
        heartbeat: int = HEARTBEAT,
    ) -> None:
        self._url = with_heartbeat(url, heartbeat)
        self._name = name
        self._most = most
        self._hold = hold
        self._kind = kind
        self._fault = ""
        """Why there is no connection to put runs with, as far as is known."""
        self._sender: AioPikaBroker | None = None
        self._opening: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    async def open(self) -> None:
        """Connect; a broker that is away is looked for until it is there."""
        if self._opening is None:
            opening = self._opening = asyncio.create_task(self._connect(), name="toolpath queue")
            # Who opens a queue and puts a run at once should not be told that there is no broker.
            await asyncio.wait({opening}, timeout=PATIENCE)

    async def close(self) -> None:
        """Let go of the connection."""
        opening, self._opening = self._opening, None
        if opening is not None:
            opening.cancel()
            await asyncio.wait({opening})
        sender, self._sender = self._sender, None
        if sender is not None:
            await _shut(sender)

    async def put(self, run_id: str, *, priority: int = 0) -> None:
        """Have a worker drive the run. Raises `QueueError` when the broker does not take it."""
        sender = self._connected()
        kicker = sender.find_task(_TASK)
        assert kicker is not None  # made with the broker
        level = min(max(MIDDLE + priority, 0), MOST_PRIORITY)
        try:
            async with asyncio.timeout(PATIENCE):
                await kicker.kicker().with_labels(priority=level).kiq(run_id)
        except SendTaskError as error:
            raise self._away(error.__cause__ or error) from None
        except TimeoutError as error:
            raise self._away(error) from None

    async def depth(self) -> int:
        """How many messages wait for a worker. Raises `QueueError`."""
        return await self._count(self._name)

    async def put_aside(self) -> int:
        """How many messages lie aside because no worker could read them. Raises `QueueError`."""
        return await self._count(_aside(self._name))

    async def _count(self, name: str) -> int:
        sender = self._connected()
        try:
            async with asyncio.timeout(PATIENCE):
                assert sender.write_channel is not None  # connected
                # What aio-pika itself gives for a queue that it knows is what it knew before.
                channel = await sender.write_channel.get_underlay_channel()
                found = await channel.queue_declare(name, passive=True)
        except _FAULTS as error:
            raise self._away(error) from None
        return found.message_count or 0

    def stop(self) -> None:
        """Hand out nothing more."""
        self._stopping.set()

    async def serve(self, work: Work, *, concurrency: int) -> None:
        """Hand out waiting runs until `stop`, and return when all work on them has ended."""
        stopping = self._stopping
        while not stopping.is_set():
            broker = self._broker(work, concurrency=concurrency)
            broker.is_worker_process = True
            try:
                await broker.startup()
                receiver = Receiver(
                    broker, max_async_tasks=concurrency, run_startup=False, ack_type=AcknowledgeType.MANUAL
                )
                await receiver.listen(stopping)
            except _FAULTS as error:
                _log.warning("%s %s. Looking for it again.", _what(error), _words(error))
            finally:
                await _shut(broker)
            if not stopping.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stopping.wait(), RECONNECT)

    async def _connect(self) -> None:
        told = False
        while True:
            sender = self._broker(None, concurrency=1)
            try:
                await sender.startup()
            except _FAULTS as error:
                await _shut(sender)
                self._fault = f"{_what(error)} {_words(error)}."
                if not told:
                    _log.warning("%s Runs are stored, and enqueued later.", self._fault)
                told = True
                await asyncio.sleep(RECONNECT)
            else:
                self._sender = sender
                return

    def _connected(self) -> AioPikaBroker:
        sender = self._sender
        if sender is None or sender.write_conn is None or not sender.write_conn.connected.is_set():
            raise QueueError(
                self._fault or "The broker is away.", hint="Workers find the run in the store when it is back."
            )
        return sender

    def _away(self, error: BaseException) -> QueueError:
        if isinstance(error, DeliveryError):
            return QueueError(f"The queue {self._name!r} is full.", hint="Workers find the run in the store later.")
        return QueueError(f"The broker did not answer: {_words(error)}.", hint="Workers find the run in the store.")

    def _broker(self, work: Work | None, *, concurrency: int) -> AioPikaBroker:
        arguments: dict[str, Any] = {}
        if self._most is not None:
            # Who puts is told at once; nothing that waits is thrown away for it.
            arguments = {"x-max-length": self._most, "x-overflow": "reject-publish"}
        is_quorum = self._kind == "quorum"
        queue_type = QueueType.QUORUM if is_quorum else QueueType.CLASSIC
        broker = _Broker(
            self._url,
            qos=concurrency,
            exchange=Exchange(name=self._name, type=ExchangeType.DIRECT),
            task_queues=[
                Queue(
                    name=self._name,
                    type=queue_type,
                    # A quorum queue knows none; whose turn it is, the store says in any case.
                    max_priority=None if is_quorum else MOST_PRIORITY,
                    arguments=arguments,
                )
            ],
            dead_letter_queue=Queue(name=_aside(self._name), type=queue_type),
            reconnect_interval=RECONNECT,
        )
        hold = self._hold

        async def drive(run_id: str, context: Annotated[Context, TaskiqDepends()]) -> None:
            if work is not None:
                await _held(work(run_id), context, hold)

        broker.register_task(drive, _TASK)
        return broker


class _Broker(AioPikaBroker):
    """Hands out messages that are to be read. Others, of a newer version or of another program, are put aside.

    A message that raises before its work begins would never be acknowledged, and hold a place for good.
    """

    async def listen(self) -> AsyncGenerator[AckableMessage, None]:
        """The messages, one after another."""
        assert self.read_channel is not None  # started
        await self.read_channel.set_qos(prefetch_count=self._qos)
        ((queue, options),) = await self._declare_queues(self.read_channel)
        async with queue.iterator(**options) as messages:
            async for message in messages:
                if is_readable(message.body):
                    yield AckableMessage(data=message.body, ack=message.ack)
                    continue
                _log.warning("A message of the queue cannot be read, and is put aside: %s", _shown(message.body))
                with contextlib.suppress(*_FAULTS):
                    await message.reject(requeue=False)


class _Message(msgspec.Struct):
    task_name: str
    args: list[Any] = []
    kwargs: dict[str, Any] = {}


_decoder = msgspec.json.Decoder(_Message)


def is_readable(body: bytes) -> bool:
    """Whether the message names one run, as this version of a worker is given it."""
    try:
        message = _decoder.decode(body)
    except msgspec.MsgspecError:
        return False
    given = [*message.args, *message.kwargs.values()]
    return (
        message.task_name == _TASK
        and len(given) == 1
        and isinstance(given[0], str)
        and set(message.kwargs) <= {"run_id"}
    )


def _shown(body: bytes) -> str:
    return repr(body[:200])


def _aside(name: str) -> str:
    return f"{name}.dead"


async def _held(work: Awaitable[None], context: Context, hold: float) -> None:
    """Acknowledge the message when its work has ended, or has lasted so long that the broker would lose patience."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=hold)
        if not task.done():
            await _acknowledge(context)
            await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task})
        raise
    if task.cancelled():
        # Cut off on the way out: the message goes back to the broker.
        return
    if (error := task.exception()) is not None:
        _log.error("A drive ended with an error: %s", _words(error), exc_info=error)
    await _acknowledge(context)


async def _acknowledge(context: Context) -> None:
    """Say that the message is done with, as a task of its own: the library cancels what waits for a lost connection.

    Where the connection is gone the broker hands the run out again: the worker that gets it finds it taken, or over.
    """
    saying = asyncio.ensure_future(context.ack())
    try:
        await asyncio.wait({saying})
    finally:
        saying.cancel()
    if not saying.cancelled() and (error := saying.exception()) is not None and not isinstance(error, _FAULTS):
        raise error


async def _shut(broker: AioPikaBroker) -> None:
    with contextlib.suppress(*_FAULTS, RuntimeError):
        async with asyncio.timeout(PATIENCE):
            await broker.shutdown()


def with_heartbeat(url: str, heartbeat: int = HEARTBEAT) -> str:
    """The address with a heartbeat, without which a worker that stands still would never be noticed."""
    parts = urlsplit(url)
    if parts.scheme not in ("amqp", "amqps") or not parts.hostname:
        raise ConfigError(
            f"{_without_password(url)!r} is no address of a queue.",
            hint="Give amqp://user:password@host:5672/vhost, or amqps://…",
        )
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    query.setdefault("heartbeat", str(heartbeat))
    return urlunsplit(parts._replace(query=urlencode(query)))


def _what(error: BaseException) -> str:
    if isinstance(error, AuthenticationError | ProbableAuthenticationError):
        return "The broker does not let this user in: check user and password of the queue's address."
    if isinstance(error, ChannelPreconditionFailed):
        return "The queue is there with other settings: delete it there, or name another with queue_name."
    return "The broker is away:"


def _without_password(url: str) -> str:
    scheme, there, rest = url.rpartition("://")
    return f"{scheme}{there}{rest.rpartition('@')[2]}"


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {_without_password(str(error))}" if str(error) else type(error).__name__
