"""Numbers that a mark or a word beside them makes another one, a place in a row or a time. Pure.

`~5`, `≤ 5`, `2²` and `BK-12 + 1` hold a number that a call could take as it stands; `the second seat` and `seat 5` say
which one and not how many, `3 more` says what comes on top, and `in 20 minutes` says when.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.amounts import holders, told_of
from toolpath.checks.request.lengths import TIME_UNIT_OF
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.verbs import folded
from toolpath.model.tool import Tool

_DIGITS: Final = r"(?P<number>\d{1,15}(?:[.,]\d{1,15})?)"
#: A mark that makes of a number a bound, a guess or a power of it.
_MARKED: Final = re.compile(
    rf"(?<![\w=<>-])(?:[<>]=?|[≤≥≈~≃±≠])\s?[€$£]?{_DIGITS}(?![\w-])|{_DIGITS.replace('number', 'base')}\s?[²³¼½¾⅓⅔]"
)
#: A sum: of what stands on both sides nothing is meant as it stands. The number of a phone has more digits.
_SUM: Final = re.compile(r"(?<=[\w#])\s?[+±]\s?[€$£]?\d{1,4}(?:[.,]\d+)?(?![\w-])")
_TENTH: Final = re.compile(
    r"(?<![\w.,-])(?P<number>\d{1,4})(?:st|nd|rd|th|\.(?=\s[A-ZÄÖÜ])|e|er|ère|ème|[ºª])(?!\w)"
    r"|\b(?P<word>second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|zweite[nrs]?|dritte[nrs]?|vierte[nrs]?"
    r"|deuxième|troisième|quatrième|segund[oa]|tercer[oa]?|cuart[oa])\b",
    re.IGNORECASE,
)
_PLACES: Final = {
    **dict.fromkeys(("second", "zweite", "zweiten", "zweiter", "zweites", "deuxieme", "segundo", "segunda"), 2),
    **dict.fromkeys(
        ("third", "dritte", "dritten", "dritter", "drittes", "troisieme", "tercer", "tercero", "tercera"), 3
    ),
    **dict.fromkeys(("fourth", "vierte", "vierten", "vierter", "viertes", "quatrieme", "cuarto", "cuarta"), 4),
    **{word: at for at, word in enumerate(("fifth", "sixth", "seventh", "eighth", "ninth", "tenth"), start=5)},
}
_NAMED: Final = re.compile(
    r"(?<!\w)(?P<noun>[^\W\d_]{3,40})\s+(?:(?:no|nr|num|number|nummer|numéro|número)\b\.?\s*|#\s?)?(?P<number>\d{1,6})(?![\w.,:-]*\d)",
    re.IGNORECASE,
)
#: So much more or less of what a thing has: `20 degrees lower`.
_COMPARED: Final = re.compile(
    r"(?P<number>(?<![\w.,/:-])\d{1,15}(?:[.,]\d{1,15})?)\s*°?\s*(?:[^\W\d_]+\s+)?"
    r"(?:lower|higher|warmer|colder|cooler|hotter|longer|shorter|faster|slower|louder|quieter|brighter|darker|cheaper|wider"
    r"|wärmer|kälter|höher|niedriger|tiefer|länger|kürzer|schneller|langsamer|lauter|leiser|heller|dunkler"
    r"|plus\s+(?:haut|bas|chaud|froid|long|court|fort|vite)e?s?|más\s+(?:alt|baj|caliente|frí|larg|cort|fuerte|rápid)[oa]?s?)(?!\w)",
    re.IGNORECASE,
)
_ON_TOP: Final = re.compile(
    r"(?P<number>(?<![\w.,/:-])\d{1,15}(?:[.,]\d{1,15})?)\s+(?:[^\W\d_]+\s+)?"
    r"(?:more|additional|extra|further|mehr|weitere[nrs]?|zusätzliche[nrs]?|de\s+plus|supplémentaires?|más|adicionales)(?!\w)"
    r"(?!\s+(?:than|als|que|de)\b)",
    re.IGNORECASE,
)
_APIECE: Final = re.compile(
    r"\b(?:je|jeweils)\s+[€$£]?(?P<of>\d{1,15}(?:[.,]\d{1,15})?)(?!\w)"
    r"(?!\s+[^.;!?\n]{1,200}?(?:[,&]|\b(?:und|sowie)\b))"
    r"|(?P<number>(?<![\w.,/:-])\d{1,15}(?:[.,]\d{1,15})?)\s*[€$£]?\s*(?:[^\W\d_]+\s+)?"
    r"(?:each|apiece|chacune?|cada\s+un[oa])(?!\w)(?!\s+(?!(?:for|on|of|from|to|pour|sur|para|por)\b)[^\W\d_])"
    # `2 labels each for SO-10 and SO-11`: for both.
    r"(?!\s+[^.;!?\n]{1,200}?(?:[,&]|\b(?:and|und|et|y)\b))",
    re.IGNORECASE,
)
_WHEN: Final = re.compile(
    r"\b(?:in|after|within|every|nach|binnen|innerhalb\s+von|alle|dans|après|dentro\s+de|tras|después\s+de)\s+"
    r"(?P<number>\d{1,9}(?:[.,]\d+)?)\s*(?P<unit>[^\W\d_]+)"
    r"|(?P<late>(?<![\w.,/:-])\d{1,9}(?:[.,]\d+)?)\s*(?P<of>[^\W\d_]+)\s+"
    r"(?:from\s+now|ago|hence|later|earlier|before|plus\s+tard|später|früher|vorher|más\s+tarde|antes)\b",
    re.IGNORECASE,
)
#: How long it is until something, said without a digit, or with one that no call holds: `in an hour`.
_DELAY: Final = re.compile(
    r"\b(?:in|after|within|nach|binnen|dans|après|dentro\s+de|tras)\s+(?:about\s+|etwa\s+|environ\s+|unos?\s+)?"
    r"(?:an?|half\s+an?|one|two|three|four|five|six|ten|a\s+couple\s+of|a\s+few|eine[mnr]?|einer\s+halben|zwei|drei|vier|fünf"
    r"|une?|une\s+demi[-\s]|deux|trois|quatre|cinq|una?|media|dos|tres|cuatro|cinco)\s*(?P<unit>[^\W\d_]+)",
    re.IGNORECASE,
)
#: Above this a number is not kept to its last digit wherever it goes.
_KEPT: Final = 2**53
#: Words of a tool or a parameter that takes how long it is until something.
_WAITING: Final = frozenset(
    re.findall(r"\S+", "in delay after wait within every interval timer alarm remind reminder snooze due until timeout")
)
#: Words of a parameter that takes a place in a row.
_PLACE: Final = frozenset(re.findall(r"\S+", "position index rank place row floor page number no nr grade level line"))
#: Verbs of tools that say what a number is to be, and not what is added.
_SETTING: Final = frozenset(
    re.findall(r"\S+", "set scale change update adjust edit modify resize raise lower increase decrease put")
)
#: Three digits behind one mark, which may be thousands or a fraction.
_THREE: Final = re.compile(r"(?<![\w.,'\u2019-])(?P<number>[1-9]\d{0,2}[.,]\d{3})(?![\w]|[.,]\d)")


def marked(seen: Seen) -> Iterator[str]:
    """A question for each number of a call that acts which means another one by what stands beside it."""
    for found in _MARKED.finditer(seen.request):
        if _is_open(found, seen) and any(holders(found["number"] or found["base"], seen)):
            yield f"{found.group().strip()!r}: which number is meant?"
    for found in _SUM.finditer(seen.request):
        # What is quoted, or an address, a value holds.
        if not seen.held.has_text(found.group().strip()):
            yield f"{found.group().strip()!r}: what is meant to come of it?"
    yield from _places(seen)
    for found in (*_ON_TOP.finditer(seen.request), *_COMPARED.finditer(seen.request)):
        if any(_SETTING.intersection(raw_words(tool.name)[:1]) for tool, _ in holders(found["number"], seen)):
            yield f"{found.group()!r}: is that on top of what there is? The plan takes it for what comes of it."
    for found in _APIECE.finditer(seen.request):
        if not seen.has_loop and len([*holders(found["number"] or found["of"], seen)]) == 1 and not _is_counted(seen):
            yield f"{found.group()!r}: for how many? The plan has one call that takes it."
    yield from _times(seen)
    yield from _delays(seen)
    yield from _too_long(seen)
    yield from _again(seen)
    yield from _raised(seen)
    for found in _THREE.finditer(seen.request):
        fraction = found["number"].replace(",", ".")
        if any(_is_fraction(call.inputs.get(name), fraction) for call, _, _ in seen.acting for name in call.inputs):
            yield f"{found['number']!r}: are those thousands, or a fraction?"


def _delays(seen: Seen) -> Iterator[str]:
    """A question for each wait in words that no acting tool takes: what is done at once is not done in an hour."""
    words = {
        word
        for call, tool, _ in seen.acting
        for one in ((tool.name, *call.inputs) if tool is not None else ())
        for word in raw_words(one)
    }
    takes_a_moment = bool((_WAITING | _MOMENTS) & words) or any(
        isinstance(value, str) and _MOMENT.match(value) for call, _, _ in seen.acting for value in call.inputs.values()
    )
    for found in _DELAY.finditer(seen.plain):
        if (
            folded(found["unit"]) in TIME_UNIT_OF
            and not takes_a_moment
            and not seen.held.has_text(found.group().strip())
        ):
            yield f"{found.group()!r} says when, and the plan does it at once. What is meant?"


#: Words of a parameter that takes when something is to be, and such values.
_MOMENTS: Final = frozenset(
    re.findall(r"\S+", "when at on date day time start end minutes hours days seconds duration")
)
_MOMENT: Final = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}")


#: What is lengthened up to a number, where a tool adds it: `Extend R-7 to 3 days`.
_UP_TO: Final = re.compile(
    r"\b(?:extend|lengthen|prolong|verlänger\w*|prolonge[rz]?|rallonge[rz]?|amplía|extiende|prorroga)\b[^.;!?\n]{0,120}?"
    r"(?P<words>\b(?:to|auf|à|a|hasta)\s+(?P<number>\d{1,6})\s+[^\W\d_]+)",
    re.IGNORECASE,
)
_ADDING: Final = re.compile(r"\b(?:add(?:ed|itional)?|more|extra|by|longer)\b", re.IGNORECASE)
#: Each time anew, which Spanish says with words that stand beside days, too.
_EACH_TIME: Final = re.compile(
    r"\b(?:al|por|a\s+la)\s+(?:mes|semana|año|día|hora)\b|\b(?:again\s+and\s+again|over\s+and\s+over|time\s+and\s+again"
    r"|immer\s+wieder|encore\s+et\s+encore|una\s+y\s+otra\s+vez)\b",
    re.IGNORECASE,
)
#: From now on, which is how a thing stays that is set, opened or locked, and makes a rule of what is done once.
_FROM_NOW_ON: Final = re.compile(
    r"\b(?:from\s+(?:now|today|here)\s+on(?:wards?)?|henceforth|(?:ab|von)\s+(?:jetzt|nun|heute|sofort)\s+(?:an|immer)|fortan"
    r"|désormais|dorénavant|à\s+partir\s+de\s+maintenant|(?:de|desde)\s+ahora\s+en\s+adelante|a\s+partir\s+de\s+ahora)\b",
    re.IGNORECASE,
)
_STAYING: Final = frozenset(
    re.findall(
        r"\S+",
        """set change update edit modify adjust switch turn assign move use enable disable activate deactivate open
        close lock unlock block unblock mute unmute pause resume subscribe unsubscribe follow forward allow forbid limit
        keep start stop book reserve rename""",
    )
)
_RECURRING: Final = frozenset(
    re.findall(
        r"\S+", "month monthly week weekly year yearly daily hourly per every interval frequency recurring repeat rate"
    )
)


def _raised(seen: Seen) -> Iterator[str]:
    """A question for each number that is to come of it, where the tool adds it."""
    for found in _UP_TO.finditer(seen.request):
        if any(
            _ADDING.search(f"{tool.description} {told_of(tool, name)}") for tool, name in holders(found["number"], seen)
        ):
            yield f"{found['words']!r}: is that what comes of it? The plan adds it to what there is."


def _again(seen: Seen) -> Iterator[str]:
    """A question for each time anew, where the tools know nothing of it."""
    known = {
        word
        for _, tool, _ in seen.acting
        if tool is not None
        for text in (tool.name, tool.description, *(f"{name} {told_of(tool, name)}" for name in _names(tool)))
        for word in raw_words(text)
    }
    is_once = any(
        tool is not None and not _STAYING.intersection(raw_words(tool.name)[:1]) for _, tool, _ in seen.acting
    )
    repeated = [*_EACH_TIME.finditer(seen.plain), *(_FROM_NOW_ON.finditer(seen.plain) if is_once else ())]
    for found in repeated if not _RECURRING & known else ():
        yield f"{found.group()!r} says that it is to be done again: the plan does it once. Should it?"


def _names(tool: Tool) -> list[str]:
    properties = plain_inputs(tool).get("properties")
    return [*properties] if isinstance(properties, dict) else []


def _too_long(seen: Seen) -> Iterator[str]:
    """A question for each number that is longer than programs keep exactly."""
    for call, _, _ in seen.acting:
        for name, value in call.inputs.items():
            if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) > _KEPT:
                yield f"{call.id}: is {value:,} meant for {name!r}?"


def _is_counted(seen: Seen) -> bool:
    """Whether the calls say how many there are besides what each of them is: `Sell 10 of V-2 for 3000 each`."""
    taken = [value for call, _, _ in seen.acting for value in call.inputs.values()]
    return sum(isinstance(one, int | float) and not isinstance(one, bool) for one in taken) > 1


def _is_fraction(value: object, fraction: str) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and value == float(fraction)


def _is_open(found: re.Match[str], seen: Seen) -> bool:
    """Whether no value holds it as it stands: what is quoted, or somebody's words."""
    return not seen.held.has_text(found.group().strip())


