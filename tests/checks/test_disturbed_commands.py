"""Commands that write, and the same ones disturbed by a word, a sign or a sentence beside them: those write nothing."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from tests.planner.made_tools import tool

from toolpath import Settings
from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, every_step
from toolpath.planner.offline.planner import plan_offline

TEXT: dict[str, Any] = {"type": "string"}
DAY: dict[str, Any] = {"type": "string", "format": "date"}
NUMBER: dict[str, Any] = {"type": "number"}
COUNT: dict[str, Any] = {"type": "integer"}
TARIFF: dict[str, Any] = {"type": "string", "enum": ["basic", "plus", "student"]}

TOOLS = {
    "gym": (
        tool("block_member", "Block the card of a member.", "write", member_id=TEXT),
        tool("delete_member", "Delete a member.", "destructive", member_id=TEXT),
        tool("change_tariff", "Change the tariff of a member.", "write", member_id=TEXT, tariff=TARIFF),
        tool("get_member", "A member by number.", "read", {"name": TEXT, "tariff": TEXT}, member_id=TEXT),
        tool("enrol_in_course", "Enrol a member in a course.", "write", member_id=TEXT, course=TEXT),
    ),
    "vet": (
        tool("cancel_visit", "Cancel a visit.", "destructive", visit_id=TEXT),
        tool("move_visit", "Move a visit to another day.", "write", visit_id=TEXT, day=DAY),
        tool("get_visit", "Show a visit.", "read", {"day": DAY, "status": TEXT}, visit_id=TEXT),
    ),
    "brewery": (
        tool("clean_tank", "Clean a tank with lye.", "write", tank=TEXT),
        tool("empty_tank", "Empty a tank. Shows its litres.", "destructive", tank=TEXT),
        tool("reserve_tables", "Reserve tables of the taproom.", "write", hall=TEXT, tables=COUNT),
        tool("pay_invoice", "Pay an invoice of a supplier.", "write", invoice_no=TEXT, amount=NUMBER),
        tool("irrigate_field", "Irrigate a field of hops.", "write", field=TEXT, minutes=COUNT),
    ),
    "servers": (
        tool("restart_server", "Restart a server.", "write", server=TEXT),
        tool("delete_server", "Delete a server and its disks.", "destructive", server=TEXT),
        tool("scale_service", "Scale a service to so many replicas.", "write", service=TEXT, replicas=COUNT),
        tool("mark_paid", "Mark an order as paid.", "write", order_no=TEXT),
        tool("send_message", "Send a message to somebody.", "write", to=TEXT, text=TEXT),
    ),
}
CATALOGS = {name: Catalog({one.key: one for one in tools}) for name, tools in TOOLS.items()}
COMMANDS = {
    "en": (
        *(("gym", "delete member M-31"), ("gym", "change the tariff of member M-31 to plus")),
        *(("vet", "cancel visit VS-31"), ("brewery", "clean tank T-31"), ("servers", "restart server web-31")),
    ),
    "de": (
        *(("gym", "lösche das Mitglied M-31"), ("vet", "storniere den Besuch VS-31")),
        *(("brewery", "reinige den Tank T-31"), ("servers", "lösche den Server web-31")),
    ),
    "fr": (("gym", "supprime le membre M-31"), ("vet", "annule la visite VS-31"), ("brewery", "vide le tank T-31")),
    "es": (
        ("gym", "borra el miembro M-31"),
        ("vet", "cancela la visita VS-31"),
        ("servers", "reinicia el servidor web-31"),
    ),
}
#: A sentence, a word or a sign by which the command is none, or none for now.
DISTURBED = {
    "en": """
{} again and again
{} over and over
{}, well...
{}, well
{}. Well.
{} - n/a
{} (n/a)
She was like, {}
He goes: {}
{}. Not needed.
{}. Not necessary.
{} - cancel
{}: void
{} (cancelled)
{}. Cancelled.
{} ✓
{} ✗
{} !=
[ ] {}
[x] {}
> {}
>> {}
~~{}~~
{}, I dare you
{}, ha ha
{}, so to speak
{} y/n
{}, right
{} one day
{} some day
{}. The opposite is true.
{}. Cancel that.
{}. Drop it.
{}. I've changed my mind.
{}. That's forbidden.
{}. Tom did it already.
{}. What do you think?
First get approval. Then {}
Get Tom's approval, then {}
Plan B: {}
Message from Tom: {}
Let me {}
""",
    "de": """
{} ab jetzt immer
{} immer wieder
{}, naja
{}, na ja...
{}. Nicht nötig.
{} - storniert
{}. Storniert.
{}. Tom hat das schon gemacht.
{}. Das ist schon erledigt.
{}. Ich habe es mir anders überlegt.
{}. Ich überlege es mir noch.
{}. Das ist verboten.
{}. Vergiss es.
{}. Lass es.
{}. Was meinst du?
{}, stimmt's
{}, je nach Wetter
Regnet es morgen, {}
Wird es spät, {}
{}, sozusagen
Stell dir vor, du {}
Plan B: {}
Nachricht von Tom: {}
""",
    "fr": """
{} désormais
{} encore et encore
{}, bof
{}. Pas nécessaire.
{} - annulé
{}. Annulé.
{}. C'est déjà fait.
{}. J'ai changé d'avis.
{}. C'est interdit.
{}, je crois
{}, pour ainsi dire
{} un jour
{}. Qu'en penses-tu ?
Message de Tom : {}
""",
    "es": """
{} de ahora en adelante
{} una y otra vez
{}, bueno...
{}. No es necesario.
{} - anulado
{}. Anulado.
{}. Ya está hecho.
{}. He cambiado de idea.
{}. Está prohibido.
{}, por así decirlo
{} algún día
{}. ¿Qué te parece?
Mensaje de Tom: {}
""",
}
FRAMES = [(language, frame) for language, frames in DISTURBED.items() for frame in frames.strip().splitlines()]


def written(where: str, request: str) -> list[tuple[str, dict[str, Any]]]:
    """The calls that a run of the plan would change something with."""
    catalog = CATALOGS[where]
    try:
        plan = plan_offline(request, catalog, today=date(2027, 2, 15))
    except NoToolFits:
        return []
    if plan.questions or (plan.confidence or 0) < Settings().planner_floor:
        return []
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call)]
    return [(call.tool, dict(call.inputs)) for call in calls if not catalog.tools[call.tool].is_read]


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


@pytest.mark.parametrize("language", COMMANDS)
def test_a_plain_command_writes(language: str) -> None:
    for where, command in COMMANDS[language]:
        assert written(where, capital(command)), command


@pytest.mark.parametrize(("language", "frame"), FRAMES)
def test_a_disturbed_command_writes_nothing(language: str, frame: str) -> None:
    for where, command in COMMANDS[language]:
        said = capital(frame.format(capital(command) if frame.startswith("{}") else command))
        assert written(where, said) == [], said


REASONS = [
    ("gym", "Delete member M-31, he moved to Rome"),
    ("vet", "Cancel visit VS-31, it is no longer needed"),
    ("servers", "Delete server web-31. Nobody uses it any more."),
    ("servers", "Restart server web-31, it doesn't respond"),
    ("vet", "Cancela la visita VS-31, ya no hace falta"),
    ("brewery", "Clean tank T-31, thanks \U0001f642"),
]


@pytest.mark.parametrize(("where", "request_"), REASONS)
def test_a_reason_beside_a_command_leaves_it_one(where: str, request_: str) -> None:
    assert written(where, request_), request_


@pytest.mark.parametrize(
    "request_", ["Clean tank T-31. It is no longer needed.", "Clean tank T-31, not needed any more."]
)
def test_what_is_not_needed_is_no_reason_to_do_it(request_: str) -> None:
    assert written("brewery", request_) == []


#: What stands for the dots, and whether it may be taken as it stands.
NUMBERS = {
    "Pay {} euros for invoice INV-31": (
        ("5", "12.50", "1200"),
        ("~5", "≤5", "<5", ">5", "±5", "5½", "100+5", "5 + 3", "5²"),
    ),
    "Reserve {} for hall H-4": (
        ("2 tables", "12 tables"),
        *[
            (
                "2nd table",
                "the second table",
                "table 2",
                "tables 2 and 3",
                "2 tables and 3 tables",
                "ten % of the tables",
            )
        ],
    ),
    "Irrigate field F-12 {}": (
        ("for 20 minutes", "for 20 min"),
        *[("in 20 minutes", "after 20 minutes", "20 minutes from now", "20 minutes later", "for 20 and 30 minutes")],
    ),
}


@pytest.mark.parametrize("frame", NUMBERS)
def test_a_number_with_a_mark_or_a_word_that_makes_it_another_is_asked_about(frame: str) -> None:
    plain, marked = NUMBERS[frame]
    assert [one for one in plain if not written("brewery", frame.format(one))] == []
    assert [one for one in marked if written("brewery", frame.format(one))] == []


def test_what_comes_on_top_is_not_what_comes_of_it() -> None:
    assert written("servers", "Scale the service billing to 3 replicas")
    assert written("servers", "Scale the service billing to 3 replicas more") == []
    assert written("servers", "Scale the service billing up by 3 replicas") == []


PLAIN_CHANGES = [
    ("vet", "Move visit VS-31 to 2027-03-05"),
    ("gym", "Change the tariff of member M-31 to student"),
    ("gym", "Change the tariff of member M-31 from basic to plus"),
    ("servers", "Mark order BK-12 as paid"),
    ("servers", "Delete server web-31"),
    ("servers", "Restart servers web-31 and web-32"),
]
OTHER_CHANGES = [
    ("vet", "Move visit VS-31 from Friday"),
    ("vet", "Move visit VS-31 of 2027-03-05"),
    ("vet", "Move visit VS-31 to yesterday"),
    ("vet", "Move visit VS-31 to last Friday"),
    ("vet", "Move visit VS-31 to Friday and Saturday"),
    ("vet", "Move visit VS-31 to 2027-03-05 2027-03-06"),
    ("vet", "Move visit VS-31 to 2027-W10"),
    ("gym", "Change the tariff of member M-31 from basic"),
    ("gym", "Change the basic tariff of member M-31"),
    ("gym", "Change the tariff of student M-31"),
    ("gym", "Change the tariff of member M-31 to basic and plus"),
    ("gym", "Enrol member M-31 in the course yoga barring objections"),
    ("gym", "Enrol member M-31 in the course yoga. Drop it."),
    ("servers", "Mark order BK-12"),
    ("servers", "Mark order BK-12 as to be paid"),
    ("servers", "Delete the disks of server web-31"),
    ("servers", "Delete the server below web-31"),
    ("servers", "Tom restarted server web-31. Restart server web-32."),
    ("servers", "Restart one of server web-31 and server web-32"),
    ("servers", "Write down: tell Tom that the cakes are ready"),
    ("servers", "Send a message to Tom: the cakes are ready. Let me sleep on it."),
    ("servers", "Send a message to Tom: the cakes are ready. Can we do that?"),
    ("brewery", "Empty tank T-31 after tank T-32"),
    ("brewery", "Empty tank T-31 before tank T-32"),
    ("brewery", "Clean tank T-31 as with tank T-32"),
]


@pytest.mark.parametrize(("where", "request_"), PLAIN_CHANGES)
def test_a_change_that_says_what_it_is_to_be_is_made(where: str, request_: str) -> None:
    assert written(where, request_), request_


@pytest.mark.parametrize(("where", "request_"), OTHER_CHANGES)
def test_a_value_that_is_said_of_something_else_is_asked_about(where: str, request_: str) -> None:
    assert written(where, request_) == [], request_


def test_what_somebody_is_told_keeps_its_words() -> None:
    told = written("servers", "Tell Tom that the cakes are ready only on Mondays")
    assert [inputs["text"] for _, inputs in told] == ["the cakes are ready only on Mondays"]
