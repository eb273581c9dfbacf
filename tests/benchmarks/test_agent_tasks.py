"""Gold calls made through an agent: our own cases always, the public tasks where their folder is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.agent_tasks import DATA_SETS, Recorded, play, play_data_set
from benchmarks.records import VARIABLE, Record, folder, grouped_tools, read_records

CASES = Path(__file__).parents[1] / "data" / "gold"
PLAYED = ("boats-plain", "boats-lists", "boats-order")

needs_data = pytest.mark.skipif(folder() is None, reason=f"{VARIABLE} does not name the folder of the records")


def case(name: str) -> Record:
    return next(record for record in read_records(CASES, "boats") if record.id == name)


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("name", PLAYED)
async def test_gold_calls_through_an_agent_give_the_same_outputs_and_state(name: str, at_once: bool) -> None:
    record = case(name)
    found = await play(record, grouped_tools(CASES, record) or [], lambda: Recorded(record), at_once=at_once)
    assert found.faults == []
    assert (found.same_outputs, found.same_state) == (found.calls, True)


class Forgetful(Recorded):
    """The second world of a task does not remember its last call."""

    made = 0

    def __init__(self, record: Record) -> None:
        super().__init__(record)
        self._forgets = Forgetful.made % 2 == 1
        Forgetful.made += 1

    def state(self) -> Any:
        return super().state()[:-1] if self._forgets else super().state()


async def test_another_state_and_another_output_are_told() -> None:
    record = case("boats-plain")
    record.recorded_outputs["s2"] = {"another": "output"}
    worlds = iter([Forgetful(case("boats-plain")), Forgetful(case("boats-plain"))])
    found = await play(record, grouped_tools(CASES, record) or [], lambda: next(worlds), at_once=False)
    assert found.faults == ["s2: another output than the recorded one", "another state than the calls alone make"]


@pytest.mark.data
@needs_data
@pytest.mark.parametrize(
    ("data_set", "at_once"),
    [
        # Each set and each way once; the other pairs are long.
        pytest.param(data_set, at_once, marks=[pytest.mark.soak] if at_once == (number % 2 == 0) else [])
        for number, data_set in enumerate(DATA_SETS)
        for at_once in (False, True)
    ],
)
async def test_every_public_task_through_an_agent_ends_in_the_same_state(data_set: str, at_once: bool) -> None:
    where = folder()
    assert where is not None
    found = await play_data_set(where, data_set, at_once=at_once)
    assert found.faults == []
    assert found.played == found.same_state == found.tasks - len(found.left_out)
    assert found.same_outputs == found.calls > 0
