"""A condition of a request is carried whole by a model's plan, or it is asked about: never a write without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from tests.planner.planning_cases import answer, catalog_of, ground, schema

from toolpath.errors import PlanningFailed
from toolpath.model.plan import Plan
from toolpath.model.tool import Tool
from toolpath.planner.by_model.planner import plan_with_model
from toolpath.planner.records import PlanRequest
from toolpath.testing.scripted_chat import ScriptedChat
from toolpath.values import JsonObject


def gives(**properties: Any) -> JsonObject:
    return {"type": "object", "properties": properties}


TICKET = gives(
    status={"type": "string", "enum": ["open", "pending", "closed"], "description": "State: open, pending or closed."},
    priority={"type": "string", "enum": ["low", "normal", "urgent"], "description": "Low, normal or urgent."},
    comments={"type": "integer", "description": "How many comments it has."},
    archived={"type": "boolean", "description": "Whether it is archived."},
)
TICKETS_OF = gives(
    tickets={"type": "array", "items": gives(ticket_id={"type": "string"}, **TICKET["properties"])},
    count={"type": "integer"},
)
PRODUCT = gives(
    price={"type": "number", "description": "Price in euros."},
    stock={"type": "integer", "description": "How many are in stock."},
)


def tool(name: str, description: str, parameter: str, **fields: Any) -> Tool:
    return Tool(name=name, description=description, input_schema=schema(parameter), **fields)


TOOLS = catalog_of(
    tool("get_ticket", "Get a ticket.", "ticket_id", effect="read", output_schema=TICKET),
    tool("get_product", "Get a product.", "product_id", effect="read", output_schema=PRODUCT),
    tool("list_tickets", "List the tickets of an owner.", "owner", effect="read", output_schema=TICKETS_OF),
    tool("escalate_ticket", "Escalate a ticket.", "ticket_id", effect="write"),
    tool("delete_ticket", "Delete a ticket.", "ticket_id", effect="destructive"),
    tool("reorder_product", "Reorder a product.", "product_id", effect="write"),
)


class Fact(NamedTuple):
    """What a request may say of a thing, and the tests of it."""

    said: str
    denied: str
    right: str
    wrong: tuple[str, ...]
    """Tests of something else."""


class Thing(NamedTuple):
    """A thing with what reads it, what may be done to it, and what may be said of it."""

    name: str
    look: str
    parameter: str
    acts: tuple[tuple[str, str], ...]
    facts: tuple[Fact, ...]


THINGS = (
    Thing(
        "T-80",
        "get_ticket",
        "ticket_id",
        (("escalate", "escalate_ticket"), ("delete", "delete_ticket")),
        (
            Fact("{} is closed", "{} is not closed", "{}.status == 'closed'", ("{}.status == 'open'", "{}.status")),
            Fact("{} is urgent", "{} isn't urgent", "{}.priority == 'urgent'", ("{}.priority", "{}.priority == 'low'")),
            Fact("{} is archived", "{} is not archived", "{}.archived", ("{}.archived or {}.status",)),
            Fact(
                "{} has more than 3 comments",
                "{} has at most 3 comments",
                "{}.comments > 3",
                ("{}.comments >= 3", "{}.comments > 30", "{}.comments"),
            ),
        ),
    ),
    Thing(
        "P-300",
        "get_product",
        "product_id",
        (("reorder", "reorder_product"),),
        (
            Fact(
                "{} costs less than 50",
                "{} does not cost less than 50",
                "{}.price < 50",
                ("{}.price <= 50", "{}.price < 5", "{}.stock < 50", "{}.price"),
            ),
            Fact(
                "the stock of {} is below 12",
                "the stock of {} is not below 12",
                "{}.stock < 12",
                ("{}.stock > 12", "{}.price < 12", "{}.stock < 120"),
            ),
        ),
    ),
)


class Case(NamedTuple):
    """A request and the `when` that a model writes for it; None: none."""

    request: str
    when: str | None
    thing: Thing
    act: str


def says(one: str) -> str:
    return f"{{{{ {one} }}}}"


def denied(test: str) -> str:
    return f"not ({test})"


def requests(thing: Thing) -> Iterator[tuple[str, str, Fact, bool]]:
    """Each request, the tool that it commands, what it depends on, and whether that is turned round."""
    for verb, act in thing.acts:
        command = f"{verb} {thing.name}"
        for fact in thing.facts:
            said, not_said = fact.said.format(thing.name), fact.denied.format(thing.name)
            yield f"If {said}, {command}", act, fact, False
            yield f"{command.capitalize()} if {said}", act, fact, False
            yield f"{command.capitalize()} unless {said}", act, fact, True
            yield f"If {not_said}, then {command}", act, fact, True


def right_ones() -> Iterator[Case]:
    for thing in THINGS:
        for request, act, fact, is_turned in requests(thing):
            test = fact.right.format("look")
            for form in (test, f"({test})", test.replace("'", '"'), denied(denied(test))):
                yield Case(request, says(denied(form) if is_turned else form), thing, act)
            yield Case(
                request, says((denied(test) if is_turned else test).replace("look.", "steps.look.output.")), thing, act
            )


def wrong_ones() -> Iterator[Case]:
    for thing in THINGS:
        for request, act, fact, is_turned in requests(thing):
            test = fact.right.format("look")
            others = [one.right.format("look") for one in thing.facts if one is not fact]
            wrong = [test if is_turned else denied(test), *others, "true", "look", f"{test} or not ({test})"]
            wrong += [
                denied(one.format("look", "look")) if is_turned else one.format("look", "look") for one in fact.wrong
            ]
            wrong += [f"{test} or {one}" for one in others[:1]]
            yield Case(request, None, thing, act)
            for one in wrong:
                yield Case(request, says(one), thing, act)
                yield Case(request, says(one.replace("'", '"')), thing, act)
        for first, second in ((one, other) for one in thing.facts for other in thing.facts if one is not other):
            verb, act = thing.acts[0]
            both = f"If {first.said.format(thing.name)} and {second.said.format(thing.name)}, {verb} {thing.name}"
            for half in (first.right, second.right, f"{first.right} or {second.right}"):
                yield Case(both, says(half.format("look", "look")), thing, act)


async def planned(case: Case, steps: list[JsonObject] | None = None) -> Plan | None:
    """The plan that comes of a model's answer; None where it is refused."""
    given = {case.thing.parameter: case.thing.name}
    act: JsonObject = {"id": "act", "tool": case.act, "inputs": given}
    look: JsonObject = {"id": "look", "tool": case.thing.look, "inputs": given}
    if case.when is not None:
        act["when"] = case.when
    chat = ScriptedChat(then=answer(*(steps or [look, act]), confidence=0.95))
    try:
        return (await plan_with_model(PlanRequest(text=case.request), ground(chat, TOOLS))).plan
    except PlanningFailed:
        return None


