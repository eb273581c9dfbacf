"""The examples, as they are offered: a request in words, or a plan of the examples' tools."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

import msgspec

#: A tool that is there where the group `examples` is switched on.
KNOWN_BY: Final = "examples.create_author"


class ExamplePlan(msgspec.Struct, frozen=True, kw_only=True):
    """One example: `request` is planned, `plan` is run as it is."""

    name: str
    description: str
    request: str = ""
    plan: str = ""
    """In the plan notation, with comments."""
    needs_model: bool = False


def examples() -> tuple[ExamplePlan, ...]:
    """All of them, the easiest first."""
    return (
        ExamplePlan(name="first", description="Create an author and a post: two calls.", plan=_plan("first")),
        ExamplePlan(
            name="blog",
            description="The same, asked for in words and planned by rules.",
            request="Create author Alice with email alice@test.com, then create post by Alice titled Hello",
        ),
        ExamplePlan(name="report", description="A loop, a report, and a person who allows it.", plan=_plan("report")),
        ExamplePlan(
            name="agent", description="A model makes a reading list in rounds.", plan=_plan("agent"), needs_model=True
        ),
    )


def _plan(name: str) -> str:
    return (files(__package__ or "") / f"{name}.plan.yaml").read_text(encoding="utf-8")
