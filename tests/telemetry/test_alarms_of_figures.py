"""Each alarm that the page names rings where it should, on figures as the doors give them, and is silent where not."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.patience import PATIENCE
from tests.telemetry.telemetry_cases import ASKING, desk_of

from toolpath import Settings, Toolpath
from toolpath.errors import StoreError
from toolpath.model.run import Standing
from toolpath.server.asgi import create_app
from toolpath.server.worker import Worker
from toolpath.store.memory.store import MemoryJournal, MemoryStore
from toolpath.telemetry.metrics import Metrics
from toolpath.telemetry.telemetry import Telemetry
from toolpath.testing.clock import FakeClock

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "observe.md"
ALARMS = [
    line.partition("  #")[0].strip() for line in PAGE.read_text().splitlines() if re.search(r"\) [<>] [\d.]+", line)
]
PLAN = {"name": "read", "steps": [{"id": "read", "tool": "desk.read", "inputs": {"name": "ann"}}]}
FAILING = {"name": "lost", "steps": [{"id": "lost", "tool": "desk.lost", "retry": {"max_attempts": 1}}]}

Figures = dict[tuple[str, frozenset[tuple[str, str]]], float]


def figures(text: str) -> Figures:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def rings(alarm: str, before: Figures, after: Figures) -> bool:
    """What Prometheus makes of the alarm, for the few forms that the page has; a rate over all that lies between."""

    def samples(name: str, label: str = "", value: str = "") -> list[tuple[dict[str, str], float]]:
        return [
            (
                dict(labels),
                number - before.get((found, labels), 0.0) if name.endswith(("_total", "_bucket")) else number,
            )
            for (found, labels), number in after.items()
            if found == name and (not label or (label, value) in labels)
        ]

    def quantile(wanted: float, name: str) -> float:
        buckets = sorted((float(labels["le"].replace("+Inf", "inf")), count) for labels, count in samples(name))
        total = buckets[-1][1] if buckets else 0
        if not total:
            return float("nan")
        below = [(0.0, 0.0), *buckets]
        for (lower, under), (upper, count) in zip(below, buckets, strict=False):
            if count >= wanted * total:
                return (
                    lower
                    if upper == float("inf")
                    else lower + (upper - lower) * (wanted * total - under) / (count - under)
                )
        return float("nan")

    text, sign, bound = re.fullmatch(r"(.*) ([<>]) ([\d.]+)", alarm).groups()  # type: ignore[union-attr]
    if found := re.fullmatch(r"histogram_quantile\(([\d.]+), sum by \(le\) \(rate\((\w+)\[\d+m\]\)\)\)", text):
        value = quantile(float(found[1]), found[2])
    elif found := re.fullmatch(r'sum\(rate\((\w+)\{(\w+)="(\w+)"\}\[\d+m\]\)\) / sum\(rate\((\w+)\[\d+m\]\)\)', text):
        whole = sum(number for _, number in samples(found[4]))
        value = sum(number for _, number in samples(*found.groups()[:3])) / whole if whole else float("nan")
    elif found := re.fullmatch(r"sum\(max by \(kind\) \((\w+)\)\)", text):
        value = sum(number for _, number in samples(found[1]))
    elif found := re.fullmatch(r'(max|min)\((\w+)(?:\{(\w+)="(\w+)"\})?\)', text):
        numbers = [number for _, number in samples(found[2], found[3] or "", found[4] or "")]
        value = {"max": max, "min": min}[found[1]](numbers) if numbers else float("nan")
    else:
        raise AssertionError(f"the test cannot read {text}")
    return value > float(bound) if sign == ">" else value < float(bound)


class Mailbox:
    """A queue whose messages nobody fetches."""

    aside = 0

    async def open(self) -> None: ...
    async def close(self) -> None: ...
    async def put(self, run_id: str, *, priority: int = 0) -> None: ...
    async def depth(self) -> int:
        return 1

    async def put_aside(self) -> int:
        return self.aside

    async def serve(self, work: Any, *, concurrency: int) -> None:
        await asyncio.Event().wait()

    def stop(self) -> None: ...


class Scene:
    """A process that is watched, and its page of figures."""

    def __init__(self, folder: Path, stack: AsyncExitStack) -> None:
        self.folder = folder
        self.stack = stack
        self.metrics = Metrics()
        self.clock = FakeClock(patience=0)
        self.queue = Mailbox()

    async def toolpath(self, store: Any = None, **options: Any) -> Toolpath:
        return await self.stack.enter_async_context(
            desk_of(store if store is not None else self.folder / "runs.db", self.metrics, **options)
        )

    async def page(self, tp: Toolpath) -> Figures:
        telemetry = Telemetry(self.metrics, metrics=self.metrics)
        app = create_app(tp, is_open=True, telemetry=telemetry)
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://localhost", timeout=PATIENCE
        ) as client:
            answer = await client.get("/metrics")
            assert answer.status_code == 200, answer.text
            return figures(answer.text)


async def few_workers(scene: Scene) -> Toolpath:
    tp = await scene.toolpath(queue=scene.queue, clock=scene.clock)
    runs = [await tp.start(PLAN) for _ in range(3)]
    await scene.clock.advance(30)
    for _ in runs:
        await tp.drive(await tp.take_turn() or "")
    return tp


async def failing(scene: Scene) -> Toolpath:
    tp = await scene.toolpath()
    for plan in (PLAN, PLAN, FAILING):
        await tp.run(plan)
    return tp


async def slow_store(scene: Scene) -> Toolpath:
    class Slow(MemoryStore):
        async def begin_run(self, info: Any, driver: str, events: Any, **more: Any) -> Any:
            stored, journal = await super().begin_run(info, driver, events, **more)
            return stored, SlowJournal(journal) if journal else None

    class SlowJournal:
        durable = True

        def __init__(self, inner: MemoryJournal) -> None:
            self.inner, self.epoch = inner, inner.epoch

        def append(self, events: Any, **more: Any) -> Awaitable[None]:
            self.inner.append(events, **more)
            return asyncio.sleep(0.6)

        def release(self) -> None:
            self.inner.release()

    tp = await scene.toolpath(Slow())
    await tp.run(PLAN)
    return tp


async def people_behind(scene: Scene) -> Toolpath:
    # Asked by a process that has ended since: its counters went with it.
    async with desk_of(scene.folder / "runs.db", Metrics()) as tp:
        for _ in range(51):
            await tp.run(tp.read(ASKING))
    return await scene.toolpath()


async def nobody_takes_them(scene: Scene) -> Toolpath:
    tp = await scene.toolpath(MemoryStore(), queue=scene.queue)
    for _ in range(1_001):
        await tp.start(PLAN)
    return tp


async def store_away(scene: Scene) -> Toolpath:
    class Away(MemoryStore):
        async def standing(self) -> Standing:
            raise StoreError("The store is away.")

    return await scene.toolpath(Away())


async def unread_messages(scene: Scene) -> Toolpath:
    scene.queue.aside = 2
    return await scene.toolpath(MemoryStore(), queue=scene.queue)


SCENES: list[Callable[[Scene], Awaitable[Toolpath]]] = [
    few_workers,
    failing,
    slow_store,
    people_behind,
    nobody_takes_them,
    store_away,
    unread_messages,
]


def test_every_alarm_has_its_scene() -> None:
    assert len(ALARMS) == len(SCENES)


@pytest.mark.parametrize(("alarm", "scene"), list(zip(ALARMS, SCENES, strict=False)))
async def test_an_alarm_rings_where_it_should(tmp_path: Path, alarm: str, scene: Any) -> None:
    async with AsyncExitStack() as stack:
        played = Scene(tmp_path, stack)
        tp = await scene(played)
        assert rings(alarm, {}, await played.page(tp)), alarm


async def test_no_alarm_rings_where_all_is_well(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        scene = Scene(tmp_path, stack)
        tp = await scene.toolpath(queue=scene.queue, clock=scene.clock)
        before = await scene.page(tp)
        for _ in range(3):
            await tp.start(PLAN)
            await tp.drive(await tp.take_turn() or "")
        after = await scene.page(tp)
    assert [alarm for alarm in ALARMS if rings(alarm, before, after)] == []


async def test_a_worker_that_has_lost_its_store_says_so_and_says_when_it_is_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Going(MemoryStore):
        away = False

        async def beat(self, driver: str) -> None:
            if self.away:
                raise StoreError("The store is away.")

    store, queue, metrics = Going(), Mailbox(), Metrics()

    def up() -> float | None:
        return figures(metrics.text().decode()).get(("toolpath_store_up", frozenset()))

    async def until(value: float) -> None:
        async with asyncio.timeout(PATIENCE):
            while up() != value:  # noqa: ASYNC110  # a gauge tells nobody
                await asyncio.sleep(0.01)

    async with Toolpath(store, settings=Settings(), queue=queue) as tp:
        worker = Worker(tp, queue, reached=metrics.store_answered)
        running = asyncio.create_task(worker.run())
        await until(1)
        store.away = True
        await until(0)
        assert rings("min(toolpath_store_up) < 1", {}, figures(metrics.text().decode()))
        assert [record.getMessage() for record in caplog.records if "The store is away" in record.getMessage()]
        store.away = False
        await until(1)
        assert [record.getMessage() for record in caplog.records if "The store is back" in record.getMessage()]
        running.cancel()
        await asyncio.wait({running})
