"""Values that are taken for names and are none: `Expel Tom` with its verb, `Tom` of `Tom's brother`. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.concepts import STOPS
from toolpath.checks.request.occurrences import goes_on, occurrences, whole_words
from toolpath.checks.request.seen import Seen, is_offered
from toolpath.checks.request.units import words_of_unit
from toolpath.checks.request.verbs import folded

#: Words that stand for somebody or something that nobody has named.
_NOBODY: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """who whoever whom whomever whichever whatever which someone somebody something anyone anybody anything nobody
        nothing none wer wen wem jemand jemanden irgendwer irgendwen niemand niemanden nichts quiconque quelqu'un
        personne rien quien quienquiera alguien algo nadie nada everybody everyone all jeder alle jedem tous todos""",
    )
)
#: Parts of a verb: `Write down: …`.
_PARTICLES: Final = frozenset(("down", "off", "out", "back", "away", "over", "along", "up"))
_POSSESSED: Final = re.compile(r"'s?\s+(?P<thing>[^\W\d_]+(?:\s+[^\W\d_]+){0,2})")


def misnamed(seen: Seen) -> Iterator[str]:
    """A question for each value of an acting call that names nobody, or somebody else than the request does."""
    yield from _lettered(seen)
    yield from _unheld(seen)
    for value in dict.fromkeys(one for one in seen.own_values if isinstance(one, str) and one.strip()):
        words = folded(value).split()
        # What is quoted or handed on as somebody's words stands there no more.
        is_nobody = words[0] in _NOBODY or (len(words) == 1 and words[0] in _PARTICLES)
        if is_nobody and folded(value) in folded(seen.plain):
            yield f"Who or what is {value!r}?"
        owned = _owned(seen, value) or _of_another(seen, value)
        if owned is not None:
            yield f"The plan takes {value!r} of {owned!r}: which of them is meant?"
    yield from _numbered(seen)


def _numbered(seen: Seen) -> Iterator[str]:
    """A question for each number of a thing, where something of that thing is meant: `the copy of gallery 70`."""
    for value in dict.fromkeys(one for one in seen.own_values if isinstance(one, int) and not isinstance(one, bool)):
        found = _of_thing(seen, str(value))
        if found is not None and not _is_told(folded(found[0]["thing"]), seen):
            said = " ".join(seen.request[found[0].start() : found[1]].split())
            yield f"The plan takes {str(value)!r} of {said!r}: which of them is meant?"


def _lettered(seen: Seen) -> Iterator[str]:
    """A question for each short option that the request has as a little word alone: `A` of `a zone`, `a` of `à 5`."""
    for call, tool, _ in seen.acting:
        for name, value in call.inputs.items():
            if tool is None or not isinstance(value, str) or len(value) > _LITTLE or not is_offered(value, tool, name):
                continue
            plain = folded(seen.request)
            if len(plain) != len(seen.request):
                plain = seen.request.casefold()
            places = [*whole_words(plain, folded(value))]
            names = (*raw_words(name), *raw_words(tool.name)[1:])
            if places and not any(says_option(seen.request, one.start, one.end, names) for one in places):
                yield f"{call.id}: which {name} is meant?"


#: A letter by itself, which names what the word before it speaks of.
_ALONE: Final = re.compile(
    r"(?<=[^\W\d_])\s+(?P<letter>[A-HJ-Z])(?=\s*(?:$|[.,;!?)])|\s+(?:with|for|to|in|at|on|by|and|or|mit|für|um|und|avec|pour"
    r"|et|con|para|y)\s)"
)


def _unheld(seen: Seen) -> Iterator[str]:
    """A question for each letter that the request names something by, and that no value holds: `in A`."""
    held = {part for value in seen.own_values + seen.values for part in re.findall(r"\w+", str(value))}
    denied = [seen.plain.find(one.text) for one in seen.clauses if one.mood == "negation" and id(one) in seen.idle]
    for found in _ALONE.finditer(seen.plain):
        if any(0 <= at <= found.start() and "." not in seen.plain[at : found.start()] for at in denied):
            continue
        if found["letter"] not in held and found["letter"].lower() not in held:
            yield f"What is {found['letter']!r} for? No step takes it."


#: Options of so many letters may be little words of a sentence.
_LITTLE: Final = 2
#: What is a switch, and little words in other places.
_SWITCHES: Final = frozenset(("on", "no", "up", "ok"))
_TOWARDS: Final = re.compile(
    r"(?:(?<!\w)(?:to|into|as|is|be|[=:]|auf|nach|zu|als|vers|hacia|como)|\d)\s*[\"']?\Z", re.IGNORECASE
)


def says_option(text: str, start: int, end: int, names: Sequence[str]) -> bool:
    """Whether a word of the request says an option: no article, preposition or conjunction does.

    Such a one is written in capitals, or stands behind what it is of: `zone a`. `names`: words for that.
    """
    word = text[start:end]
    if len(word) > _LITTLE or word in _SWITCHES or (folded(word) not in STOPS and word.isascii()):
        return True
    before = re.search(r"([^\W\d_]+)\s+\Z", text[max(0, start - 60) : start])
    if before is not None and any(stem(folded(before[1])) == stem(folded(name)) for name in names):
        return True
    if word.isupper() and start > 0 and text[:start].rstrip()[-1:] not in ".!?:":
        return True
    return _TOWARDS.search(text[max(0, start - 20) : start]) is not None


def _owned(seen: Seen, value: str) -> str | None:
    """The thing that the request names as somebody's, where the plan takes the owner for it; None: it does not."""
    places = [*whole_words(seen.plain, value, ignoring_case=True)]
    found = _POSSESSED.match(seen.plain, places[0].end) if len(places) == 1 else None
    if found is None:
        return None
    words = [folded(word) for word in found["thing"].split()]
    if any(seen.held.names(word) or _is_told(word, seen) or seen.is_verb(word) for word in words):
        return None
    return seen.plain[places[0].start : found.start("thing")] + found["thing"].split()[0]


