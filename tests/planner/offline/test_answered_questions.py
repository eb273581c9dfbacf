"""Questions in words that no tool has: what one reading tool alone takes or tells is read, all else is refused."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call
from toolpath.model.tool import Tool
from toolpath.planner.offline.planner import plan_offline

TEXT = {"type": "string"}


STORE = (
    tool(
        "yarn_stock",
        "What is in the store of a yarn.",
        "read",
        {"quantity": {"type": "number"}, "shelf": TEXT, "delivered_on": {"type": "string", "format": "date"}},
        yarn=TEXT,
    ),
    tool(
        "loom_status",
        "State of a loom.",
        "read",
        {"loom": TEXT, "state": {"type": "string", "enum": ["weaving", "idle", "broken"]}},
        loom=TEXT,
    ),
    tool(
        "get_job",
        "A job by its number.",
        "read",
        {"job_id": TEXT, "customer": TEXT, "place": TEXT},
        job_id={"type": "string", "description": "e.g. JB-204"},
    ),
    tool(
        "get_fabric",
        "A fabric by its code.",
        "read",
        {"code": TEXT, "width_cm": {"type": "number"}, "stock": {"type": "number"}},
        fabric_code={"type": "string", "description": "e.g. LN-07"},
    ),
    tool("scrap_job", "Scrap a job.", "destructive", {"done": {"type": "boolean"}}, job_id=TEXT),
)


def read(request: str) -> list[tuple[str, dict[str, Any]]]:
    plan = plan_offline(request, Catalog({one.key: one for one in STORE}), today=date(2027, 3, 1))
    assert not plan.questions
    return [(step.tool, dict(step.inputs)) for step in plan.steps if isinstance(step, Call)]


@pytest.mark.parametrize(
    ("request_", "call"),
    [
        ("where's JB-311?", ("get_job", {"job_id": "JB-311"})),
        ("wo steckt JB-311?", ("get_job", {"job_id": "JB-311"})),
        ("où en est JB-311 ?", ("get_job", {"job_id": "JB-311"})),
        ("¿dónde anda JB-311?", ("get_job", {"job_id": "JB-311"})),
        ("how much Merino is left?", ("yarn_stock", {"yarn": "Merino"})),
        ("How much Merino do we still have, and when was it delivered?", ("yarn_stock", {"yarn": "Merino"})),
        ("Is Jacquard weaving right now?", ("loom_status", {"loom": "Jacquard"})),
        ("how many metres of herringbone (WL-33) do we have left?", ("get_fabric", {"fabric_code": "WL-33"})),
    ],
)
def test_a_question_that_one_reading_tool_alone_answers_is_a_call_of_it(
    request_: str, call: tuple[str, dict[str, Any]]
) -> None:
    assert read(request_) == [call]


@pytest.mark.parametrize(
    "request_",
    [
        "What's the weather in Oslo?",
        "Who is Merino?",
        "Is Jacquard a good name for a cat?",
        "How much do you weigh?",
        "Wer hat Merino erfunden?",
        "Combien coûte un billet pour Oslo ?",
    ],
)
def test_what_no_tool_tells_is_refused(request_: str) -> None:
    with pytest.raises(NoToolFits):
        read(request_)


@pytest.mark.parametrize(
    "request_",
    [
        "Should we scrap JB-311?",
        "What if we scrapped JB-311?",
        "Can a job be scrapped?",
        "Don't scrap JB-311, where is it?",
    ],
)
def test_no_question_acts(request_: str) -> None:
    try:
        plan = plan_offline(request_, Catalog({one.key: one for one in STORE}), today=date(2027, 3, 1))
    except NoToolFits:
        return
    acting = [step for step in plan.steps if isinstance(step, Call) and step.tool == "scrap_job"]
    assert plan.questions or not acting


@pytest.mark.parametrize("code", ["WL-33", "LN-9", "CT-101"])
def test_a_code_of_goods_may_begin_with_letters_of_its_own(code: str) -> None:
    assert read(f"Get fabric {code}") == [("get_fabric", {"fabric_code": code})]


@pytest.mark.parametrize("code", ["JB-311", "W-3", "WOOL-33"])
def test_what_is_no_such_code_or_another_tools_id_is_none(code: str) -> None:
    try:
        plan = plan_offline(f"Get fabric {code}", Catalog({one.key: one for one in STORE}))
    except NoToolFits:
        return
    taken = [step.inputs.get("fabric_code") for step in plan.steps if isinstance(step, Call)]
    assert plan.questions or code not in taken


def _a_list(key: str, **fields: Any) -> Tool:
    rows = {"type": "array", "items": {"type": "object", "properties": {"id": TEXT, "name": TEXT}}}
    return tool(key, "Rows of the book.", "read", {"rows": rows}, **fields)


DAY = {"type": "string", "format": "date"}
#: Of each of these tools two values say alone what is asked for; none of the others takes them all.
BY_VALUES = (
    _a_list("free_tables", date=DAY, time={"type": "string", "format": "time"}, seats={"type": "integer"}),
    _a_list("list_tastings", first_day=DAY, last_day=DAY),
    _a_list("rooms", state={"type": "string", "enum": ["open", "locked"]}),
    tool("cancel_all", "Cancel all of a day.", "destructive", {"done": {"type": "boolean"}}, date=DAY),
)


def _by_values(request: str) -> list[str]:
    try:
        plan = plan_offline(request, Catalog({one.key: one for one in BY_VALUES}), today=date(2027, 3, 1))
    except NoToolFits:
        return []
    return [] if plan.questions else [step.tool for step in plan.steps if isinstance(step, Call)]


@pytest.mark.parametrize(
    ("request_", "key"),
    [
        ("Do we have anything for eight on the 23rd at 8pm?", "free_tables"),
        ("Ann is asking whether there is anything for eight on the 23rd at 8pm", "free_tables"),
        ("Ana pregunta si hay algo para 8 el 23 de mayo a las 20:00", "free_tables"),
        ("Quelles dégustations entre le 1er et le 10 mai ?", "list_tastings"),
    ],
)
def test_values_that_one_reading_tool_alone_takes_say_what_is_asked_for(request_: str, key: str) -> None:
    assert _by_values(request_) == [key]


@pytest.mark.parametrize(
    "request_",
    [
        "What will the weather be on the 23rd at 8pm?",
        "Is there a train for eight on the 23rd at 8pm?",
        "Which cars between 1 May and 10 May?",
        "Quel temps entre le 1er et le 10 mai ?",
    ],
)
def test_a_thing_that_is_known_and_none_of_the_tools_is_refused(request_: str) -> None:
    assert _by_values(request_) == []


@pytest.mark.parametrize("request_", ["where's JB-311", "how much Merino is left, and when was it delivered?"])
def test_a_question_asks_with_a_mark_or_without_one_and_of_several_at_once(request_: str) -> None:
    assert len(read(request_)) == 1
