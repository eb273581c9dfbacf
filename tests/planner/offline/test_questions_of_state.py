"""Whether something was done is a question for what reads: `Has GM-2 been returned?` returns nothing."""

from __future__ import annotations

import pytest
from tests.planner.offline.test_everyday_requests import calls_of

from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.scoring.gold import ToolData, catalog_of

GAMES = catalog_of(
    (
        ToolData(
            name="get_game",
            description="Show a game of the library.",
            parameters={
                "type": "object",
                "properties": {"game_id": {"type": "string", "description": "Id of the game, such as GM-2"}},
                "required": ["game_id"],
            },
            output_schema={
                "type": "object",
                "properties": {"title": {"type": "string"}, "status": {"enum": ["on_shelf", "lent", "returned"]}},
            },
        ),
        ToolData(
            name="return_game",
            description="Take a lent game back.",
            effect="write",
            parameters={
                "type": "object",
                "properties": {"game_id": {"type": "string", "description": "Id of the game, such as GM-2"}},
                "required": ["game_id"],
            },
        ),
    )
)


@pytest.mark.parametrize(
    "said",
    ["Has GM-2 been returned already?", "Did we ever return GM-2?", "Was GM-2 returned?", "Is GM-2 returned yet?"],
)
def test_a_question_of_state_reads_and_asks_nothing_back(said: str) -> None:
    plan = plan_offline(said, GAMES)
    assert [(call.tool, call.inputs) for call in calls_of(plan)] == [("get_game", {"game_id": "GM-2"})]
    assert not plan.questions


@pytest.mark.parametrize("said", ["What would happen if I returned GM-2?", "Should GM-2 be returned?"])
def test_what_would_be_is_no_question_of_state(said: str) -> None:
    plan = plan_offline(said, GAMES)
    assert plan.questions
