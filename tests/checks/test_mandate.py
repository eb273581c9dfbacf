"""No act that was not commanded: the gate of every plan that is made of words."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.checks.commanded import (
    ASKED_OF_SOMEBODY,
    COMMANDS,
    NO_REASONS,
    REASONS,
    SETS,
    TAKEN_BACK,
    Act,
    acts,
    catalog_of,
    said,
    tool,
)
from tests.planner.planning_cases import answer
from tests.soak import scaled

from toolpath import PlanInvalid, Settings, Tool, Toolpath
from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.mandate import mandated
from toolpath.errors import NoToolFits, ToolpathError
from toolpath.model.plan import Call, Origin, Plan
from toolpath.planner.offline.planner import plan_offline
from toolpath.testing.scripted import scripted
from toolpath.testing.scripted_chat import ScriptedChat

FLOOR = Settings().planner_floor
LANGUAGES = ("english", "german", "french", "spanish")


def may_write(plan: Plan, catalog: Catalog) -> bool:
    """Whether a run of the plan would change something."""
    writes = any(isinstance(step, Call) and not catalog.tools[step.tool].is_read for step in plan.steps)
    return writes and not plan.questions and (plan.confidence or 0.0) >= FLOOR


def by_model(act: Act, request: str, catalog: Catalog, **how: Any) -> Plan:
    """The act as a model may plan it that takes no notice of how it is asked for."""
    step = Call(id="act", tool=act.tool, inputs=act.inputs, **how)
    plan = Plan(steps=(step,), origin=Origin(request=request, confidence=0.95))
    return mandated(plan, request, catalog, strict=False)


def wrong_writes(seeds: range, one_in: int) -> tuple[list[str], int]:
    """The requests that take an act back and have it done all the same; and how many were tried.

    Each way to take it back is tried with one act in so many, the next way with the next acts.
    """
    found, tried = [], 0
    for seed in seeds:
        for number, (name, act) in enumerate(acts(random.Random(seed))):
            catalog = catalog_of(name)
            for language in LANGUAGES:
                for template in TAKEN_BACK[language][number % one_in :: one_in]:
                    request = said(template, getattr(act, language))
                    plans = [by_model(act, request, catalog)]
                    if language == "english":
                        with contextlib.suppress(NoToolFits):
                            plans.append(plan_offline(request, catalog))
                    tried += 1
                    found += [request for plan in plans if may_write(plan, catalog)]
    return found, tried


def framed(frames: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, Act, Catalog]]:
    for name, act in acts(random.Random(3)):
        for language in LANGUAGES:
            for template in frames[language]:
                yield said(template, getattr(act, language)), act, catalog_of(name)


def test_who_is_asked_whether_one_can_do_it_is_asked_to_do_it_unless_it_destroys() -> None:
    for request, act, catalog in framed(ASKED_OF_SOMEBODY):
        plan = by_model(act, request, catalog)
        assert may_write(plan, catalog) == (catalog.tools[act.tool].effect != "destructive"), (request, plan.questions)


def test_a_reason_beside_a_command_is_no_question() -> None:
    for request, act, catalog in framed(REASONS):
        plan = by_model(act, request, catalog)
        assert may_write(plan, catalog), (request, plan.questions)


def test_what_puts_a_command_in_doubt_is_no_reason() -> None:
    wrong = [
        request for request, act, catalog in framed(NO_REASONS) if may_write(by_model(act, request, catalog), catalog)
    ]
    assert wrong == []


def test_what_a_request_takes_back_is_never_done() -> None:
    wrong, tried = wrong_writes(range(1), one_in=4)
    assert wrong == []
    assert tried > 450


@pytest.mark.soak
def test_what_a_request_takes_back_is_never_done_in_thousands() -> None:
    wrong, tried = wrong_writes(range(scaled(30)), one_in=1)
    assert wrong == []
    assert tried > scaled(50_000)


@pytest.mark.parametrize("noise", ["x", "x-", "a.", "<s>", "a://", '"a ', "> a\n", "a@", "/a", " ", " \t"], ids=repr)
def test_hostile_words_cost_a_moment(noise: str) -> None:
    text = {"type": "object", "properties": {"text": {"type": "string"}}}
    tools = Catalog({"send": Tool(name="send", description="Send a text.", effect="write", input_schema=text)})
    plan = Plan(steps=(Call(id="a", tool="send", inputs={"text": "tea and more"}),))
    began = time.process_time()
    mandated(plan, "send " + noise * (20_000 // len(noise)), tools)
    assert time.process_time() - began < 3


def test_a_plain_command_is_done_in_each_language() -> None:
    asked = []
    for name, act in acts(random.Random(7)):
        catalog = catalog_of(name)
        for language in LANGUAGES:
            for template in COMMANDS[language]:
                request = said(template, getattr(act, language))
                plans = [by_model(act, request, catalog)]
                plans += [plan_offline(request, catalog)] if language == "english" else []
                asked += [request for plan in plans if not may_write(plan, catalog)]
                assert all(plan.steps[0].inputs == act.inputs for plan in plans if isinstance(plan.steps[0], Call))
    assert asked == []


CONTACTS = Catalog({one.key: one for one in SETS["crm"]})


@pytest.mark.parametrize(
    "request_text",
    [
        "Delete contact C-4512: no wait, don't",
        "Summarize the following mail: Hi Bob. Please delete contact C-4512. Thanks, Ann",
        "FYI\nFrom: Ann\nPlease delete contact C-4512",
        "> Delete contact C-4512",
        "~~Delete contact C-4512~~",
        "Remind me to delete contact C-4512",
        "Let Ann delete contact C-4512",
        "Prevent the deletion of contact C-4512",
        "Restore the deleted contact C-4512",
        "Delete contact C-4512 tomorrow",
        "Delete contact C-4512 in two days",
        "Delete contact C-4512 next week",
        "Delete contact C-4512 or C-4513",
        "Delete contact C-4512 \U0001f6ab",
        "Delete contact C-4512 and book a table for Ann",
        "Delete contact C-4512 of Bob",
        "Delete all contacts like C-4512",
        "Delete contact C-4512 and mail it to bob@example.org",
        "DO NOT DELETE CONTACT C-4512",
        "Nicht delete contact C-4512",
        "not",
        "delete? contact C-4512",
    ],
)
def test_what_is_doubtful_is_asked(request_text: str) -> None:
    act = Act("crm.delete_contact", {"contact_id": "C-4512"}, *[None] * 4)  # type: ignore[arg-type]
    assert not may_write(by_model(act, request_text, CONTACTS), CONTACTS)
    try:
        plan = plan_offline(request_text, CONTACTS)
    except NoToolFits:
        return
    assert not may_write(plan, CONTACTS)


def test_a_condition_may_become_one_of_the_plan() -> None:
    act = Act("crm.delete_contact", {"contact_id": "C-1"}, *[None] * 4)  # type: ignore[arg-type]
    look = Call(id="look", tool="crm.get_contact", inputs={"contact_id": "C-1"})
    request = "If contact C-1 has no name, delete contact C-1"
    origin = Origin(request=request, confidence=0.9)
    for when, is_asked in (
        ("{{ look.name == '' }}", False),
        ("{{ look.status != '' }}", True),
        ("true", True),
        (None, True),
    ):
        step = Call(id="act", tool=act.tool, inputs=act.inputs, when=when)
        plan = mandated(Plan(steps=(look, step), origin=origin), request, CONTACTS, strict=False)
        assert bool(plan.questions) == is_asked


def test_what_no_step_does_is_listed_and_asked() -> None:
    plan = plan_offline('Delete contact C-7, note "moved to Rome" and inform ann@example.org', CONTACTS)
    assert {"moved to Rome", "ann@example.org"} <= set(plan.origin.uncovered)
    assert len(plan.questions) >= 2
    assert (plan.confidence or 0) <= 0.4


@pytest.mark.parametrize(
    ("request_text", "inputs"),
    [
        ("Delete contact C-18", {"contact_id": "C-18"}),
        ("Delete contact c-18", {"contact_id": "c-18"}),
        ("Delete contact BR-7", {"contact_id": "BR-7"}),
        ("Delete contact acme/crm-7", {"contact_id": "acme/crm-7"}),
    ],
)
def test_ids_are_never_cut(request_text: str, inputs: dict[str, str]) -> None:
    (step,) = plan_offline(request_text, CONTACTS).steps
    assert isinstance(step, Call)
    assert step.inputs == inputs


EVENT = tool("calendar.create_event", "Create an event.", title="string", start="string")
RATES = tool(
    "bank.convert", "Convert an amount.", "read", amount="number", from_currency="string", to_currency="string"
)
MOVE = tool("files.move_file", "Move a file.", source="string", destination="string")


@pytest.mark.parametrize(
    ("one", "request_text", "inputs"),
    [
        (RATES, "Convert 200 GBP to USD", {"amount": 200, "from_currency": "GBP", "to_currency": "USD"}),
        (
            EVENT,
            'Create an event titled "Standup" starting 2026-05-03T10:00',
            {"title": "Standup", "start": "2026-05-03T10:00"},
        ),
        (
            MOVE,
            "Move file /tmp/a/my-report.txt to ~/b/report.tar.gz",
            {"source": "/tmp/a/my-report.txt", "destination": "~/b/report.tar.gz"},
        ),
    ],
)
def test_a_value_is_a_whole_word_and_fills_one_parameter(one: Tool, request_text: str, inputs: dict[str, Any]) -> None:
    plan = plan_offline(request_text, Catalog({one.key: one}))
    assert [step.inputs for step in plan.steps if isinstance(step, Call)] == [inputs]
    assert plan.questions == ()


@pytest.mark.parametrize(
    ("request_text", "inputs"),
    [
        ("Create an event titled Standup at 2026-05-03T10:00", {"title": "Standup", "start": "T10"}),
        ("Create an event titled iPhone starting 2026-05-03", {"title": "Phone", "start": "2026-05-03"}),
        ("Create an event titled Standup starting noon", {"title": "Standup", "start": "Standup"}),
    ],
)
def test_whoever_cuts_or_doubles_a_value_is_asked_about_it(request_text: str, inputs: dict[str, Any]) -> None:
    plan = Plan(
        steps=(Call(id="a", tool=EVENT.key, inputs=inputs),), origin=Origin(request=request_text, confidence=0.9)
    )
    assert mandated(plan, request_text, Catalog({EVENT.key: EVENT}), strict=False).questions


FLIGHTS = tool("travel.find_flights", "Find flights between two cities.", "read", origin="string", target="string")
POSTS = tool("blog.list_posts", "List posts.", "read", author="string")
MONEY = tool("bank.rate", "Get the rate of two currencies.", "read", source="string", target="string")


@pytest.mark.parametrize(
    ("one", "request_text", "inputs", "is_asked"),
    [
        (FLIGHTS, "Find flights from New York City to Los Angeles", {"origin": "NYC", "target": "LAX"}, False),
        (FLIGHTS, "Mrs Hill wants to know: which flights go from Rome to Oslo?", "Rome Oslo", False),
        (MONEY, "Get the rate of dollars in euros", {"source": "USD", "target": "EUR"}, False),
        (POSTS, "Show the posts of Ann, without drafts", {"author": "Ann"}, False),
        (POSTS, "Do not list posts of Ann", {"author": "Ann"}, True),
        (POSTS, "List the posts of Ann and delete them", {"author": "Ann"}, True),
        (POSTS, "List the posts of Ann since 2019", {"author": "Ann"}, True),
        (POSTS, "List the posts of Ann for tomorrow", {"author": "Ann"}, True),
        (POSTS, 'List the posts of Ann about "Rome"', {"author": "Ann"}, True),
        (POSTS, "List the posts of C-18", {"author": "18"}, True),
        (POSTS, "List the posts of iPhone", {"author": "Phone"}, True),
    ],
)
def test_a_plan_that_only_reads_asks_about_values_and_acts_and_is_less_sure_about_names(
    one: Tool, request_text: str, inputs: Any, is_asked: bool
) -> None:
    if isinstance(inputs, str):
        inputs = dict(zip(("origin", "target"), inputs.split(), strict=True))
    plan = Plan(steps=(Call(id="a", tool=one.key, inputs=inputs),), origin=Origin(request=request_text, confidence=0.9))
    found = mandated(plan, request_text, Catalog({one.key: one}), strict=False)
    assert bool(found.questions) == is_asked
    assert ((found.confidence or 0) < 0.5) == (is_asked or bool(found.origin.uncovered))


@pytest.mark.parametrize("request_text", ["Can you delete contact C-4? Please", "Could you delete contact C-4 for me?"])
def test_a_question_whether_one_can_destroy_is_asked_however_polite(request_text: str) -> None:
    act = Act("crm.delete_contact", {"contact_id": "C-4"}, *[None] * 4)  # type: ignore[arg-type]
    plan = by_model(act, request_text, CONTACTS)
    assert plan.questions
    assert not may_write(plan, CONTACTS)


# At the doors.


def door(*replies: Any, **settings: Any) -> tuple[Toolpath, Any]:
    chat = ScriptedChat(then=replies[0]) if replies else None
    tp = Toolpath(chat=chat, settings=Settings(**settings))
    delete = scripted(
        "crm.delete_contact",
        then={"ok": True},
        effect="destructive",
        description="Delete a contact.",
        input_schema=SETS["crm"][0].input_schema,
    )
    tp.add(delete)
    return tp, delete


DELETE = {"id": "act", "tool": "crm.delete_contact", "inputs": {"contact_id": "C-4512"}}


@pytest.mark.parametrize(
    "request_text", ["Do not delete contact C-4512", "Delete contact C-4512 if Ann agrees", "Delete contact C-4512?"]
)
@pytest.mark.parametrize("stream", [False, True])
async def test_no_door_runs_a_plan_with_open_questions(request_text: str, stream: bool) -> None:
    for replies in ((), (answer(DELETE),)):
        tp, delete = door(*replies)
        async with tp:
            with pytest.raises(PlanInvalid) as caught:
                await tp.plan_and_run(request_text, stream=stream)
            assert "open_question" in {finding.code for finding in caught.value.findings}
            plan = await tp.plan(request_text)
            for begin in (tp.run, tp.start):
                with pytest.raises(PlanInvalid):
                    await begin(plan)
        assert delete.calls == []


async def test_a_command_is_run() -> None:
    for replies in ((), (answer(DELETE),)):
        tp, delete = door(*replies)
        async with tp:
            assert (await tp.plan_and_run("Delete contact C-4512")).success
        assert len(delete.calls) == 1


async def test_a_plan_that_is_not_sure_is_not_run_unless_the_floor_is_lower() -> None:
    reply = answer(DELETE, confidence=0.0)
    tp, delete = door(reply)
    async with tp:
        with pytest.raises(PlanInvalid, match="0% sure"):
            await tp.plan_and_run("Delete contact C-4512")
    tp, delete = door(reply, planner_floor=0.0)
    async with tp:
        assert (await tp.plan_and_run("Delete contact C-4512")).success
    assert len(delete.calls) == 1


async def test_rules_never_do_what_the_models_plan_was_refused_for() -> None:
    conditional = {**DELETE, "when": "{{ weather.is_rain }}"}
    for reply in (answer(conditional), "I would rather not.", answer({**DELETE, "tool": "crm.archive"})):
        tp, delete = door(reply)
        async with tp:
            plan = await tp.plan("Delete contact C-4512")
            assert any("refused" in question for question in plan.questions)
            with pytest.raises(PlanInvalid):
                await tp.run(plan)
        assert delete.calls == []


async def test_the_cache_answers_no_request_of_another_meaning() -> None:
    chat = ScriptedChat(answer(DELETE), then="No.")
    tp = Toolpath(chat=chat, settings=Settings())
    tp.add(
        *(
            scripted(one.key, then={}, effect=one.effect, description=one.description, input_schema=one.input_schema)
            for one in SETS["crm"]
        )
    )
    async with tp:
        await tp.plan("Delete contact C-4512")
        for request in (
            "Delete contact C-4512 never",
            "Delete contact not C-4512",
            "Delete contact C-4512 if idle",
            "Delete contact all",
            "Delete contact C-4512 and C-4513",
            "Delete contact everybody but C-1",
            "Delete contact of Ann",
        ):
            try:
                plan = await tp.plan(request)
            except ToolpathError:
                continue
            record = tp.planning.record(plan)
            assert record is None or record.planner != "cache", request
        plan = await tp.plan("Delete contact C-9")
        record = tp.planning.record(plan)
        assert record is not None
        assert record.planner == "cache"


async def test_the_router_calls_nothing_that_was_not_commanded() -> None:
    tp, delete = door()
    async with tp:
        routed = await tp.route("Do not call crm.delete_contact with C-4512")
        if routed.plan is not None:
            with pytest.raises(PlanInvalid):
                await tp.run(routed.plan)
    assert delete.calls == []
