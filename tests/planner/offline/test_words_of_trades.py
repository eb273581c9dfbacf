"""Requests in the words of trades that no tool has: what is asked, values and the lead over other tools tell."""

from __future__ import annotations

import msgspec
import pytest
from tests.planner.offline.test_everyday_requests import FOLDER, runs

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call
from toolpath.planner.offline.lookup import LookedUp
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.scoring.gold import ToolData, catalog_of, read_tool_set


def trades() -> dict[str, Catalog]:
    """The tools of a hotel, a clinic and a manager of flats."""
    sets = map(read_tool_set, (FOLDER / "trades_tool_sets.jsonl").read_bytes().splitlines())
    return {one.toolset: catalog_of(one.tools) for one in sets}


def test_what_a_trade_says_in_its_own_words_is_planned() -> None:
    wrong = []
    for line in (FOLDER / "trades.jsonl").read_bytes().splitlines():
        task = msgspec.json.decode(line)
        plan = plan_offline(task["request"], trades()[task["toolset"]])
        made = [(step.tool, step.inputs) for step in plan.steps if isinstance(step, Call)]
        if made != [(task["tool"], task["inputs"])] or plan.questions:
            wrong.append((task["request"], made, plan.questions))
    assert wrong == []


@pytest.mark.parametrize("request_", ["Write a poem about the sea", "What is the capital of Peru?", "Mow the lawn"])
def test_what_nothing_speaks_for_is_refused(request_: str) -> None:
    for catalog in trades().values():
        with pytest.raises(NoToolFits):
            plan_offline(request_, catalog)


def test_a_change_that_says_nothing_of_what_becomes_of_it_is_asked_about() -> None:
    tool = ToolData(
        name="update_guest",
        description="Change a guest.",
        parameters={
            "type": "object",
            "properties": {"guest_id": {"type": "string", "description": "e.g. GU-1"}, "email": {"type": "string"}},
            "required": ["guest_id"],
        },
        effect="write",
    )
    for request in ("Change guest GU-7", "Ändere Gast GU-7", "Cambia el huésped GU-7"):
        assert plan_offline(request, catalog_of([tool])).questions


def test_what_is_an_id_of_another_thing_is_no_day() -> None:
    for request in ("get rid of appointment AP-23", "Weg mit Termin AP-23"):
        try:
            plan = plan_offline(request, trades()["clinic"])
        except NoToolFits:
            continue
        assert all("AP-23" not in map(str, [step.inputs.get("date")]) for step in plan.steps if isinstance(step, Call))


def test_nearness_by_meaning_decides_between_tools_that_words_leave_open() -> None:
    catalog = trades()["hotel"]
    near = {key: 0.6 if tool.name == "find_guest" else 0.1 for key, tool in catalog.tools.items()}
    plan = plan_offline("ann@firm.com", catalog, search=LookedUp((), near))
    assert [step.tool for step in plan.steps if isinstance(step, Call)] == ["find_guest"]


def test_no_nearness_alone_makes_a_plan_that_writes() -> None:
    catalog = trades()["estate"]
    for key in catalog.tools:
        try:
            plan = plan_offline("The weather is lovely, isn't it", catalog, search=LookedUp((), {key: 0.9}))
        except NoToolFits:
            continue
        assert not runs(plan) or all(catalog.tools[step.tool].is_read for step in plan.steps if isinstance(step, Call))
