"""Approvals and forms on the command line: asked, answered, refused, late, several at once, across processes."""

from __future__ import annotations

import pytest
from end_to_end_cases import Command, Desk, events

SEVERAL = """
    name: several
    steps:
      - {id: one, tool: mark, requires_approval: true, inputs: {name: one}}
      - {id: two, tool: mark, requires_approval: "{{ inputs.careful }}", inputs: {name: two}}
      - id: form
        ask:
          title: Who?
          inputs:
            - {name: name, type: text}
            - {name: age, type: integer, required: false}
            - {name: mail, type: email, required: false}
            - {name: size, options: [S, M], required: false}
      - {id: last_one, tool: mark, inputs: {name: "{{ form.name }}"}, depends_on: [one, two]}
    inputs: {properties: {careful: {type: boolean, default: true}}}
    outputs: {form: "{{ form }}", done: "{{ last_one }}"}
"""


@pytest.fixture
def several(desk: Desk, toolpath: Command) -> str:
    desk.write("several.yaml", SEVERAL)
    ran = toolpath("run", "several.yaml", "--json")
    assert ran.code == 4
    return str(ran.json["run_id"])


def test_several_wait_at_once_and_are_answered_in_any_order(desk: Desk, toolpath: Command, several: str) -> None:
    ran = toolpath("runs", "show", several)
    for words in ("approve {} one", "deny {} one", "approve {} two", "answer {} form name=… age=… mail=… size=…"):
        assert f"toolpath {words.format(several)}\n" in ran.err
    assert 'with {"name":"one"}' in ran.err
    ran = toolpath("approve", several)
    assert ran.code == 1
    assert "Several steps wait for an approval: one, two." in ran.err
    assert desk.calls == []
    assert toolpath("approve", several, "two").code == 4
    assert desk.calls == ["two"]
    assert toolpath("answer", several, "name=Ada", "age=36", "mail=a@b.c", "size=M").code == 4
    ran = toolpath("approve", several)
    assert ran.code == 0, ran.err
    assert ran.json == {"form": {"name": "Ada", "age": 36, "mail": "a@b.c", "size": "M"}, "done": "Ada"}
    assert desk.calls == ["two", "one", "Ada"]


def test_an_approval_that_depends_on_an_input_is_not_asked_without_it(desk: Desk, toolpath: Command) -> None:
    desk.write("several.yaml", SEVERAL)
    ran = toolpath("run", "several.yaml", "-i", "careful=false")
    assert ran.code == 4
    assert "approve" in ran.err
    assert "two wants" not in ran.err
    assert desk.calls == ["two"]


def test_every_fault_of_an_answer_is_told_at_once_and_nothing_is_lost(toolpath: Command, several: str) -> None:
    ran = toolpath("answer", several, "age=old", "mail=nobody", "size=XL", "colour=red")
    assert ran.code == 3
    for word in (
        "age: expected integer",
        "mail: 'nobody' is no e-mail",
        "size: 'XL' is none of S, M",
        "name: an answer",
    ):
        assert word in ran.err
    assert "colour: no such field" in ran.err
    assert not [event for event in events(toolpath) if event["type"] == "input.received"]


def test_a_denied_step_fails_without_a_call_and_says_who_denied_it(desk: Desk, toolpath: Command, several: str) -> None:
    toolpath("approve", several, "one")
    ran = toolpath("deny", several, "two")
    assert ran.code == 1
    assert "did not allow two" in ran.err
    assert desk.calls == ["one"]
    decided = [(e["path"], e["approved"]) for e in events(toolpath) if e["type"] == "approval.decided"]
    assert decided == [("one", True), ("two", False)]


def test_a_declined_form_fails_its_step(desk: Desk, toolpath: Command, several: str) -> None:
    ran = toolpath("answer", several, "form", "--decline")
    assert "Nobody wants to answer form" in ran.err
    assert toolpath("answer", several, "form", "name=Ada").code == 1
    assert toolpath("answer", several, "form", "--decline", "name=Ada").code == 2


def test_answers_that_come_too_late_are_refused_and_the_step_has_timed_out(desk: Desk, toolpath: Command) -> None:
    desk.write(
        "late.yaml",
        """
        name: late
        steps:
          - {id: form, ask: {title: Quick!, timeout: 1ms, inputs: [{name: word}]}}
          - {id: after, tool: mark, inputs: {name: "{{ form.word }}"}}
        """,
    )
    ran = toolpath("run", "late.yaml")
    if ran.code == 4:
        ran = toolpath("answer", "last", "word=now")
        assert ran.code == 1
        assert "The time to answer form is over" in ran.err
        ran = toolpath("runs", "resume", "last")
    assert ran.code == 1, ran.err
    assert "Nobody answered form in time" in ran.err
    assert desk.calls == []
    assert toolpath("runs", "show", "last", "--json").json["results"][0]["status"] == "timed_out"


def test_a_run_waits_through_as_many_processes_as_it_takes(desk: Desk) -> None:
    desk.write("several.yaml", SEVERAL)
    assert desk.run("run", "several.yaml").code == 4
    assert desk.run("runs", "resume", "last").code == 4
    assert desk.run("approve", "last", "one").code == 4
    assert desk.run("answer", "last", "name=Ada").code == 4
    ran = desk.run("approve", "last", "two", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["outputs"]["done"] == "Ada"
    assert sorted(desk.calls[:2]) == ["one", "two"]