def _places(seen: Seen) -> Iterator[str]:
    """A question for each place in a row, and each number of one thing, that a call takes for a count of things."""
    for found in _TENTH.finditer(seen.request):
        number = found["number"] or str(_PLACES.get(folded(found["word"] or ""), 0))
        if _is_open(found, seen) and any(_counts(tool, name) for tool, name in holders(number, seen)):
            yield f"{found.group()!r} says which one: how many are meant?"
    yield from _counted(seen)
    for found in _NAMED.finditer(seen.plain):
        noun = folded(found["noun"])
        for tool, name in holders(found["number"], seen):
            last = raw_words(name)[-1:]
            if _counts(tool, name) and last and noun != folded(last[0]) and stem(noun) == stem(folded(last[0])):
                yield f"{found.group()!r} says which one: how many are meant?"


#: So many things: `3 courts`.
_SO_MANY: Final = re.compile(r"(?<![\w.,:/-])(?P<number>\d{1,4})\s+(?P<noun>[^\W\d_]{3,40}s)(?!\w)")


def _counted(seen: Seen) -> Iterator[str]:
    """A question for how many there are, taken for which one, and for which one, taken for how many there are."""
    for found in _SO_MANY.finditer(seen.request):
        for tool, name in holders(found["number"], seen):
            last = raw_words(name)[-1:]
            if last and not _counts(tool, name) and folded(found["noun"]) == f"{folded(last[0])}s":
                yield f"{found.group()!r} says how many: which {last[0]} is meant?"
    for found in _NAMED.finditer(seen.request):
        noun = folded(found["noun"])
        for tool, name in holders(found["number"], seen):
            if _counts(tool, name) and f"{noun}s" in raw_words(tool.name)[1:]:
                yield f"{found.group()!r} says which one: how many are meant?"


def _counts(tool: Tool, name: str) -> bool:
    """Whether a parameter takes how many things there are to be."""
    words = [*map(folded, raw_words(name))]
    properties = plain_inputs(tool).get("properties")
    schema = properties.get(name) if isinstance(properties, dict) else None
    is_number = isinstance(schema, dict) and schema.get("type") in ("integer", "number")
    if not words or not is_number or _PLACE.intersection(words):
        return False
    is_length = bool(TIME_UNIT_OF.keys() & words)
    return not is_length and (words[-1].endswith("s") or bool({"count", "quantity", "amount", "many"} & {*words}))


def _times(seen: Seen) -> Iterator[str]:
    """A question for each length of time after which something is to be, and that a call takes for how long it is."""
    for found in _WHEN.finditer(seen.request):
        number, unit = found["number"] or found["late"], folded(found["unit"] or found["of"])
        if unit not in TIME_UNIT_OF or not _is_open(found, seen):
            continue
        for tool, name in holders(number, seen):
            if not _WAITING.intersection((*raw_words(tool.name), *raw_words(name))):
                yield f"{found.group()!r} says when, and {tool.name} takes it for {name!r}. What is meant?"
