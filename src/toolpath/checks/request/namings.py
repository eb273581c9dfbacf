"""Values that are taken for names and are none: `Expel Tom` with its verb, `Tom` of `Tom's brother`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.concepts import STOPS
from toolpath.checks.request.seen import Seen, is_offered
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
_POSSESSED: Final = re.compile(r"'s?\s+(?P<thing>[^\W\d_]+(?:\s+[^\W\d_]+){0,2})")


def misnamed(seen: Seen) -> Iterator[str]:
    """A question for each value of an acting call that names nobody, or somebody else than the request does."""
    yield from _lettered(seen)
    for value in dict.fromkeys(one for one in seen.own_values if isinstance(one, str) and one.strip()):
        words = folded(value).split()
        # What is quoted or handed on as somebody's words stands there no more.
        if words[0] in _NOBODY and folded(value) in folded(seen.plain):
            yield f"Who or what is {value!r}?"
        owned = _owned(seen, value) or _of_another(seen, value)
        if owned is not None:
            yield f"The plan takes {value!r} of {owned!r}: which of them is meant?"


def _lettered(seen: Seen) -> Iterator[str]:
    """A question for each option of one letter that the request has as a little word alone: `A` of `a zone`."""
    for call, tool, _ in seen.acting:
        for name, value in call.inputs.items():
            if not isinstance(value, str) or len(value) != 1 or not is_offered(value, tool, name):
                continue
            said = re.findall(
                rf"(?<![\w'-]){re.escape(value)}(?![\w'-])(?!\s+(?:of|von)\b)", seen.request, re.IGNORECASE
            )
            named = "|".join(map(re.escape, raw_words(name)))
            is_named = re.search(rf"\b(?:{named})s?\s+{re.escape(value)}(?!\w)", seen.request, re.IGNORECASE)
            if said and value.casefold() in STOPS and value.upper() not in said and not is_named:
                yield f"{call.id}: which {name} is meant?"


def _owned(seen: Seen, value: str) -> str | None:
    """The thing that the request names as somebody's, where the plan takes the owner for it; None: it does not."""
    pattern = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)
    places = [*pattern.finditer(seen.plain)]
    found = _POSSESSED.match(seen.plain, places[0].end()) if len(places) == 1 else None
    if found is None:
        return None
    words = [folded(word) for word in found["thing"].split()]
    if any(seen.held.names(word) or _is_told(word, seen) or seen.is_verb(word) for word in words):
        return None
    return seen.plain[places[0].start() : found.start("thing")] + found["thing"].split()[0]


def _of_another(seen: Seen, value: str) -> str | None:
    """The thing that the value is said of, where no tool of the plan knows of it: `the brother of Tom`, `room 12`."""
    name = re.escape(value)
    number = rf"|(?P<kind>[^\W\d_]{{3,}})\s+{name}" if value.isdigit() else ""
    pattern = re.compile(
        rf"(?<![\w-])(?:(?:the|a|an)\s+(?P<thing>[^\W\d_]{{3,}})\s+(?:of|on|in|from|under|at)\s+{name}{number})(?![\w-])",
        re.I,
    )
    found = pattern.search(seen.request) or _of_thing(seen, name)
    if found is None or len(re.findall(rf"(?<!\w){name}(?!\w)", seen.request)) != 1:
        return None
    word = folded(found.groupdict().get("kind") or found["thing"])
    if found["thing"] and value[:1].isupper() and value.isalpha() and word in seen.parameters and word not in _CALLED:
        # `the room of Ann`: Ann has a room, and is none.
        return " ".join(found.group().split())
    if word in STOPS or word in _COUNTING or seen.held.names(word) or _is_told(word, seen) or seen.is_verb(word):
        return None
    return " ".join(found.group().split())


def _of_thing(seen: Seen, name: str) -> re.Match[str] | None:
    """The same with what the value is between: `the lid from sample S-4`."""
    for found in re.finditer(
        rf"(?<![\w-])(?:the|a|an)\s+(?P<thing>[^\W\d_]{{3,}})\s+(?:of|in|from|under)\s+(?:the\s+)?"
        rf"(?P<between>[^\W\d_]{{3,}})\s+{name}(?![\w-])",
        seen.request,
        re.I,
    ):
        if _is_told(folded(found["between"]), seen):
            return found
    return None


#: Things that are what the name after them says: `the city of Paris`.
_CALLED: Final = frozenset(
    re.findall(
        r"\S+",
        """name title city town village place state province region country county district island port republic kingdom
        university company bank month year day language topic subject type kind category status brand colour color""",
    )
)
#: Words before the number of anything.
_COUNTING: Final = frozenset(("number", "nummer", "numéro", "numero", "num", "no", "nr", "id", "code", "item"))


def _is_told(word: str, seen: Seen) -> bool:
    """Whether it is a thing of the tools: `Ann's booking`."""
    return word in seen.held.vocabulary or word.removesuffix("s") in seen.held.vocabulary


def swallowed(seen: Seen, verb: str, text: str) -> Iterator[str]:
    """A question for each value that begins with the verb of the command it stands in: `Expel Tom` of that request.

    `text`: the clause as it stands in the request.
    """
    after = text.strip(" ,.;:!")
    for value in seen.own_values if seen.acting else ():
        if isinstance(value, str) and re.match(rf"{re.escape(folded(verb))}\b", folded(value)):
            whole = re.escape(folded(value.strip()))
            if re.match(rf"{whole}(?!\w)", folded(after)) and len(re.findall(whole, folded(seen.request))) == 1:
                yield f"The plan takes the verb {verb!r} for a part of {value!r}: what is meant?"
