"""Tests of a plan, held against the words of a condition: whether they say it, and nothing besides. Pure.

A condition is carried where every word of it is told: by the value that `when` looks at, by what it is compared with,
by the inputs of the step that gives it, or as one of the small words that hold a sentence together. What is left over
may change what the condition says, in more ways than any list of words has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.calendar_words import MONTHS, says_when
from toolpath.checks.request.comparisons import COMPARES, COMPARISONS, NEGATED, NOTHING, is_moved, is_small
from toolpath.checks.request.concepts import STOPS, concepts_of
from toolpath.checks.request.contraries import contrary
from toolpath.checks.request.held_values import held_values
from toolpath.checks.request.lent_values import is_named, is_of_another
from toolpath.checks.request.measures import amount_of, counts_alone, counts_in, is_stock
from toolpath.checks.request.occurrences import whole_words
from toolpath.checks.request.plain_schemas import plain_outputs
from toolpath.checks.request.presence import presence_of, tells_presence
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.uncovered import uncovered
from toolpath.checks.request.verbs import folded, is_reading, meanings_of
from toolpath.checks.request.whens import OPPOSITE, Test
from toolpath.model.plan import Call
from toolpath.model.tool import Tool
from toolpath.values import Json, JsonObject, walk

_JOINT: Final = re.compile(r"\s+(?:and|und|et|y)\s+", re.IGNORECASE)
_TOKEN: Final = re.compile(r"[^\s,;!?()\[\]\"“”„«»]+")
_EDGES: Final = ".:'\u2019-"
_HOLDS: Final = words_of(
    "says contains mentions includes contain mention say include content contents text enthält contient contiene"
)
_LEFT: Final = words_of("left remaining remain remains übrig vorrätig restant restants restantes")
_UNITS: Final = words_of("degrees degree celsius °c grad degrés grados °")
_MEASURED: Final = frozenset(("minute", "hour", "day", "second", "week", "km", "kg", "percent"))


def says_condition(tests: Sequence[Test], text: str, seen: Seen, turned: bool) -> bool:
    """Whether these tests together are what a condition says, or its opposite where it is `turned`: `unless`."""
    parts = [text] if len(tests) == 1 else _JOINT.split(text)
    if len(parts) != len(tests) or (turned and len(tests) > 1):
        return False
    before = ""
    for test, part in zip(tests, parts, strict=True):
        step = next((call for call, _, _ in seen.calls if call.id == test.path[0]), None)
        if step is None or not _is_told(test, part, before, step, seen, turned):
            return False
        before += f" {part}"
    return True


def _is_told(test: Test, text: str, before: str, step: Call, seen: Seen, turned: bool) -> bool:
    """Whether a part of a condition says this test, and nothing else."""
    tool = next((tool for call, tool, _ in seen.calls if call is step), None)
    field = _field_of(test, tool)
    schema = _schema_of(test, tool)
    options = schema.get("enum")
    if isinstance(options, list) and test.sign in ("==", "!=") and test.value not in map(str, options):
        # What it never is: `!=` holds for all, then.
        return False
    if _NOT_NOW.search(text) or is_of_another(text, step, seen):
        return False
    wanted = None if COMPARES.search(text) or NOTHING.search(text) else presence_of(test, schema)
    if wanted is not None:
        path = [one for one in test.path[1:] if one != "length"]
        named = is_named(step, seen)
        return tells_presence(text, step, tool, path, is_there=wanted != turned, named=named)
    text = _as_one_word(_NO_MORE.sub(lambda found: found["denied"] or "", text), test.value)
    rest = _rest_of(text, test, field, turned)
    if rest is None:
        return False
    if any(_is_in(value, text) for value in step.inputs.values()) and _POINTING.search(rest.lstrip(), 1):
        # `if ST-6 is enrolled in it`: in something else; `if it is cold in the hall` points to nothing.
        return False
    said = [token for found in _TOKEN.findall(rest) if (token := found.strip(_EDGES))]
    tokens = _without_moments(said, step)
    is_nothing = _nothing_in(text, test) is not None
    tested = _Tested(
        test=test,
        tool=tool,
        schema=schema,
        field=field,
        values=_concepts_of_value(test.value) if test.value else frozenset(),
        inputs=frozenset(part for value in step.inputs.values() for part in _parts_of(value)),
        things=frozenset[str]().union(*(_concepts(word) for word in _words_of(step, tool))),
    )
    return _is_all_told(tokens, tested, is_nothing=is_nothing) and _is_of_one(f"{before} {text}", step, seen)


#: Behind `been`: what is no participle, which would say what has come of it. `been paid` is, `been overdue` is not.
_NO_PARTICIPLE: Final = (
    r"\b(?!\s+(?:(?:already|just|not|never)\s+)*(?:\w+[^\W\d_]ed|paid|sent|sold|made|done|lost"
    r"|\w*(?:aken|iven|osen|oken|itten|rawn|hown))\b)"
)
#: What was so some time, of which what is so now tells nothing, and what is so and more besides.
_NOT_NOW: Final = re.compile(
    r"\b(?:not|n['\u2019]t)\s+(?:\w+\s+){0,3}?(?:only|just|merely|simply)\b|\bnicht\s+(?:\w+\s+){0,3}?(?:nur|bloß|allein)\b"
    r"|\bpas\s+(?:seulement|que|uniquement)\b|\bno\s+(?:\w+\s+){0,3}?(?:s[oó]lo|solamente|únicamente)\b"
    rf"|\b(?:been|was|were|had){_NO_PARTICIPLE}|\b(?:hat|haben|ist|sind|war|waren|wurde)\b[^.;]*\bgewesen\b"
    r"|\b(?:war|waren|hatten?)\b(?![^.;]*(?:\bge\w+|\w+(?:ge|be|ver|er|zer|ent)\w+)(?:t|en)\b)"
    r"|\b(?:étai(?:t|ent)|été)\b(?!\s+(?:(?:déjà|bien)\s+)?\w+(?:é|ée|és|ées|i|ie|is|it|ite|u|ue|us)\b)"
    r"|\b(?:estab[ao]n?|estaban|estuv\w+|estado|eran?)\b(?!\s+\w+(?:[ai]d[oa]s?)\b)"
    r"|\b(?:ever|jemals|une\s+fois|alguna\s+vez)\b",
    re.IGNORECASE,
)
#: That it was so, and is not any more, says that it is not so.
_NO_MORE: Final = re.compile(
    r"\b(?P<denied>no(?=\s+longer\b)|nicht(?=\s+mehr\b(?!\s+als\b))|n(?:e\s|['\u2019])\s*\w+(?=\s+plus\b(?!\s+de\b))|(?=any\s?more\b))"
    r"(?:\s+(?:longer|mehr|plus)|any\s?more)\b",
    re.IGNORECASE,
)


def _nothing_in(text: str, test: Test) -> re.Match[str] | None:
    return NOTHING.search(text) if test.value == "0" and test.sign not in ("<", ">", "<=", ">=") else None


def _rest_of(text: str, test: Test, field: frozenset[str], turned: bool) -> str | None:
    """The words of a condition besides its comparison and its denial; None where these are not those of the test."""
    rest = text
    compared = next(((words.search(text), sign) for words, sign in COMPARISONS if words.search(text)), (None, ""))
    is_number = test.sign in ("<", ">", "<=", ">=")
    if test.sign in ("is", "is not") and compared[0] is not None and {*raw_words(compared[0].group())} <= field:
        # `below the minimum` of what is `below_minimum`.
        compared = (None, "")
    nothing = _nothing_in(text, test)
    if is_number != (compared[0] is not None):
        return None
    if compared[0] is not None:
        start, end = compared[0].span()
        kept = next((one for one in (compared[0].groupdict() or {}).values() if one), "")
        rest = f"{text[:start]} {kept} {text[end:]}"
        if any(words.search(rest) for words, _ in COMPARISONS):
            return None
    elif nothing is not None:
        rest = f"{text[: nothing.start()]} {text[nothing.end() :]}"
    rest = _plainly(rest, field) if test.sign in ("is", "is not") else rest
    odd = (len(NEGATED.findall(rest)) % 2 == 1) != turned
    if len(NEGATED.findall(rest)) > 1 or _ENDS_DENIED.search(rest):
        return None
    if compared[0] is not None:
        if (OPPOSITE[compared[1]] if odd else compared[1]) != test.sign:
            return None
    elif odd != (test.sign in ("!=", "not in", "is not")):
        return None
    return NEGATED.sub(" ", rest)


def _plainly(text: str, field: frozenset[str]) -> str:
    """The text with a word that denies what a switch says as what it denies: `not online` for `offline`."""
    for found in reversed([*_TOKEN.finditer(text)]):
        word = found.group().strip(_EDGES)
        if not concepts_of(word) & field and contrary(word) & field:
            denied = f"not {min(contrary(word) & field)}"
            text = f"{text[: found.start()]}{denied}{text[found.end() :]}"
    return text


def _as_one_word(text: str, value: str) -> str:
    """The text with a value of several words as the one word that it is: `under review` of `under_review`."""
    words = re.split(r"[\s_-]+", value)
    if len(words) < 2 or not all(words):
        return text
    said = r"[\s_-]+".join(map(re.escape, words))
    return re.sub(rf"(?<!\w){said}(?!\w)", value.replace(" ", "_"), text, flags=re.IGNORECASE)


#: What is denied at the end is what follows: `if it is new don't delete it`.
_ENDS_DENIED: Final = re.compile(r"(?:n['\u2019]t|\b(?:not|never|no))[\s.,;!]*$", re.IGNORECASE)


class _Tested(msgspec.Struct, frozen=True):
    """A test, with all that words of a condition may say of it."""

    test: Test
    tool: Tool | None
    """What gives the value that is looked at."""
    schema: JsonObject
    """Of that value."""
    field: frozenset[str]
    """Concepts of it."""
    values: frozenset[str]
    """Concepts of what it is compared with."""
    inputs: frozenset[str]
    """What the step that gives it takes, folded, and its words."""
    things: frozenset[str]
    """Concepts of what that step reads."""

    @property
    def is_compared(self) -> bool:
        """Whether it is said to be more or less than something."""
        return self.test.sign in ("<", ">", "<=", ">=")


def _is_all_told(tokens: Sequence[str], tested: _Tested, *, is_nothing: bool) -> bool:
    """Whether the words are those of the test and no others, and none of the test's is wanting."""
    test, tool = tested.test, tested.tool
    is_value = test.sign in ("is", "is not") or is_nothing or not test.value
    is_field = tested.schema.get("enum") is not None
    for token in tokens:
        told = _tells(folded(token).removesuffix("'s"), tested, has_value=is_value)
        if told is None:
            return False
        is_value, is_field = is_value or told[0], is_field or told[1]
    is_field = is_field or (is_nothing and test.path[-1] in _COUNTING) or "@" in test.value
    is_field = is_field or _is_compared_by(tokens, tested.field)
    return is_value and (is_field or (tested.is_compared and _is_stock_of(tokens, test, tool)))


