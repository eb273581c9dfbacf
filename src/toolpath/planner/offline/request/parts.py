"""Parts of a request: a clause with its words, what they stand for, and its values. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

import msgspec

from toolpath.checks.request.concepts import STOPS, commanded, concepts_of, phrasal
from toolpath.checks.request.verbs import TOWARDS, folded, is_particle, is_reading, meanings_of, parted
from toolpath.planner.offline.request.span import Span

#: Nothing is cut out of what has digits: `sev2`.
#: What belongs to a verb and is none: `turn it off`.
PARTICLES: Final = frozenset(("on", "off", "up", "down", "in", "out", "back"))
_WORD: Final = re.compile(r"(?<![\w])[^\W\d_]+(?:['\u2019-][^\W\d_]+)*(?!\w)")


class Word(msgspec.Struct, frozen=True):
    """One word of a clause that is no part of a value."""

    text: str
    start: int
    end: int
    concepts: frozenset[str]

    @property
    def is_stop(self) -> bool:
        """Whether it asks for nothing by itself."""
        return folded(self.text) in STOPS


class ClausePart(msgspec.Struct, frozen=True):
    """A clause: its text with places of the whole request, its words and values."""

    text: str
    start: int
    end: int
    words: tuple[Word, ...]
    spans: tuple[Span, ...]
    verb: str = ""
    joint: str = ""
    """What the verb means together with another word: `get rid of`."""
    is_question: bool = False

    def before(self, at: int, count: int) -> tuple[Word, ...]:
        """The last so many words that end at or before a place of the request."""
        end = bisect_right(self.words, at, key=lambda word: word.end)
        return self.words[max(0, end - count) : end]


def part_of(
    text: str,
    start: int,
    end: int,
    spans: Sequence[Span],
    acts: frozenset[str] = frozenset(),
    *,
    is_question: bool = False,
    verbs: frozenset[str] = frozenset(),
) -> ClausePart:
    """The clause between two places of the request. `verbs`: those of the tools at hand, whatever they mean."""
    own = tuple(one for one in spans if start <= one.start and one.end <= end)
    hidden = list(text)
    for one in own:
        hidden[one.start : one.end] = " " * (one.end - one.start)
    plain = "".join(hidden)
    two = {(at, to): concept for at, to, concept in phrasal(plain[start:end])}
    words = []
    for found in _WORD.finditer(plain, start, end):
        concepts = concepts_of(found[0])
        extra = two.get((found.start() - start, found.end() - start))
        words.append(Word(found[0], found.start(), found.end(), concepts | {extra} if extra else concepts))
    words = _of_two(_joined(words, own), verbs)
    verb = _verb(words, acts, verbs)
    joint = next((two.get((one.start - start, one.end - start), "") for one in words if one.text == verb), "")
    return ClausePart(text[start:end], start, end, tuple(words), own, verb, joint, is_question)


def _of_two(words: list[Word], verbs: frozenset[str]) -> list[Word]:
    """The words with a tool's verb in one piece that is written apart: `Roll back` is `rollback`."""
    for at in range(min(3, len(words) - 1)):
        first, second = words[at], words[at + 1]
        whole = folded(first.text) + folded(second.text)
        if whole in verbs and second.start - first.end == 1:
            return [*words[:at], Word(whole, first.start, second.end, concepts_of(whole)), *words[at + 2 :]]
        if not first.is_stop:
            break
    return words


def _joined(words: list[Word], spans: Sequence[Span]) -> list[Word]:
    """The words with a German verb in one piece: `Sag den Termin ab` says `absagen`, and no `ab`."""
    last = next((word for word in reversed(words) if folded(word.text) != "bitte"), None)
    if last is None or not is_particle(last.text) or any(one.start > last.end for one in spans):
        return words
    before = words[words.index(last) - 1].text if words.index(last) else ""
    for at, word in enumerate(words[:4]):
        whole = parted(word.text, last.text) if word is not last and folded(before) not in TOWARDS else None
        if whole is not None:
            verb = Word(whole, word.start, word.end, concepts_of(whole))
            return [*words[:at], verb, *(one for one in words[at + 1 :] if one is not last)]
    return words


def _is_act(word: Word) -> bool:
    """Whether the table has the word among its verbs, in the form of a command."""
    return any(one.startswith("to-") for one in commanded(word.text))


def _is_verb(word: Word, acts: frozenset[str], verbs: frozenset[str]) -> bool:
    plain = word.text
    if folded(plain) in PARTICLES:
        # `3071 is off sick`
        return False
    is_known = folded(plain) in verbs or bool(meanings_of(plain)) or is_reading(plain)
    return is_known or bool(word.concepts & acts) or _is_act(word)


def _verb(words: Sequence[Word], acts: frozenset[str], verbs: frozenset[str]) -> str:
    """The verb that a command begins with; in German it may stand at the end of it."""
    for word in words[:5]:
        if word is not words[0] and word.text[:1].isupper():
            # `Die Noten von 3071`: a thing, whatever verb it looks like.
            break
        if _is_verb(word, acts, verbs):
            return word.text
        if not word.is_stop:
            break
    last = words[-1].text if words else ""
    return last if last.endswith("n") and last[:1].islower() and (meanings_of(last) or is_reading(last)) else ""
