"""Whose turn it is among runs that wait for a worker, what is open, and who is asked: alike in every store."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest
from tests.store.store_cases import Now, keep

from toolpath.model.events import RunStarted
from toolpath.model.open_questions import OpenQuestion
from toolpath.model.run import RunInfo
from toolpath.ports import Store

pytestmark = pytest.mark.filterwarnings("error")


def started(run_id: str) -> RunStarted:
    return RunStarted(1, 1.0, run_id=run_id, plan={"name": "p", "steps": []})


async def wait(store: Store, run_id: str, tenant: str = "", priority: int = 0, at: float = 1.0) -> None:
    info = RunInfo(run_id=run_id, tenant=tenant, priority=priority, created_at=at)
    await store.begin_run(info, "", [started(run_id)])


async def drained(store: Store) -> list[str]:
    found = []
    while (run_id := await store.next_run()) is not None:
        found.append(run_id)
    return found


async def test_a_tenant_with_one_run_goes_next_however_many_another_has_waiting(store: Store) -> None:
    for number in range(40):
        await wait(store, f"a{number:02}", "a")
    assert [await store.next_run() for _ in range(3)] == ["a00", "a01", "a02"]
    await wait(store, "b", "b")
    order = await drained(store)
    assert order.index("b") <= 1
    assert [run_id for run_id in order if run_id != "b"] == [f"a{number:02}" for number in range(3, 40)]


async def test_tenants_take_turns_and_priority_orders_the_runs_of_one(store: Store) -> None:
    for number in range(6):
        await wait(store, f"a{number}", "a", priority=3 if number == 5 else 0)
        await wait(store, f"b{number}", "b", priority=4)
    order = await drained(store)
    assert [run_id for run_id in order if run_id[0] == "a"] == ["a5", "a0", "a1", "a2", "a3", "a4"]
    for served in range(1, len(order) + 1):
        counts = Counter(run_id[0] for run_id in order[:served])
        assert abs(counts["a"] - counts["b"]) <= 1, f"one was served before the other: {order}"


@pytest.mark.parametrize("seed", range(5))
async def test_nobody_waits_longer_than_a_turn_of_all_others(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    tenants = [f"t{number}" for number in range(chance.randint(2, 5))]
    waiting: dict[str, list[tuple[int, int, str]]] = {tenant: [] for tenant in tenants}
    passed_over: Counter[str] = Counter()
    for number in range(120):
        if chance.random() < 0.55:
            tenant = chance.choice(tenants) if chance.random() < 0.4 else tenants[0]
            priority = chance.choice((0, 0, 2))
            await wait(store, f"run_{number:03}", tenant, priority)
            waiting[tenant].append((-priority, number, f"run_{number:03}"))
            continue
        found = await store.next_run()
        if found is None:
            assert not any(waiting.values())
            continue
        tenant = next(name for name in tenants if any(run[2] == found for run in waiting[name]))
        assert found == min(waiting[tenant])[2], "not the first of its tenant"
        waiting[tenant].remove(min(waiting[tenant]))
        passed_over[tenant] = 0
        for other in tenants:
            if other != tenant and waiting[other]:
                passed_over[other] += 1
        # One who comes into a queue may find a turn of each of the others before its own, and the one under way.
        assert max(passed_over.values()) <= 2 * len(tenants)
    assert len(await drained(store)) == sum(map(len, waiting.values()))


async def test_a_run_is_given_to_one_of_many_who_ask(store: Store) -> None:
    for number in range(30):
        await wait(store, f"run_{number:02}", f"t{number % 3}", priority=number % 4)
    taken: list[str] = []

    async def take() -> None:
        while (run_id := await store.next_run()) is not None:
            taken.append(run_id)

    await asyncio.gather(*(take() for _ in range(8)))
    assert sorted(taken) == [f"run_{number:02}" for number in range(30)]


async def test_a_tenant_that_has_all_it_may_under_way_is_passed_over(store: Store) -> None:
    for number in range(4):
        await wait(store, f"a{number}", "a")
    await wait(store, "b", "b")
    order = [await store.next_run(most_of_tenant=2) for _ in range(4)]
    assert sorted(filter(None, order)) == ["a0", "a1", "b"]
    journal = await store.drive("a0", "host:1:d")
    assert await store.next_run(most_of_tenant=2) is None
    await keep(journal, status="completed", ended_at=5.0)
    assert await store.next_run(most_of_tenant=2) == "a2"


async def test_a_run_with_a_turn_is_not_lost_and_one_that_was_taken_and_not_driven_is(store: Store, now: Now) -> None:
    await wait(store, "run_1")
    now.at += 100

    async def lost() -> list[str]:
        return [info.run_id for info in await store.lost_runs(now.at - 5, queued=False)]

    assert await lost() == []
    assert [info.run_id for info in await store.lost_runs(now.at - 5)] == ["run_1"]
    assert await store.queued(5) == ["run_1"]
    assert await store.next_run() == "run_1"
    assert await store.queued(5) == []
    assert await lost() == [], "whoever took its turn is about to drive it"
    now.at += 10
    assert await lost() == ["run_1"]
    assert [await store.enqueue("run_1") for _ in range(3)] == [True, False, False], "two gave it a turn"
    assert await lost() == []
    await store.drive("run_1", "host:1:d")
    assert await store.next_run() is None, "a run that is driven has no turn"
    assert not await store.enqueue("run_unknown")


async def test_a_run_that_was_begun_goes_before_those_of_its_tenant_that_were_not(store: Store) -> None:
    await wait(store, "new", priority=4)
    await store.begin_run(RunInfo(run_id="begun"), "host:1:d", [started("begun")])
    assert await store.enqueue("begun")
    assert await drained(store) == ["begun", "new"]


async def test_what_is_open_is_counted_however_much_it_is(store: Store) -> None:
    for number in range(3):
        await wait(store, f"p{number}")
    await ask(store, "w1", OpenQuestion("approval", 1, 5.0), OpenQuestion("input", 2, 6.0))
    await ask(store, "w2", OpenQuestion("input", 1, 7.0, 100.0), OpenQuestion("doubt", 3, 8.0))
    ended = await ask(store, "w3", OpenQuestion("input", 1, 7.0))
    await keep(ended, status="cancelled", ended_at=9.0, asked=())
    standing = await store.standing()
    assert {status: runs for status, runs in standing.runs.items() if runs} == {"pending": 3, "waiting": 2}
    assert standing.questions == {"approval": 1, "input": 2, "doubt": 1}


async def ask(store: Store, run_id: str, *asked: OpenQuestion, tenant: str = ""):  # type: ignore[no-untyped-def]
    info = RunInfo(run_id=run_id, tenant=tenant, name=f"plan of {run_id}")
    _, journal = await store.begin_run(info, "host:1:d", [started(run_id)])
    assert journal is not None
    await keep(journal, status="waiting", asked=asked)
    return journal


async def test_runs_that_ask_are_listed_page_by_page_longest_waiting_first(store: Store) -> None:
    for number in range(7):
        await ask(store, f"run_{number}", OpenQuestion("input", 1, 100.0 - number // 2), tenant=f"t{number % 2}")
    found = []
    after = None
    while page := await store.asking_runs(limit=2, after=after):
        assert len(page) <= 2
        found += page
        after = (page[-1].since, page[-1].run_id)
    assert [(run.since, run.run_id) for run in found] == sorted((100.0 - n // 2, f"run_{n}") for n in range(7))
    assert all(run.asked == (OpenQuestion("input", 1, run.since),) for run in found)
    assert all(run.name == f"plan of {run.run_id}" for run in found)
    mine = [run.run_id for run in await store.asking_runs(tenant="t1")]
    assert mine == ["run_5", "run_3", "run_1"]


async def test_questions_go_with_whoever_takes_the_run_until_they_are_answered(store: Store) -> None:
    await ask(store, "run_1", OpenQuestion("approval", 1, 5.0))
    journal = await store.drive("run_1", "host:1:other")
    [asking] = await store.asking_runs()
    assert asking.asked == (OpenQuestion("approval", 1, 5.0),)
    await keep(journal, status="running", asked=())
    assert await store.asking_runs() == []
