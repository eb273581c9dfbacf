from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.server.rest_cases import ASKING, SUM, Gate, api, begun, settled, stream_of, tools, until_asked
from tests.server.serving_cases import assert_problem, serving

from toolpath import Toolpath
from toolpath.server import feeds
from toolpath.server.asgi import create_app
from toolpath.server.feeds import Feeds
from toolpath.store.memory.store import MemoryStore


async def test_a_stream_has_every_event_under_its_number_and_says_that_the_run_has_ended() -> None:
    async with api() as client:
        run_id = await begun(client, {"plan": SUM, "inputs": {"a": 1}})
        messages = [message async for message in stream_of(client, run_id)]
        journal = (await client.get(f"runs/{run_id}/events", params={"follow": False})).json()
    assert messages.pop() == ("end", "", '{"because":"run"}')
    assert [int(number) for _, number, _ in messages] == list(range(1, len(messages) + 1))
    assert [json.loads(data) for _, _, data in messages] == journal["events"]
    assert journal["ended"]


async def test_events_say_in_words_what_happened_where_they_are_asked_to() -> None:
    async with api() as client:
        run_id = await begun(client, {"plan": SUM, "inputs": {"a": 1}})
        address = f"runs/{run_id}/events"
        followed = (await client.get(address, params={"texts": True})).text
        page = (await client.get(address, params={"texts": True, "follow": False})).json()["events"]
        journal = (await client.get(address, params={"follow": False})).json()["events"]
    streamed = [
        json.loads(line.removeprefix("data: ")) for line in followed.splitlines() if line.startswith('data: {"t')
    ]
    assert streamed == page
    texts = [event.pop("text") for event in page]
    assert page == journal
    assert texts[0].startswith(f"run {run_id} started")
    assert texts[-1] == "run completed"
    assert all(texts)


async def test_a_reader_who_comes_back_gets_what_they_missed_once() -> None:
    gate = Gate()
    async with api(tools(Toolpath(), gate)) as client:
        run_id = await begun(client, {"tool": "hold"})
        seen: list[int] = []
        async for _, number, data in stream_of(client, run_id):
            seen.append(int(number))
            if "step.started" in data:
                break
        gate.open.set()
        async for name, number, _ in stream_of(client, run_id, last=seen[-1]):
            if name == "message":
                seen.append(int(number))
        journal = (await client.get(f"runs/{run_id}/events", params={"follow": False})).json()
    assert seen == [event["seq"] for event in journal["events"]]


async def test_a_reader_who_has_all_of_a_run_that_ended_need_not_come_back() -> None:
    async with api() as client:
        run_id = await begun(client, {"plan": SUM, "inputs": {"a": 1}})
        last = (await settled(client, run_id))["last_seq"]
        answer = await client.get(f"runs/{run_id}/events", headers={"Last-Event-ID": str(last)})
        assert answer.status_code == 204
        assert [m async for m in stream_of(client, run_id, last=last - 1)][-1][0] == "end"


@pytest.mark.parametrize("last", ["x", "-1", "1e3", str(2**70)])
async def test_a_number_that_is_none_is_refused(last: str) -> None:
    async with api() as client:
        run_id = await begun(client, {"plan": SUM, "inputs": {"a": 1}})
        answer = await client.get(f"runs/{run_id}/events", headers={"Last-Event-ID": last})
        assert_problem(answer, 422, "invalid_request")


async def test_a_page_of_events_ends_where_it_says_and_the_next_goes_on_there() -> None:
    async with api() as client:
        run_id = await begun(client, {"plan": SUM, "inputs": {"a": 1}})
        await settled(client, run_id)
        numbers: list[int] = []
        page = {"last": 0, "ended": False}
        while not page["ended"]:
            query = {"follow": False, "limit": 2, "after": page["last"]}
            page = (await client.get(f"runs/{run_id}/events", params=query)).json()
            numbers += [event["seq"] for event in page["events"]]
        assert numbers == list(range(1, page["last"] + 1))


async def test_a_stream_stays_while_a_run_waits_for_people_and_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "HEARTBEAT", 0.05)
    async with api() as client:
        run_id = await begun(client, {"plan": ASKING})
        await until_asked(client, run_id)
        async with client.stream("GET", f"runs/{run_id}/events") as response:
            lines = response.aiter_lines()
            async for line in lines:
                if line == ": here":
                    break
            await client.post(f"runs/{run_id}/input", json={"values": {"first": "Ann", "age": 3}})
            rest = [line async for line in lines]
    assert "event: end" in rest


async def test_a_run_that_is_tried_again_has_events_beyond_its_end() -> None:
    async with api() as client:
        run_id = await begun(client, {"tool": "fail"})
        last = (await settled(client, run_id))["last_seq"]
        await client.post(f"runs/{run_id}/retry")
        messages = [message async for message in stream_of(client, run_id, last=last)]
    assert '"run.resumed"' in messages[0][2]
    assert messages[-1][0] == "end"


class CountingStore(MemoryStore):
    """Counts how often a journal is read."""

    reads = 0

    async def read_events(  # type: ignore[no-untyped-def]
        self, run_id: str, *, after: int = 0, limit: int | None = None, most_bytes: int | None = None
    ):
        self.reads += 1
        return await super().read_events(run_id, after=after, limit=limit, most_bytes=most_bytes)