def _tells(word: str, tested: _Tested, *, has_value: bool) -> tuple[bool, bool] | None:
    """Whether a word tells the value of a test, and which value it is that is looked at; None: it is none of its words.

    `has_value`: a word before it has told the value.
    """
    test, tool, name = tested.test, tested.tool, tested.test.path[-1]
    amount = amount_of(word)
    if amount is not None and amount.number == test.value and not has_value:
        if amount.unit and not counts_in(amount.unit, tested.schema, name, tool):
            return None
        return True, bool(amount.unit) and counts_alone(amount.unit, name, tool)
    if word in tested.inputs:
        return False, _is_alone(test, tool)
    is_of_value = word == folded(test.value) or word in _parts_of(test.value) or _concepts(word) & tested.values
    if test.value and is_of_value:
        return True, False
    if _names_field(word, test, tested.field, tested.schema):
        return False, True
    if tested.is_compared and is_moved(word):
        return False, False
    if tested.is_compared and counts_in(word, tested.schema, name, tool):
        return False, counts_alone(word, name, tool)
    if word in _UNITS or is_small(word):
        return False, word in _UNITS and "temperature" in tested.field | tested.things
    # Of a tool that gives one number and nothing else, that is what is spoken of.
    return (False, _is_alone(test, tool)) if _concepts(word) & tested.things else None


