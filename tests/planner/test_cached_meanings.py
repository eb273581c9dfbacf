"""A plan is taken from the cache only for a request that means the same: other values, and not one word besides."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.planner.planning_cases import catalog_of, schema
from tests.soak import scaled

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Call, Origin, Plan
from toolpath.planner.learning.plan_cache import PlanCache
from toolpath.planner.records import PlanningRecord, PlanningResult, PlanRequest
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted
from toolpath.values import Json, JsonObject

TOOLS = catalog_of(
    scripted("crm.create_contact", effect="write", input_schema=schema("name", "email")),
    scripted("crm.delete_contact", effect="destructive", input_schema=schema("id")),
    scripted("bank.transfer", effect="write", input_schema=schema("amount", "currency", "source", "target")),
    scripted("mail.send", effect="write", input_schema=schema("to", "subject")),
    scripted("home.set_heating", effect="write", input_schema=schema("room", "degrees")),
    scripted("files.copy", effect="write", input_schema=schema("source", "target")),
    scripted("shop.price", effect="read", input_schema=schema("item")),
    scripted("travel.flights", effect="read", input_schema=schema("destination", "day", origin={})),
)

#: Request, tool, inputs: a word in angle brackets is a value of that kind.
CASES: Mapping[str, tuple[str, JsonObject]] = {
    "Create a contact for <name> with email <mail>": ("crm.create_contact", {"name": "<name>", "email": "<mail>"}),
    "Lege einen Kontakt für <name> mit der Adresse <mail> an": (
        "crm.create_contact",
        {"name": "<name>", "email": "<mail>"},
    ),
    "Crée un contact pour <name> avec l'adresse <mail>": ("crm.create_contact", {"name": "<name>", "email": "<mail>"}),
    "Crea un contacto para <name> con el correo <mail>": ("crm.create_contact", {"name": "<name>", "email": "<mail>"}),
    "Delete the contact <id>": ("crm.delete_contact", {"id": "<id>"}),
    "Transfer <amount> EUR from <account> to <account2>": (
        "bank.transfer",
        {"amount": "<amount>", "currency": "EUR", "source": "<account>", "target": "<account2>"},
    ),
    'Send a mail to <mail> with the subject "Hello <name>"': ("mail.send", {"to": "<mail>", "subject": "Hello <name>"}),
    "Set the heating in the Kitchen to <amount> degrees": (
        "home.set_heating",
        {"room": "Kitchen", "degrees": "<amount>"},
    ),
    "Copy <file> to <file2>": ("files.copy", {"source": "<file>", "target": "<file2>"}),
    "Find flights from <name> to <name2> on <day>": (
        "travel.flights",
        {"origin": "<name>", "destination": "<name2>", "day": "<day>"},
    ),
}
NAMES = ("Alice", "Bob", "Chloé", "Dmitri", "Zürich", "Ingrid", "Ravi")
VALUES = {
    "name": st.sampled_from(NAMES),
    "mail": st.builds("{}@{}.org".format, st.sampled_from(("ann", "bo.b", "x1y")), st.sampled_from(("home", "a-b"))),
    "id": st.integers(1, 99_999).map("C-{}".format),
    "amount": st.integers(13, 9_999).map(str),
    "account": st.integers(100, 999).map("AC{}".format),
    "file": st.builds("{}/{}.txt".format, st.sampled_from(("docs", "tmp")), st.sampled_from(("a", "notes", "b_2"))),
    "day": st.builds("2026-{:02}-{:02}".format, st.integers(1, 12), st.integers(1, 28)),
}
_SLOT = re.compile(r"<(\w+?)2?>")


@st.composite
def spoken(draw: st.DrawFn, case: str) -> tuple[str, Plan]:
    """A request of the case, and the plan that is right for it; its values differ from one another."""
    slots = list(dict.fromkeys(re.findall(r"<\w+>", case)))
    values: dict[str, str] = {}
    for slot in slots:
        found = _SLOT.match(slot)
        assert found is not None
        values[slot] = draw(VALUES[found[1]].filter(lambda one: one not in values.values()))
    return filled(case, values), plan_of(case, values)


def filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"<\w+>", lambda slot: values[slot.group()], text)


def plan_of(case: str, values: Mapping[str, str]) -> Plan:
    tool, inputs = CASES[case]
    step = Call(id="only", tool=tool, inputs={key: filled(str(value), values) for key, value in inputs.items()})
    return Plan(steps=(step,), origin=Origin(request=filled(case, values), confidence=0.9))


def kept(text: str, plan: Plan, **asked: Any) -> PlanCache:
    cache = PlanCache(FakeClock())
    planned = PlanningResult(plan=plan, record=PlanningRecord(request=text))
    assert cache.keep(PlanRequest(text=text, **asked), TOOLS, planned)
    return cache


def found(cache: PlanCache, text: str, **asked: Any) -> Json:
    planned = cache.find(PlanRequest(text=text, **asked), TOOLS)
    return None if planned is None else [(step.tool, step.inputs) for step in planned.plan.steps]  # type: ignore[union-attr]


def calls_of(plan: Plan) -> Json:
    return [(step.tool, step.inputs) for step in plan.steps]  # type: ignore[union-attr]


def said_with_other_values(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(sorted(CASES)))
    (text, plan), (other, wanted) = data.draw(spoken(case)), data.draw(spoken(case))
    assert found(kept(text, plan), other) == calls_of(wanted), (text, other)


#: A word more, in the four languages: it denies, makes a condition, excepts, chooses, counts, or says when.
ADDED = re.findall(
    r"\S+",
    """not never don't without unless except if when only all every each first last second half maybe other
    nicht kein ohne falls wenn außer alle jeden erste letzten nur bis
    pas jamais sans si sauf tous chaque premier dernier quand
    no nunca sin si excepto todos cada primero último cuando
    tomorrow yesterday today morgen gestern heute demain hier mañana ayer hoy monday freitag lundi
    and or und oder et ou y o it them him her everyone nobody niemand personne nadie again instead twice""",
)


def said_with_a_word_more(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(sorted(CASES)))
    (text, plan), (other, _) = data.draw(spoken(case)), data.draw(spoken(case))
    words = other.split()
    at = data.draw(st.integers(0, len(words)))
    said = data.draw(st.sampled_from(ADDED))
    said = data.draw(st.sampled_from((said, said.capitalize(), said.upper(), f"{said},")))
    words.insert(at, said)
    assert found(kept(text, plan), " ".join(words)) is None, (text, words)


def said_with_another_word(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(sorted(CASES)))
    (text, plan), (other, _) = data.draw(spoken(case)), data.draw(spoken(case))
    words = other.split()
    at = data.draw(st.integers(0, len(words) - 1))
    said = data.draw(st.sampled_from(ADDED))
    words[at] = data.draw(st.sampled_from((said, said.capitalize(), said.upper())))
    if words[at].casefold() != other.split()[at].casefold():
        assert found(kept(text, plan), " ".join(words)) is None, (text, words)


LAWS = (said_with_other_values, said_with_a_word_more, said_with_another_word)


@pytest.mark.parametrize("law", LAWS)
@given(data=st.data())
@settings(max_examples=25)
def test_a_plan_is_found_for_the_same_meaning_alone(law: Callable[[st.DataObject], None], data: st.DataObject) -> None:
    law(data)


@pytest.mark.soak
@pytest.mark.parametrize("law", LAWS)
@given(data=st.data())
@settings(max_examples=scaled(4_000))
def test_many_pairs_of_requests(law: Callable[[st.DataObject], None], data: st.DataObject) -> None:
    law(data)


HEAT = ("Set the heating in the Kitchen to 20 degrees", "home.set_heating", {"room": "Kitchen", "degrees": "20"})
PAY = (
    "Transfer 20 EUR from AC1 to AC2",
    "bank.transfer",
    {"amount": "20", "currency": "EUR", "source": "AC1", "target": "AC2"},
)
DELETE = ("Delete the contact C-18", "crm.delete_contact", {"id": "C-18"})
COPY = ("Copy docs/a.txt to tmp/a.txt", "files.copy", {"source": "docs/a.txt", "target": "tmp/a.txt"})
PRICE = ("What is the price of tea", "shop.price", {"item": "tea"})
BLANKS = ('Send a mail to a@b.org with the subject "a  b"', "mail.send", {"to": "a@b.org", "subject": "a  b"})


def fly(origin: Json) -> tuple[str, str, JsonObject]:
    inputs = {"origin": origin, "destination": "Rome", "day": "2026-05-01"}
    return "Find flights from Paris to Rome on 2026-05-01", "travel.flights", inputs


@pytest.mark.parametrize(
    ("case", "other"),
    [
        # A unit, a currency, a kind of thing, another way round.
        (HEAT, "Set the heating in the Kitchen to 20 percent"),
        (PAY, "Transfer 20 USD from AC1 to AC2"),
        (PAY, "Transfer 20 EUR to AC1 from AC2"),
        (PAY, "Transfer 20% EUR from AC1 to AC2"),
        (PAY, "Transfer 20.5 EUR from AC1 to AC2"),
        (PAY, "Transfer 007 EUR from AC1 to AC2"),
        (PAY, "Transfer 20 EUR from AC1 to AC2?"),
        (DELETE, "Delete the contact BR-7"),
        (DELETE, "Delete the contact C-18,C-19"),
        (DELETE, "Delete the contact C-18?"),
        (DELETE, "Delete the contact C-*"),
        (DELETE, "DELETE THE CONTACT C-18"),
        (COPY, "Copy docs/a.pdf to tmp/a.txt"),
        (COPY, "Copy ../a.txt to tmp/a.txt"),
        (PRICE, "What is the price of everything"),
        (PRICE, "What is the price of it"),
        (PRICE, "What is the price of Monday"),
        # What the plan made of its request goes with it.
        (fly("Paris, France"), "Find flights from Berlin to Rome on 2026-05-01"),
        (fly("PAR"), "Find flights from Berlin to Rome on 2026-05-01"),
        (fly("{{ 'Paris' }}"), "Find flights from Berlin to Rome on 2026-05-01"),
        (fly({"Paris": 1}), "Find flights from Berlin to Rome on 2026-05-01"),
        (fly("Paris"), "Find flights from Berlin to Rome on 2026-02-30"),
        (BLANKS, 'Send a mail to a@b.org with the subject "c  d"'),
    ],
)
def test_what_is_nearly_the_same_is_another_request(case: tuple[str, str, JsonObject], other: str) -> None:
    text, tool, inputs = case
    plan = Plan(steps=(Call(id="only", tool=tool, inputs=inputs),), origin=Origin(request=text, confidence=0.9))
    assert found(kept(text, plan), other) is None
    assert found(kept(text, plan), text) == [(tool, inputs)]


#: Words that name nobody and no place of its own, in the four languages.
NAMING_NOTHING = re.findall(
    r"\S+",
    """Anyone Everybody Whichever Yourself Herself Yours Anywhere Elsewhere Home Unknown Default Please Christmas
    Stop Cancel Undo
    Irgendjemand Manche Welchen Euch Überall Dort Zuhause Unbekannt Bitte Ostern Stopp Abbrechen
    Quiconque Certains Autrui Eux Celui Partout Ailleurs Inconnu Merci Noël Annule
    Cualquiera Alguien Ustedes Aquellos Allí Aquí Desconocido Gracias Navidad Cancela""",
)


@pytest.mark.parametrize("word", NAMING_NOTHING)
def test_a_word_that_names_nothing_stands_in_for_no_name(word: str) -> None:
    inputs: JsonObject = {"name": "Alice", "email": "a@b.org"}
    text = "Create a contact for Alice with email a@b.org"
    plan = Plan(steps=(Call(id="only", tool="crm.create_contact", inputs=inputs),), origin=Origin(confidence=0.9))
    cache = kept(text, plan)
    assert found(cache, text.replace("Alice", word)) is None
    assert found(cache, text.replace("Alice", "Ingrid")) == [("crm.create_contact", {**inputs, "name": "Ingrid"})]


def test_digits_of_another_script_are_another_request() -> None:
    plan = Plan(steps=(Call(id="only", tool=PAY[1], inputs=PAY[2]),), origin=Origin(request=PAY[0], confidence=0.9))
    assert found(kept(PAY[0], plan), PAY[0].replace("20", "\uff12\uff10")) is None


def test_roles_that_are_swapped_are_swapped_in_the_plan() -> None:
    plan = Plan(steps=(Call(id="only", tool=PAY[1], inputs=PAY[2]),), origin=Origin(request=PAY[0], confidence=0.9))
    assert found(kept(PAY[0], plan), "Transfer 20 EUR from AC2 to AC1") == [
        (PAY[1], {**PAY[2], "source": "AC2", "target": "AC1"})
    ]


ASKER = {"user": "ann", "permissions": ["mail.send"], "time_zone": "Europe/Berlin", "locale": "de", "model": "a/b"}


@pytest.mark.parametrize(
    "other",
    [
        {"user": "bob"},
        {"permissions": []},
        {"permissions": ["mail.send", "admin"]},
        {"time_zone": "Asia/Tokyo"},
        {"locale": "en"},
        {"model": "a/c"},
    ],
    ids=str,
)
def test_a_plan_is_found_by_who_asks_alike_alone(other: JsonObject) -> None:
    plan = Plan(steps=(Call(id="only", tool=PAY[1], inputs=PAY[2]),), origin=Origin(request=PAY[0], confidence=0.9))
    cache = kept(PAY[0], plan, asker=ASKER)
    assert found(cache, PAY[0], asker={**ASKER, **other}) is None
    assert found(cache, PAY[0], asker=dict(ASKER)) == [PAY[1:]]


@pytest.mark.parametrize(
    "changed",
    [
        {"effect": "destructive"},
        {"description": "Sends money."},
        {"input_schema": schema("amount", "currency", "source", "target", note={"type": "string"})},
        {"idempotent": True},
        None,
    ],
    ids=str,
)
def test_a_plan_is_not_found_with_tools_that_changed(changed: JsonObject | None) -> None:
    plan = Plan(steps=(Call(id="only", tool=PAY[1], inputs=PAY[2]),), origin=Origin(request=PAY[0], confidence=0.9))
    cache = kept(PAY[0], plan)
    tools = dict(TOOLS.tools)
    tool = tools.pop(PAY[1])
    if changed is not None:
        tools[PAY[1]] = msgspec.structs.replace(tool, **changed)
    assert cache.find(PlanRequest(text=PAY[0]), Catalog(tools)) is None


def test_a_request_that_is_a_document_is_not_compared() -> None:
    text = f"{PAY[0]} {'x' * 1_000_000}"
    plan = Plan(steps=(Call(id="only", tool=PAY[1], inputs=PAY[2]),), origin=Origin(request=text, confidence=0.9))
    cache = PlanCache(FakeClock())
    assert not cache.keep(PlanRequest(text=text), TOOLS, PlanningResult(plan=plan, record=PlanningRecord(request=text)))
    assert found(cache, text) is None


@pytest.mark.parametrize("about", [{"context": {"said": "Hello."}}, {"is_words": False}], ids=str)
def test_what_does_not_stand_alone_is_neither_kept_nor_found(about: JsonObject) -> None:
    plan = Plan(steps=(Call(id="only", tool=PAY[1], inputs=PAY[2]),), origin=Origin(request=PAY[0], confidence=0.9))
    planned = PlanningResult(plan=plan, record=PlanningRecord(request=PAY[0]))
    assert not PlanCache(FakeClock()).keep(PlanRequest(text=PAY[0], **about), TOOLS, planned)
    assert found(kept(PAY[0], plan), PAY[0], **about) is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Find flights from Paris to Rome tomorrow", "tomorrow"),
        ("Suche Flüge von Paris nach Rome übermorgen", "übermorgen"),
        ("Cherche des vols de Paris à Rome demain", "demain"),
        ("Busca vuelos de Paris a Rome pasado mañana", "pasado mañana"),
        # Whatever the words are: a day that they do not have in digits was counted from another one.
        ("Find flights from Paris to Rome on the 5th", "2026-05-05"),
        ("Znajdź loty z Paris do Rome jutro", "2026-05-05"),
        ("Find flights from Paris to Rome at dawn", "1777958400"),
    ],
)
def test_what_is_counted_from_a_day_is_not_kept(text: str, day: str) -> None:
    inputs = {"origin": "Paris", "destination": "Rome", "day": day}
    plan = Plan(steps=(Call(id="only", tool="travel.flights", inputs=inputs),), origin=Origin(confidence=0.9))
    planned = PlanningResult(plan=plan, record=PlanningRecord(request=text))
    assert not PlanCache(FakeClock()).keep(PlanRequest(text=text), TOOLS, planned)


def test_a_plan_found_says_nothing_of_the_other_request() -> None:
    step = Call(id="only", tool="crm.delete_contact", inputs={"id": "C-18"})
    origin = Origin(request=DELETE[0], reasoning="C-18 is to go.", confidence=0.9)
    plan = Plan(steps=(step,), origin=origin, description="Delete C-18")
    planned = kept(DELETE[0], plan).find(PlanRequest(text="Delete the contact C-19"), TOOLS)
    assert planned is not None
    assert "C-18" not in repr(planned)
