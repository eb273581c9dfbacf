"""A large value is stored once, wherever it is handed on to, and is read back the same by whoever goes on with it."""

from __future__ import annotations

from typing import Any

from engine_cases import Ran, after, identity, opened, ran
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolpath import RunContext, Settings, Toolpath
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent, encode_event
from toolpath.notation.composite import read_composite
from toolpath.store.memory.store import MemoryStore
from toolpath.store.sqlite.store import SqliteStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted
from toolpath.values import as_handle, encode

ROWS = [f"{n:04}" + "x" * 1000 for n in range(2000)]
BIG = {"rows": ROWS}
"""2 MB, and a list in it that is nearly as long."""
DISTINCT = {encode(BIG), encode(ROWS)}
#: What journals of the plans below have besides.
REST = 120_000

INNER = {
    "name": "inner",
    "parameters": [{"name": "given", "type": "object", "required": True}],
    "implementation": {
        "type": "composite",
        "composite": {
            "steps": [
                {"tool": "count", "parameters": {"v": "{{ state.given }}"}},
                {"tool": "hand", "parameters": {"v": "{{ state.given }}"}, "on_success": {"map_outputs": {"v": "v"}}},
            ]
        },
    },
}

#: How a value gets to the one who takes it: as it is, in a structure, deep in one, beside itself, in part.
FORMS = [
    "{{ SRC }}",
    "{{ {'rows': SRC} }}",
    "{{ {'a': {'b': [SRC, 1]}} }}",
    "{{ [SRC, SRC] }}",
    "{{ big.rows }}",
    "{{ {'rows': big.rows, 'n': 1} }}",
]
KINDS = ["call", "hand", "nested", "loop", "branches", "variables", "lowly"]


def tools(results: set[bytes] | None = None) -> list[Any]:
    """The tools of these plans. `results`: texts of what they gave."""
    given: set[bytes] = set() if results is None else results

    def hand(inputs: Any) -> Any:
        given.add(encode(inputs["v"]))
        return inputs["v"]

    def unsure(inputs: Any) -> Any:
        result = {"confidence": 0.1, "v": inputs["v"]}
        given.add(encode(result))
        return result

    return [
        scripted("big", then=BIG),
        scripted("count", then=lambda inputs: {"n": len(encode(inputs["v"]))}),
        scripted("hand", then=hand),
        scripted("unsure", then=unsure),
        read_composite(INNER),
    ]


def step_of(number: int, kind: str, given: str) -> dict[str, Any]:
    name = f"s{number}"
    call = {"id": name, "tool": "count", "inputs": {"v": given, "w": {"deep": given}}}
    match kind:
        case "call":
            return call
        case "hand":
            return {**call, "tool": "hand", "inputs": {"v": given}}
        case "nested":
            return {**call, "tool": "inner", "inputs": {"given": {"v": given}}}
        case "loop":
            over = [given, given, 3]
            inner = {"id": f"{name}x", "tool": "hand", "inputs": {"v": "{{ item }}"}}
            return {"id": name, "loop": {"over": over, "steps": [inner], "concurrency": 1 + number % 2}}
        case "branches":
            one = {"id": f"{name}a", "tool": "hand", "inputs": {"v": given}}
            return {"id": name, "parallel": [one, {**one, "id": f"{name}b"}]}
        case "variables":
            return {**call, "on_success": {"transform": {"kept": given, "deep": {"v": given}}}}
        case _:
            fallback = {"tool": "hand", "inputs": {"v": given}, "condition": "on_low_confidence"}
            return {**call, "tool": "unsure", "inputs": {"v": given}, "fallback": fallback}


plans = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(FORMS)), min_size=1, max_size=5)


def plan_of(parts: list[tuple[str, str]]) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"id": "big", "tool": "big"}]
    steps += [step_of(n, kind, form.replace("SRC", "big")) for n, (kind, form) in enumerate(parts)]
    return {
        "flow": "chain",
        "steps": steps,
        "outputs": {"all": "{{ [big, {'again': big}] }}", "rows": "{{ big.rows }}"},
    }