def _without_moments(tokens: Sequence[str], step: Call) -> Sequence[str]:
    """The words of a condition without those for the day and time of day that a step asks for: `tomorrow at 5 pm`."""
    values = [value for value in step.inputs.values() if isinstance(value, str) and _MOMENT.fullmatch(value)]
    if not values:
        return tokens
    left = {folded(one) for one in uncovered(" ".join(tokens), held_values(values, frozenset()))}
    return [one for one in tokens if folded(one) in left or not _is_of_time(folded(one))]


def _is_of_time(plain: str) -> bool:
    return says_when(plain) or plain in MONTHS or plain in _CLOCK or plain[:1].isdigit()


#: A day, a time of day, or both, as tools take them.
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?|\d\d:\d\d(?::\d\d)?")
_CLOCK: Final = words_of("uhr o'clock am pm heures heure h horas hora")


def _names_field(word: str, test: Test, field: frozenset[str], schema: JsonObject) -> bool:
    """Whether a word names the value that is looked at; of a few options by its name: `late` is no mere `status`."""
    if test.sign in ("in", "not in") and word in _HOLDS:
        return True
    if schema.get("enum") is None or not _concepts(word) & field:
        return bool(_concepts(word) & field)
    told = (*raw_words(test.path[-1]), *raw_words(str(schema.get("description", ""))[:400]))
    return word in _STATES or stem(word) in {stem(folded(one)) for one in told}


_STATES: Final = words_of(
    "state status stage phase condition zustand stand lage état etat statut estado estatus fase situación"
)
_COUNTING: Final = frozenset(
    ("count", "total", "rows", "row_count", "size", "length", "stock", "copies", "quantity", "items")
)


