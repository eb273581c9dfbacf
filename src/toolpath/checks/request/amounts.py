"""What a number in a request means besides itself: a bound, a part, packs, a currency; and times that are none. Pure.

`at most 30`, `half of 30`, `30 %` and `3 pallets` all hold a number that a call could take as it stands, and mean
another one. What a tool has a parameter for (`max_price`, `percent`, `pallets`) is no question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final

from toolpath.checks.request.calendar_words import MONTH_NAMES, WEEKDAY_NAMES
from toolpath.checks.request.clock import clocks_in
from toolpath.checks.request.counts import number_words
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.checks.request.seen import Seen, is_offered
from toolpath.checks.request.uncovered import without_lengths
from toolpath.checks.request.units import AMBIGUOUS, UNIT_OF, words_of_unit
from toolpath.checks.request.verbs import folded
from toolpath.model.plan import Call
from toolpath.model.tool import Tool
from toolpath.values import Json

_NUMBER: Final = r"(?P<number>(?<![\w.,/:-])-?\d{1,15}(?:[.,]\d{1,15}){0,5}(?![\w:/]|[.,-]\w)|\b[a-zäöüßé]{2,8}\b)"
#: Before a number: another number is meant.
_BEFORE: Final = re.compile(
    r"(?<![\w-])(?P<words>"
    r"(?:at|the)\s+(?:very\s+)?(?:most|least)|up\s+to|(?:no|not)\s+(?:more|less|fewer)\s+than|(?:less|more"
    r"|fewer)\s+than"
    r"|(?:some|unos|unas|quelque|gut|rund|below|above|unterhalb\s+von|oberhalb\s+von|por\s+(?:debajo|encima)\s+de"
    r"|(?:en\s+dessous|au-dessus)\s+de)(?=\s+[€$£]?\d)"
    r"|about|around|roughly|approximately|approx\.?|circa|ca\.?|nearly|almost|maximum(?:\s+of)?|minimum(?:\s+of)?"
    r"|(?:one\s+|a\s+)?(?:half|third|quarter)(?:\s+of)?|double|triple|minus|negative"
    r"|höchstens|mindestens|maximal|minimal|bis\s+zu|weniger\s+als|mehr\s+als|etwa|ungefähr|fast|knapp"
    r"|(?:die\s+)?hälfte\s+(?:von|der)|au\s+(?:plus|moins)|jusqu['\u2019]à|moins\s+de|plus\s+de|environ|presque"
    r"|(?:la\s+)?moitié\s+(?:de|des)|como\s+(?:máximo|mínimo)|al\s+menos|hasta|menos\s+de|más\s+de|aproximadamente|casi"
    r"|(?:la\s+)?mitad\s+de(?:\s+l[ao]s)?)\s+(?:the\s+)?" + _NUMBER,
    re.IGNORECASE,
)
#: After a number and what it counts: the same.
_AFTER: Final = re.compile(
    _NUMBER + r"(?:\s+[^\W\d_]+)?,?\s+(?P<words>or\s+(?:more|less|fewer|so)|at\s+(?:most|least)|(?:at\s+a\s+)?"
    r"(?:max|maximum|minimum)|tops|oder\s+(?:mehr|weniger)|ou\s+(?:plus|moins)|o\s+(?:más|menos)"
    r"|como\s+(?:máximo|mínimo)|höchstens|mindestens)(?!\w)(?!\s+[€$£]?\s?\d)",
    re.IGNORECASE,
)
_SHARE: Final = re.compile(
    r"(?P<number>(?<![\w.,/:-])\d{1,15}(?:[.,]\d{1,15})?|\b[a-zäöüßé]{2,8}\b)\s?(?P<words>%|(?:percent|per\s+cent|prozent|pour\s?cent"
    r"|por\s+"
    r"ciento)(?!\w))",
    re.IGNORECASE,
)
_PACKS: Final = re.compile(
    _NUMBER
    + r"\s+(?P<words>pallets?|crates?|cartons?|box(?:es)?|cases?|packs?|packets?|packages?|bundles?|dozens?|pairs?"
    r"|kilos?|kilogram(?:m|me|o)?s?|kg|grams?|gramm|grammes?|gramos?|m?g|tons?|tonnes?|tonnen|lit(?:er|re)s?|litros?|[mc]?l|gallons?"
    r"|barrels?|sacks?|paletten?|kisten?|kartons?"
    r"|cents?|pence|centimes|céntimos|hundred|thousand|million|billion|hundert|tausend|millionen"
    r"|packungen|dutzend|paare?|palettes?|caisses?|paires?|douzaines?|palés?|cajas?|paquetes?|docenas?|pares)(?!\w)",
    re.IGNORECASE,
)
#: A part of something, or more of it, wherever its whole amount is said.
_PART: Final = re.compile(
    r"(?<![\w-])(?:half|a\s+(?:third|quarter|fifth|part)|two\s+thirds|hälfte|moitié|mitad|(?:one|some|most"
    r"|several)\s+of"
    r"\s+(?:the|my|our|these|those|them)|(?:one|any|either|some|most|several)\s+of(?=\s+(?:\w+\s+)?#))(?![\w-])"
    r"(?!\s+(?:an?\s+hour|hour|past|an?\s+day|board|marathon|price))",
    re.IGNORECASE,
)
_PART_OF: Final = re.compile(
    r"(?<![\w-])(?:(?:half|a\s+third|a\s+quarter|a\s+part|one|any|either|some|most|several|a\s+few)\s+of(?!\s+(?:us|you)\b)"
    r"|(?:die\s+)?hälfte|ein(?:en|es|er|e)?\s+der|einige\s+der|la\s+moitié|une?\s+des|la\s+mitad"
    r"|un[oa]\s+de\s+l[oa]s)(?![\w-])",
    re.IGNORECASE,
)
#: Before a day or a time: it is said before, after or by when.
_UNTIL: Final = re.compile(
    r"(?<![\w-])(?P<words>about|around|roughly|circa|ca\.|ungefähr|etwa|gegen|vers|environ|a\s+eso\s+de"
    r"|before|after|by|until|till|since|(?:no\s+)?(?:later|earlier)\s+than|vor|nach|bis|seit"
    r"|spätestens"
    r"|avant|après|jusqu['\u2019]au|depuis|antes\s+del?|después\s+del?|hasta)\s+(?:the\s+|dem\s+|zum\s+|am\s+|le\s+"
    r"|el\s+)?"
    r"(?P<moment>\d{1,4}[-/.:]\d{1,2}(?:[-/.:]\d{1,4})?(?:T[\d:]{4,8})?|\d{1,2}\s?(?:[ap]\.?m\b|uhr|h\b"
    r"|o['\u2019]clock)"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.|er)?\s+(?:of\s+|de\s+)?(?:{MONTH_NAMES})|(?:{MONTH_NAMES})\s+\d{{1,2}}"
    rf"|noon|midnight|tomorrow|mittag|midi|{WEEKDAY_NAMES})(?!\w)",
    re.IGNORECASE,
)
#: A change by a number, which is not what comes of it.
_CHANGE: Final = re.compile(
    r"(?<!\w)(?P<verb>increase|raise|lower|reduce|decrease|cut|drop|boost|bump|grow|shrink|erhöhe?|senke?"
    r"|verringer[en]?"
    r"|set|turn|put|change|adjust|move|push|scale|skaliere?|ändere?|stelle?|setze?|drehe?"
    r"|augmente[rz]?|rédui[st]|baisse[rz]?|aumenta|reduce|sube|baja)\b[^.;!?\n]{0,120}?(?<!\w)(?P<words>by|um|de|en)\s+"
    + _NUMBER
    + r"(?!\s*(?:uhr|h|[ap]\.?m|à|a|auf|to)\b)",
    re.IGNORECASE,
)
#: Words in the name of a parameter that takes a bound as one.
_BOUNDS: Final = frozenset(
    re.findall(
        r"\S+",
        """max maximum min minimum most least limit limits threshold ceiling floor cap below above less more than older
        newer budget about approximate tolerance within up upto lower upper""",
    )
)
SHARES: Final = frozenset(
    re.findall(
        r"\S+",
        """percent percentage share rate ratio discount fraction level volume brightness humidity probability opacity
        interest tax tip vat markup margin position speed intensity""",
    )
)
"""Words of what a percentage may say."""
#: The words and signs of a currency, and the codes that each may stand for.
CURRENCIES: Final = (
    (re.compile(r"€|\beuros?\b|\beur\b", re.IGNORECASE), ("EUR",)),
    (re.compile(r"\$|\bdollars?\b|\bdólares\b|\busd\b", re.IGNORECASE), ("USD", "AUD", "CAD", "NZD", "SGD", "HKD")),
    (re.compile(r"£|\bpounds?\b|\bpfund\b|\blivres\b|\blibras\b|\bgbp\b|\bquid\b", re.IGNORECASE), ("GBP", "EGP")),
    (re.compile(r"\b(?:swiss\s+)?francs?\b|\bfranken\b|\bchf\b", re.IGNORECASE), ("CHF", "XAF", "XOF")),
    (re.compile(r"¥|\byens?\b|\bjpy\b|\byuan\b|\bcny\b", re.IGNORECASE), ("JPY", "CNY")),
    (re.compile(r"₹|\brupees?\b|\binr\b", re.IGNORECASE), ("INR", "PKR", "LKR")),
)
_AMOUNT: Final = re.compile(r"(?<![\w-])(?:[€$£¥₹]\s?\d[\d.,]*|\d[\d.,]*\s?(?:[€$£¥₹]|[^\W\d_]+(?:\s+francs?)?))")
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?")
_ISO: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?")
_MOMENT: Final = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}[:./]\d{2}")
#: Words in the name of a parameter that takes a day or a time as a bound.
_ENDS: Final = frozenset(
    re.findall(
        r"\S+",
        """before after by until till since due deadline end ends start starts begin begins from to through expires
        expiry valid earliest latest last first check out in departure arrival between min max return
        returned returns""",
    )
)
#: Of these a day or a time that is only before or after another one is none.
_SOLE: Final = frozenset(("start", "starts", "begin", "begins"))
_TIMES: Final = frozenset(("time", "clock", "start", "end", "begin", "begins", "when", "at", "hour", "hh"))


def misread(seen: Seen) -> Iterator[str]:
    """A question for each number of a call that acts and means another one as the request says it."""
    for pattern in (_BEFORE, _AFTER, _PACKS, _SHARE):
        for found in pattern.finditer(seen.request):
            start, end = found.span("words")
            if seen.plain[start:end] != seen.request[start:end]:
                # Somebody's words, or a text that is handed on.
                continue
            if _UP_TO.fullmatch(found["words"]) and _RAISED.search(
                seen.plain, max(0, found.start() - 60), found.start()
            ):
                # `scale search up to 5`
                continue
            held = [*holders(found["number"], seen), *(shares(found, seen) if pattern is not _PACKS else ())]
            if any(_takes(pattern, found, seen, tool, name) for tool, name in held):
                said = " ".join(found.group().split())
                yield f"{said!r}: the plan takes {found['number']!r} as it stands. Which number is meant?"
    yield from _changed_by(seen)
    yield from _in_other_unit(seen)
    yield from _backwards(seen)
    yield from _shared(seen)
    yield from _in_part(seen)
    yield from _bounded(seen)
    yield from _other_currency(seen)
    yield from _own_currency(seen)
    yield from _one_or_other(seen)
    yield from _outside(seen)
    yield from _no_time(seen)
    yield from _oddly_grouped(seen)


_UP_TO: Final = re.compile(r"up\s+to", re.IGNORECASE)
#: Verbs after which `up to` says what a number becomes.
_RAISED: Final = re.compile(
    r"\b(?:go(?:es)?|went|gone|raise|scale|turn|bring|bump|put|set|push|crank|move|take|increase)\b[^.;!?\n]*$",
    re.IGNORECASE,
)


def _changed_by(seen: Seen) -> Iterator[str]:
    """A question where the request changes something by a number, and a tool that changes nothing by one takes it."""
    for found in _CHANGE.finditer(seen.request):
        for tool, name in holders(found["number"], seen):
            told = _words(f"{tool.name} {tool.description} {name} {told_of(tool, name)}")
            if folded(found["verb"]) in _SETTING and folded(found["words"]) in ("de", "en"):
                # `Fija el límite en 900`.
                continue
            own = set() if folded(found["verb"]) in _SETTING else {folded(found["verb"])}
            if not told & {*own, "by", "delta", "increment", "step"}:
                yield f"{' '.join(found.group().split())!r}: the plan takes {found['number']!r} for what comes of it."


#: Verbs that say what a thing becomes as well as by how much it changes.
_SETTING: Final = frozenset(("set", "turn", "put", "change", "adjust", "move", "push", "scale", "skaliere", "skalier"))
_MEASURED: Final = re.compile(_NUMBER + r"\s*°?\s*(?P<unit>[^\W\d_]+)")


def _in_other_unit(seen: Seen) -> Iterator[str]:
    """A question for each number that a call takes in another unit than the request says it in."""
    for found in _KELVIN.finditer(seen.request):
        if any(_kind_of(word) == "heat" for _, tool, _ in seen.acting for word in _inputs_of(tool)):
            yield f"{found.group()!r}: is that in kelvin, or so many thousands?"
    for found in _MEASURED.finditer(seen.request):
        unit = UNIT_OF.get(folded(found["unit"]))
        for tool, name in holders(found["number"], seen) if unit is not None else ():
            named = {UNIT_OF[word] for word in _words(name) if word in UNIT_OF}
            told = named or {UNIT_OF[word] for word in _words(told_of(tool, name)) if word in UNIT_OF}
            kinds = {one.kind for one in told} | ({"heat"} & {*map(_kind_of, _words(f"{name} {told_of(tool, name)}"))})
            is_other = unit is not None and unit not in told and unit.kind in kinds
            # Degrees are no hours.
            is_other |= (
                kinds == {"heat"}
                and unit is not None
                and unit.kind != "heat"
                and folded(found["unit"]) not in AMBIGUOUS
            )
            # A parameter that is called by its unit counts in nothing else: `rpm` is no `3000 g`.
            is_other |= bool(named) and unit not in named and folded(found["unit"]) not in AMBIGUOUS
            if is_other:
                yield f"{' '.join(found.group().split())!r}: {name!r} counts otherwise. Which number is meant?"


def is_measure(text: str) -> bool:
    """Whether a text begins with a number and a unit that it counts: `10 minutes`."""
    found = _MEASURED.match(text)
    return found is not None and folded(found["unit"]) in UNIT_OF and folded(found["unit"]) not in AMBIGUOUS


def is_money(text: str) -> bool:
    """Whether a text speaks of a currency."""
    return any(said.search(text) for said, _ in CURRENCIES)


def _inputs_of(tool: Tool | None) -> Iterator[str]:
    if tool is None:
        return
    properties = plain_inputs(tool).get("properties")
    for name in properties if isinstance(properties, dict) else ():
        yield from _words(f"{name} {told_of(tool, name)}")


def _kind_of(word: str) -> str:
    """The kind of measure that a word of a parameter speaks of; none: it is no unit."""
    if word in _HEAT:
        return "heat"
    unit = UNIT_OF.get(word)
    return unit.kind if unit is not None else ""


#: Words for heat that say no unit of it.
_HEAT: Final = frozenset(("temperature", "degree", "degrees", "temperatur", "grad", "température", "degré", "degrés"))


#: As many thousands are written without a blank.
_KELVIN: Final = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)?\s+[Kk](?!\w)")
_MONEY: Final = frozenset(("amount", "sum", "total", "money", "budget"))
_EACH: Final = re.compile(
    r"\b(?:each|apiece|every|both|je|jeweils|beide\w*|chacune?|chaque|cada|ambos)\b", re.IGNORECASE
)


def _shared(seen: Seen) -> Iterator[str]:
    """A question for each amount that is said once and that several calls of one tool would take whole."""
    held: dict[tuple[str, str, float], int] = {}
    for call, _, _ in seen.acting:
        for name, value in call.inputs.items():
            if isinstance(value, int | float) and not isinstance(value, bool) and _words(name) & _MONEY:
                held[call.tool, name, float(value)] = held.get((call.tool, name, float(value)), 0) + 1
    for (_, name, value), count in held.items():
        said = sum(
            value in map(_as_number, (one, one.replace(",", ""), one.replace(".", "").replace(",", ".")))
            for one in re.findall(r"(?<![\w.,-])\d[\d.,]*(?<![.,])", seen.request)
        )
        if count > 1 and said < 2 and not _EACH.search(seen.plain):
            yield f"{value:g} is said once: is it {name!r} of each, or of all together?"


_STARTS: Final = frozenset(("start", "from", "begin", "begins", "since", "in", "departure"))
_STOPS_AT: Final = frozenset(("end", "to", "until", "ends", "out", "return", "till"))


def _backwards(seen: Seen) -> Iterator[str]:
    """A question for each call that acts and ends before it begins."""
    for call, _, _ in seen.acting:
        days = {
            name: value[:10] for name, value in call.inputs.items() if isinstance(value, str) and _ISO.fullmatch(value)
        }
        starts = [day for name, day in days.items() if _words(name.replace("_", " ")) & _STARTS]
        ends = [day for name, day in days.items() if _words(name.replace("_", " ")) & _STOPS_AT]
        if len(starts) == len(ends) == 1 and ends[0] < starts[0]:
            yield f"{call.id}: it would end on {ends[0]}, before it begins on {starts[0]}. Which days are meant?"


_DOZEN: Final = re.compile(r"s?\s+(?:an?\s+)?(?:dozen|dutzend|douzaine|docena)\b|-douzaine\b", re.IGNORECASE)


def _in_part(seen: Seen) -> Iterator[str]:
    """A question where a part of something is meant, and no value of the plan is that part."""
    plain = without_lengths(seen.plain, seen.held)
    clocks = clocks_in(plain)
    parts = [
        found
        for found in _PART.finditer(plain)
        # `half seven` is a time, `half a dozen` is six.
        if not any(one.start <= found.start() < one.end and not one.is_bare for one in clocks)
        and not (_DOZEN.match(plain, found.end()) and 6.0 in seen.held.numbers)
    ]
    for word in {" ".join(found.group().split()) for found in parts}:
        is_half = 0.5 in seen.held.numbers and not _PART_OF.search(plain) and not _HALF_OF_IT.search(plain)
        is_told = is_half or seen.held.has(word) or folded(word) in seen.held.vocabulary
        if not is_told and (
            _PART_OF.search(plain)
            or any(isinstance(value, int | float) for call, _, _ in seen.acting for value in _of(call))
        ):
            yield f"The plan does the whole where the request says {word!r}. How much is meant?"


#: `Pay half for invoice 31`: half of what it comes to, and no half a euro.
_HALF_OF_IT: Final = re.compile(
    r"(?<![\w-])(?:half|hälfte|moitié|mitad)(?=\s*(?:$|[.,;!?]|(?:for|on|to|from|now|today|für|auf|jetzt|pour|sur|para|por)\b))",
    re.IGNORECASE,
)


def _of(call: Call) -> Iterator[Json]:
    return (value for value in call.inputs.values() if not isinstance(value, bool))


def _bounded(seen: Seen) -> Iterator[str]:
    """A question for each day or time before, after or by which something is to be, and that is taken for its own."""
    for found in _UNTIL.finditer(seen.request):
        start, end = found.span("words")
        if seen.plain[start:end] != seen.request[start:end] or seen.held.has(f"{found['words']} {found['moment']}"):
            continue
        for call, tool, _ in seen.acting:
            taking = [name for name, value in call.inputs.items() if isinstance(value, str) and _MOMENT.match(value)]
            if tool is not None and taking and not any(_words(name) & _ENDS - _SOLE for name in taking):
                yield f"{call.id}: {' '.join(found.group().split())!r} is no {taking[0]!r}. Which one is meant?"


def _takes(pattern: re.Pattern[str], found: re.Match[str], seen: Seen, tool: Tool, name: str) -> bool:
    """Whether the parameter takes the number as if the words beside it were not there."""
    words = _words(name)
    if pattern is _PACKS:
        pack = folded(found["words"])
        known = {pack, pack.removesuffix("s"), pack.removesuffix("es"), *words_of_unit(pack)}
        if _words(told_of(tool, name)) & {"unit", "units", "measure"}:
            # It takes the number in whatever its thing is measured in.
            return False
        return not known & seen.held.vocabulary and not any(map(seen.held.names, known))
    if pattern is _SHARE:
        told = _words(f"{tool.name} {tool.description} {name} {told_of(tool, name)}")
        is_share = bool(told & SHARES) or "%" in told_of(tool, name)
        return not is_share
    return not words & _BOUNDS


def holders(number: str, seen: Seen) -> Iterator[tuple[Tool, str]]:
    """The parameters of the acting calls that hold the number."""
    for call, tool, _ in seen.acting:
        for name, value in call.inputs.items() if tool is not None else ():
            if tool is not None and _is_number(value, number):
                yield tool, name


def shares(found: re.Match[str], seen: Seen) -> Iterator[tuple[Tool, str]]:
    """The parameters that hold a percentage as what it is of one: `0.03` of `3 %`."""
    share = (_as_number(found["number"].replace(",", ".")) or 0.0) / 100
    for call, tool, _ in seen.acting:
        for name, value in call.inputs.items():
            if tool is not None and share and isinstance(value, float) and abs(value - share) < 1e-9:
                yield tool, name


def _is_number(value: Json, number: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return isinstance(value, str) and value.isdigit() and value == number
    if number[-1:].isalpha():
        return float(value).is_integer() and 1 < value < 13 and folded(number) in number_words(int(value))
    plain = (number.replace(",", ""), number.replace(".", "").replace(",", "."), number.replace(",", "."))
    return any(_as_number(one) == value for one in plain)


def _as_number(digits: str) -> float | None:
    try:
        return float(digits)
    except ValueError:
        return None


def _words(text: str) -> frozenset[str]:
    """Every word of a name or a text, also those that hold sentences together: `until` may be a parameter."""
    parted = re.sub(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])", " ", text)
    return frozenset(folded(word) for word in re.findall(r"[^\W\d_]+", parted))


def told_of(tool: Tool, name: str) -> str:
    """The words in which the schema tells of a parameter."""
    properties = plain_inputs(tool).get("properties")
    schema = properties.get(name) if isinstance(properties, dict) else None
    texts: Sequence[Json] = [schema.get("description"), schema.get("title")] if isinstance(schema, dict) else []
    return " ".join(text[:500] for text in texts if isinstance(text, str))


def _other_currency(seen: Seen) -> Iterator[str]:
    """A question where an amount is said in a currency and a call counts in the one that its tool begins with."""
    for call, tool, _ in seen.acting:
        properties = plain_inputs(tool).get("properties") if tool is not None else None
        for name, schema in properties.items() if isinstance(properties, dict) else ():
            if "currency" not in name.casefold() or not isinstance(schema, dict):
                continue
            told = call.inputs.get(name, schema.get("default"))
            if name in call.inputs and not is_offered(told, tool, name):
                continue
            for amount in _AMOUNT.findall(seen.request):
                codes = next((codes for said, codes in CURRENCIES if said.search(amount)), None)
                if codes is not None and isinstance(told, str) and told.upper() not in codes:
                    yield f"{call.id}: {amount!r} is said, and the plan counts in {told}. Which is meant?"


def _own_currency(seen: Seen) -> Iterator[str]:
    """A question where an amount is said in a currency and the tool says itself that it counts in another one."""
    for call, tool, _ in seen.acting:
        if tool is None or any("currency" in name.casefold() for name in call.inputs):
            continue
        for name, value in call.inputs.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                continue
            own = currencies(name.replace("_", " ") + " " + told_of(tool, name)) or currencies(tool.description)
            for amount in _AMOUNT.findall(seen.request) if own else ():
                said = currencies(amount)
                if said and not said & own and _is_number(value, re.sub(r"[^\d.,]", "", amount).strip(".,")):
                    yield f"{call.id}: {amount!r} is said, and {tool.name} counts in {min(own)}. Which is meant?"


def currencies(text: str) -> frozenset[str]:
    """The codes of the currencies that a text speaks of."""
    return frozenset(code for said, codes in CURRENCIES if said.search(text) for code in codes)


def _one_or_other(seen: Seen) -> Iterator[str]:
    """A question where a range of numbers is said, and a call takes an end of it, or several calls take both."""
    for found in _RANGE.finditer(seen.request):
        first, last = found["first"] or found["from"], found["last"]
        taking = {name for one in (first, last) for _, name in holders(one, seen)}
        both = any({first, last} <= {_said(value) for value in call.inputs.values()} for call, _, _ in seen.acting)
        if taking and not both:
            yield f"{' '.join(found.group().split())!r}: which number is meant?"
    for found in _CHANGED.finditer(seen.request):
        if any(holders(found["number"], seen)):
            yield f"{' '.join(found.group().split())!r}: the plan takes {found['number']!r} as it stands. What is it?"


def _said(value: Json) -> str:
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


#: Two numbers of which one is meant, or none.
_RANGE: Final = re.compile(
    r"(?<![\w.,/:-])(?:(?:between|zwischen|entre)\s+[€$£]?(?P<first>\d+(?:[.,]\d+)?)\s*(?:and|und|et|y)\s+"
    r"|[€$£]?(?P<from>\d+(?:[.,]\d+)?)\s?[/\u2013-]\s?)[€$£]?(?P<last>\d+(?:[.,]\d+)?)(?![\w/:-]|[.,]\d)",
    re.IGNORECASE,
)
#: So much less of something.
_CHANGED: Final = re.compile(
    r"(?P<number>(?<![\w.,/:-])\d+(?:[.,]\d+)?)\s+(?:[^\W\d_]+\s+)?(?:less|fewer|weniger|menos|de\s+moins)(?!\w)"
    r"(?!\s+(?:than|als|que|de)\s+[€$£]?\d)",
    re.I,
)
_BOUND: Final = re.compile(
    r"(?<![\w.:/-])(?P<low>-?\d{1,6}|one|zero)\s*(?:to|-|\u2013|\.\.|bis|à)\s*(?P<high>\d{1,6}|five|six"
    r"|ten)(?![\w:/-]|\.\d)",
    re.IGNORECASE,
)
_SPELLED: Final = {"zero": 0, "one": 1, "five": 5, "six": 6, "ten": 10}


def _outside(seen: Seen) -> Iterator[str]:
    """A question for each number outside the bounds that the words of its tool give: `The volume, 0 to 100.`"""
    for call, tool, _ in seen.acting:
        numbers = {
            name: value
            for name, value in call.inputs.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
        if tool is None:
            continue
        for name, value in numbers.items():
            told = told_of(tool, name) or (tool.description if len(numbers) == 1 else "")
            for found in _BOUND.finditer(told):
                low, high = (_SPELLED.get(one.casefold()) for one in found.group("low", "high"))
                low = int(found["low"]) if low is None else low
                high = int(found["high"]) if high is None else high
                if low < high and not low <= value <= high:
                    yield f"{call.id}: {name!r} is said to be {low} to {high}, not {_said(value)}. Which is meant?"


def _no_time(seen: Seen) -> Iterator[str]:
    """A question for each day and each time of a call that acts which no calendar and no clock has."""
    for call, tool, _ in seen.acting:
        for name, value in call.inputs.items():
            if not isinstance(value, str) or tool is None:
                continue
            told = _words(f"{name} {told_of(tool, name)}")
            clock, day = _CLOCK.fullmatch(value.strip()), _ISO.fullmatch(value.strip())
            is_late = clock is not None and (int(clock[2]) > 59 or int(clock[1]) * 60 + int(clock[2]) > 24 * 60)
            written = _WRITTEN_DAY.fullmatch(value.strip())
            is_none = written is not None and not _is_written_day(*map(int, written.groups()))
            if (is_late and told & _TIMES) or (day is not None and not _is_day(*map(int, day.groups()))) or is_none:
                yield f"{call.id}: {value!r} does not exist; what is {name!r}?"


#: A day as it is written with its year at the end, the month first or second.
_WRITTEN_DAY: Final = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-](\d{4})")


def _is_written_day(first: int, second: int, year: int) -> bool:
    return _is_day(year, second, first) or _is_day(year, first, second)


#: Digits with separators between them, which are one number, one day or one code.
_GROUPED: Final = re.compile(r"(?<![\w.,'\u2019:/-])\d+(?:[.,'\u2019\u066b\u066c]\d+){2,}(?![\w'\u2019/-]|[.,:]\d)")
_DOTTED_DAY: Final = re.compile(r"\d{1,2}\.\d{1,2}\.(?:\d{2}|\d{4})|\d{4}\.\d{1,2}\.\d{1,2}")
#: As countries write long numbers: one mark before each three digits, and another one before the fraction.
_WELL_GROUPED: Final = re.compile(r"\d{1,3}(?P<mark>[.,'\u2019])\d{3}(?:(?P=mark)\d{3})*(?:(?!(?P=mark))[.,]\d+)?")


def _oddly_grouped(seen: Seen) -> Iterator[str]:
    """A question for each number that is grouped as nowhere, or that a plan takes for several: `1'234.567,89`."""
    texts = [value for value in seen.values if isinstance(value, str)]
    yield from _torn(seen)
    for found in _GROUPED.finditer(seen.request):
        said = found.group()
        if (
            _DOTTED_DAY.fullmatch(said) is None
            and _WELL_GROUPED.fullmatch(said) is None
            and not any(said in text for text in texts)
        ):
            yield f"{said!r}: which number is meant?"


#: Digits with one mark or blank between each two runs of them.
_RUNS: Final = re.compile(r"(?<![\w.,'\u2019])\d+(?:[.,'\u2019\s]\d+)+(?![\w'\u2019])")


def _torn(seen: Seen) -> Iterator[str]:
    """A question for each run of digits of which calls of one tool take a part each: `1'234.56`, `12 34`."""
    taken: dict[tuple[str, str], set[str]] = {}
    for call, _, _ in seen.acting:
        for name, value in call.inputs.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                taken.setdefault((call.tool, name), set()).add(f"{value:g}" if abs(value) < _LONG else str(value))
    several = [numbers for numbers in taken.values() if len(numbers) > 1]
    for found in _RUNS.finditer(seen.request) if several else ():
        said = found.group()
        parts = {*re.findall(r"\d+", said), *re.findall(r"\d+[.,]\d+", said)}
        parts |= {one.replace(",", ".") for one in parts}
        if any(len(numbers & parts) > 1 for numbers in several):
            yield f"Is {said!r} one number, or several?"


#: Above this a number is not written in short.
_LONG: Final = 100_000


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