def _of_another(seen: Seen, value: str) -> str | None:
    """The thing that the value is said of, where no tool of the plan knows of it: `the brother of Tom`, `room 12`."""
    patterns = (_THING_OF, _KIND) if value.isdigit() else (_THING_OF,)
    found = next((one for one in _before(seen, value, patterns)), None) or _of_thing(seen, value)
    if found is None or sum(1 for _ in whole_words(seen.request, value)) != 1:
        return None
    match, end = found
    said = " ".join(seen.request[match.start() : end].split())
    thing = match.groupdict().get("thing")
    word = folded(thing or match["kind"])
    is_name = value[:1].isupper() and (value.isalpha() or _is_another_of_a_kind(value, word, seen))
    if thing and is_name and word in seen.parameters and word not in _CALLED:
        # `the room of Ann`: Ann has a room, and is none.
        return said
    if (
        word in STOPS
        or word in _COUNTING
        or _is_held_unit(word, seen)
        or is_short(word, seen.held.vocabulary)
        or seen.held.names(word)
        or _is_told(word, seen)
        or seen.is_verb(word)
    ):
        return None
    return said


def _before(seen: Seen, value: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[tuple[re.Match[str], int]]:
    """Matches of one of these right before the value, each with the end of the value."""
    for start, end in occurrences(seen.request, value, ignoring_case=True):
        if goes_on(after := seen.request[end : end + 1]) or after == "-":
            continue
        found = (pattern.search(seen.request, max(0, start - _NEAR), start) for pattern in patterns)
        yield from ((one, end) for one in found if one is not None)


def _of_thing(seen: Seen, value: str) -> tuple[re.Match[str], int] | None:
    """The same with what the value is between: `the lid from sample S-4`."""
    for found in _before(seen, value, (_THING_BETWEEN,)):
        if _is_told(folded(found[0]["between"]), seen):
            return found
    return None


def _is_another_of_a_kind(value: str, word: str, seen: Seen) -> bool:
    """Whether an acting call names a thing of the same form by another parameter: `move M-12 to the folder of M-13`."""
    head = _ID.fullmatch(value)
    return head is not None and any(
        any(one == value and word in raw_words(name) for name, one in call.inputs.items())
        and any(
            isinstance(one, str) and one != value and (other := _ID.fullmatch(one)) is not None and other[1] == head[1]
            for one in call.inputs.values()
        )
        for call, _, _ in seen.acting
    )


_ID: Final = re.compile(r"([^\W\d_]+[-_#])\d+")
#: So far before a value stands what it is said of.
_NEAR: Final = 120
_THING_OF: Final = re.compile(
    r"(?<![\w-])(?:the|a|an)\s+(?P<thing>[^\W\d_]{3,})\s+(?:of|on|in|from|under|at)\s+\Z", re.IGNORECASE
)
_KIND: Final = re.compile(r"(?<![\w-])(?P<kind>[^\W\d_]{3,})\s+\Z")
_THING_BETWEEN: Final = re.compile(
    r"(?<![\w-])(?:the|a|an)\s+(?P<thing>[^\W\d_]{3,})\s+(?:of|in|from"
    r"|under)\s+(?:the\s+)?(?P<between>[^\W\d_]{3,})\s+\Z",
    re.IGNORECASE,
)


#: Things that are what the name after them says: `the city of Paris`.
_CALLED: Final = frozenset(
    re.findall(
        r"\S+",
        """name title city town village place state province region country county district island port republic kingdom
        university company bank month year day language topic subject type kind category status brand colour color""",
    )
)
#: Words before the number of anything.
_COUNTING: Final = frozenset(
    ("number", "nummer", "numéro", "numero", "num", "no", "nr", "id", "code", "item", "ending", "ends", "endend")
)


def is_short(word: str, words: Collection[str]) -> bool:
    """Whether a word is short for one of these: `ep` for `episode`."""
    return 1 < len(word) < _SHORT and any(one.startswith(word) and len(one) > len(word) + 1 for one in words)


#: Longer words are short for none.
_SHORT: Final = 5


def _is_held_unit(word: str, seen: Seen) -> bool:
    """Whether a word is a unit in which the plan has an amount: `a kilo of flour`."""
    words = words_of_unit(word)
    return bool(words & seen.held.vocabulary) or any(map(seen.held.names, words))


def _is_told(word: str, seen: Seen) -> bool:
    """Whether it is a thing of the tools: `Ann's booking`."""
    return word in seen.held.vocabulary or word.removesuffix("s") in seen.held.vocabulary


def swallowed(seen: Seen, verb: str, text: str) -> Iterator[str]:
    """A question for each value that begins with the verb of the command it stands in: `Expel Tom` of that request.

    `text`: the clause as it stands in the request.
    """
    after = text.strip(" ,.;:!")
    for value in seen.own_values if seen.acting else ():
        if isinstance(value, str) and _begins(folded(value), folded(verb)):
            whole = folded(value.strip())
            if _begins(folded(after), whole) and folded(seen.request).count(whole) == 1:
                yield f"The plan takes the verb {verb!r} for a part of {value!r}: what is meant?"


def _begins(text: str, words: str) -> bool:
    """Whether the text begins with these whole words."""
    return text.startswith(words) and not goes_on(text[len(words) : len(words) + 1])
