"""Journals that an earlier engine wrote are read and gone on with: `earlier/whole.jsonl` has runs that it brought to
their end, with what came of them; `earlier/stuck.jsonl` runs that it could not. `earlier/bodies.jsonl` has the plans
that their tools called: no journal holds these.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from plays import Played, called_again, faults_of, resume_from
from virtual import in_virtual_time
from worlds import World

from toolpath.model.events import AnyEvent, StateWritten, StepStarted, decode_event
from toolpath.model.plan import Plan
from toolpath.model.tool import Tool
from toolpath.model_output.documents import read_document
from toolpath.projections.results import run_result

FOLDER = Path(__file__).with_name("earlier")
#: Of the places where a journal may end, the quick form tries one in so many.
FEW = 17


def journals(name: str) -> list[dict[str, Any]]:
    read = [json.loads(line) for line in (FOLDER / name).read_text().splitlines()]
    for journal in read:
        journal["events"] = [decode_event(json.dumps(event)) for event in journal["events"]]
    return read


class EarlierWorld(World):
    """A world whose plans as tools are those that the journals were written with."""

    def tools(self) -> list[Tool]:
        plans = {plan.name: plan for plan in map(_read, (FOLDER / "bodies.jsonl").read_text().splitlines())}
        return [
            msgspec.structs.replace(tool, body=plans[tool.name]) if tool.name in plans else tool
            for tool in super().tools()
        ]


def _read(line: str) -> Plan:
    document = read_document(json.loads(line))
    assert isinstance(document, Plan)
    return document


def resumed(events: list[AnyEvent]) -> Played:
    return in_virtual_time(resume_from(events, EarlierWorld(3)))


def test_what_came_of_earlier_runs_is_read() -> None:
    for journal in journals("whole.jsonl"):
        result = run_result("", journal["events"])
        assert result.status == journal["status"]
        assert result.outputs == journal["outputs"]
        assert {step.path: step.status for step in result.results} == journal["steps"]


def cut_faults(journal: dict[str, Any], every: int) -> list[str]:
    found = []
    events = journal["events"]
    for place in range(1, len(events)):
        # What a step wrote was kept together with its success.
        if (place + journal["seed"]) % every or isinstance(events[place], StateWritten):
            continue
        played = resumed(events[:place])
        faults = [*faults_of(played), *called_again(events[:place], played.world)]
        statuses = {step.path: step.status for step in played.result.results}
        if (played.result.status, played.result.outputs) != (journal["status"], journal["outputs"]):
            faults.append(f"it is {played.result.status} with {played.result.outputs}")
        if statuses != journal["steps"]:
            faults.append(f"its steps are {statuses}")
        found += [f"structure({journal['seed']}) cut after {place}: {fault}" for fault in faults]
    return found


def test_earlier_journals_are_gone_on_with_wherever_they_end() -> None:
    assert [fault for journal in journals("whole.jsonl") for fault in cut_faults(journal, FEW)] == []


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_earlier_journals_are_gone_on_with_from_every_place() -> None:
    assert [fault for journal in journals("whole.jsonl") for fault in cut_faults(journal, 1)] == []


@pytest.mark.parametrize("name", ["loop", "branch", "fallback"])
def test_runs_that_could_not_go_on_come_to_their_end(name: str) -> None:
    (events,) = [journal["events"] for journal in journals("stuck.jsonl") if journal["name"] == name]
    played = resumed(events)
    assert list(faults_of(played)) == []
    assert list(called_again(events, played.world)) == []
    assert played.result.success
    paths = {step.path for step in played.result.results if step.status == "succeeded"}
    assert {"loop": {"l", "l[0]/s", "l[1]/s", "l[2]/s"}}.get(name, {"p", "p/b", "p/c"}) <= paths


def test_keys_of_calls_that_an_earlier_run_has_begun_stay_as_they_are() -> None:
    (events,) = [journal["events"] for journal in journals("stuck.jsonl") if journal["name"] == "calls"]
    for place in range(1, len(events)):
        played = resumed(events[:place])
        assert played.result.status == "completed"
        assert list(called_again(events[:place], played.world)) == []
        keys = {(event.path, event.key) for event in events if isinstance(event, StepStarted)}
        assert {(event.path, event.key) for event in played.events if isinstance(event, StepStarted)} == keys