def written(events: list[AnyEvent], store: MemoryStore) -> int:
    """Bytes of the journal, and of what stands beside it."""
    digests = {digest for event in events for digest in getattr(event, "aside", ())}
    digests |= {h.digest for e in events if isinstance(e, ev.StepSucceeded) and e.large and (h := as_handle(e.output))}
    return sum(len(encode_event(event)) for event in events) + sum(len(store._blobs[digest]) for digest in digests)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(plans)
async def test_a_journal_is_no_longer_than_its_distinct_values(parts: list[tuple[str, str]]) -> None:
    store = MemoryStore()
    results: set[bytes] = set()
    async with opened(*tools(results), store=store) as tp:
        found = await ran(tp, await tp.run(tp.read(plan_of(parts))))
    assert found.status == "completed", found.result.error
    assert found.outputs == {"all": [BIG, {"again": BIG}], "rows": ROWS}
    # What a tool returns is a value of its own, kept as a whole.
    assert written(found.events, store) <= REST + sum(map(len, DISTINCT | results))


THROUGH = {
    "flow": "chain",
    "steps": [
        {"id": "big", "tool": "big", "on_success": {"transform": {"kept": {"v": "{{ big }}"}}}},
        {"id": "wait", "tool": "wait", "inputs": {"v": {"rows": "{{ state.kept.v.rows }}"}}},
        {"id": "each", "loop": {"over": "{{ [state.kept.v, big] }}", "steps": [
            {"id": "x", "tool": "hand", "inputs": {"v": "{{ [item] }}"}}]}},
        {"id": "inn", "tool": "inner", "inputs": {"given": {"v": "{{ state.kept }}"}}},
    ],
    "outputs": {"each": "{{ each }}", "in": "{{ inn.v }}", "kept": "{{ state.kept }}"},
}  # fmt: skip
OUTPUTS = {"each": [[BIG], [BIG]], "in": {"v": BIG}, "kept": {"v": BIG}}


async def test_a_run_that_goes_on_elsewhere_reads_all_values_back() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    wait = scripted("wait", lambda _: after(clock, 100), then={})
    results: set[bytes] = set()
    async with opened(*tools(results), wait, clock=clock, store=store) as tp:
        run = await tp.start(tp.read(THROUGH))
        await clock.settle()
    async with opened(*tools(results), wait, clock=clock, store=store) as tp:
        found = await ran(tp, await (await tp.resume(run.id)).result())
        assert (await tp.info(run.id)).outputs == OUTPUTS
    assert (found.status, found.outputs) == ("completed", OUTPUTS)
    assert wait.calls[-1] == {"v": {"rows": ROWS}}
    assert written(found.events, store) <= REST + sum(map(len, DISTINCT | results))


async def test_a_run_cut_inside_of_a_loop_over_large_items_goes_on() -> None:
    """The list that is looped over stands aside as a whole: how many items there are is read back with it."""
    many = [{"n": n, "text": "x" * 1000} for n in range(30)]
    plan = {
        "steps": [
            {"id": "a", "tool": "many"},
            {"id": "each", "loop": {"over": "{{ a }}", "steps": [
                {"id": "x", "tool": "slow", "inputs": {"v": "{{ item.n }}"}}]}},
        ],
        "outputs": "{{ each }}",
    }  # fmt: skip
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    clocks = [clock, FakeClock(auto=True)]
    slow = scripted("slow", then=lambda _: after(clocks[0], 10, 1))
    given = (scripted("many", then=many), slow)
    small = Settings(max_result_size=2000)
    async with opened(*given, clock=clock, store=store, settings=small) as tp:
        run = await tp.start(tp.read(plan))
        await clock.settle()
    begun = next(e for e in await store.read_events(run.id) if isinstance(e, ev.StepStarted) and e.path == "each")
    assert as_handle(begun.inputs["over"]) is not None
    del clocks[0]
    async with opened(*given, clock=clocks[0], store=store, settings=small) as tp:
        found = await ran(tp, await (await tp.resume(run.id)).result())
    assert (found.status, len(found.outputs)) == ("completed", 30)


