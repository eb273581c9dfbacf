"""Presence: whether a condition says that a list of a tool holds something, or that it holds nothing. Pure.

`if a room is free`, `if nobody is found`, `if Ann isn't in the address book`. Every word of it is the tool's, a value
of its call or a word of presence: what narrows the list in any other way is not told by its length.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.calendar_words import MONTHS, WEEKDAYS
from toolpath.checks.request.concepts import STOPS, concepts_of
from toolpath.checks.request.held_values import held_values
from toolpath.checks.request.plain_schemas import plain_outputs
from toolpath.checks.request.uncovered import uncovered
from toolpath.checks.request.verbs import folded
from toolpath.checks.request.whens import Test
from toolpath.model.plan import Call
from toolpath.model.tool import Tool
from toolpath.values import JsonObject

#: That there is nothing.
_NONE: Final = re.compile(
    r"\b\w*n['\u2019]t(?!\w)|\b(?:not|never|no|none|nobody|nothing|cannot|no-one|without|nicht|kein\w*|niemand\w*|nichts|nie"
    r"|pas|aucune?|personne|rien|jamais|ning[uú]na?|ning[uú]n|nadie|nada|nunca)\b",
    re.IGNORECASE,
)
#: That there is something, or that somebody finds it.
_THERE: Final = words_of("""
then please dann bitte alors entonces there there's there're any anything anyone anybody some something someone
somebody one exist exists existing find finds found get gets still listed at in on to of with this that our my from
for the a an is are has have we you i it they he she do does can could es gibt gibt's da vorhanden finde findest
findet gefunden irgendein irgendeine eine einen ein noch im am ist sind für der die das den dem um zu mit unter il y
existe reste trouve trouves trouvé encore dans sur une un des le la les est sont tu pour de du à au aux hay queda
encuentras encuentra encontrado algún alguna alguno en el los las una está están para por del al so already left
""")
_TOKEN: Final = re.compile(r"[^\s,;!?()\[\]\"“”„«»]+")


def presence_of(test: Test, schema: JsonObject) -> bool | None:
    """Whether a test is that a list holds something, or that it holds nothing; None where it is another one."""
    if schema.get("type") == "array" and test.sign in ("is", "is not"):
        return test.sign == "is"
    if schema.get("type") != "integer" and not amount_told(schema) and (test.path[-1] != "length" or schema):
        return None
    match test.sign, test.value:
        case (">" | "!=", "0") | (">=", "1"):
            return True
        case ("==" | "<=", "0") | ("<", "1"):
            return False
        case _:
            return None


def amount_told(schema: JsonObject) -> str:
    """The words by which a number is described that says what is so where there is none of it; empty for another one.

    `What is owed; 0 when settled` is told by `What is owed`: what is settled is the opposite.
    """
    told = str(schema.get("description") or "")
    zero = _ZERO.search(told) if schema.get("type") == "number" and _BELOW.search(told) is None else None
    return "" if zero is None else told[: zero.start()]


def is_of_ours(text: str) -> bool:
    """Whether a condition tells of ourselves, of everybody or of all times: no amount that somebody owes us now."""
    return _OURS.search(text) is not None


_ZERO: Final = re.compile(r"(?<![\w.,-])0\s+(?:when|where|if|wenn|falls|wo|si|quand|cuando|means)\b", re.IGNORECASE)
_BELOW: Final = re.compile(r"\b(?:negative|minus|below|negativ|unter|négatif|negativo)\b|-\d", re.IGNORECASE)
_OURS: Final = re.compile(
    r"\b(?:we|i|my|our|wir|ich|nous|je|nosotros|yo|nobody|no[\s-]one|everybody|everyone|niemand|personne|nadie|never|ever|nie"
    r"|jamais|nunca)\b(?!-)",
    re.IGNORECASE,
)


def denies_presence(text: str) -> bool:
    """Whether a condition says that there is nothing."""
    return len(_NONE.findall(text)) % 2 == 1


#: Names of lists that hold whatever is looked for.
_ANY_LIST: Final = words_of("results result items hits matches entries list found data records")


def is_of_presence(word: str) -> bool:
    """Whether a word says that there is something, or that there is none, and names nothing: `no butter left`."""
    return folded(word) in _THERE or _NONE.fullmatch(word) is not None


def is_sought(path: Sequence[str], tool: Tool, text: str) -> bool:
    """Whether a list of a tool holds what it is for: the rooms of `free_rooms`, and not the columns of a table.

    A count is what the text says it to be: `copies_available`.
    """
    properties = plain_outputs(tool).get("properties")
    schema = properties.get(path[0]) if isinstance(properties, dict) and path else None
    if isinstance(schema, dict) and (schema.get("type") == "integer" or amount_told(schema)):
        told = amount_told(schema)
        if told and is_of_ours(text):
            return False
        own = frozenset[str]().union(
            *(concepts_of(word) for word in (*raw_words(path[-1]), *raw_words(told)) if folded(word) not in STOPS)
        )
        return any(concepts_of(word) & own for word in raw_words(text) if folded(word) not in STOPS)
    words = [folded(word) for word in raw_words(path[-1])] if path else []
    named = frozenset[str]().union(*(concepts_of(word) for word in raw_words(tool.name)))
    return bool(words) and (words[-1] in _ANY_LIST or bool(concepts_of(words[-1]) & named))


def tells_presence(
    text: str, step: Call, tool: Tool | None, path: Sequence[str], *, is_there: bool, named: bool = True
) -> bool:
    """Whether a condition says no more and no less than that a step finds something, or finds nothing.

    `path`: where the list is in what the step gives; `named`: the step is asked with what goes by a name.
    """
    if (
        tool is None
        or not is_sought(path, tool, text)
        or len(_NONE.findall(text)) > 1
        or denies_presence(text) == is_there
    ):
        return False
    amount = _told_of_amount(path, tool)
    told = [tool.name, tool.description[:400], *step.inputs, *path, amount]
    words = {folded(word) for text in told for word in raw_words(text)}
    known = frozenset[str]().union(*(concepts_of(word) for word in words - STOPS))
    held = held_values([*step.inputs.values()], words)
    left = {folded(one) for one in uncovered(text, held)}
    if left:
        return False
    values = {folded(part) for value in step.inputs.values() for part in re.split(r"[\s_]+", str(value))}
    if not _speaks_of(text, [path[-1], amount], words) and not (named and _is_there(text, values)):
        return False
    tokens = [folded(one.strip(".:'\u2019-")) for one in _TOKEN.findall(_NONE.sub(" ", text))]
    return all(
        not token
        or token in _THERE
        or token in values
        or token in words
        or any(map(str.isdigit, token))
        or token in _CLOCK
        or token in WEEKDAYS
        or (token in MONTHS and any(day.month == MONTHS[token] for day in held.dates))
        or bool(concepts_of(token) & known)
        for token in tokens
    )


def _speaks_of(text: str, told: Sequence[str], words: Collection[str]) -> bool:
    """Whether a condition says what is there, or that somebody finds it: `es regnet` and `nobody is there` do not."""
    said = [folded(one.strip(".:'\u2019-")) for one in _TOKEN.findall(text)]
    if any(one in _FOUND for one in said):
        return True
    own = frozenset[str]().union(*(concepts_of(word) for one in told for word in raw_words(one) if word not in STOPS))
    return any(one not in _THERE and (one in words or concepts_of(one) & own) for one in said)


def _told_of_amount(path: Sequence[str], tool: Tool) -> str:
    """The words by which an amount of a tool is described, and those for amounts; empty where it is none."""
    properties = tool.output_schema.get("properties") if tool.output_schema else None
    schema = properties.get(path[0]) if isinstance(properties, dict) and path else None
    told = amount_told(schema) if isinstance(schema, dict) else ""
    return f"{told} money us" if told else ""


#: That something exists, and not that somebody is at a place: `there is no butter`.
_EXISTS: Final = re.compile(
    r"\b(?:there\s*(?:['\u2019]s|is|are|isn['\u2019]t|aren['\u2019]t)|(?:es\s+)?gibt(?:\s+es)?|ist\s+noch|il\s+n?['\u2019]?\s?y\s+en?\s+a"
    r"|y\s+a|il\s+(?:ne\s+)?reste|hay|quedan?|(?:is|are|have)\s+\w+\s+left|(?:run|ran)\s+out)\b",
    re.IGNORECASE,
)


def _is_there(text: str, values: Collection[str]) -> bool:
    """Whether a condition says that there is, or is not, what the step is asked for."""
    said = {folded(one) for one in re.findall(r"[^\W_]+", text)}
    return _EXISTS.search(text) is not None and bool(said & {*values})


_FOUND: Final = words_of(
    "find finds found finde findest findet gefunden trouve trouves trouvé encuentras encuentra encontrado"
)
_CLOCK: Final = words_of("uhr o'clock am pm heures heure h horas hora")
