"""A server asks back in the midst of a call: the run waits, a person answers from anywhere, the call goes on."""

from __future__ import annotations

import pytest
from end_to_end_cases import Command, Desk, events, stdio

from toolpath import Toolpath
from toolpath.model.events import InputReceived, InputRequested
from toolpath.testing.clock import FakeClock

pytestmark = pytest.mark.mcp


@pytest.mark.parametrize(
    ("tool", "asked", "words", "output"),
    [
        (
            "probe.ask",
            ("Which colour?", "colour=… times=…"),
            ("colour=red", "times=3"),
            {"action": "accept", "content": {"colour": "red", "times": 3}, "state": "state 1"},
        ),
        ("raw.ask", ("Your name?", "name=…"), ("name=007",), {"action": "accept", "content": {"name": "007"}}),
    ],
)
def test_a_question_is_told_with_the_command_that_answers_it_and_the_answer_ends_the_run(
    toolpath: Command, tool: str, asked: tuple[str, str], words: tuple[str, ...], output: object
) -> None:
    ran = toolpath("run", tool)
    assert (ran.code, ran.out) == (4, "")
    run = toolpath("runs", "list", "--json").json[0]["run_id"]
    assert f"call asks: {asked[0]}" in ran.err
    assert f"toolpath answer {run} call {asked[1]}\n" in ran.err
    assert f"toolpath answer {run} call --decline\n" in ran.err
    ran = toolpath("answer", run, *words)
    assert ran.code == 0, ran.err
    assert ran.json == output
    received = next(event for event in events(toolpath) if event["type"] == "input.received")
    assert received["path"] == "call"
    assert received["by"]


def test_processes_of_their_own_ask_and_answer(desk: Desk) -> None:
    ran = desk.run("run", "probe.ask")
    assert ran.code == 4, ran.err
    ran = desk.run("answer", "last", "colour=blue", "times=1")
    assert ran.code == 0, ran.err
    assert ran.json["content"] == {"colour": "blue", "times": 1}


def test_answers_are_checked_and_the_question_stays_open(toolpath: Command) -> None:
    toolpath("run", "probe.ask")
    for words, message in (
        (("colour=green",), "colour: 'green' is none of red, blue"),
        (("colour=red", "times=often"), "times: expected integer, got 'often'"),
        (("color=red",), "no such field; did you mean 'colour'?"),
        (("times=2",), "colour: an answer is required"),
        (("colour=green", "times=x"), "green"),
    ):
        ran = toolpath("answer", "last", *words)
        assert (ran.code, ran.out) == (3, ""), ran.err
        assert message in ran.err
    assert toolpath("answer", "last", "nowhere", "colour=red").code == 1
    assert toolpath("runs", "show", "last", "--json").json["status"] == "waiting"
    assert toolpath("answer", "last", "colour=red").code == 0


@pytest.mark.parametrize("tool", ["probe.ask", "raw.ask"])
def test_the_server_learns_that_nobody_wants_to_answer(toolpath: Command, tool: str) -> None:
    toolpath("run", tool)
    ran = toolpath("answer", "last", "--decline")
    assert ran.code == 0, ran.err
    assert ran.json["action"] in ("cancel", "decline")
    assert toolpath("answer", "last", "x=1").code == 1, "a run that has ended hears no answers"


def test_a_server_may_ask_twice_and_each_answer_is_kept(toolpath: Command) -> None:
    assert toolpath("run", "probe.ask_twice").code == 4
    ran = toolpath("answer", "last", "colour=red")
    assert ran.code == 4, ran.err
    assert "How many red ones?" in ran.err
    ran = toolpath("answer", "last", "number=4")
    assert ran.code == 0, ran.err
    assert ran.json == {"colour": "red", "number": 4}


def test_two_questions_at_once_are_told_apart_by_their_steps(desk: Desk, toolpath: Command) -> None:
    desk.write(
        "two.yaml",
        """
        name: two
        steps:
          - {id: one, tool: probe.ask}
          - {id: other, tool: raw.ask}
          - {id: both, tool: probe.echo, inputs: {text: "{{ one.content.colour }} {{ other.content.name }}"}}
        outputs: "{{ both }}"
        """,
    )
    ran = toolpath("run", "two.yaml")
    assert ran.code == 4, ran.err
    assert " one colour=… times=…" in ran.err
    assert " other name=…" in ran.err
    ran = toolpath("answer", "last", "name=Ada")
    assert ran.code == 1
    assert "Several steps wait" in ran.err
    assert toolpath("answer", "last", "other", "name=Ada").code == 4
    ran = toolpath("answer", "last", "colour=blue")
    assert (ran.code, ran.out) == (0, "blue Ada\n"), ran.err


def test_a_run_that_waits_for_an_answer_can_be_cancelled(toolpath: Command) -> None:
    toolpath("run", "probe.ask")
    assert toolpath("runs", "cancel", "last").code == 0
    ran = toolpath("answer", "last", "colour=red")
    assert ran.code == 1
    assert "has ended: cancelled" in ran.err


async def test_a_run_that_waits_costs_no_process_and_goes_on_in_the_same_program(desk: Desk) -> None:
    async with Toolpath("own.db", clock=FakeClock()) as tp:
        tp.add_mcp("probe", **stdio("probe_server.py"))
        run = await tp.start("probe.ask")
        assert (await run.result()).status == "waiting"
        asked = next(event for event in await tp.events(run.id) if isinstance(event, InputRequested))
        assert asked.form["inputs"][0] == {
            "name": "colour",
            "label": "colour",
            "type": "select",
            "required": True,
            "options": ["red", "blue"],
        }
        result = await (await tp.answer(run.id, values={"colour": "red"}, by="ada")).result()
        assert result.outputs["content"] == {"colour": "red"}
        received = next(event for event in await tp.events(run.id) if isinstance(event, InputReceived))
        assert received.by == "ada"


async def test_a_restart_between_question_and_answer_loses_nothing(desk: Desk) -> None:
    async with Toolpath("own.db") as tp:
        tp.add_mcp("raw", **stdio("raw_server.py"))
        run_id = (await tp.run("raw.ask")).run_id
    async with Toolpath("own.db") as tp:
        tp.add_mcp("raw", **stdio("raw_server.py"))
        result = await (await tp.answer(run_id, "call", {"name": "Ada"})).result()
    assert result.outputs == {"action": "accept", "content": {"name": "Ada"}}