def _is_stock_of(tokens: Sequence[str], test: Test, tool: Tool | None) -> bool:
    """Whether a comparison says how much is left, and the value is the only one of its tool that tells that."""
    is_said = any(is_moved(folded(one)) or folded(one) in _LEFT for one in tokens)
    properties = plain_outputs(tool).get("properties") if tool is not None else None
    own = [str(name) for name in properties if is_stock(str(name))] if isinstance(properties, dict) else []
    return is_said and own == [test.path[-1]]


def _is_compared_by(tokens: Sequence[str], field: frozenset[str]) -> bool:
    return bool({"price", "temperature"} & field) and not any(map(_is_other_measure, tokens))


def _is_other_measure(token: str) -> bool:
    return bool(_concepts(folded(token)) & _MEASURED)


def _is_alone(test: Test, tool: Tool | None) -> bool:
    properties = plain_outputs(tool).get("properties") if tool is not None else None
    if not isinstance(properties, dict):
        return False
    kinds = ("integer", "number") if test.sign not in ("is", "is not") else ("boolean",)
    return sum(isinstance(one, dict) and one.get("type") in kinds for one in properties.values()) == 1


def _is_of_one(text: str, step: Call, seen: Seen) -> bool:
    """Whether what the step reads is named in the condition, or is the one thing of its kind in the request."""
    for name, value in step.inputs.items():
        if not isinstance(value, str | int) or isinstance(value, bool):
            continue
        if _is_in(value, text):
            continue
        shape = _shape(str(value))
        # Numbers are all made alike: of these only one of its name is another thing.
        others = {
            str(one)
            for call, _, _ in seen.calls
            for path, one in walk(call.inputs, "")
            if isinstance(one, str | int) and any(map(str.isdigit, str(one))) and _shape(str(one)) == shape
            if not str(value).isdigit() or {*raw_words(name)} & {*raw_words(path)}
        }
        if len(others - {str(value)}) > 0:
            return False
    return True


#: What points to something that was named before.
_POINTING: Final = re.compile(r"\b(?:it|him|her|them|he|she|they|this|that|one|ihn|ihm|lui|elle)\b", re.IGNORECASE)


def _is_in(value: Json, text: str) -> bool:
    is_plain = isinstance(value, str | int) and not isinstance(value, bool)
    return is_plain and any(True for _ in whole_words(text, str(value), ignoring_case=True))


def _shape(text: str) -> str:
    """How a value is made: `T-80` and `T-800` alike."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]", "a", text))


def _schema_of(test: Test, tool: Tool | None) -> JsonObject:
    schema: Json = plain_outputs(tool) if tool is not None else None
    for name in test.path[1:]:
        if isinstance(schema, dict) and schema.get("type") == "array":
            # Of a loop's item.
            schema = schema.get("items")
        properties = schema.get("properties") if isinstance(schema, dict) else None
        schema = properties.get(name) if isinstance(properties, dict) else None
    return schema if isinstance(schema, dict) else {}


def _field_of(test: Test, tool: Tool | None) -> frozenset[str]:
    """The concepts of the value that is looked at: of its name and of what its tool says of it."""
    schema = _schema_of(test, tool)
    description = schema.get("description")
    # That a state is there says nothing of which one it is: `low, normal or urgent`.
    is_compared = test.sign not in ("is", "is not") or schema.get("type") == "boolean"
    told = description[:400] if isinstance(description, str) and is_compared else ""
    words = [*raw_words(test.path[-1]), *(word for word in raw_words(told) if word not in STOPS)]
    return frozenset[str]().union(*(_concepts(word) for word in words)) - {"id"}


def _words_of(step: Call, tool: Tool | None) -> Iterable[str]:
    """The words for the thing that a step reads: of its tool's name and of the parameters that it is given."""
    named = raw_words(tool.name) if tool is not None else []
    parameters = [word for name in step.inputs for word in raw_words(name)]
    is_opened = tool is None or not named or is_reading(named[0]) or bool(meanings_of(named[0]))
    return (word for word in (*named[is_opened:], *parameters) if word not in ("id", "number"))


def _concepts_of_value(value: str) -> frozenset[str]:
    words = raw_words(value.replace("_", " "))
    return frozenset[str]().union(*(_concepts(word) for word in words)) if len(words) == 1 else frozenset()


def _concepts(word: str) -> frozenset[str]:
    return concepts_of(word) if folded(word) not in STOPS else frozenset((folded(word),))


def _parts_of(value: Json) -> Iterator[str]:
    """A value and its words, as they are compared."""
    for _, one in walk(value, ""):
        if isinstance(one, str | int | float):
            yield folded(str(one))
            yield from (folded(word.strip(_EDGES)) for word in re.split(r"[\s_]+", str(one)))
