"""Match of a mention and a parameter: type, the words around it, unit, what its kind of thing is. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from toolpath.catalog.words import STOP, raw_words, stem
from toolpath.planner.offline.mention import Mention
from toolpath.planner.offline.slots import Slot
from toolpath.planner.offline.terms import is_calendar_name, is_currency, is_region

#: Below this, a mention says nothing about a parameter.
WEAK = 1.0
#: From this on, something in the text points from the mention to the parameter.
CUED = 2.0

_ARTICLES = frozenset(["a", "an", "the", "my", "our", "your", "his", "her", "their", "its", "this", "that"])
_BACK = frozenset(["that", "this", "these", "those", "same"])
#: A word before a mention → classes of parameters and words of their names that it points to.
_POINTERS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    word: (frozenset(classes.split()), frozenset(names.split()))
    for word, classes, names in (
        ("in", "place date", "year month language currency color colour unit units"),
        ("at", "place time rate organization", "point value x"),
        ("near", "place", "nearby"),
        ("around", "place time", ""),
        ("within", "place", "radius distance duration"),
        (
            "from",
            "place date person",
            "from start source origin base initial departure begin first sender low min",
        ),
        ("to", "place date person email", "to end target destination final recipient last stop high max unit units"),
        ("between", "", "start from first begin one"),
        ("until", "date time", "end to"),
        ("till", "date time", "end to"),
        ("by", "person organization", "by"),
        ("for", "person organization place", "for duration event"),
        ("on", "date text", "platform topic day subject"),
        ("about", "text", "topic content subject about body"),
        ("of", "organization person place", ""),
        ("with", "", "with"),
        ("per", "", "per"),
        ("into", "", "to target language"),
        ("top", "", "top number count limit n amount maximum max"),
        ("name", "", "name"),
        ("id", "id", "id"),
        ("number", "id", "number"),
        ("code", "id", "code"),
        ("titled", "text", "title name"),
        ("called", "text", "name title"),
        ("named", "text", "name title"),
        ("saying", "text", "text body message content"),
        ("says", "text", "text body message content"),
        ("subject", "text", "subject title"),
        ("using", "", "method using tool engine mode"),
        ("via", "", "method mode"),
        ("starting", "date time", "start begin"),
        ("ending", "date time", "end"),
    )
}
_UNITS: dict[str, str] = {
    unit: dimension
    for dimension, units in {
        "year period duration time term age tenure": "year years yr yrs year-old",
        "month period duration time": "month months",
        "day period duration time night stay": "day days night nights",
        "time duration minute period": "minute minutes min mins second seconds sec secs s ms",
        "hour time duration period": "hour hours hr hrs h",
        "week period duration time": "week weeks",
        "weight mass kilogram gram quantity amount": "kg kilogram kilograms gram grams g lbs lb pounds "
        "pound ounces oz ton tons",
        "length height distance width depth radius base side size wavelength position displacement": "m meter "
        "meters metre metres cm centimeters centimeter mm km kilometer kilometers mile miles "
        "feet foot ft inch inches in",
        "velocity speed": "m/s km/h mph kph",
        "acceleration": "m/s² m/s^2",
        "temperature": "celsius fahrenheit kelvin degrees °c °f c f k",
        "rate percent percentage probability yield interest discount": "%",
        "amount price cost budget salary income money investment payment principal value loan balance fee": "$ € £ "
        "dollar dollars usd euro euros eur gbp yen yuan",
        "voltage": "volt volts v",
        "current": "ampere amperes amp amps a",
        "resistance": "ohm ohms",
        "frequency": "hz khz mhz ghz hertz",
        "area": "acre acres hectare hectares sqft",
        "volume capacity quantity amount": "liter liters litre litres l ml gallon gallons cup cups "
        "tablespoon tablespoons teaspoon teaspoons pint pints quart quarts",
        "pressure": "atm pa pascal kpa bar psi",
        "force": "newton newtons n",
        "energy calorie": "joule joules j kj kcal calories cal",
        "quantity amount mole": "mole moles mol",
        "charge": "coulomb coulombs",
        "power": "watt watts kw w",
        "player people person party guest size number passenger": "people "
        "persons guests players passengers adults person",
    }.items()
    for unit in units.split()
}

#: What is measured in units that a parameter may ask for; of money, people and periods none does.
_MEASURED = frozenset(
    (
        "weight",
        "length",
        "velocity",
        "acceleration",
        "temperature",
        "voltage",
        "current",
        "resistance",
        "frequency",
        "area",
        "volume",
        "pressure",
        "force",
        "energy",
        "charge",
        "power",
    )
)


#: Parameters of what there is an amount of.
_MEASURABLE = frozenset(("item", "ingredient", "substance", "material", "product", "food"))


def is_unit(word: str) -> bool:
    """Whether the word is one that numbers count in."""
    return word in _UNITS


def is_measure(unit: str) -> bool:
    """Whether the word is a unit of measure."""
    return bool(_MEASURED & {*_UNITS.get(unit, "").split()})


_CHANNELS = frozenset(
    map(stem, ("channel", "room", "chat", "conversation", "topic", "tag", "hashtag", "group", "thread"))
)
_PEOPLE = frozenset(map(stem, ("user", "username", "handle", "member", "person", "to", "who", "mention", "account")))
_PATHS = frozenset(("path", "file", "filename", "folder", "directory", "dir", "filepath", "script"))
_IS_PATH = re.compile(r"^(?:~|\.{1,2})?/|\\|/.*\.\w{1,5}$|^[^\s@]+\.[A-Za-z]\w{0,4}$|^[^/@]+\.(?:[a-z]{2,4}\d?)$")


def fitness(slot: Slot, mention: Mention) -> float:
    """How well the mention fits the parameter; 0 where its type cannot."""
    base = _kind(slot, mention)
    if base <= 0:
        return 0.0
    around = _cue(slot, mention) + _pointer(slot, mention) + _unit(slot, mention)
    return base + around + _own(slot, mention) + _place(slot, mention)


def fits_at_all(slot: Slot, mention: Mention) -> bool:
    """Whether the parameter's type can hold the mention."""
    return _kind(slot, mention) > 0


