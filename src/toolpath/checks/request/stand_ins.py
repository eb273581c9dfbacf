"""Verbs that stand in for the one of a tool: its option, a verb of putting, a verb with a little word. Pure.

`Reject PB-3` of one that decides `reject`, `Put P-1 in bed 3` of the only one that takes both, `Check 978 out` of
`checkout_book`. What destroys is commanded in no such words.
"""

from __future__ import annotations

import re
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.occurrences import whole_words
from toolpath.checks.request.seen import Seen, is_offered, text_in
from toolpath.checks.request.sentences import Clause
from toolpath.checks.request.tools import acts
from toolpath.checks.request.verbs import folded
from toolpath.model.plan import Call
from toolpath.model.tool import Tool

#: Words that make one verb of another: `check out`.
_PARTICLES: Final = re.compile(r"\b(?:in|out|up|off|on|back|down|away|over)\b")
PUTTING: Final = frozenset(
    re.findall(
        r"\S+",
        """put place give hand pass set move leg lege stell stelle setz setze gib gebe pack packe mets mettez place
        placez donne donnez passe passez pon ponga pone da dale pasa""",
    )
)
"""Verbs that put a thing somewhere, or give it to somebody, whatever it is then said to be."""

#: Verbs of tools that have a thing be somewhere, or with somebody.
_PLACING: Final = frozenset(
    ("assign", "allocate", "place", "put", "set", "give", "move", "add", "attach", "change", "update", "transfer")
)
TAKING: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """take pick choose grab select nimm nehmt wähl wähle prends prenez choisis choisissez toma tome elige elija
        coge escoge""",
    )
)
"""Verbs of picking one of several, to do something with it."""


def is_compound(text: str, verb: str, tool: Tool) -> bool:
    """Whether the tool's verb is this one and a little word behind it in one: `Check 978 out` of `checkout_book`."""
    first, rest = raw_words(tool.name)[:1], folded(text.partition(verb)[2])
    return any(first == [f"{folded(verb)}{one}"] for one in _PARTICLES.findall(rest))


def is_stand_in(clause: Clause, call: Call, tool: Tool | None, seen: Seen) -> bool:
    """Whether the clause's verb is the call's option, or puts a thing where the call has it."""
    if tool is None or tool.effect == "destructive":
        return False
    is_putting = bool(_PLACING.intersection(raw_words(tool.name)[:1]))
    return (
        _is_option(clause.verb, call, tool)
        or (is_putting and _is_put(clause, call, seen))
        or _is_made(clause, tool, seen)
    )


def _is_made(clause: Clause, tool: Tool, seen: Seen) -> bool:
    """Whether what the tool makes is called after the verb, and no other tool is: `Ship SO-5`, of `create_shipment`."""
    named = (raw_words(one.name) for one in seen.tools_left if acts(one))
    return makes_of(clause.verb, tool) and not any(folded(clause.verb) in words for words in named)


def makes_of(verb: str, tool: Tool) -> bool:
    """Whether the tool makes the thing that is called after the verb: a shipment by shipping."""
    words = raw_words(tool.name)
    root = folded(verb).removesuffix("e")
    is_making = len(words) > 1 and words[0] in _MAKING and tool.effect == "write"
    return is_making and len(root) >= _ROOT and _NOUN.fullmatch(words[-1].removeprefix(root)) is not None


#: Verbs of names after which there is one more of a thing.
_MAKING: Final = frozenset(("create", "make", "add", "place", "book", "request", "open", "issue", "new"))
#: Letters of the shortest verb of which a thing is called, and how such things end.
_ROOT: Final = 3
_NOUN: Final = re.compile(r"(?:p?ment|s?ion|a?tion|ings?|al|er|e?s?)")


def _is_option(verb: str, call: Call, tool: Tool) -> bool:
    """Whether the verb is the option that the call is given: `Reject PB-3` of one that decides `reject`."""
    forms = {folded(verb), f"{folded(verb)}d", f"{folded(verb)}ed"}
    held = [value for name, value in call.inputs.items() if isinstance(value, str) and is_offered(value, tool, name)]
    return any(folded(one) in forms for one in held)


def _is_put(clause: Clause, call: Call, seen: Seen) -> bool:
    """Whether a thing is put where the call has it: `Put P-1 in bed 3`, of the only tool that takes both."""
    if folded(clause.verb) not in PUTTING:
        return False
    said = folded(text_in(seen, clause))
    values = [folded(str(value)) for value in call.inputs.values() if isinstance(value, str | int)]
    told = [one for one in values if any(True for _ in whole_words(said, one))]
    is_coded = any(any(map(str.isdigit, one)) for one in told)
    if len(told) < 2 or len(told) < len(call.inputs) or not is_coded:
        return False
    return not any(acts(one) and call.inputs.keys() <= _parameters(one) for one in seen.tools_left)


def _parameters(tool: Tool) -> frozenset[str]:
    properties = tool.input_schema.get("properties")
    return frozenset(properties) if isinstance(properties, dict) else frozenset()
