"""Values that share their parts, small in memory and endless in text: bounded before anything walks them."""

from __future__ import annotations

from typing import Any

import pytest

from toolpath import Settings, Toolpath
from toolpath.engine.drive.large import handles_in
from toolpath.engine.state import large_parts
from toolpath.engine.state.large_parts import parted
from toolpath.expressions.extent import Extent, extent
from toolpath.model import events as ev
from toolpath.store.memory.store import MemoryStore
from toolpath.values import Handle, Json, digest_bytes, encode, handle_of

TEXT = "b" * 100_000
MANY = list(range(1_000))


def doubled(value: Json, times: int) -> Json:
    """A value of 2 ** times copies of this one, which are all the same object."""
    for _ in range(times):
        value = [value, value]
    return value


class Shelf:
    """Counts how often it is asked, and puts aside what it is given by its identity."""

    def __init__(self) -> None:
        self.asked = 0
        self.put_aside: list[Json] = []

    def known(self, value: Json) -> Handle | None:
        self.asked += 1
        return value if type(value) is Handle else None

    def put(self, value: Json) -> Handle:
        self.put_aside.append(value)
        return handle_of(encode(value), digest_bytes(encode(value)))


def test_the_extent_of_a_value_is_that_of_its_text() -> None:
    value = {"a": [1, "two", {"b": None}], "c": []}
    assert extent(value) == Extent(members=6, containers=4, characters=6, depth=3)
    assert extent("four") == Extent(characters=4)
    assert extent(7) == Extent()


def test_what_is_shared_counts_as_often_as_it_occurs_and_is_looked_at_once() -> None:
    # Nobody would see the end of a walk that looks at each of them.
    found = extent(doubled(["ab"], 150))
    assert found.characters == 2 * 2**150
    assert found.containers == 2**151 - 1
    assert found.depth == 151


def test_the_large_parts_of_an_event_are_found_by_one_look_at_each() -> None:
    shelf = Shelf()
    event = ev.StateWritten(1, 0.0, "", {"s": doubled(["x" * 10] * 200, 12)}, "e")
    found: Any = parted(event, shelf, 1_000)
    assert shelf.asked == 13
    # It goes aside as a whole.
    assert len(shelf.put_aside) == len(found.aside) == len(list(handles_in(found.values))) == 1


PLACES: dict[str, Any] = {
    "arguments": {"steps": [{"id": "e", "tool": "echo", "inputs": {"x": "{{ VALUE }}"}}]},
    "outputs": {"steps": [{"tool": "echo", "inputs": {"x": 1}}], "outputs": {"o": "{{ VALUE }}"}},
    "items": {
        "steps": [
            {"id": "e", "loop": {"over": "{{ VALUE }}", "steps": [{"tool": "echo", "inputs": {"x": 1}}]}},
        ]
    },
}
VALUES = {
    "each": "inputs.l | map(lambda a: inputs.b)",
    "twice": "[1, 2, 3, 4, 5] | map(lambda a: inputs.l | map(lambda c: inputs.b))",
}


def placed(plan: Any, value: str) -> Any:
    match plan:
        case str():
            return plan.replace("VALUE", value)
        case dict():
            return {key: placed(item, value) for key, item in plan.items()}
        case list():
            return [placed(item, value) for item in plan]
        case _:
            return plan


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", VALUES)
async def test_a_large_text_many_times_over_is_handed_on_nowhere(place: str, value: str) -> None:
    plan = {"inputs": {"properties": {"b": {}, "l": {}}}, **placed(PLACES[place], VALUES[value])}
    async with Toolpath() as tp:
        given: list[Any] = []

        def echo(x: Any = None) -> Any:
            """Give it back."""
            given.append(x)
            return x

        tp.add(echo, effect="read")
        result = await tp.run(tp.read(plan), {"b": TEXT, "l": MANY})
    assert result.status == "failed", result
    assert result.error is not None
    assert result.error.type == "OverBudget"
    assert [x for x in given if x != 1] == []


@pytest.mark.parametrize("kind", ["loop", "graph"])
async def test_many_large_results_are_not_written_out_together(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(large_parts, "MOST_BEHIND", 3_000_000)
    call = {"tool": "echo", "inputs": {"x": "{{ inputs.b }}"}}
    loop = {"over": "{{ inputs.l }}", "steps": [{"id": "c", **call}], "collect": "{{ c }}"}
    steps = [{"id": "l", "loop": loop}] if kind == "loop" else [{"id": f"s{n}", **call} for n in range(60)]
    plan = {"inputs": {"properties": {"b": {}, "l": {}}}, "steps": steps}

    def echo(x: Any = None) -> Any:
        """Give it back."""
        return x

    store = MemoryStore()
    async with Toolpath(store, settings=Settings(max_run_bytes=4_000_000, max_result_size=10_000)) as tp:
        tp.add(echo, effect="read")
        result = await tp.run(tp.read(plan), {"b": TEXT, "l": MANY[:60]})
        assert result.status == "completed", result
        end = (await tp.events(result.run_id))[-1]
    # The one text is kept once: its handles stand in the outputs, whose text would be 60 times as long.
    assert isinstance(end, ev.RunCompleted)
    assert list(handles_in(end.outputs)) == [handle_of(encode(TEXT))] * 60


async def test_what_is_large_together_is_not_handed_on_whole() -> None:
    plan = {
        "inputs": {"properties": {"b": {}}},
        "steps": [{"tool": "echo", "inputs": {"x": ["{{ inputs.b }}"] * 60}}],
    }

    def echo(x: Any = None) -> Any:
        """Give it back."""
        return x

    async with Toolpath(settings=Settings(max_run_bytes=4_000_000)) as tp:
        tp.add(echo, effect="read")
        result = await tp.run(tp.read(plan), {"b": TEXT})
    assert result.status == "failed", result
    assert result.error is not None
    assert "max_run_bytes" in result.error.message


async def test_fields_that_hold_one_another_are_not_all_kept_as_variables() -> None:
    value: Json = TEXT
    for _ in range(60):
        value = {"a": value}
    fields = {".".join(["a"] * depth): f"v{depth}" for depth in range(1, 60)}
    steps = [{"tool": "deep", "on_success": {"map_outputs": fields}}]

    def deep() -> Any:
        """A value in a value."""
        return value

    async with Toolpath(settings=Settings(max_run_bytes=4_000_000)) as tp:
        tp.add(deep, effect="read")
        result = await tp.run(tp.read({"flow": "chain", "steps": steps}))
        events = await tp.events(result.run_id)
    assert [e.code for e in events if isinstance(e, ev.Warned)] == ["map_outputs_failed"]
    assert not [e for e in events if isinstance(e, ev.StateWritten)]