def _kind(slot: Slot, mention: Mention) -> float:
    target = slot.item if slot.type == "array" and slot.item is not None and mention.kind != "list" else slot
    match target.type:
        case "array":
            return 2.0 if mention.kind == "list" and isinstance(mention.value, list) else 0.0
        case "object":
            return 2.0 if mention.kind == "list" and isinstance(mention.value, dict) else 0.0
        case "boolean":
            return 0.0
        case "integer" | "number":
            return _number(target, mention)
        case _ if "currency" in target.words:
            return 1.5 if is_currency(mention.text) else 0.0
        case _ if _PATHS & {*target.words} and mention.kind in ("code", "quoted", "phrase", "name", "number"):
            # What is no place among files may be a name of one all the same.
            return 3.0 if _IS_PATH.search(mention.text) else min(1.0, _text(target, mention))
        case _ if mention.kind == "handle":
            return 3.0 if _is_handled(target, mention) else 0.4
        case _:
            return _text(target, mention)


def _number(slot: Slot, mention: Mention) -> float:
    if mention.kind != "number":
        return 0.0
    is_year = isinstance(mention.value, int) and 1000 <= mention.value <= 2200 and not mention.unit.strip("abcdefgh")
    if "year" in slot.words:
        return 1.8 if is_year and len(mention.text.strip()) == 4 else 1.0
    if slot.type == "integer" and isinstance(mention.value, float) and mention.unit != "%":
        return 0.4
    if mention.unit == "%" and slot.type == "integer" and not _SHARES & {*slot.words}:
        # A share is no count.
        return 0.3
    # A number in words often only counts what follows, as in `the two sides`.
    return 1.0 if mention.text[-1:].isdigit() or mention.unit == "%" else 0.6


_SHARES = frozenset(
    map(stem, ("percent", "percentage", "rate", "share", "level", "margin", "discount", "interest", "tax"))
)
_MONTHS = frozenset(map(stem, ("month", "weekday")))
_CALENDAR = frozenset(("day", "date", "month", "time", "weekday", "week", "when", "period", "year", "season"))
#: Kind of mention → class of text parameters it is made for.
_MADE_FOR = {"email": "email", "url": "url", "date": "date", "time": "time", "expression": "expression", "code": "id"}


