"""Questions in words that no tool has: what one reading tool alone takes or tells is read, all else is refused."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call
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
