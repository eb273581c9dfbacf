"""Antecedents of pronouns: whose things a command is for, where the sentence before says who it is. Pure.

`Ann Brook is off sick. Cancel all her visits` says what `She is off sick. Cancel all of Ann Brook's visits` says. Where
anybody else may be meant the request stays as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from toolpath.checks.request.concepts import STOPS, listed_concepts
from toolpath.checks.request.tokens import QUOTED
from toolpath.checks.request.verbs import folded, is_reading, meanings_of

#: More of a request is not looked at.
_LONGEST: Final = 2_000
_NAMED: Final = r"(?-i:[A-ZÄÖÜÉÈÁÍÓÚÑ])[\w\u2019-]*[^\W\d_](?:\s+(?-i:[A-ZÄÖÜÉÈÁÍÓÚÑ])[\w\u2019-]+){0,2}"
_ID: Final = r"(?-i:[A-Z]){1,5}-?\d{1,9}"
#: Somebody who is named first, and of whom something is told.
_TOLD: Final = re.compile(
    rf"(?:^\s*|(?<=[.!?]\s))(?P<name>(?:(?:Mr|Mrs|Ms|Dr|Frau|Herr)\.?\s+)?{_NAMED}|{_ID})"
    r"(?:['\u2019]s(?=\s+(?:off|out|on|away|ill|sick|in|at|back|gone|down|late|not|been|just|leaving|moving|having)\b)"
    r"|(?=\s+(?:just\s+|still\s+|already\s+)?(?:is|was|has|had|isn['\u2019]t|can|can['\u2019]t|cannot|won['\u2019]t|will|wants|needs"
    r"|rang|called|wrote|forgot|left|lost|broke|came|says|said|starts|leaves|moves|goes|fell|got|[a-z]{2,}ed)\b))",
    re.IGNORECASE,
)
#: Where a clause begins, its verb, and whose thing it is for.
_COMMAND: Final = re.compile(
    r"(?:[.!?;:,]\s+|\s+[-\u2013\u2014]\s+)(?:(?:so|and|then|please|pls|(?:can|could)\s+you(?:\s+please)?)\s+)*"
    r"(?P<verb>[^\W\d_]+)\b[^.!?;:,\"]{0,80}?\s(?P<word>of\s+hers\b|of\s+his\b(?=\s*(?:$|[.,;!?]"
    r"|(?:on|in|at|for|from|to|this|next|today|tomorrow|tonight)\b))|his\b|her\b|him\b)(?P<after>\s*[^\s.!?;:,]*)",
    re.IGNORECASE,
)
#: `her` of a command that is for herself: `move her to bed 3`.
_HERSELF: Final = re.compile(
    r"\s*(?:$|(?:in|out|to|for|on|at|off|up|down|from|with|into|onto|back|over|by|as|a|an|the|that|this|and|or|some"
    r"|when|if|until|now|today|tomorrow|please)\b|[\d#])",
    re.IGNORECASE,
)
#: What has a capital and is nobody.
_NOBODY: Final = re.compile(
    r"(?:I|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|October"
    r"|November|December)(?:['\u2019]\w+)?"
)
_OPENING: Final = re.compile(r"(?:^|[.!?]\s+)(?P<name>[A-ZÄÖÜÉÈÁÍÓÚÑ][\w\u2019-]+)")
_TITLE: Final = re.compile(r"(?:Mr|Mrs|Ms|Frau|Herr)\b")
_HE: Final = re.compile(r"\b(?:he|him|his)\b", re.IGNORECASE)
_SHE: Final = re.compile(r"\b(?:she|her|hers)\b", re.IGNORECASE)
#: Somebody without a name.
_PEOPLE: Final = re.compile(
    r"\b(?:mother|father|mum|mom|dad|parents?|wife|husband|partner|son|daughter|sister|brother|child|kid|boy|girl|baby"
    r"|friend|colleague|boss|manager|assistant|neighbou?r|man|woman|lady|guy|person|customer|client|guest|patient|owner"
    r"|tenant|student|pupil|teacher|doctor|nurse|driver|someone|somebody|everyone|everybody)s?\b",
    re.IGNORECASE,
)
_CAPITAL: Final = re.compile(r"(?<=[\w,;] )[A-ZÄÖÜÉÈÁÍÓÚÑ][\w'\u2019-]*|(?<![\w-])[A-Z]{1,5}-?\d[\w-]*")


@lru_cache(maxsize=16)
def with_antecedents(text: str) -> str:
    """The request with who is meant in place of `his` and `her`; the very text where that is not plain."""
    if len(text) > _LONGEST:
        return text
    plain = QUOTED.sub(lambda found: '"' * len(found.group()), text)
    told = _TOLD.search(plain)
    name = told["name"] if told is not None else ""
    found = _COMMAND.search(plain, told.end()) if told is not None and _is_somebody(name) else None
    while found is not None and not _commands(found["verb"]):
        found = _COMMAND.search(plain, found.start() + 1)
    if told is None or found is None or _is_another(told, found, plain):
        return text
    start, end = told.span("name")
    pronoun = "It" if re.fullmatch(_ID, name) is not None else "He"
    before = f"{text[:start]}{pronoun}{text[end : found.start('word')]}"
    return f"{before}{_as_said(name, found, plain)}{text[found.end('word') :]}"


def _as_said(name: str, found: re.Match[str], plain: str) -> str:
    """The name as it stands in place of the pronoun."""
    word = found["word"].casefold()
    if " " in word:
        return f"of {name}"
    if word == "him" or (word == "her" and _HERSELF.match(found["after"])):
        return name
    # `all her visits` are all of Ann's visits.
    return f"of {name}'s" if re.search(r"\ball\s*$", plain[: found.start("word")], re.IGNORECASE) else f"{name}'s"


def _commands(verb: str) -> bool:
    return bool(meanings_of(verb) or is_reading(verb) or meanings_of(verb.casefold().removeprefix("re")))


def _is_another(told: re.Match[str], found: re.Match[str], plain: str) -> bool:
    """Whether somebody else may be meant than who is named: another name, a mother, `one` in place of a thing."""
    before = f"{plain[: told.start('name')]} ; {plain[told.end('name') : found.start('word')]}"
    if any(_NOBODY.fullmatch(one.group()) is None for one in _CAPITAL.finditer(before)):
        return True
    if any(_is_somebody(one["name"]) for one in _OPENING.finditer(before)) or _PEOPLE.search(before):
        return True
    is_hers = "her" in found["word"].casefold()
    titled = _TITLE.match(told["name"])
    if titled is not None and is_hers == (folded(titled.group()) in ("mr", "herr")):
        return True
    return (_HE if is_hers else _SHE).search(before) is not None or found["after"].strip().casefold() in ("one", "ones")


def _is_somebody(name: str) -> bool:
    """Whether a word with a capital is none that the languages have, as it opens a sentence."""
    words = [folded(word) for word in re.findall(r"[^\W\d_]+", name)]
    known = [word for word in words if word in STOPS or listed_concepts(word) or meanings_of(word)]
    return bool(words) and (len(words) > 1 or not known) and words[0] not in STOPS
