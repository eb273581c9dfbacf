"""Verbs that stand in for the one of a tool: its option, a verb of putting, a verb with a little word. Pure.

`Reject PB-3` of one that decides `reject`, `Put P-1 in bed 3` of the only one that takes both, `Check 978 out` of
`checkout_book`. What destroys is commanded in none of these but its own verb in two words, side by side: `roll back` of
`rollback_deployment`. No verb of reading is an option.
"""

from __future__ import annotations

import re
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.concepts import STOPS
from toolpath.checks.request.moods import Clause
from toolpath.checks.request.occurrences import whole_words
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.checks.request.seen import Seen, is_offered, text_in
from toolpath.checks.request.tools import acts, acts_named, makes_of
from toolpath.checks.request.verbs import folded, is_reading
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
    # What destroys: both words stand side by side, `roll back cart`.
    particles = _PARTICLES.findall(rest) if tool.effect != "destructive" else rest.split()[:1]
    return any(first == [f"{folded(verb)}{one}"] for one in particles)


def is_stand_in(clause: Clause, call: Call, tool: Tool | None, seen: Seen) -> bool:
    """Whether the clause's verb is the call's option, or puts a thing where the call has it."""
    if tool is None or tool.effect == "destructive":
        return False
    is_putting = bool(_PLACING.intersection(raw_words(tool.name)[:1]))
    return (
        _is_option(clause, call, tool, seen)
        or (is_putting and _is_put(clause, call, tool, seen))
        or _is_made(clause, tool, seen)
    )


def _is_made(clause: Clause, tool: Tool, seen: Seen) -> bool:
    """Whether what the tool makes is called after the verb, and no other tool is: `Ship SO-5`, of `create_shipment`."""
    named = {word for one in seen.tools_left if acts(one) for word in raw_words(one.name)}
    return makes_of(clause.verb, tool) and not named & acts_named(clause.verb)


def _is_option(clause: Clause, call: Call, tool: Tool, seen: Seen) -> bool:
    """Whether the verb is the option that the call is given, and the request says no other: `Reject PB-3`."""
    verb = folded(clause.verb)
    if not verb or is_reading(verb) or _TURNED.match(folded(clause.text).partition(verb)[2]) is not None:
        return False
    held = {
        name: folded(value)
        for name, value in call.inputs.items()
        if isinstance(value, str) and is_offered(value, tool, name)
    }
    name = next((name for name, value in held.items() if value in _forms(verb)), None)
    if name is None:
        return False
    # `Reject PB-3, no approve it`: which of them?
    given = {folded(str(one.inputs.get(name))) for one, _, _ in seen.calls}
    others = {one for word in _words(seen) for one in _forms(folded(word))} - given
    return not any(is_offered(one, tool, name) for one in others)


def _words(seen: Seen) -> frozenset[str]:
    """The words of the request, without what it plainly denies; `no, approve it` takes something back."""
    taken_back = [one.text for one in seen.clauses if one.mood == "negation" and _NO.match(one.text)]
    return frozenset(word for text in (seen.plain, *taken_back) for word in _WORD.findall(text))


_NO: Final = re.compile(r"\W*(?:no|nope|nein|non|nee)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_]+")
#: Behind a verb these make another one of it: `approve of`, `hold off`.
_TURNED: Final = re.compile(
    r"\s+(?:of|off|on|in|out|over|up|down|back|away|with|from|about|against|for|at|by|to|through)\b"
)


def _forms(verb: str) -> frozenset[str]:
    """Options that the verb may stand for."""
    return frozenset((verb, f"{verb}d", f"{verb}ed"))


def _is_put(clause: Clause, call: Call, tool: Tool, seen: Seen) -> bool:
    """Whether a thing is put where the call has it: `Put P-1 in bed 3`, of the only tool that takes both."""
    if folded(clause.verb) not in PUTTING:
        return False
    said = folded(text_in(seen, clause))
    values = [folded(str(value)) for value in call.inputs.values() if isinstance(value, str | int)]
    told = [one for one in values if any(True for _ in whole_words(said, one))]
    is_coded = any(any(map(str.isdigit, one)) for one in told)
    if len(told) < 2 or len(told) < len(call.inputs) or not is_coded or not _says_where(clause, tool, seen):
        return False
    return not any(acts(one) and call.inputs.keys() <= _parameters(one) for one in seen.tools_left)


def _says_where(clause: Clause, tool: Tool, seen: Seen) -> bool:
    """Whether what follows the verb are values, what the tool calls them, and words for `in`: none for `before`."""
    own = {word for name in (tool.name, *_parameters(tool)) for word in raw_words(name)} - STOPS
    words = [folded(word) for word in _WORD.findall(text_in(seen, clause).partition(clause.verb)[2])]
    if not words:
        return True
    # `Put in P-1`, `put P-1 in`: where to is not said.
    if words[0] in _INTO or words[-1] in _INTO:
        return False
    return all(word in _INTO | _ARTICLES or word in own or seen.held.names(word) for word in words)


_INTO: Final = words_of("in into on onto to at an auf zu dans sur à en a")
_ARTICLES: Final = words_of("the der die das den dem le la les el los las please bitte and und et y")


def is_turned(clause: Clause, tool: Tool | None, seen: Seen) -> bool:
    """Whether what follows the verb makes another one of it, or no verb: `put 40 away`, `price up 20 euros`."""
    if tool is None:
        return False
    verb = folded(clause.verb)
    rest = folded(text_in(seen, clause)).partition(verb)[2] if verb else ""
    if verb in _parameters(tool) and _VALUE.match(rest) is not None:
        return True
    if (
        verb not in PUTTING
        or verb in raw_words(tool.name)
        or any(isinstance(value, bool) for call, _, _ in seen.calls for value in call.inputs.values())
    ):
        return False
    # `Put 40 over to C-11` says where to.
    told = _OVER_TO.sub(" ", rest)
    if verb == "set":
        # `Set up a call`
        told = told.removeprefix(" up ")
    return any(word in _AWAY and not seen.held.names(word) for word in _PARTED.findall(told))


#: Behind the name of a value: what it is.
_VALUE: Final = re.compile(r"\s+(?:[€$£#]?\d|(?:up|down|from|by|of|too|so|at)\b)")
_OVER_TO: Final = re.compile(r"(?<=\w)\s+(?:over|up|down)\s+(?=(?:to|into|onto)\s+\S*\d)")
#: A word with what a hyphen joins to it: `wake-up`.
_PARTED: Final = re.compile(r"[^\W\d_][\w'-]*")
_AWAY: Final = words_of("away down off back aside over out up weg zurück beiseite runter aparte")


def _parameters(tool: Tool) -> frozenset[str]:
    properties = plain_inputs(tool).get("properties")
    return frozenset(properties) if isinstance(properties, dict) else frozenset()