def _text(slot: Slot, mention: Mention) -> float:
    classes, kind = slot.classes, mention.kind
    if kind in _MADE_FOR:
        wanted = _MADE_FOR[kind]
        if wanted in classes or slot.format == wanted:
            return 3.0
        if kind == "code" and classes & {"email", "url"} and "id" not in classes:
            return 0.3
        is_whom = kind == "email" and classes == {"person"}
        return 0.0 if kind == "time" or (kind in ("email", "date") and classes and not is_whom) else 0.9
    if kind == "name" and (is_calendar_name(mention.text) or {*slot.words} & _MONTHS):
        is_meant = is_calendar_name(mention.text.split()[0]) and _CALENDAR & ({*slot.words} | slot.described)
        return 1.8 if is_meant else 0.0
    if classes & {"email", "url", "date", "time", "expression"} and not classes & {"text", "place", "person"}:
        return 0.8 if kind == "quoted" else 0.0
    if kind == "number":
        return _text_of_number(slot, mention)
    if kind == "list":
        return 0.2
    if kind == "quoted" and slot.words[-1:] == ("id",) and " " in mention.text.strip():
        return 0.2
    if kind == "quoted":
        return 1.3 if "place" in classes else 1.8
    if kind == "name" and "unit" in slot.words:
        return 0.2
    if kind == "name":
        return 1.5 if classes and classes != {"id"} else 1.2
    return 0.6


def _text_of_number(slot: Slot, mention: Mention) -> float:
    if mention.after and mention.after[0].endswith("s") and stem(mention.after[0]) in slot.words:
        # `120 parcels` are no parcel whose id is 120.
        return 0.0
    # A number in words counts things, as in `two authors`; it is no name and no id.
    is_in_words = mention.text.replace("-", "").replace(" ", "").isalpha()
    return 0.0 if is_in_words else 1.6 if "id" in slot.classes else 0.2


def _is_handled(slot: Slot, mention: Mention) -> bool:
    """Whether the parameter is for a channel, where a channel is mentioned, or for somebody, where a person is."""
    if mention.text.startswith("#"):
        return bool(_CHANNELS & {*slot.words})
    return bool(slot.classes & {"person"} or _PEOPLE & {*slot.words})


def _cue(slot: Slot, mention: Mention) -> float:
    """The words of the parameter near the mention: nearer counts more, its name more than its description."""
    cues: dict[str, float] = {}
    if (own := _equated(slot, mention)) is not None:
        cues[own] = 2.0
    for distance, word in enumerate(reversed(mention.before), start=1):
        if mention.kind == "phrase" and {*mention.before[-1 - distance : -distance]} & _BACK:
            # `that event took place` names no event.
            continue
        own, strength = _word_cue(slot, word)
        cues[own] = max(cues.get(own, 0.0), strength / (0.7 + 0.3 * distance))
    for distance, word in enumerate(mention.after[:2], start=1):
        if word in _POINTERS:
            # `Alice titled Hello`: what follows such a word is meant, not what precedes it.
            break
        own, strength = _word_cue(slot, word)
        cues[own] = max(cues.get(own, 0.0), 0.9 * strength / (0.6 + 0.4 * distance))
    described = cues.pop("", 0.0)
    named = sorted(cues.values(), reverse=True)
    # `final velocity` says more of `final_velocity` than `velocity` does.
    return max(described, sum(cue * share for cue, share in zip(named, (1.0, 0.5, 0.25), strict=False)))


#: Between a parameter and its value: `the amplitude of the wave should be 2`.
_EQUATES = frozenset(["is", "are", "was", "be", "equals", "equal", "being", "set"])
_BESIDE = frozenset(["to", "should", "must", "will", "has", "have", "as", "would", "a", "an", "the"])