async def test_a_journal_is_read_once_for_all_its_readers() -> None:
    store, gate = CountingStore(), Gate()
    async with tools(Toolpath(store), gate) as tp:
        run = await tp.start(tp.read({"steps": [{"tool": "hold"}]}))
        await gate.entered.wait()
        live = Feeds(tp)
        info = await tp.store.get_run(run.run_id)

        async def read() -> list[int]:
            return [frame.seq async for batch in live.follow(info) for frame in batch.frames]

        readers = [asyncio.create_task(read()) for _ in range(100)]
        while live.readers < 100:  # noqa: ASYNC110  # there is nothing to be told by
            await asyncio.sleep(0)
        before = store.reads
        gate.open.set()
        found = await asyncio.gather(*readers)
        assert store.reads - before < 20
    assert found == [list(range(1, len(found[0]) + 1))] * 100
    assert live.readers == 0


async def test_a_reader_who_stands_still_holds_nothing_and_misses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "TAIL", 8)
    monkeypatch.setattr(feeds, "PAGE", 4)
    async with tools(Toolpath()) as tp:
        inner = [{"tool": "add", "inputs": {"a": "{{ n }}", "b": number}} for number in (1, 2)]
        loop = {"loop": {"over": "{{ [1, 2, 3, 4, 5, 6, 7, 8, 9] }}", "as": "n", "steps": inner}}
        plan = {"steps": [{"id": "first", "tool": "first", "exclusive": True}, loop]}
        live = Feeds(tp)
        gate = Gate()
        tp.add(gate.hold, name="first", effect="read")
        run = await tp.start(tp.read(plan))
        await gate.entered.wait()
        slow = live.follow(await tp.store.get_run(run.run_id))
        numbers = [frame.seq for frame in (await anext(slow)).frames]
        gate.open.set()
        await run.result()
        async for batch in slow:
            assert len(batch.frames) <= 8
            numbers += [frame.seq for frame in batch.frames]
        assert numbers == [event.seq for event in await tp.events(run.run_id)]
        assert len(numbers) > 20


async def test_readers_are_given_large_events_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "TAIL_BYTES", 120_000)
    monkeypatch.setattr(feeds, "PAGE_BYTES", 120_000)
    async with tools(Toolpath()) as tp:
        steps = [{"id": f"s{n}", "tool": "large"} for n in range(40)]
        tp.add(lambda: "x" * 40_000, name="large", effect="read", description="Give much text.")
        run = await tp.start(tp.read({"steps": steps, "outputs": {"done": True}}))
        live = Feeds(tp)
        numbers: list[int] = []
        async for batch in live.follow(await tp.store.get_run(run.run_id)):
            assert sum(len(frame.data) for frame in batch.frames) < 240_000
            numbers += [frame.seq for frame in batch.frames]
        await run.result()
        late = [frame.seq async for batch in live.follow(await tp.store.get_run(run.run_id)) for frame in batch.frames]
        assert numbers == late == [event.seq for event in await tp.events(run.run_id)]
        async with serving(create_app(tp)) as client:
            pages = []
            after, ended = 0, False
            while not ended:
                answer = await client.get(
                    f"/api/v1/runs/{run.run_id}/events", params={"follow": "false", "after": after, "limit": 1_000}
                )
                page = answer.json()
                after, ended = page["last"], page["ended"]
                pages.append(answer.content)
                assert len(pages) <= len(numbers)
            assert after == numbers[-1]
            assert len(pages) > 1


async def test_many_readers_share_what_is_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "TAIL_BYTES", 10_000)
    monkeypatch.setattr(feeds, "SHARED_BYTES", 400_000)
    async with tools(Toolpath()) as tp:
        steps = [{"id": f"s{n}", "tool": "large"} for n in range(40)]
        tp.add(lambda: "x" * 20_000, name="large", effect="read", description="Give much text.")
        run = await tp.start(tp.read({"steps": steps, "outputs": {"done": True}}))
        await run.result()
        info, live = await tp.store.get_run(run.run_id), Feeds(tp)
        readers = [live.follow(info) for _ in range(40)]
        batches = [await anext(reader) for reader in readers]
        held = {id(frame): len(frame.data) for batch in batches for frame in batch.frames}
        # A page is read once for all who stand at the same place.
        assert 50_000 < sum(held.values()) < 500_000
        assert live.readers == 40
        for reader in readers:
            await reader.aclose()
        assert live.readers == 0


async def test_a_run_that_is_deleted_while_somebody_reads_it_is_gone() -> None:
    async with tools(Toolpath()) as tp:
        result = await tp.run(tp.read(SUM), {"a": 1})
        info = await tp.store.get_run(result.run_id)
        await tp.store.delete_runs([result.run_id])
        ends = [batch.end async for batch in Feeds(tp).follow(info)]
    assert ends[-1] == "gone"


async def test_a_reader_hears_of_a_run_that_another_process_drives(tmp_path: Path) -> None:
    gate = Gate()
    async with (
        tools(Toolpath(tmp_path / "runs.db"), gate) as other,
        api(tools(Toolpath(tmp_path / "runs.db"))) as client,
    ):
        run = await other.start(other.read({"steps": [{"tool": "hold"}]}))
        await gate.entered.wait()
        async for _, _, data in stream_of(client, run.run_id):
            if "step.started" in data:
                gate.open.set()
        assert (await client.get(f"runs/{run.run_id}")).json()["status"] == "completed"
