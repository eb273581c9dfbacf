from __future__ import annotations

from pathlib import Path

import pytest
from cli_cases import Command

PLAN = """
name: careful
steps:
  - id: order
    tool: shop.order
    requires_approval: true
    inputs: {item: tea, count: 1}
  - id: form
    ask: {title: How many?, inputs: [{name: count, type: integer}, {name: postcode}]}
outputs: {count: "{{ form.count }}", postcode: "{{ form.postcode }}"}
"""


@pytest.fixture
def waiting(shop: Path, toolpath: Command) -> str:
    (shop / "careful.yaml").write_text(PLAN)
    ran = toolpath("run", "careful.yaml", "--no-input", "--json")
    assert ran.code == 4
    return str(ran.json["run_id"])


def test_a_run_that_waits_says_which_commands_answer_it(toolpath: Command, waiting: str) -> None:
    said = toolpath("runs", "show", waiting).err
    assert f"toolpath approve {waiting} order" in said
    assert f"toolpath answer {waiting} form count=… postcode=…" in said


@pytest.mark.parametrize("verb", [("run", "careful.yaml"), ("runs", "show", "last"), ("runs", "watch", "last")])
def test_the_json_of_a_run_that_waits_holds_what_is_asked(
    toolpath: Command, waiting: str, verb: tuple[str, ...]
) -> None:
    more = ("--no-input",) if verb[0] == "run" else ()
    told = toolpath(*verb, *more, "--json").json
    asked = {question["path"]: question for question in told["questions"]}
    assert (told["status"], set(asked)) == ("waiting", {"order", "form"})
    assert asked["order"]["inputs"] == {"item": "tea", "count": 1}
    assert {field["name"] for field in asked["form"]["form"]["inputs"]} == {"count", "postcode"}


def test_the_json_of_a_run_that_ended_asks_nothing(toolpath: Command, waiting: str) -> None:
    toolpath("approve", waiting, "order")
    told = toolpath("answer", waiting, "count=3", "postcode=1", "--json").json
    assert told["status"] == "completed"
    assert not told.get("questions")


def test_approval_and_answers_let_the_run_go_on_to_its_end(toolpath: Command, waiting: str) -> None:
    assert toolpath("approve", waiting, "order").code == 4
    assert Path("orders.txt").read_text() == "tea 1\n"
    ran = toolpath("answer", waiting, "count=3", "postcode=01234")
    assert ran.code == 0
    assert ran.json == {"count": 3, "postcode": "01234"}


def test_a_denied_step_has_failed_and_was_never_called(toolpath: Command, waiting: str) -> None:
    toolpath("deny", waiting, "order")
    ran = toolpath("answer", waiting, "form", "count=3", "postcode=x")
    assert ran.code == 1
    assert not Path("orders.txt").exists()


def test_a_tool_that_changed_since_it_was_shown_is_not_called_before_it_is_shown_again(
    shop: Path, toolpath: Command, waiting: str
) -> None:
    (tools,) = shop.glob("shop_*.py")
    tools.write_text(tools.read_text().replace("count: int)", "count: int, everywhere: bool = True)"))
    held = toolpath("approve", waiting, "order")
    assert held.code == 4
    assert "--accept-tool" in held.err
    accepted = toolpath("settle", waiting, "--accept-tool")
    assert accepted.code == 4
    assert f"toolpath approve {waiting} order" in accepted.err
    assert not Path("orders.txt").exists()
    toolpath("approve", waiting, "order")
    assert Path("orders.txt").read_text() == "tea 1\n"


def test_answers_that_do_not_fit_are_refused_and_the_run_still_waits(toolpath: Command, waiting: str) -> None:
    ran = toolpath("answer", waiting, "form", "count=three", "postcode=x")
    assert ran.code == 3
    assert "count" in ran.err
    assert toolpath("runs", "resume", waiting, "--no-input").code == 4


@pytest.mark.parametrize("words", [("approve", "form"), ("answer", "order", "a=b"), ("settle", "order", "--retry")])
def test_an_answer_to_what_was_not_asked_is_refused(toolpath: Command, waiting: str, words: tuple[str, ...]) -> None:
    ran = toolpath(words[0], waiting, *words[1:])
    assert ran.code == 1
    assert ran.err.startswith("Error: ")


def test_a_cancelled_run_answers_no_more(toolpath: Command, waiting: str) -> None:
    assert toolpath("runs", "cancel", waiting).code == 0
    assert toolpath("approve", waiting, "order").code == 1
    assert toolpath("runs", "watch", waiting).code == 5


def test_a_run_that_spends_its_budget_ends_with_6(toolpath: Command, shop: Path) -> None:
    (shop / "dear.yaml").write_text(
        "name: dear\nbudget: {calls: 2}\ninputs: {properties: {items: {type: array, items: {type: string}}}}\n"
        "steps:\n  - {id: l, loop: {over: '{{ inputs.items }}', as: i,"
        " steps: [{id: s, tool: shop.price, inputs: {item: '{{ i }}'}}]}}\n"
    )
    assert toolpath("run", "dear.yaml", "-i", 'items=["tea","cake","tea"]').code == 6


def test_a_run_that_takes_too_long_ends_with_124(toolpath: Command, shop: Path) -> None:
    (shop / "long.yaml").write_text(
        "name: long\ntimeout: 200ms\nsteps:\n  - {id: s, tool: shop.slow, inputs: {mark: mark}}\n"
    )
    assert toolpath("run", "long.yaml").code == 124


def test_a_file_of_this_machine_is_uploaded_and_answered(shop: Path, toolpath: Command) -> None:
    form = "{title: Which?, inputs: [{name: doc, label: Document, type: file, accept: [csv]}]}"
    (shop / "bring.yaml").write_text(f"steps: [{{id: bring, ask: {form}}}]\noutputs: '{{{{ bring.doc }}}}'\n")
    (shop / "tea.csv").write_text("green,2.5\n")
    (shop / "tea.txt").write_text("green")
    assert toolpath("run", "bring.yaml", "--no-input").code == 4
    missing = toolpath("answer", "last", "doc=none.csv")
    assert missing.code != 0
    assert "none.csv cannot be read" in missing.err
    wrong = toolpath("answer", "last", "bring", "doc=tea.txt")
    assert (wrong.code, "no file of these: csv" in wrong.err) == (3, True)
    ran = toolpath("answer", "last", "bring", "Document=tea.csv")
    assert ran.code == 0, ran.err
    assert ran.json == {"path": "tea.csv", "name": "tea.csv", "size": 10, "type": ""}
    assert toolpath("files", "get", "last", "tea.csv", "-o", "again.csv").code == 0
    assert Path("again.csv").read_text() == "green,2.5\n"
