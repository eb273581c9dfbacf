"""Statements beside a command, told from questions that begin with a capital as names do."""

from __future__ import annotations

import pytest

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.statements import is_statement
from toolpath.model.plan import Call
from toolpath.model.tool import Tool
from toolpath.planner.offline.planner import plan_offline


@pytest.mark.parametrize(
    "text",
    [
        "What is the birthday of Lise Meitner",
        "Who has met Lise Meitner",
        "Is Lise Meitner in",
        "Wie ist die Adresse von Lise Meitner",
        "Wo hat Lise Meitner gelebt",
        "Qui est Lise Meitner",
        "Quel est le jour de Lise Meitner",
        "Quién es Lise Meitner",
        "Dónde está Lise Meitner",
    ],
)
def test_a_question_is_no_statement(text: str) -> None:
    assert not is_statement(text)


@pytest.mark.parametrize(
    "text",
    ["Lise Meitner is in", "Mr Hale brought the Volvo back", "Lise Meitner ist krank", "Lise Meitner est en retard"],
)
def test_what_is_told_of_somebody_is_one(text: str) -> None:
    assert is_statement(text)


@pytest.mark.parametrize(
    "text",
    [
        "What is the birthday of Lise Meitner and what her best known finding was?",
        "When is the birthday of Lise Meitner and which is her best known finding?",
    ],
)
def test_both_of_two_questions_in_one_are_answered(text: str) -> None:
    name = {"type": "string", "description": "Name of the physicist."}
    schema = {"type": "object", "properties": {"name": name}, "required": ["name"]}
    told = {"get_birthday": "The birthday of a physicist.", "get_finding": "The best known finding of a physicist."}
    tools = {key: Tool(name=key, description=text, effect="read", input_schema=schema) for key, text in told.items()}
    plan = plan_offline(text, Catalog(tools))
    made = [(step.tool, step.inputs) for step in plan.steps if isinstance(step, Call)]
    assert made == [("get_birthday", {"name": "Lise Meitner"}), ("get_finding", {"name": "Lise Meitner"})]
