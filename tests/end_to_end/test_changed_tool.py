"""A tool that is not the one its run began with: the run waits until a person accepts it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from end_to_end_cases import Command, Desk, events, stdio

pytestmark = pytest.mark.mcp

PLAN = """
    name: sums
    flow: chain
    steps:
      - {id: first, tool: probe.add, inputs: {a: 1, b: 1}}
      - {id: form, ask: {title: And?, inputs: [{name: more, type: integer}]}}
      - {id: second, tool: probe.add, inputs: {a: "{{ first.sum }}", b: "{{ form.more }}"}}
    outputs: "{{ second.sum }}"
"""


def test_a_server_that_changed_its_tool_parks_the_run_until_somebody_accepts_it(
    desk: Desk, toolpath: Command, servers: Callable[..., None]
) -> None:
    desk.write("sums.yaml", PLAN)
    assert toolpath("run", "sums.yaml").code == 4
    servers(probe=stdio("probe_server.py", env={"PROBE_WORDS": "Subtract two integers, says the server now."}))
    ran = toolpath("answer", "last", "more=3")
    assert ran.code == 4, ran.err
    assert "Changed since the run began: probe.add" in ran.err
    ran = toolpath("runs", "resume", "last")
    assert ran.code == 4
    assert " --accept-tool\n" in ran.err
    assert "second" not in [event["path"] for event in events(toolpath) if event["type"] == "step.started"]
    ran = toolpath("settle", "last", "--accept-tool")
    assert (ran.code, ran.out) == (0, "5\n"), ran.err


def test_a_run_that_is_held_by_a_changed_tool_can_be_cancelled(
    desk: Desk, toolpath: Command, servers: Callable[..., None]
) -> None:
    desk.write("sums.yaml", PLAN)
    toolpath("run", "sums.yaml")
    servers(probe=stdio("probe_server.py", env={"PROBE_WORDS": "Another one."}))
    assert toolpath("answer", "last", "more=3").code == 4
    assert toolpath("runs", "cancel", "last").code == 0
    assert toolpath("runs", "show", "last", "--json").json["status"] == "cancelled"


def test_new_tools_during_a_run_change_nothing_for_it_and_are_there_for_the_next(desk: Desk, toolpath: Command) -> None:
    desk.write(
        "grow.yaml",
        """
        name: grow
        flow: chain
        steps:
          - {id: grow, tool: raw.grow}
          - {id: say, tool: raw.echo, inputs: {text: said}}
        outputs: "{{ say }}"
        """,
    )
    ran = toolpath("run", "grow.yaml")
    assert (ran.code, ran.out) == (0, "said\n"), ran.err


def test_a_plan_that_was_changed_meanwhile_goes_on_as_it_began(desk: Desk, toolpath: Command) -> None:
    desk.write("sums.yaml", PLAN)
    toolpath("run", "sums.yaml")
    desk.write("sums.yaml", "no plan at all: [")
    ran = toolpath("answer", "last", "more=40")
    assert (ran.code, ran.out) == (0, "42\n"), ran.err
