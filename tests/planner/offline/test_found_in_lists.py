"""Things that are found by a name in a list, for what is done with them or shown of them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.planner.made_tools import tool
from tests.planner.offline.planned_over import calls_of, is_left_alone, planned

from toolpath.catalog.snapshot import Catalog

TEXT = {"type": "string"}


def listed(name: str, /, **fields: Any) -> dict[str, Any]:
    return {name: {"type": "array", "items": {"type": "object", "properties": fields}}}


SINGER = {"type": "integer", "description": "Number of the singer"}
TOOLS = (
    tool(
        "find_singers",
        "Find singers by name or voice.",
        "read",
        listed("singers", singer_id={"type": "integer"}, name=TEXT, choir_name=TEXT),
        name_={"type": "string", "description": "First and last name, or part of it"},
        voice_={"type": "string", "enum": ["soprano", "alto", "tenor", "bass"]},
    ),
    tool("write_to_singer", "Write to one singer.", "write", {}, singer_id=SINGER, text=TEXT),
    tool("invite_choir", "Invite all of a choir.", "write", {}, choir_name=TEXT, text=TEXT),
    tool("excuse_singer", "Excuse a singer on a day.", "write", {}, singer_id=SINGER, day_={**TEXT, "format": "date"}),
    tool("list_fees", "Fees of a singer.", "read", listed("fees", fee_id=TEXT, euros=TEXT), singer_id=SINGER),
    tool(
        "list_rehearsals",
        "List rehearsals.",
        "read",
        listed("rehearsals", day=TEXT, place=TEXT),
        singer_id_={**SINGER, "description": "Rehearsals of this singer alone"},
    ),
)
CATALOG = Catalog({one.key: one for one in TOOLS})
FOUND = "{{ find_singers.singers[0].singer_id }}"


@pytest.mark.parametrize("name", ["Odile Renard", "Ruben Holt"])
@pytest.mark.parametrize(
    ("form", "acting", "inputs"),
    [
        ('Write "See you" to {name}', "write_to_singer", {"text": "See you"}),
        ('Write to the singer {name}: "See you"', "write_to_singer", {"text": "See you"}),
        ("Excuse {name} tomorrow", "excuse_singer", {"day": "2026-05-14"}),
        ("Show me the fees of {name}", "list_fees", {}),
        ("List the rehearsals of {name}", "list_rehearsals", {}),
    ],
)
def test_who_is_named_is_found_in_the_list(name: str, form: str, acting: str, inputs: dict[str, str]) -> None:
    plan = planned(form.format(name=name), CATALOG)
    assert not plan.questions
    read, made = calls_of(plan)
    assert (read.tool, read.inputs) == ("find_singers", {"name": name})
    assert (made.tool, made.inputs) == (acting, {**inputs, "singer_id": FOUND})


@pytest.mark.parametrize(
    "text",
    [
        'Write "See you" to Odile',
        'Write "See you" to Odile Renard\'s mother',
        'Write "See you" to a friend of Odile Renard',
        'Write "See you" to everyone but Odile Renard',
        'Write "See you" to Odile Renard or Ruben Holt',
        "Excuse whoever sings with Odile Renard",
        'Odile Renard said to write "See you"',
        "Excuse the one after Odile Renard",
    ],
)
def test_somebody_else_is_asked_about(text: str) -> None:
    assert is_left_alone(text, CATALOG)


def test_a_choir_is_another_thing_than_who_sings_in_it() -> None:
    plan = planned('Invite Odile Renard\'s choir "See you"', CATALOG)
    assert plan.questions or all(FOUND not in map(str, one.inputs.values()) for one in calls_of(plan))
