"""Values that share their parts, small in memory and endless in text: bounded before anything walks them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


LEAF = st.sampled_from([None, True, 7, 2.5, "", "text"])
VALUE = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.sampled_from(["", "a", "bc"]), inner),
    max_leaves=25,
)


def counted(value: Json) -> Extent:
    """The extent by its definition: each part as often as it occurs."""
    if not isinstance(value, list | dict):
        return Extent(characters=len(value)) if isinstance(value, str) else Extent()
    parts = [counted(part) for part in (value.values() if isinstance(value, dict) else value)]
    names = sum(map(len, value)) if isinstance(value, dict) else 0
    return Extent(
        members=len(parts) + sum(part.members for part in parts),
        containers=1 + sum(part.containers for part in parts),
        characters=names + sum(part.characters for part in parts),
        depth=1 + max((part.depth for part in parts), default=0),
    )


@settings(max_examples=60)
@given(VALUE, st.booleans())
def test_the_extent_is_the_same_however_it_is_found(value: Json, shares: bool) -> None:
    whole = [value, {"again": value}, list(range(20))] if shares else [value, ["x"] * 20, [[]] + [1] * 20]
    assert extent(whole) == counted(whole)


def test_what_holds_itself_has_no_extent() -> None:
    endless: list[Json] = []
    endless.append([endless])
    with pytest.raises(RecursionError):
        extent(endless)


def test_the_large_parts_of_an_event_are_found_by_one_look_at_each() -> None:
    shelf = Shelf()
    event = ev.StateWritten(1, 0.0, "", {"s": doubled(["x" * 10] * 200, 12)}, "e")
    found: Any = parted(event, shelf, 1_000)
    assert shelf.asked == 13
    # It goes aside as a whole.
    assert len(shelf.put_aside) == len(found.aside) == len(list(handles_in(found.values))) == 1


ITEM = st.sampled_from([None, True, 7, "e", "l" * 900, [], {"a": "l" * 3_000, "b": [1]}, [["x" * 500] * 3, {"y": 1}]])


@settings(max_examples=60)
@given(st.lists(ITEM, min_size=6, max_size=30), st.sampled_from([500, 1_000, 5_000, 20_000]))
def test_members_that_are_measured_by_their_text_part_as_those_that_are_walked_through(
    items: list[Json], most: int
) -> None:
    values: Json = {"items": items, "again": {"inside": [items, items[0]]}}
    shelf = Shelf()
    found: Any = parted(ev.StateWritten(1, 0.0, "", values, "e"), shelf, most)
    # What is left is small, but for what no part of is worth a handle; and everything is there, in place or aside.
    assert set(found.aside) == {handle_of(encode(value)).digest for value in shelf.put_aside}
    by_digest = {handle_of(encode(value)).digest: value for value in shelf.put_aside}
    assert brought_back(found.values, by_digest) == values
    assert len(encode(found.values)) <= most + 3 * 4_000 or not shelf.put_aside


def brought_back(value: Json, by_digest: dict[str, Json]) -> Json:
    match value:
        case {"$blob": digest, **_rest}:
            return by_digest[digest]
        case dict():
            return {key: brought_back(item, by_digest) for key, item in value.items()}
        case list():
            return [brought_back(item, by_digest) for item in value]
        case _:
            return value


def test_what_is_aside_already_is_found_among_small_members() -> None:
    class Knows(Shelf):
        def known(self, value: Json) -> Handle | None:
            return handle_of(encode(TEXT)) if value is TEXT else None

    shelf = Knows()
    rows: Json = [{"n": number, "of": [TEXT if number == 50 else number]} for number in range(100)]
    found: Any = parted(ev.StateWritten(1, 0.0, "", {"rows": rows}, "e"), shelf, 90_000)
    assert found.aside == (handle_of(encode(TEXT)).digest,)
    assert found.values["rows"][50]["of"][0]["$blob"] == found.aside[0]
    assert shelf.put_aside == []


def test_a_long_list_of_small_objects_goes_aside_as_a_whole() -> None:
    rows: Json = [{"n": number, "of": [number]} for number in range(1_000)]
    shelf = Shelf()
    found: Any = parted(ev.StepSucceeded(1, 0.0, "s", rows), shelf, 10_000)
    assert found.large
    assert shelf.put_aside == [rows]
    # None of the objects was asked about by itself: what is measured at once takes a fraction of the time.
    assert shelf.asked == 1


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
