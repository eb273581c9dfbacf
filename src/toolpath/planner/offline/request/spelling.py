"""Spelling of a request, mended by the words of the tools and of commands; values are left as they are. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec
from rapidfuzz.distance import OSA

from toolpath.catalog.words import STOP, raw_words, stem
from toolpath.checks.request.calendar_words import says_when
from toolpath.checks.request.codes import codes_of
from toolpath.checks.request.concepts import STOPS, listed_concepts
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.checks.request.tongues import tongues_of
from toolpath.checks.request.verbs import english_verbs, folded, is_counter, is_reading, meanings_of
from toolpath.model.tool import Tool
from toolpath.planner.offline.request.span import Span

_WORD: Final = re.compile(r"(?<![\w@#./'\u2019-])[^\W\d_]{4,30}(?![\w@/'\u2019-]|\.\w)")
#: Words of politeness, which no tool has.
_KIND: Final = ("please", "thanks")
#: Words that tell the tongue, and as much of the text as they are looked for in.
_LOWER: Final = re.compile(r"(?<![\w@#./'\u2019-])(?:[^\W\d_A-Z][^\W\d_]{1,30}|^[^\W\d_]{2,31})(?![\w@/])")
_FIRST: Final = 2_000
#: Letters of the shortest words that `english.txt` has.
_KNOWN: Final = 5
_LONG: Final = 8
#: Words of four letters that are other words with two letters the other way round.
_TURNS: Final = frozenset(
    re.findall(
        r"\S+",
        """form from sign sing calm clam cold clod bran barn blot bolt tide tied pots post pats past fits fist bets best
        lots lost cots cost cast cats mats mast trap tarp carp crap lips lisp gaps gasp raps rasp used sued bare brae
        slat salt goal gaol pets pest tops spot nets nest wets west vets vest ruts rust buts bust guts gust jets jest
        lien line file mile bile time snap span maps arms warm grid gird burn turn torn trot tort fort born corn crud
        curd dirt silt slit coal cola loan bawl brawl blow bowl flow fowl clay play pray amid maid mail main said laid
        lair liar rail raid arid trial trail tail dairy diary angel angle united untied scared sacred casual causal
        felt left lest lets wasp dose does gods dogs stop star tsar ales eels feel sale seal note tone item""",
    )
)
#: Endings of words that are not taken for one another, and letters that a stem has.
_ENDINGS: Final = frozenset(re.split(" ", " ly ed er or e y ion ive ance ence ant ent al ian on ic ics se d s es"))
_STEM: Final = 4
_MOST: Final = 6
_MOST_KNOWN: Final = 4_000


class Spelled(msgspec.Struct, frozen=True):
    """A request with its words mended."""

    text: str
    changes: tuple[tuple[str, str], ...] = ()
    """Each word that was read as another one."""


def spelled(text: str, tools: Sequence[Tool], spans: Sequence[Span]) -> Spelled:
    """The text with words that nobody knows read as the one that they can only mean.

    `spans`: values, which are never mended: ids, names, quotes, amounts. What two words are equally near to stays.
    """
    if "en" not in tongues_of(text) or _has_foreign(text):
        # Tools are named in English: what is near to their words in another tongue is another word.
        return _commanding(text, spans)
    # What opens a request is its verb, though it has a capital.
    values = [one for one in spans if one.kind != "name" or one.start or " " in one.text]
    unknown = [
        found
        for found in _WORD.finditer(text)
        if not _is_known(found[0]) and all(found.end() <= one.start or one.end <= found.start() for one in values)
    ]
    unknown = [found for found in unknown if found[0].islower() or not text[: found.start()].strip()]
    if not unknown:
        return Spelled(text)
    known = _words_of(tools)
    stems = {stem(word) for word in known}
    changes: list[tuple[str, str]] = []
    last, parts = 0, list[str]()
    for found in unknown[:_MOST]:
        word = found[0].lower()
        if word in known or stem(word) in stems:
            continue
        meant = _turned(word, lambda one: one in known) if len(word) < _KNOWN else _nearest(word, known)
        if meant is not None:
            changes.append((found[0], meant))
            parts += [text[last : found.start()], meant]
            last = found.end()
    return Spelled("".join((*parts, text[last:])), tuple(changes))


def _commanding(text: str, spans: Sequence[Span]) -> Spelled:
    """The text of another tongue with the verb that opens it, where two of its letters stand the wrong way round."""
    found = _WORD.match(text.lstrip())
    start = len(text) - len(text.lstrip())
    if found is None or _is_known(found[0]) or any(one.start == start and " " in one.text for one in spans):
        return Spelled(text)
    meant = _turned(found[0].lower(), lambda one: bool(meanings_of(one)))
    if meant is None:
        return Spelled(text)
    return Spelled(f"{text[:start]}{meant}{text[start + found.end() :]}", ((found[0], meant),))


def _turned(word: str, is_word: Callable[[str], bool]) -> str | None:
    """The one word that this is with two letters beside one another the other way round: `lsit` for `list`."""
    if word in _TURNS:
        return None
    swapped = (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1))
    found = {one for one in swapped if one != word and is_word(one)}
    return next(iter(found)) if len(found) == 1 else None


@cache
def ordinary_words() -> frozenset[str]:
    """Words of English that are no other word misspelled. Read when it is first asked for."""
    text = files(__package__).joinpath("english.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if not line.startswith("#"))


def _has_foreign(text: str) -> bool:
    """Whether a word is of German, French or Spanish alone: a verb, or one with a letter that English has not."""
    return any(
        not word.isascii()
        or (len(word) >= _KNOWN and bool(meanings_of(word)) and not _is_ordinary(word) and word not in english_verbs())
        for word in _LOWER.findall(text[:_FIRST])
    )


def _is_ordinary(word: str) -> bool:
    return word.lower() in ordinary_words()


def _is_known(word: str) -> bool:
    plain = folded(word)
    return (
        _is_ordinary(word)
        or plain in STOPS
        or plain in STOP
        or says_when(word)
        or is_reading(word)
        or is_counter(word)
        or bool(meanings_of(word) or listed_concepts(word) or codes_of(word))
    )


def _words_of(tools: Iterable[Tool]) -> frozenset[str]:
    found: set[str] = {*_KIND, *english_verbs()}
    for tool in tools:
        found |= _words_of_tool(tool)
        if len(found) > _MOST_KNOWN:
            break
    return frozenset(found)


def _words_of_tool(tool: Tool) -> frozenset[str]:
    known = tool.__dict__.get("_spelling")
    if isinstance(known, frozenset):
        return known
    texts = [tool.name, tool.description[:300]]
    properties = plain_inputs(tool).get("properties")
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        texts.append(str(name))
        options = schema.get("enum") if isinstance(schema, dict) else None
        texts += [str(one) for one in options[:50]] if isinstance(options, list) else []
    words = frozenset(word for text in texts for word in raw_words(text) if len(word) > 3 and word.isalpha())
    tool.__dict__["_spelling"] = words
    return words


#: What turns a word into its contrary.
_NEGATING: Final = re.compile(r"un|in|im|ir|il|non|dis|de|mis|anti")


def _is_form(word: str, other: str) -> bool:
    """Whether two words are forms of one: `currently` is not a misspelled `current`, nor `unpaid` a `paid`."""
    if _NEGATING.fullmatch(word.removesuffix(other)) or _NEGATING.fullmatch(other.removesuffix(word)):
        # `uninsured` is no misspelled `insured`.
        return True
    shared = next((at for at, (one, two) in enumerate(zip(word, other, strict=False)) if one != two), len(word))
    shared = min(shared, len(other))
    return any(word[cut:] in _ENDINGS and other[cut:] in _ENDINGS for cut in (shared, shared - 1) if cut > _STEM)


def _nearest(word: str, known: Iterable[str]) -> str | None:
    """The one word that this one is likely to be; None where there is none, or more than one."""
    most = 2 if len(word) >= _LONG else 1
    near: dict[int, set[str]] = {}
    for other in known:
        if abs(len(other) - len(word)) > most or not {word[0], word[1]} & {other[0], other[1]}:
            continue
        distance = OSA.distance(word, other, score_cutoff=most)
        if distance <= most and not _is_form(word, other):
            near.setdefault(distance, set()).add(other)
    best = near.get(min(near, default=0), set())
    return next(iter(best)) if len(best) == 1 else None
