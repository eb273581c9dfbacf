"""What is only to be shown changes nothing, though the tool that writes has a verb of reading in its words."""

from __future__ import annotations

import pytest

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.tools import acts
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan, every_step
from toolpath.model.tool import Effect, Tool
from toolpath.planner.offline.planner import plan_offline
from toolpath.testing.scripted import scripted


def _a_tool(name: str, told: str, thing: str, *others: str, effect: Effect = "write") -> Tool:
    properties = {f"{thing}_id": {"type": "string", "description": f"Id of a {thing}, e.g. BK-12."}}
    properties |= {other: {"type": "string", "description": f"Name of the {other}."} for other in others}
    schema = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    return scripted(name, then={}, effect=effect, description=told, input_schema=schema)


def _planned(request: str, *tools: Tool) -> Plan | None:
    try:
        return plan_offline(request, Catalog({tool.key: tool for tool in tools}))
    except NoToolFits:
        return None


def _written(plan: Plan | None, *tools: Tool) -> list[str]:
    """The tools that act in a plan which asks nothing."""
    if plan is None or plan.questions:
        return []
    known = {tool.key: tool for tool in tools}
    return [one.tool for _, one in every_step(plan.block) if isinstance(one, Call) and acts(known[one.tool])]


#: Names and descriptions that say with another word what a verb of reading does.
OUT = ("check_out", "checkout_{}", "lend_{}", "release")
THINGS = ("book", "guest", "car", "sample")
#: Requests to be shown something, of four languages.
SHOWN = (
    "Check BK-12",
    "Please check BK-12",
    "Check the {} BK-12",
    "Check up on the {} BK-12",
    "Check BK-12 in the system",
    "Look at the {} BK-12",
    "Show me the {} BK-12",
    "Give me the {} BK-12",
    "Prüfe BK-12",
    "Vérifie BK-12",
    "Comprueba BK-12",
)


@pytest.mark.parametrize("said", SHOWN)
@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("name", OUT)
def test_what_is_to_be_checked_is_not_checked_out(name: str, thing: str, said: str) -> None:
    out = _a_tool(name.format(thing), f"Check a {thing} out.", thing)
    get = _a_tool(f"get_{thing}", f"Show a {thing}.", thing, effect="read")
    request = said.format(thing)
    assert _written(_planned(request, out), out) == []
    read = _planned(request, out, get)
    assert _written(read, out, get) == []


@pytest.mark.parametrize("thing", THINGS)
def test_what_is_to_be_checked_is_read_by_the_tool_that_reads_it(thing: str) -> None:
    out = _a_tool("check_out", f"Check a {thing} out.", thing)
    get = _a_tool(f"get_{thing}", f"Show a {thing}.", thing, effect="read")
    plan = _planned(f"Check the {thing} BK-12", out, get)
    assert plan is not None
    assert [one.tool for one in plan.steps if isinstance(one, Call)] == [get.key]
    assert plan.questions == ()


@pytest.mark.parametrize("said", ["Check BK-12 in", "Check in BK-12", "Check the {} BK-12 in", "check BK-12 back in"])
@pytest.mark.parametrize("thing", THINGS)
def test_the_word_behind_the_verb_says_which_way(thing: str, said: str) -> None:
    lend = _a_tool(f"lend_{thing}", f"Check out a {thing}.", thing)
    back = _a_tool(f"return_{thing}", f"Check a {thing} in.", thing)
    assert _written(_planned(said.format(thing), lend), lend) == []
    assert _written(_planned(said.format(thing), lend, back), lend, back) in ([], [back.key])


@pytest.mark.parametrize("said", ["Check BK-12 out", "Check out BK-12", "Check the {} BK-12 out, please"])
@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("name", ["check_out", "lend_{}"])
def test_what_is_said_with_its_word_is_done(name: str, thing: str, said: str) -> None:
    lend = _a_tool(name.format(thing), f"Check a {thing} out.", thing)
    back = _a_tool(f"return_{thing}", f"Check a {thing} in.", thing)
    assert _written(_planned(said.format(thing), lend, back), lend, back) == [lend.key]


@pytest.mark.parametrize(
    ("said", "is_done"),
    [
        ("Give BK-12 to Ann", True),
        ("Gib BK-12 an Ann", True),
        ("Give me BK-12 of Ann", False),
        ("Gib mir BK-12 von Ann", False),
        ("Donne-moi BK-12 de Ann", False),
        ("Dame BK-12 de Ann", False),
    ],
)
def test_what_is_given_to_who_asks_is_shown(said: str, *, is_done: bool) -> None:
    assign = _a_tool("assign_job", "Give a job to an agent.", "job", "agent")
    assert bool(_written(_planned(said, assign), assign)) == is_done
