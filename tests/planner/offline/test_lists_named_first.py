"""Lists that stand before what is done with them, and those of which a denial says which are meant."""

from __future__ import annotations

from typing import Any

import pytest
from tests.planner.made_tools import tool
from tests.planner.offline.planned_over import is_left_alone, planned, writes

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.reordered import reordered
from toolpath.model.plan import Call, Loop

TEXT = {"type": "string"}


def listed(name: str, **fields: Any) -> dict[str, Any]:
    return {name: {"type": "array", "items": {"type": "object", "properties": fields}}}


PARCEL = {"type": "string", "description": "Number of the parcel, e.g. PK-12"}
TOOLS = (
    tool(
        "list_parcels",
        "List the parcels of the depot.",
        "read",
        listed("parcels", parcel_id=TEXT, paid={"type": "boolean"}, insured={"type": "boolean"}, weight=TEXT),
        state_={"type": "string", "enum": ["stored", "damaged", "delayed"]},
        day_={"type": "string", "format": "date", "description": "Day on which they came in"},
    ),
    tool("return_parcel", "Return a parcel to its sender.", "destructive", {}, parcel_id=PARCEL),
    tool(
        "set_state",
        "Set the state of a parcel.",
        "write",
        {},
        parcel_id=PARCEL,
        state={"type": "string", "enum": ["stored", "damaged", "delayed", "collected"]},
    ),
    tool("repack_parcel", "Repack a parcel.", "write", {}, parcel_id=PARCEL),
)
CATALOG = Catalog({one.key: one for one in TOOLS})


LISTS = {
    "all the parcels that are damaged": {"state": "damaged"},
    "every parcel that is delayed": {"state": "delayed"},
    "all damaged parcels": {"state": "damaged"},
}
FIRST = ("{list}: {verb} them", "{list}, {verb} them", "{list} - {verb} each of them", "For {list}, {verb} it")


@pytest.mark.parametrize("said", LISTS)
@pytest.mark.parametrize("form", FIRST)
@pytest.mark.parametrize(("verb", "acting"), [("return", "return_parcel"), ("repack", "repack_parcel")])
def test_what_is_done_with_a_list_that_is_named_before_is_done_with_each_of_it(
    said: str, form: str, verb: str, acting: str
) -> None:
    plan = planned(form.format(list=said, verb=verb), CATALOG)
    assert not plan.questions
    (read, loop) = plan.steps
    assert isinstance(read, Call)
    assert (read.tool, read.inputs) == ("list_parcels", LISTS[said])
    assert isinstance(loop, Loop)
    assert [one.tool for one in writes(plan, CATALOG)] == [acting]


@pytest.mark.parametrize(
    "text",
    [
        "We cleared the shelf, so all parcels that are damaged, set them to collected",
        "all damaged parcels: please set them to collected",
        "Go through the damaged parcels and set every one of them to collected",
    ],
)
def test_what_is_said_behind_the_list_stays_with_the_command(text: str) -> None:
    plan = planned(text, CATALOG)
    assert not plan.questions
    assert [one.inputs["state"] for one in writes(plan, CATALOG)] == ["collected"]


@pytest.mark.parametrize(
    "text",
    [
        "All parcels are damaged, return them",
        "All damaged parcels, we returned them yesterday",
        "All damaged parcels: don't return them",
        "All damaged parcels, never return them",
        "All damaged parcels, returning them costs money",
        "All damaged parcels: who returned them?",
        "Every parcel I repack, Tom returns it",
        'He said: "all damaged parcels: return them"',
        "Go through the damaged parcels and tell me which of them to return",
    ],
)
def test_a_list_of_which_something_is_told_is_no_command(text: str) -> None:
    assert is_left_alone(text, CATALOG)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Alle Pakete, die beschädigt sind, schick sie zurück", "schick alle Pakete, die beschädigt sind, zurück"),
        ("Toutes les commandes en retard, annule-les", "annule toutes les commandes en retard"),
        ("Todas las reservas de mañana: cancélalas", "cancela todas las reservas de mañana"),
        ("For every late job, send a note.", "send a note for every late job."),
        ("Run through the late jobs and send me their owners", "send me the owners of all the late jobs"),
        ("Close all jobs that are old, archive them.", "Close all jobs that are old, archive them."),
        ("All jobs that came in, close them already", "close all jobs that came in already"),
    ],
)
def test_the_command_stands_before_its_list(text: str, said: str) -> None:
    assert reordered(text) == said


DENIED = {
    "Return every parcel that is not {flag}": "not",
    "Return all parcels that aren't {flag}": "not",
    "return all parcels of today that haven't been {flag} yet": "not",
    "All parcels that are not {flag}: return them": "not",
    "Return every parcel that is {flag}": "",
}


@pytest.mark.parametrize("form", DENIED)
@pytest.mark.parametrize("flag", ["paid", "insured"])
def test_a_denial_that_says_which_are_meant_is_a_condition_of_each(form: str, flag: str) -> None:
    plan = planned(form.format(flag=flag), CATALOG)
    assert not plan.questions
    assert [one.when for one in writes(plan, CATALOG)] == [
        f"{{{{ {DENIED[form]} item.{flag} }}}}".replace("{{  ", "{{ ")
    ]


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("retourne tous les colis qui ne sont pas payés", "{{ not item.paid }}"),
        ("devuelve todos los paquetes que no estén pagados", "{{ not item.paid }}"),
    ],
)
def test_it_does_so_in_other_languages(text: str, when: str) -> None:
    plan = planned(text, CATALOG)
    assert [one.when for one in writes(plan, CATALOG)] in ([when], [])


@pytest.mark.parametrize(
    "text",
    [
        "Return every parcel that isn't heavy",
        "Return every parcel that I don't need",
        "Return every parcel that is paid and isn't heavy",
        "Return every parcel that won't be paid",
        "Return all parcels that are not only paid",
        "Don't return every parcel that is not paid",
        "Never return all parcels that are not paid",
        "Return every parcel that is not paid but not the insured ones",
        "Return no parcel that is not paid",
        "Return every parcel that was not paid on Monday",
        "Return every parcel that was not paid yesterday",
    ],
)
def test_another_denial_is_asked_about(text: str) -> None:
    assert is_left_alone(text, CATALOG)