def _equated(slot: Slot, mention: Mention) -> str | None:
    """The word of the parameter's name that the mention is said to be the value of, of whatever that is."""
    before = list(mention.before)
    while before and before[-1] in _BESIDE:
        before.pop()
    if not before or before.pop() not in _EQUATES:
        return None
    while before and before[-1] in _BESIDE:
        before.pop()
    if "of" in before[-3:-1]:
        before = before[: len(before) - 1 - before[::-1].index("of")]
    own, strength = _word_cue(slot, before[-1]) if before else ("", 0.0)
    return own if own and strength else None


def _own(slot: Slot, mention: Mention) -> float:
    """The score of the mention itself: `Premier League` is a league, and an example from a description fits."""
    if mention.kind not in ("name", "quoted", "code", "phrase"):
        return 0.0
    if slot.shown and mention.text.lower() in (shown.lower() for shown in slot.shown):
        return 1.5
    if mention.kind not in ("name", "quoted"):
        return 0.0
    words = raw_words(mention.text[:80])
    return 1.2 if len(words) > 1 and any(is_like(stem(word), own) for word in words for own in slot.words) else 0.0


def _place(slot: Slot, mention: Mention) -> float:
    """The score of a known place, as `Rome, Italy` or `Ohio`: it is rather the value of a place."""
    if mention.kind != "name":
        return 0.0
    head, _, tail = mention.text.partition(", ")
    if not is_region(tail or head) or len(mention.text) < 3:
        return 0.0
    own = {*slot.words}
    if not tail and own & {"city", "town"} and not own & {"state", "country", "region"}:
        return -0.5
    if not tail and own & {"state", "country", "region", "province"}:
        return 0.8
    return 0.6 if "place" in slot.classes else -0.6


def _word_cue(slot: Slot, word: str) -> tuple[str, float]:
    """The word of the parameter's name that this one is a form of, empty for its description, and how much it says."""
    if word in STOP:
        return "", 0.0
    plain = stem(word)
    for own in slot.words:
        if is_like(plain, own):
            return own, 2.0
    return "", 0.5 if plain in slot.described else 0.0


def _pointer(slot: Slot, mention: Mention) -> float:
    """The score of the preposition before the mention: a slot that it points to, or one that it points away from."""
    before = [word for word in mention.before if word not in _ARTICLES]
    if not before:
        return 0.0
    last = before[-1]
    if last == "of" and is_measure(before[-2] if len(before) > 1 else "") and _MEASURABLE & {*slot.words}:
        # `2 cups of flour`
        return 1.5
    if last == "and" and "between" in before:
        return 1.2 if set(raw_words(slot.name)) & {"end", "to", "second", "last", "stop", "two", "max", "high"} else 0.0
    pointed = _POINTERS.get(last)
    if pointed is None:
        return 0.0
    classes, names = pointed
    own = set(raw_words(slot.name))
    if own & names:
        return 1.5
    # `from` and `to` say which end: the parameter of the other end is not meant.
    if last in ("from", "to") and own & (_POINTERS["to" if last == "from" else "from"][1]):
        return -1.0
    return 0.9 if mention.kind != "number" and slot.classes & classes else 0.0


def _unit(slot: Slot, mention: Mention) -> float:
    if mention.kind != "number" or not mention.unit:
        return 0.0
    unit = mention.unit
    plain = stem(unit)
    if any(is_like(plain, own) for own in slot.words):
        return 0.0 if unit in mention.after[:1] else 1.5
    dimension = _UNITS.get(unit, "").split()
    if set(dimension) & {*slot.words}:
        return 1.5
    if plain in slot.described or set(dimension) & slot.described:
        return 1.0
    if dimension and (slot.classes & {"id"} or slot.words):
        # It counts something that this parameter does not name.
        return -0.4
    return 0.0


@lru_cache(maxsize=65_536)
def is_like(left: str, right: str) -> bool:
    """Whether two words are forms of one: `accelerates` and `acceleration`."""
    if left == right:
        return True
    shorter = min(len(left), len(right))
    if shorter < 4:
        return False
    common = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        common += 1
    return common >= max(4, round(0.72 * shorter)) and max(len(left), len(right)) - common <= 5


def words_of(text: str) -> list[str]:
    """Telling words, stemmed, hyphens and underscores taken apart."""
    return [stem(word) for word in raw_words(re.sub(r"[-_]", " ", text)) if word not in STOP]
