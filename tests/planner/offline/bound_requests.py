"""Tool sets and commands at random in which every value has one place: the words beside it say which."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from toolpath.catalog.snapshot import Catalog
from toolpath.model.tool import Tool

LANGUAGES = ("en", "de", "fr", "es")


class Role(NamedTuple):
    """A parameter, and the ways in which a value is said to be its own, in each language, parted by `|`."""

    name: str
    kind: str
    phrases: tuple[str, str, str, str]


class Thing(NamedTuple):
    """What a tool acts on: its noun in each language with its article, and the letters of its ids."""

    noun: str
    prefix: str
    said: tuple[str, str, str, str]


class Deed(NamedTuple):
    """A verb of tools, and its command in each language; `{o}` is the object, `{r}` what else is said."""

    verb: str
    commands: tuple[str, str, str, str]
    roles: tuple[Role, ...]


THINGS = (
    Thing("parcel", "PA", ("parcel", "das Paket", "le colis", "el paquete")),
    Thing("order", "OR", ("order", "die Bestellung", "la commande", "el pedido")),
    Thing("ticket", "TI", ("ticket", "das Ticket", "le ticket", "el ticket")),
    Thing("invoice", "IN", ("invoice", "die Rechnung", "la facture", "la factura")),
    Thing("booking", "BO", ("booking", "die Buchung", "la réservation", "la reserva")),
    Thing("account", "AC", ("account", "das Konto", "le compte", "la cuenta")),
)
SOURCE = Role("source", "place", ("from {}|out of {}", "von {}|aus {}", "de {}|depuis {}", "desde {}|de {}"))
TARGET = Role("target", "place", ("to {}|into {}|towards {}", "nach {}", "vers {}|à {}", "hacia {}|a {}"))
DAY = Role("date", "day", ("on {}", "am {}", "le {}", "el {}"))
START = Role("start_date", "day", ("from {}", "von {}", "du {}", "desde el {}"))
END = Role("end_date", "day", ("to {}", "bis {}", "au {}", "hasta el {}"))
EMAIL = Role("email", "email", ("to {}", "an {}", "à {}", "a {}"))
AMOUNT = Role(
    "amount",
    "amount",
    (
        "over {} euros|of {} euros|with an amount of {}",
        "über {} Euro|mit {} Euro",
        "de {} euros",
        "de {} euros|por {} euros",
    ),
)
QUANTITY = Role(
    "quantity",
    "count",
    ("{} pieces|quantity {}", "{} Stück|Menge {}", "{} pièces|quantité {}", "{} piezas|cantidad {}"),
)
PRICE = Role(
    "price",
    "amount",
    (
        "at a price of {}|at {}|priced at {}",
        "zum Preis von {}|zu {} Euro",
        "au prix de {}|à {} euros",
        "al precio de {}|a {} euros",
    ),
)
PERCENT = Role("percent", "percent", ("with {} percent", "mit {} Prozent", "avec {} pour cent", "con {} por ciento"))
NOTE = Role("note", "text", ('with the note "{}"', 'mit der Notiz "{}"', 'avec la note "{}"', 'con la nota "{}"'))
PERSON = Role("assignee", "person", ("to {}", "an {}", "à {}", "a {}"))
PRIORITY = Role(
    "priority", "level", ("with priority {}", "mit Priorität {}", "avec la priorité {}", "con la prioridad {}")
)

DEEDS = (
    Deed(
        "move",
        ("Move {o} {r}", "Verschiebe {o} {r}", "Déplace {o} {r}", "Mueve {o} {r}"),
        (SOURCE, TARGET, DAY, NOTE),
    ),
    Deed("send", ("Send {o} {r}", "Sende {o} {r}", "Envoie {o} {r}", "Envía {o} {r}"), (EMAIL, DAY, NOTE)),
    Deed("cancel", ("Cancel {o} {r}", "Storniere {o} {r}", "Annule {o} {r}", "Cancela {o} {r}"), (NOTE, DAY)),
    Deed(
        "reserve",
        ("Reserve {o} {r}", "Reserviere {o} {r}", "Réserve {o} {r}", "Reserva {o} {r}"),
        (START, END, QUANTITY, PRICE),
    ),
    Deed("refund", ("Refund {o} {r}", "Erstatte {o} {r}", "Rembourse {o} {r}", "Reembolsa {o} {r}"), (AMOUNT, NOTE)),
    Deed("assign", ("Assign {o} {r}", "Weise {o} {r} zu", "Attribue {o} {r}", "Asigna {o} {r}"), (PERSON, PRIORITY)),
    Deed(
        "discount",
        ("Discount {o} {r}", "Rabattiere {o} {r}", "Remise {o} {r}", "Descuenta {o} {r}"),
        (PERCENT, DAY),
    ),
    Deed("archive", ("Archive {o} {r}", "Archiviere {o} {r}", "Archive {o} {r}", "Archiva {o} {r}"), (NOTE,)),
    Deed("sell", ("Sell {o} {r}", "Verkaufe {o} {r}", "Vends {o} {r}", "Vende {o} {r}"), (QUANTITY, PRICE, DAY)),
)
_SCHEMAS: dict[str, dict[str, Any]] = {
    "place": {"type": "string"},
    "day": {"type": "string", "format": "date"},
    "email": {"type": "string", "format": "email"},
    "amount": {"type": "number"},
    "count": {"type": "integer"},
    "percent": {"type": "number"},
    "text": {"type": "string"},
    "person": {"type": "string"},
    "level": {"type": "string", "enum": ["low", "high", "urgent"]},
}
#: What may stand behind a command and changes what is meant, in each language.
STRAY = {
    "en": ("and wash the car", "by candlelight", "except on Sundays", "or not", "if Ann agrees", "unless it snows",
           "as a test", "for the neighbour", "instead of the other one", "twice", "and so on", "please don't",
           "only half of it", "once Bob is back", "but keep a copy", "and the blue one", "no wait"),
    "de": ("und wasche das Auto", "falls Ann zustimmt", "außer sonntags", "oder auch nicht", "sobald Bob zurück ist",
           "aber nur zur Hälfte", "statt des anderen", "und das blaue auch", "zweimal", "doch lieber nicht"),
    "fr": ("et lave la voiture", "si Anne est d'accord", "sauf le dimanche", "ou pas", "dès que Bob revient",
           "au lieu de l'autre", "mais seulement la moitié", "et le bleu aussi", "deux fois", "ou plutôt non"),
    "es": ("y lava el coche", "si Ana está de acuerdo", "salvo los domingos", "o no", "cuando vuelva Bob",
           "en vez del otro", "pero solo la mitad", "y el azul también", "dos veces", "mejor no"),
}  # fmt: skip
#: What may stand around a command and takes it back.
NEGATED = {
    "en": ("Do not {}", "Please don't {}", "Never {}", "You must not {}", "I don't want you to {}", "Should I {}?"),
    "de": ("Bitte nicht: {}", "Auf keinen Fall: {}", "{}? Nein.", "Wer sagt denn: {}?"),
    "fr": ("Surtout pas : {}", "Jamais : {}", "{} ? Non.", "Qui a dit : {} ?"),
    "es": ("De ningún modo: {}", "Nunca: {}", "¿{}? No.", "¿Quién dijo: {}?"),
}
_PLACES = ("Hamburg", "Lyon", "Porto", "Oslo", "Vienna", "Riga", "Malaga")
_PEOPLE = ("Ann", "Bob Miller", "Carla", "Deniz", "Eva Lang")
_TEXTS = ("urgent case", "call me back", "sell nothing", "from Bob to Ann", "cancel on Monday")


def value_of(kind: str, chance: random.Random) -> tuple[str, Any]:
    """A value as it is said, and as a call takes it."""
    match kind:
        case "place":
            return (said := chance.choice(_PLACES)), said
        case "day":
            day = f"2026-{chance.randint(4, 12):02d}-{chance.randint(1, 28):02d}"
            return day, day
        case "email":
            said = f"{chance.choice('abcdef')}{chance.randint(1, 99)}@corp.example"
            return said, said
        case "amount":
            number = chance.randint(100, 990)
            return str(number), number
        case "count" | "percent":
            number = chance.randint(13, 60)
            return str(number), number
        case "person":
            return (said := chance.choice(_PEOPLE)), said
        case "level":
            return (said := chance.choice(("low", "high", "urgent"))), said
        case _:
            return (said := chance.choice(_TEXTS)), said


class Case(NamedTuple):
    """A request, its tools, and the one call that it means."""

    language: str
    request: str
    command: str
    catalog: Catalog
    tool: str
    inputs: dict[str, Any]


def tool_of(deed: Deed, thing: Thing, roles: tuple[Role, ...]) -> Tool:
    """The tool of a deed on a thing."""
    names = {f"{thing.noun}_id": {"type": "string"}, **{role.name: dict(_SCHEMAS[role.kind]) for role in roles}}
    schema = {"type": "object", "properties": names, "required": list(names)}
    about = f"{deed.verb.capitalize()} {'an' if thing.noun[0] in 'aeiou' else 'a'} {thing.noun}."
    return Tool(group="world", name=f"{deed.verb}_{thing.noun}", description=about, effect="write", input_schema=schema)


def case_of(seed: int) -> Case:
    """A world and a command in it; a seed makes the same again."""
    chance = random.Random(seed)
    language = chance.choice(LANGUAGES)
    at = LANGUAGES.index(language)
    thing = chance.choice(THINGS)
    deeds = chance.sample(DEEDS, 5)
    tools, chosen = {}, {}
    for deed in deeds:
        roles = tuple(chance.sample(deed.roles, chance.randint(1, len(deed.roles))))
        made = tool_of(deed, thing, roles)
        tools[made.key] = made
        chosen[made.key] = (deed, roles)
        if chance.random() < 0.5:
            other = tool_of(deed, chance.choice([one for one in THINGS if one != thing]), roles)
            tools[other.key] = other
    key = chance.choice(list(chosen))
    deed, roles = chosen[key]
    said, inputs, used = [], {}, set()
    for role in chance.sample(roles, len(roles)):
        text, value = value_of(role.kind, chance)
        while str(value) in used or (role is END and value <= inputs.get("start_date", "")):
            text, value = value_of(role.kind, chance)
        if role is START and value > inputs.get("end_date", "9"):
            text = value = "2026-03-30"
        used.add(str(value))
        inputs[role.name] = value
        said.append(chance.choice(role.phrases[at].split("|")).format(text))
    # An id may hold the digits of another value.
    counts = [value for value in inputs.values() if isinstance(value, int)]
    number = f"{thing.prefix}-{chance.choice([chance.randint(100, 999), *counts])}"
    inputs[f"{thing.noun}_id"] = number
    # Where two things can be acted on alike, the request has to say which.
    is_one_of_two = sum(one.partition(".")[2].startswith(f"{deed.verb}_") for one in tools) > 1
    thing_said = f"{thing.said[at]} {number}" if chance.random() < 0.6 or is_one_of_two else number
    command = " ".join(deed.commands[at].format(o=thing_said, r=" ".join(said)).split())
    return Case(language, command, command, Catalog(tools), key, inputs)