async def test_a_condition_that_is_not_carried_whole_is_asked_about() -> None:
    cases = list(wrong_ones())
    unasked = [case[:2] for case in cases if (plan := await planned(case)) is not None and not plan.questions]
    assert unasked == []
    assert len(cases) > 400


async def test_a_condition_that_is_carried_whole_is_not_asked_about_however_it_is_written() -> None:
    cases = list(right_ones())
    asked = []
    for case in cases:
        plan = await planned(case)
        if plan is None or plan.questions:
            asked.append((case[:2], plan and plan.questions))
    assert asked == []
    assert len(cases) > 150


TICKETS = THINGS[0]
ESCALATE: JsonObject = {"id": "act", "tool": "escalate_ticket", "inputs": {"ticket_id": "T-80"}}


@pytest.mark.parametrize(
    ("when", "inner"),
    [
        (None, None),
        (None, "one.status != 'closed'"),
        (None, "one.status"),
        (None, "one.priority == 'urgent'"),
        ("list.count == 0", "one.archived"),
        ("list.tickets", None),
    ],
)
async def test_a_condition_that_a_loop_does_not_carry_is_asked_about(when: Any, inner: Any) -> None:
    act = {**ESCALATE, "inputs": {"ticket_id": "{{ one.ticket_id }}"}} | ({"when": says(inner)} if inner else {})
    listed: JsonObject = {"id": "list", "tool": "list_tickets", "inputs": {"owner": "Ann"}}
    loop: JsonObject = {"id": "each", "loop": {"over": "{{ list.tickets }}", "as": "one", "steps": [act]}}
    case = Case("If a ticket of Ann is closed, escalate it", None, TICKETS, "escalate_ticket")
    plan = await planned(case, [listed, loop | ({"when": says(when)} if when else {})])
    assert plan is not None
    assert plan.questions


@pytest.mark.parametrize("end", ["only if Ann agrees.", "do not delete it.", "Is that right?"])
async def test_what_is_said_beyond_what_is_read_is_asked_about(end: str) -> None:
    request = "Delete ticket T-80.\n" + "\n" * 10 + "Thank you very much. " * 1_500 + end
    case = Case(request, None, TICKETS, "delete_ticket")
    plan = await planned(case, [{**ESCALATE, "tool": "delete_ticket"}])
    assert plan is None or plan.questions
