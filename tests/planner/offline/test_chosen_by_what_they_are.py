"""Several things that a request chooses by what they are name none of them, and only a room stands for a room."""

from __future__ import annotations

from itertools import product

import pytest
from tests.planner.offline.test_everyday_requests import calls_of, planned, runs
from tests.planner.offline.test_unfit_requests import writes
from tests.planner.offline.test_unserved_requests import tool_sets

from toolpath.catalog.snapshot import Catalog
from toolpath.planner.scoring.gold import ToolData, catalog_of
from toolpath.values import JsonObject

STATES = ("empty", "old", "largest", "unused", "slow", "broken")
#: Tool set, verb, several of its things.
COMMANDS = (
    ("files", "delete", "files"),
    ("data", "drop", "tables"),
    ("servers", "restart", "servers"),
    ("servers", "delete", "backups"),
    ("home", "lock", "doors"),
    ("git", "delete", "branches"),
)


@pytest.mark.parametrize(("name", "verb", "things"), COMMANDS)
def test_how_several_things_are_is_the_name_of_none(name: str, verb: str, things: str) -> None:
    forms = ("{Verb} the {state} {things}", "Please {verb} all {state} {things}", "{Verb} my {state} {state2} {things}")
    for form, (at, state) in product(forms, enumerate(STATES)):
        said = form.format(Verb=verb.title(), verb=verb, state=state, state2=STATES[at - 1], things=things)
        assert writes(said, tool_sets()[name]) == [], said


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("List /tmp and delete the empty files", "files"),
        ("Delete the empty file", "files"),
        ("Supprime les fichiers vides", "files"),
        ("Lösche die leeren Dateien", "files"),
        ("Borra los archivos vacíos", "files"),
        ("Delete the stale branches of acme/api", "git"),
        ("List the servers of blue and restart the slow servers", "servers"),
    ],
)
def test_several_things_beside_other_words_are_the_name_of_none(said: str, name: str) -> None:
    assert writes(said, tool_sets()[name]) == []


def test_what_is_named_is_done_however_it_is_called() -> None:
    assert [call.inputs for call in writes("Drop the table leads", tool_sets()["data"])] == [{"table": "leads"}]
    assert [call.inputs for call in writes("Lock the front door", tool_sets()["home"])] == [{"door": "front door"}]


@pytest.mark.parametrize(
    ("no_room", "room"),
    [
        ("Set the soup to 20 degrees", "Set the study to 20 degrees"),
        ("Set the aquarium to 25 degrees", "Set the kitchen to 21 degrees"),
        ("Vacuum the sofa", "Vacuum the hallway"),
        ("Stell die Suppe auf 20 Grad", "Stell das Arbeitszimmer auf 20 Grad"),
        ("Mets la soupe à 20 degrés", "Mets le salon à 20 degrés"),
        ("Pon la sopa a 20 grados", "Pon el dormitorio a 20 grados"),
    ],
)
def test_what_no_room_is_called_is_no_room(no_room: str, room: str) -> None:
    home = tool_sets()["home"]
    assert writes(no_room, home) == []
    plan = planned(room, home)
    assert plan is not None
    assert runs(plan), plan.questions
    assert len(writes(room, home)) == 1


def _tool(name: str, description: str, effect: str, **fields: JsonObject) -> ToolData:
    required = [one for one in fields if one != "zone"]
    return ToolData(
        name=name,
        description=description,
        effect=effect,
        parameters={"type": "object", "properties": dict(fields), "required": required, "additionalProperties": False},
    )


def _garden(*zones: str) -> Catalog:
    amount: JsonObject = {"type": "number", "description": "How much, in litres"}
    zone: JsonObject = {"type": "string", "enum": [*zones], "description": "Zone"}
    return catalog_of((_tool("water_bed", "Water a bed of the garden.", "write", litres=amount, zone=zone),))


LETTERS = (("a", "b", "c"), ("A", "B"), ("e", "u"))


@pytest.mark.parametrize("zones", LETTERS)
@pytest.mark.parametrize(
    "said",
    [
        "Arrose à 5 litres",
        "Arrose a 5 litres",
        "Riega con 5 litros y ya",
        "Water a bed with 5 litres",
        "Gieß 5 Liter o so",
    ],
)
def test_an_option_of_one_letter_is_no_little_word(zones: tuple[str, ...], said: str) -> None:
    plan = planned(said, _garden(*zones))
    assert plan is None or not any("zone" in call.inputs for call in calls_of(plan))


@pytest.mark.parametrize(
    "said", ["Water zone {} with 5 litres", "Water with 5 litres in zone {}", "Arrose la zone {} avec 5 litres"]
)
@pytest.mark.parametrize("zones", LETTERS)
def test_an_option_of_one_letter_is_taken_where_it_is_named_and_asked_about_where_there_is_none(
    zones: tuple[str, ...], said: str
) -> None:
    for zone in zones:
        plan = planned(said.format(zone), _garden(*zones))
        assert plan is not None
        assert [call.inputs.get("zone") for call in calls_of(plan)] == [zone]
    other = "k" if zones[0].islower() else "K"
    assert writes(said.format(other), _garden(*zones)) == []


@pytest.mark.parametrize(
    "said", ["Water with 5 litres in D", "Water a bed with 5 litres in D.", "Arrose 5 litres dans D"]
)
def test_a_letter_that_no_value_holds_is_asked_about(said: str) -> None:
    assert writes(said, _garden("a", "b")) == []


SACKS = catalog_of(
    (
        _tool("list_sacks", "List the sacks of coffee.", "read", state={"type": "string", "enum": ["fresh", "stale"]}),
        _tool("ship_sack", "Ship a sack.", "write", sack_id={"type": "string", "description": "Id, such as S-4"}),
    )
)


@pytest.mark.parametrize("verb", ["roast", "blorg", "steam", "iron"])
@pytest.mark.parametrize(
    "form",
    [
        "List the stale sacks and {} each of them",
        "List the stale sacks and then {} them",
        "List the stale sacks, {} each of them",
        "List the stale sacks; {} all of them",
        "List the stale sacks. {} them.",
        "Liste die Säcke auf und {} jeden davon",
    ],
)
def test_an_act_in_a_verb_nobody_knows_is_not_dropped(form: str, verb: str) -> None:
    plan = planned(form.format(verb), SACKS)
    assert plan is None or any(verb in one for one in plan.questions)


def test_a_list_alone_leaves_nothing_out() -> None:
    plan = planned("List the stale sacks", SACKS)
    assert plan is not None
    assert plan.questions == ()


REPORTS = catalog_of(
    (
        _tool(
            "report_vehicle",
            "Report a vehicle as stolen.",
            "write",
            vehicle_id={"type": "string", "description": "Id, such as V-9"},
        ),
    )
)


@pytest.mark.parametrize("thing", ["the bicycle", "a bicycle", "my bicycle", "the two bicycles", "das Fahrrad"])
@pytest.mark.parametrize(
    "form", ["Report V-9 and {}", "Report {} and V-9", "Report V-9 plus {}", "Report V-9, {} and V-10"]
)
def test_what_is_joined_to_an_id_is_not_dropped(form: str, thing: str) -> None:
    assert writes(form.format(thing), REPORTS) == []
