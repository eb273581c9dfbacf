"""Plans and gold plans as they are scored."""

from __future__ import annotations

import pytest
from tests.planner.planning_cases import BLOG

from toolpath.notation.plan import read_plan
from toolpath.planner.scoring.gold import gold_calls, made_calls, read_task
from toolpath.planner.scoring.score import score_plan
from toolpath.values import encode

GOLD = [
    {"step": "one", "tool": "createAuthor", "arguments": {"name": "Alice", "email": "a@b.c"}},
    {
        "step": "two",
        "tool": "createBlog",
        "arguments": {"authorId": "{{one._id}}", "title": "Hello", "content": "world"},
        "depends_on": ["one"],
    },
]
TASK = read_task(encode({"query": "Create both", "gold_plan": GOLD}))


@pytest.mark.parametrize(
    "reference", ["{{ author._id }}", "{{ steps.author.output._id }}", "{{steps['author'].output._id}}"]
)
def test_a_link_is_right_however_it_is_written(reference: str) -> None:
    plan = read_plan(
        {
            "steps": [
                {"id": "author", "tool": "blog.createAuthor", "inputs": {"name": "alice", "email": "a@b.c"}},
                {
                    "id": "post",
                    "tool": "blog.createBlog",
                    "inputs": {"authorId": reference, "title": "Hello", "content": "world"},
                },
            ]
        }
    )
    score = score_plan(made_calls(plan), gold_calls(TASK, BLOG))
    assert (score.tool_f1, score.edge_f1, score.arguments, score.is_whole) == (1.0, 1.0, 1.0, True)


def test_a_brace_that_is_text_is_no_link() -> None:
    plan = read_plan({"steps": [{"id": "s", "tool": "web.search", "inputs": {"query": "{{ '{{' }} author }}"}}]})
    assert made_calls(plan)[0].depends_on == ()


def test_calls_inside_loops_and_branches_are_scored_too() -> None:
    search = {"tool": "web.search", "inputs": {"query": "x"}}
    plan = read_plan(
        {
            "steps": [
                {"id": "l", "loop": {"over": "{{ [1] }}", "as": "i", "steps": [{"id": "a", **search}]}},
                {"id": "p", "parallel": [{"id": "b", **search}, {"id": "c", **search}]},
            ]
        }
    )
    assert [call.step for call in made_calls(plan)] == ["a", "b", "c"]