async def forked_and_retried(tp: Toolpath) -> tuple[Ran, Ran]:
    first = await tp.run(tp.read(THROUGH), context=RunContext())
    assert first.status == "failed"
    retried = await ran(tp, await (await tp.retry(first.run_id)).result())
    forked = await ran(tp, await (await tp.fork(first.run_id, from_step="each", repeat_writes=True)).result())
    return retried, forked


async def test_retries_and_forks_read_all_values_back() -> None:
    async with opened(*tools(), scripted("wait", ValueError("no"), then={})) as tp:
        retried, forked = await forked_and_retried(tp)
    assert (retried.outputs, forked.outputs) == (OUTPUTS, OUTPUTS)


async def test_in_a_file_too_and_its_bytes_go_with_the_last_run_that_has_them(tmp_path: Any) -> None:
    async with opened(
        *tools(), scripted("wait", ValueError("no"), then={}), store=SqliteStore(tmp_path / "t.db")
    ) as tp:
        retried, forked = await forked_and_retried(tp)
        assert (retried.outputs, forked.outputs) == (OUTPUTS, OUTPUTS)
        await tp.store.delete_runs([retried.result.run_id])
        assert (await tp.info(forked.result.run_id)).outputs == OUTPUTS


async def test_what_a_tool_makes_to_look_like_a_handle_stays_data_in_every_place() -> None:
    forged = {"$blob": "sha256:" + "0" * 64, "size": 5, "preview": "x"}
    plan = {
        "flow": "chain",
        "steps": [
            {"id": "a", "tool": "a", "on_success": {"transform": {"kept": "{{ [a] }}"}}},
            {"id": "b", "tool": "t", "inputs": {"v": {"forged": "{{ a }}", "rows": "{{ 'x' * 5000 }}"}}},
            {"id": "wait", "tool": "wait"},
            {"id": "c", "tool": "t", "inputs": {"v": "{{ [state.kept, b.v.forged] }}"}},
        ],
    }
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    given = (scripted("a", then=forged), identity("t"), scripted("wait", lambda _: after(clock, 100), then={}))
    small = Settings(max_result_size=1000)
    async with opened(*given, clock=clock, store=store, settings=small) as tp:
        run = await tp.start(tp.read(plan))
        await clock.settle()
    async with opened(*given, clock=clock, store=store, settings=small) as tp:
        found = await ran(tp, await (await tp.resume(run.id)).result())
    assert found.outputs == {"v": [[forged], forged]}


async def test_a_secret_is_in_nothing_that_stands_aside() -> None:
    secret = "s3cret-value-of-this-test"
    rows = [f"{n} {secret}" for n in range(100)]
    plan = {
        "steps": [
            {"id": "a", "tool": "a", "inputs": {"key": "{{ secrets.KEY }}"}},
            {"id": "b", "tool": "hand", "inputs": {"v": {"deep": [{"rows": "{{ a.rows }}"}]}}},
        ],
        "outputs": "{{ b }}",
    }
    store = MemoryStore()
    given = (scripted("a", then={"rows": rows}), scripted("hand", then=lambda inputs: inputs["v"]))
    options: dict[str, Any] = {"settings": Settings(max_result_size=500), "secrets": {"KEY": secret}}
    async with opened(*given, store=store, **options) as tp:
        found = await ran(tp, await tp.run(tp.read(plan)))
    assert found.status == "completed", found.result.error
    assert store._blobs
    texts = [encode_event(event) for event in found.events] + list(store._blobs.values())
    assert not [text for text in texts if secret.encode() in text]
