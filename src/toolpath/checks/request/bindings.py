"""Values that a call takes for another parameter than the request says: swapped, or of another kind. Pure.

`from W-1 to W-2` with source and target the other way round, `#dev` for a user, `10` of `10 minutes` for a room: each
value is in the request, and a call that takes it there does something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.amounts import is_measure, is_money
from toolpath.checks.request.concepts import STOPS
from toolpath.checks.request.namings import is_short
from toolpath.checks.request.occurrences import goes_on, occurrences, whole_words
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.checks.request.seen import Seen, is_offered
from toolpath.checks.request.units import words_of_unit
from toolpath.checks.request.verbs import folded, is_reading, meanings_of
from toolpath.model.plan import Call
from toolpath.model.tool import Tool
from toolpath.values import Json


def _words(text: str) -> frozenset[str]:
    return frozenset(folded(word) for word in text.split())


_SOURCES: Final = _words("from source origin old sender base start departure previous current giver")
_TARGETS: Final = _words(
    "to target destination new recipient receiver into arrival end goal keep kept main primary survivor parent"
    " onto dest"
)
_PRICES: Final = _words(
    "price cost rate limit fee bid offer stop value amount total speed level interest salary pay charge budget worth"
)
_COUNTS: Final = _words(
    "quantity qty count number amount copies pieces units seats guests people passengers bags nights shares times size"
)
#: Words before a value, and the words in names of parameters that take it then.
_ROLES: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(_words("from of von vom aus depuis desde del"), _SOURCES),
    **dict.fromkeys(_words("to into onto nach zu zum zur auf vers hacia hasta a à dans in en an"), _TARGETS),
}
_AT: Final = _words("at @ zu je à a")
#: Parameters of equal rank, which take values in their order.
_ORDERED: Final = _words("first second third one two three a b c x y left right other one1 id1 id2")
_OUT_OF: Final = re.compile(r"\bout\s+of\s+(?:the\s+)?(?:[^\W\d_]+\s+)?$", re.IGNORECASE)
_ID: Final = re.compile(r"(?P<prefix>[A-Za-z]{1,6})-\d{1,9}")


def misbound(seen: Seen) -> Iterator[str]:
    """A question for each value of an acting call that the request gives to another parameter, or to none."""
    yield from _torn(seen)
    yield from _in_one(seen)
    for call, tool, _ in seen.acting:
        if tool is not None:
            yield from _swapped(seen, call, tool)
            yield from _signed(call, tool)
            yield from _named(seen, call, tool)
            yield from _crossed(call, tool)
            yield from _id_for_a_name(seen, call, tool)
            yield from _number_for_a_name(seen, call, tool)
            yield from _at_a_time(seen, call, tool)
            yield from _whole_or_each(seen, call, tool)
            yield from _in_unknown_money(seen, call, tool)
            yield from _with_its_preposition(seen, call, tool)
            yield from _left_out(seen, call, tool)


#: What joins things that are meant alike.
_ROW: Final = re.compile(
    r"\s*(?:,\s*)?(?:\s(?:and|und|et|y|plus|as\s+well\s+as|sowie)\s|,|&)\s*(?:and\s+)?", re.IGNORECASE
)
_JOINED: Final = re.compile(
    r"\s+(?:and|und|et|y)\s+(?:(?:the|an?|my|our|der|die|das|den|ein|eine|einen|le|la|les|une?|el|los|las)\s+)?",
    re.IGNORECASE,
)
#: Words that join things and hardly ever the words of one name.
_SEVERAL: Final = re.compile(r"\w\s(?:plus|as\s+well\s+as|(?:along|together)\s+with|and\s+also)\s\w", re.IGNORECASE)
PEOPLE: Final = _words(
    "person people student students member members guest patient employee user attendee passenger agent assignee"
    " pupil pupils child teacher doctor driver tenant visitor customer client colleague contact author owner"
    " sender recipient"
)
"""Words of parameters that take who somebody is."""
_ROW_GOES_ON: Final = re.compile(r"(?:\s*,\s*[\w'-]+)*\s*(?:,?\s+(?:and|und|et|y)\s|\s&\s)", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"\b(?:between|zwischen|entre)\W+(?:\w+\W+){0,2}$", re.IGNORECASE)


def _torn(seen: Seen) -> Iterator[str]:
    """A question for each two values that the request joins and that an acting call takes for different parameters."""
    for call, _, _ in seen.acting:
        said = [
            (place.start, place.end, name, value)
            for name, held in call.inputs.items()
            for value in (held if isinstance(held, list) else [held])
            if isinstance(value, str) and value and "{{" not in value
            for place in whole_words(seen.request, value)
        ]
        names = {value: {one[2] for one in said if one[3] == value} for _, _, _, value in said}
        for one, other in pairwise(sorted(said)):
            if names[one[3]] & names[other[3]] or _BETWEEN.search(seen.request[: one[0]]):
                continue
            is_ranked = one[2].rstrip("_0123456789") == other[2].rstrip("_0123456789") or {
                *raw_words(one[2])
            } <= _ORDERED | {*raw_words(other[2])}
            between, after = seen.request[one[1] : other[0]], seen.request[other[1] :]
            is_row = _ROW.fullmatch(between) and (between.strip() != "," or _ROW_GOES_ON.match(after))
            # `CR-4 and the bicycle` is an id and no description of it.
            is_alike = _shape(one[3]) == _shape(other[3]) or (
                _JOINED.fullmatch(between) and _ID.fullmatch(one[3]) and not re.search(r"[\d@/]", other[3])
            )
            if (is_row or _JOINED.fullmatch(between)) and not is_ranked and is_alike:
                yield f"{call.id}: which of {one[3]!r} and {other[3]!r} is {one[2]!r}, and which is {other[2]!r}?"


def _named(seen: Seen, call: Call, tool: Tool) -> Iterator[str]:
    """A question for each number that the request names after another parameter: `pulse 38.4` for a temperature."""
    properties = plain_inputs(tool).get("properties")
    names = list(properties) if isinstance(properties, dict) else []
    for name, value in call.inputs.items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        own = {folded(word) for word in raw_words(name)}
        before = [_NAME.search(seen.request[: place.start]) for place in whole_words(seen.request, f"{value:g}")]
        said = [folded(found["name"]) for found in before if found is not None]
        if not said or len(said) < len(before) or any(word in own or is_short(word, own) for word in said):
            continue
        others = {folded(word) for one in names if one != name for word in raw_words(one)} - own - STOPS
        if said[0] in others or (len(said[0]) > 2 and is_short(said[0], others)):
            yield f"{call.id}: {said[0]} {value:g} is said, and taken for {name!r}; what is meant?"


_NAME: Final = re.compile(r"(?P<name>[^\W\d_]+)\s*[:=]?\s*\Z")


def _in_one(seen: Seen) -> Iterator[str]:
    """A question for each value of an acting call that is several things: `tea plus milk`."""
    for call, _, _ in seen.acting:
        for name, held in call.inputs.items():
            is_whole = not isinstance(held, list) and not PEOPLE & {*raw_words(name)}
            for value in held if isinstance(held, list) else [held]:
                said = value if isinstance(value, str) and value in seen.plain else ""
                # `Marks & Spencer` is a company, `Ann & Ben` are two people.
                is_row = not is_whole or any(
                    seen.plain[max(0, one.start - 40) : one.start].rstrip().endswith(",")
                    for one in occurrences(seen.plain, said)
                )
                if _SEVERAL.search(said) or (" & " in said and is_row):
                    yield f"{call.id}: is {value!r} one thing, or several?"


def _shape(value: str) -> str:
    """The look of a value: an address, a code, a word."""
    return "".join(sign for sign in "@/." if sign in value) + ("1" if re.search(r"\d", value) else "")


#: A word that may be the value of the parameter named before it.
_NAMED_VALUE: Final = re.compile(r"\s+(?:(?:as|is|to|with|=)\s+)?(?P<value>[^\W\d_][\w-]*)", re.IGNORECASE)


#: What may follow a name of one letter; `la zone a besoin d'eau` has none.
_ENDS: Final = re.compile(r"\s*(?:$|[.,;!?)])|\s+(?:with|for|to|in|at|on|by|mit|für|um|avec|pour|con|para)\s")


def _is_letter(seen: Seen, said: str) -> bool:
    """Whether the letter that these words end with names something."""
    at = seen.plain.casefold().find(said.casefold())
    return said.isascii() and at >= 0 and _ENDS.match(seen.plain, at + len(said)) is not None


def _left_out(seen: Seen, call: Call, tool: Tool) -> Iterator[str]:
    """A question for what the request gives by the name of a parameter that no call takes: `labelled bug`."""
    properties = plain_inputs(tool).get("properties")
    taken = {raw_words(name)[-1] for one, _, _ in seen.calls for name in one.inputs if raw_words(name)}
    own = {*raw_words(tool.name)} | taken
    for name in properties if isinstance(properties, dict) else ():
        word = next(iter(raw_words(name)[-1:]), "")
        if name in call.inputs or len(word) < 4 or word in own:
            continue
        found = _given_by_name(seen, word)
        value = folded(found.split()[-1]) if found is not None else ""
        if found is not None and len(value) == 1 and _is_letter(seen, found):
            yield f"The request says {found!r}, and {call.id} takes no {name!r}: what of it?"
            continue
        if not value or value in STOPS or seen.held.names(value) or value in seen.verbs or found is None:
            continue
        if meanings_of(value) or is_reading(value) or value in seen.parameters:
            continue
        yield f"The request says {found!r}, and {call.id} takes no {name!r}: what of it?"


def _given_by_name(seen: Seen, word: str) -> str | None:
    """The words that give a parameter by its name: `labelled bug`."""
    for start, end in occurrences(seen.plain, word, ignoring_case=True):
        if goes_on(before := seen.plain[start - 1 : start]) or before == "-":
            continue
        for ending in (word[-1] + "ed", "ed", ""):
            found = _NAMED_VALUE.match(seen.plain, end + len(ending))
            if found is not None and seen.plain[end : end + len(ending)].lower() == ending:
                return seen.plain[start : found.end()]
    return None


# Two values of one kind.


def _swapped(seen: Seen, call: Call, tool: Tool) -> Iterator[str]:
    """A question for each two values of one kind that nothing tells apart, or that the request gives the other way."""
    plain = {
        name: value
        for name, value in call.inputs.items()
        if isinstance(value, str | int | float)
        and not isinstance(value, bool)
        and "{{" not in str(value)
        and not is_offered(value, tool, name)
    }
    for (one, first), (other, second) in combinations(plain.items(), 2):
        kind = _kind(first)
        if first == second or kind is None or kind != _kind(second):
            continue
        right = _says(seen, first, one, tool) + _says(seen, second, other, tool)
        wrong = _says(seen, first, other, tool) + _says(seen, second, one, tool)
        is_ordered = bool(_name(one) & _ORDERED) and bool(_name(other) & _ORDERED)
        if wrong > right or (right == wrong and kind != "number" and not is_ordered):
            yield f"{call.id}: which of {_shown(first)} and {_shown(second)} is {one!r}, and which is {other!r}?"


def _kind(value: str | int | float) -> str | None:
    """The kind of value, of which two may be mistaken for one another; None: each is known by itself."""
    if not isinstance(value, str):
        return "number"
    if found := _ID.fullmatch(value):
        return f"id of {found['prefix'].upper()}"
    return "text" if re.fullmatch(r"[\w./~#@+-]+@[\w.-]+|[#@]\w[\w-]*|~?/[\w./~-]+", value) and value else None


def _says(seen: Seen, value: str | int | float, name: str, tool: Tool) -> float:
    """How much the words beside the value say of this parameter."""
    score = 0.0
    words = _name(name)
    for found in _places(seen, value):
        before = seen.request[max(0, found.start() - 40) : found.start()]
        # What stands before the value before belongs to that one, and so does the unit behind it.
        *earlier, before = re.split(r"[\w./-]*\d[\w./-]*|[;,:]", before)
        told = [folded(word) for word in re.findall(r"[^\W\d_]+|@", before)]
        told = told[1:] if earlier and told and told[0] not in _ROLES.keys() | _AT else told
        # `the manager of E-1`: E-1 has one, and is none.
        named = {folded(word) for word in re.findall(r"[^\W\d_]+", _OWNER.split(before)[-1])[-3:]} & {*told}
        after = seen.request[found.end() : found.end() + 20]
        named |= {folded(word) for word in re.findall(r"^\s*°?\s*([^\W\d_]+)", after)} if _is_digits(value) else set()
        if (of := _OF_ONE_TO.search(seen.request[max(0, found.start() - 120) : found.start()])) is not None:
            named.add(folded(of["thing"]))
        score += 1.5 * bool(named & words)
        near = told[-1:] if told and seen.is_verb(told[-1]) else told[-2:]
        prepositions = {"from"} if _OUT_OF.search(before) else {*near}
        score += sum(bool(words & _ROLES.get(one, frozenset())) for one in prepositions)
        if _is_digits(value):
            score += bool(prepositions & _AT and words & _PRICES) + bool(_COUNTED.match(after) and words & _COUNTS)
    return score


def _is_digits(value: str | int | float) -> bool:
    return not isinstance(value, str) or value.isdigit()


_OWNER: Final = re.compile(r"\b(?:of|von|vom|des|du|de|del)\b", re.IGNORECASE)
#: `the manager of E-1 to …`: what comes of the thing stands behind.
_OF_ONE_TO: Final = re.compile(
    r"(?P<thing>[^\W\d_]{3,})\s+(?:of|von|vom|des|du|de|del)\s+\S+\s+(?:to|as|into|auf|in|zu|als|à|en|a)\s+$",
    re.IGNORECASE,
)
_COUNTED: Final = re.compile(r"\s*(?:x\s|\u00d7|of\s|[^\W\d_]{3,}s\b|pieces|stück|unidades)", re.IGNORECASE)


def _places(seen: Seen, value: str | int | float) -> list[re.Match[str]]:
    text = value if isinstance(value, str) else f"{value:g}"
    return [*re.finditer(rf"(?<![\w.-]){re.escape(text)}(?![\w-]|[.,]\d)", seen.request, re.IGNORECASE)][:5]


def _name(name: str) -> frozenset[str]:
    return frozenset(folded(word) for word in raw_words(name)) - {"id"}


def _shown(value: Json) -> str:
    return repr(value) if isinstance(value, str) else f"{value:g}" if isinstance(value, int | float) else str(value)


# Values of another kind.

#: A sign before a value, and words in the name of a parameter that takes it.
_SIGNS: Final = {
    "#": _words("channel room tag hashtag hashtags tags conversation"),
    "@": _words("user member person handle assignee recipient username mention owner to"),
}


def _signed(call: Call, tool: Tool) -> Iterator[str]:
    """A question for `#dev` where the call has a channel of its own, and for `@ann` where it has a user."""
    properties = plain_inputs(tool).get("properties")
    for name, value in call.inputs.items():
        sign = _SIGNS.get(value[:1]) if isinstance(value, str) and re.fullmatch(r"[#@]\w[\w.-]*", value) else None
        if sign is None or _name(name) & sign:
            continue
        others = [one for one in properties if _name(one) & sign] if isinstance(properties, dict) else []
        if others and call.inputs.get(others[0]) != value:
            yield f"{call.id}: {value!r} is taken as {name!r}; is it {others[0]!r}?"


_IBAN: Final = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")


def _crossed(call: Call, tool: Tool) -> Iterator[str]:
    """A question where what looks like an id is no id, and the id of the same call does not look like one."""
    texts = {
        name: value
        for name, value in call.inputs.items()
        if isinstance(value, str) and "{{" not in value and not is_offered(value, tool, name)
    }
    for name, value in texts.items():
        if "id" in raw_words(name) or not _ID.fullmatch(value):
            continue
        for other, taken in texts.items():
            if "id" in raw_words(other) and not _ID.fullmatch(taken) and not re.fullmatch(r"[\d-]+", taken):
                yield f"{call.id}: {value!r} looks like an id; is it {other!r}, and {taken!r} {name!r}?"
    for name, value in texts.items():
        if _name(name) & {"iban"} and not _IBAN.fullmatch(value.replace(" ", "").upper()):
            yield f"{call.id}: {value!r} is no IBAN; what is {name!r}?"


_TEXTS: Final = _words("name title subject body text content summary caption message headline")
_NAMING: Final = re.compile(
    r"(?:called|named|titled|entitled|saying|says|namens|genannt|nomm\w+|appel\w+|llamad\w+|titulad\w+|[:=\"'“„«])"
    r"\s*[\"'“„«]?$"
    r"|\b(?:to|as|in|into|als|zu|nach|en|como|a)\s+$",
    re.IGNORECASE,
)


def _id_for_a_name(seen: Seen, call: Call, tool: Tool) -> Iterator[str]:
    """A question where an id is taken for a name or a text, and nothing says that it is one."""
    for name, value in call.inputs.items():
        if not isinstance(value, str) or not _ID.fullmatch(value) or "id" in raw_words(name):
            continue
        if not _name(name) & _TEXTS:
            continue
        before = [seen.request[max(0, one.start() - 30) : one.start()] for one in _places(seen, value)]
        last = [folded(word) for text in before for word in re.findall(r"[^\W\d_]+", text)[-1:]]
        if before and not any(map(_NAMING.search, before)) and not _name(name) & {*last}:
            yield f"{call.id}: {value!r} looks like an id; is it the {name!r}?"


_NUMBERED: Final = _words(
    "id number no nr code zip postcode pin phone telephone mobile key ref reference account sku version year port issue"
    " day date time serial plate isbn ean iban hour"
)


def _number_for_a_name(seen: Seen, call: Call, tool: Tool) -> Iterator[str]:
    """A question where digits are taken for a text, and the request counts or measures with them."""
    for name, value in call.inputs.items():
        if not isinstance(value, str) or not re.fullmatch(r"\d{1,6}", value) or is_offered(value, tool, name):
            continue
        places = _places(seen, value)
        after = [seen.request[one.end() : one.end() + 20] for one in places]
        measured = _name(name) & (_COUNTS | _TIMES)
        if places and not measured and all(is_measure(f"{value}{text}") for text in after):
            yield f"{call.id}: is {value!r} the {name!r}? The request measures with it."
            continue
        following = {folded(word) for text in after for word in re.findall(r"^\s*([^\W\d_]+)", text)}
        words = {folded(word) for word in raw_words(name)}
        if _is_of_digits(tool, name):
            # Nothing else in the call is so many digits: the last four of a card.
            continue
        if words & (_NUMBERED | _COUNTS | _PRICES | following) or not places:
            continue
        before = seen.request[max(0, places[0].start() - 40) : places[0].start()]
        last = [folded(word) for word in re.findall(r"[^\W\d_]+", _NUMBERS_BEFORE.sub("", before))[-1:]]
        is_named = bool(last) and (
            last[0] in _NUMBERED
            or bool({last[0], last[0].removesuffix("s")} & _name(name))
            or is_short(last[0], _name(name))
            or (last[0] in seen.held.vocabulary and not seen.is_verb(last[0]))
        )
        if not is_named and not before.rstrip().endswith(tuple("\"'“„«#")):
            yield f"{call.id}: is {value!r} the {name!r}?"


#: Before the last of `slopes 3, 4 and 7`.
_NUMBERS_BEFORE: Final = re.compile(r"(?:\b\d{1,6}(?:\s*,\s*|\s+(?:and|und|et|y)\s+))+$", re.IGNORECASE)


def _is_of_digits(tool: Tool, name: str) -> bool:
    """Whether a parameter takes so and so many digits, and nothing else."""
    properties = plain_inputs(tool).get("properties")
    schema = properties.get(name) if isinstance(properties, dict) else None
    pattern = schema.get("pattern") if isinstance(schema, dict) else None
    return isinstance(pattern, str) and re.fullmatch(r"\^?(?:\\d|\[0-9\])\{\d\}\$?", pattern) is not None


# Numbers and what they are said with.

_TIMED: Final = re.compile(
    r"(?<![\w-])(?:at|around|um|gegen|à|vers|a\s+las?)\s+(?P<number>\d{1,2})(?![\w:%°€$£]|[.,]\d)(?=\s*(?:$|[.,;!?)]"
    r"|and\b|und\b|et\b|y\b|for\b|on\b|in\b|an\b|aus\b|tomorrow|today|tonight|morgen|heute|demain|mañana))",
    re.IGNORECASE,
)
_TIMES: Final = _words("time hour start end begin when at clock date due moment deadline until")


def _at_a_time(seen: Seen, call: Call, tool: Tool) -> Iterator[str]:
    """A question for `at 7`, which may be when it is to be done, where a call takes it for a brightness."""
    for found in _TIMED.finditer(seen.request):
        number = int(found["number"])
        if number > 24:
            continue
        for name, value in call.inputs.items():
            is_number = isinstance(value, int | float) and not isinstance(value, bool) and value == number
            words = _name(name)
            said = {folded(word) for word in re.findall(r"[^\W\d_]+", seen.request)}
            if is_number and not words & (_PRICES | _TIMES) and not words & said:
                yield f"{call.id}: {found.group()!r}: is it when, or the {name!r}?"


_FOR: Final = r"(?<![\w-])(?:for|für|pour|por)\s+[€$£]?\s?{number}(?![\w-]|[.,]\d)(?P<after>.{{0,30}})"
_PER_ONE: Final = re.compile(
    r"\b(?:each|apiece|per|je|jeweils|stück|pro|chac\w+|pièce|unité|cada|unidad|a\s+(?:piece|share|unit))\b", re.I
)


def _whole_or_each(seen: Seen, call: Call, tool: Tool) -> Iterator[str]:
    """A question for `10 for 3000`, of which a call takes 3000 for the price of one."""
    counts = [
        value
        for name, value in call.inputs.items()
        if _name(name) & _COUNTS and isinstance(value, int | float) and not isinstance(value, bool)
    ]
    if not any(count > 1 for count in counts):
        return
    for name, value in call.inputs.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or "price" not in _name(name):
            continue
        found = re.search(_FOR.format(number=re.escape(f"{value:g}")), seen.request, re.IGNORECASE)
        if found is not None and not _PER_ONE.search(seen.request):
            yield f"{call.id}: is {value:g} for all of them, or the {name!r} of one?"


_MONEY: Final = _words("amount sum price cost fee salary pay budget deductible balance money fine discount limit_price")
_UNITED: Final = re.compile(r"(?<![\w.,/:-])(?P<number>\d[\d.,]*)\s+(?P<unit>[^\W\d_]{3,})")


def _in_unknown_money(seen: Seen, call: Call, tool: Tool) -> Iterator[str]:
    """A question for `500 pesos`, of which a call takes 500 for an amount and nothing says of what."""
    for name, value in call.inputs.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not _name(name) & _MONEY:
            continue
        for found in _UNITED.finditer(seen.request):
            unit = folded(found["unit"])
            is_number = f"{value:g}" in (found["number"].rstrip(".,"), found["number"].replace(",", "").rstrip("."))
            if not is_number or unit in STOPS or is_money(found.group()) or seen.is_verb(unit):
                continue
            known = unit in seen.held.vocabulary or unit.removesuffix("s") in seen.held.vocabulary
            known = known or any(map(seen.held.names, words_of_unit(unit)))
            if not known and not seen.held.has(unit) and unit not in _SCALES:
                yield f"{call.id}: {found.group()!r}: is {value:g} the {name!r}?"


_SCALES: Final = _words("thousand million billion hundred tausend millionen mille mil million percent prozent")
#: Words that only say how what follows belongs to what stands before them.
_JOINING: Final = _words(
    "from to into onto toward towards at by with via per von vom nach zu zum zur mit bis de du des depuis vers avec"
    " pour desde hacia hasta con para por mejor besser plutôt unless except instead actually"
)
_DENIALS: Final = _words("no nein non nee nicht not pas ach ah oh doch bitte please merci danke gracias ja yes oui sí")


def _with_its_preposition(seen: Seen, call: Call, tool: Tool) -> Iterator[str]:
    """A question for `hacia Riga`, where Riga is meant, and for a `no` that is taken for a value."""
    for name, value in call.inputs.items():
        words = value.split() if isinstance(value, str) else []
        is_joined = bool(words) and folded(words[0]) in _JOINING
        if not words or words[0] != words[0].lower() or not (is_joined or _DENIALS.issuperset(map(folded, words))):
            continue
        if folded(str(value)) in folded(seen.plain) and not is_offered(value, tool, name) and len(words) < 4:
            yield f"{call.id}: is {words[0]!r} a part of {value!r}, the {name!r}?"
