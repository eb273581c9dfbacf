"""Requests that no tool does, though their words are those of one: they never become a plan that writes and runs."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from tests.planner.offline.test_everyday_requests import FOLDER, calls_of, planned, runs, tool_sets

from toolpath.catalog.snapshot import Catalog
from toolpath.catalog.words import raw_words
from toolpath.model.plan import Call
from toolpath.model.tool import Tool
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.offline.request.toolbox import Toolbox
from toolpath.testing.scripted import scripted

FOREIGN = ("photo", "membership", "dishwasher", "newsletter", "piano", "umbrella", "wedding", "passport", "lawn")
FORMS = (
    "{verb} the {thing}",
    "{verb} the {thing} {id}",
    "please {verb} {thing} {id}",
    "{verb} my {thing}",
    "{verb} the {thing} of 80 euros",
    "{verb} the {thing} to 40",
    '{verb} the {thing} "Alpha"',
)


def writes(request: str, catalog: Catalog) -> list[Call]:
    """The writing calls of a plan that runs."""
    plan = planned(request, catalog)
    made = calls_of(plan) if plan is not None and runs(plan) else []
    return [call for call in made if not catalog.tools[call.tool].is_read]


def test_what_no_tool_does_is_never_done_by_one_whose_words_are_alike() -> None:
    lines = (FOLDER / "unfit.jsonl").read_bytes().splitlines()
    tasks = [msgspec.json.decode(line) for line in lines]
    done = [one["request"] for one in tasks if writes(one["request"], tool_sets()[one["toolset"]])]
    assert done == []


def commands_of_foreign_things(catalog: Catalog) -> Iterator[str]:
    """Each writing tool's verb, with an id of its kind, and with something that is no tool's."""
    box = Toolbox(catalog.tools.values())
    for at, kit in enumerate(kit for kit in box.kits if kit.is_acting):
        verb, *rest = raw_words(kit.tool.name)
        if rest[:1] in (["on"], ["off"]):
            # Anything is a device that may be turned off.
            continue
        prefix = next((box.prefix_of(one) for one in kit.fields if one.kind == "id" and box.prefix_of(one)), "X-")
        for number, form in enumerate(FORMS):
            thing = FOREIGN[(at * 3 + number) % len(FOREIGN)]
            text = form.format(verb=verb, thing=thing, id=f"{prefix}7")
            yield text[0].upper() + text[1:]


@pytest.mark.parametrize("name", sorted(tool_sets()))
def test_a_tools_verb_commands_no_write_of_a_foreign_thing(name: str) -> None:
    catalog = tool_sets()[name]
    requests = [*commands_of_foreign_things(catalog)]
    assert len(requests) >= len(FORMS)
    assert [one for one in requests if writes(one, catalog)] == []


def _tool(tool: str, description: str, **fields: str) -> Tool:
    properties = {field: {"type": "string", "description": told} for field, told in fields.items()}
    schema = {"type": "object", "properties": properties, "required": [*fields], "additionalProperties": False}
    return scripted(tool, then={}, effect="write", description=description, input_schema=schema)


LOCK = _tool("lock_door", "Lock a door.", door="Name of the door")
VACUUM = _tool("start_vacuum", "Have the robot clean a room.", room="Name of the room")
DELETE = _tool("delete_file", "Delete a file.", path="Path of the file")
FOLDERS = _tool("create_folder", "Create a folder.", path="Path of the folder")
REFUND = _tool("refund_payment", "Pay back a payment.", payment_id="Id of the payment, such as pay_81")
PLAYLIST = _tool("create_playlist", "Create a playlist.", name="Name of the playlist")
SONG = _tool("add_song", "Add a song to a playlist.", playlist="Name of the playlist", title="Title of the song")


@pytest.mark.parametrize(
    ("tools", "said", "fitting"),
    [
        ([LOCK], "Lock my screen", "Lock the back door"),
        ([VACUUM], "Start the dishwasher", "Vacuum the hallway"),
        ([DELETE], "Delete my account", "Delete /tmp/old.log"),
        ([DELETE, FOLDERS], "Delete the folder /old", "Delete the file /old"),
        ([REFUND], "Charge pay_81 again", "Refund pay_81"),
        ([PLAYLIST, SONG], "Add Hello to the playlist Gym", "Create the playlist Gym"),
    ],
)
def test_a_write_needs_its_verb_and_its_thing(tools: list[Tool], said: str, fitting: str) -> None:
    catalog = Catalog({tool.key: tool for tool in tools})
    plan = plan_offline(fitting, catalog)
    assert runs(plan), plan.questions
    assert writes(said, catalog) == []


def test_a_read_whose_verb_is_another_one_is_less_sure() -> None:
    schema = {
        "type": "object",
        "properties": {"message_id": {"type": "string", "description": "Id of the message, such as m-42"}},
        "required": ["message_id"],
    }
    read = scripted("read_message", then={}, effect="read", description="Show one message.", input_schema=schema)
    catalog = Catalog({read.key: read})
    shown, printed = plan_offline("Show m-42", catalog), plan_offline("Print m-42", catalog)
    assert (shown.confidence or 0) > 0.8
    assert (printed.confidence or 0) < 0.7
