"""Words that warrants compare: those of the calls of a plan and of their tools, and those of the request. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import chain
from typing import Final

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.clauses import clauses_of
from toolpath.checks.request.concepts import STOPS, listed_concepts, phrasal
from toolpath.checks.request.moods import Clause
from toolpath.checks.request.other_verbs import is_compound
from toolpath.checks.request.seen import without_contents
from toolpath.checks.request.settings import none_of, settings_of
from toolpath.checks.request.tools import fits
from toolpath.checks.request.translations import says_part
from toolpath.checks.request.units import says_amount
from toolpath.checks.request.verbs import folded, meanings_of
from toolpath.model.plan import Call
from toolpath.planner.offline.request.spans import spans_of
from toolpath.planner.offline.request.toolbox import PARTICLES, Kit, Toolbox, things_of
from toolpath.values import Json

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_QUOTED: Final = re.compile(r"\"[^\"]*\"|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|(?<!\w)'[^']*'(?!\w)")
#: Ids, addresses, paths: no word in them says what is to be done.
CODE: Final = re.compile(r"\S*[\d@/_]\S*")
#: Of no kind that a tool tells of.
ID: Final = re.compile(r"(?=[\w./:#-]*\d)[\w./:#-]+")


class PlanWords:
    """What the calls of a plan have to do with, together."""

    def __init__(self, calls: Sequence[Call], kits: Sequence[Kit], box: Toolbox) -> None:
        self.calls, self.kits, self.box = calls, kits, box
        self.verbs = frozenset[str]().union(*(own_verbs(kit) for kit in kits))
        self.words = frozenset[str]().union(*(_words(kit) for kit in kits))
        self.concepts = frozenset[str]().union(
            *(kit.described | kit.extra for kit in kits),
            *chain(*(kit.named for kit in kits)),
            *(field.concepts for kit in kits for field in kit.outputs),
            *(field.concepts for kit in kits for listed in kit.lists for field in listed.fields),
        )
        self.values = frozenset(
            stem(word) for call in calls for value in call.inputs.values() for word in words_of_value(value)
        )
        self.numbers = frozenset(
            value for call in calls for value in call.inputs.values() if isinstance(value, int) and value is not True
        )
        self._texts = frozenset(folded(str(value)) for call in calls for value in call.inputs.values())
        self.denies = any(
            one.name in call.inputs and none_of(one) == call.inputs[one.name]
            for call in calls
            for kit in kits
            if kit.key == call.tool
            for one in settings_of(kit.tool)
        )
        """A call is told not to do something, in words that deny: `no refund on either`."""
        self.things_of_others = frozenset(stem(word) for kit in box.kits for word in things_of(kit)) - self.words
        # What a call gives is spoken of by who goes on with it: `if its priority is low`.
        given = (field.name for kit in kits for field in kit.outputs)
        self.things_of_others -= frozenset(stem(folded(word)) for name in given for word in raw_words(name))

    def is_foreign(self, word: str) -> bool:
        """Whether a word is the thing of another tool, and no word for one of these tools' own."""
        own = frozenset[str]().union(*(listed_concepts(thing) for kit in self.kits for thing in things_of(kit)))
        return stem(word) in self.things_of_others - self.values and not listed_concepts(word) & own

    def says_value_of(self, word: str) -> bool:
        """Whether a word says an option or an amount that a call takes: `Tollwut`, `ein halbes Kilo`."""
        return says_part(word, self._texts) or says_amount(word, self._texts)

    def says_parts_of(self, word: str) -> bool:
        """Whether the tools have all words that a word with a hyphen is made of: `on-call` of `the doctor on call`."""
        parts = word.split("-")
        return len(parts) > 1 and all(part in PARTICLES or part in STOPS or stem(part) in self.words for part in parts)


class RequestWords:
    """What a request says outside of its quoted texts, ids and addresses."""

    def __init__(self, request: str, today: date | None) -> None:
        self.request = request
        self._commands: dict[str, list[str]] = {}
        self.quoted = " ".join(_QUOTED.findall(request)).casefold()
        text = CODE.sub(" ", _QUOTED.sub(" ", request))
        self.words = [folded(word) for word in _WORD.findall(text)]
        self.telling = [word for word in self.words if word not in STOPS]
        hidden = list(request)
        self.has_money = any(span.kind == "money" for span in spans_of(request, today))
        for span in spans_of(request, today):
            hidden[span.start : span.end] = " " * (span.end - span.start)
        bare_of = without_contents(request)
        parts = clauses_of(bare_of, lambda word: bool(meanings_of(word)))
        for start, end in _reasons_in(parts, bare_of):
            hidden[start:end] = " " * (end - start)
        plain = {folded(word) for word in _WORD.findall("".join(hidden))}
        self.plain = [word for word in self.telling if word in plain]
        """Telling words that are no value by their form."""
        self.objects = [
            (clause.verb, found[1])
            for clause in parts
            if clause.mood == "command" and clause.verb
            if (found := re.search(rf"(?<!\w){re.escape(clause.verb)}\s+({ID.pattern})", request, re.IGNORECASE))
        ]
        """Verbs, and the ids that they take themselves: a `Delete PJ-9` means no file of it."""
        parted = phrasal(text)
        self.joint = frozenset(concept for _, _, concept in parted)
        self.parted = frozenset((folded(text[start:end]), concept) for start, end, concept in parted)
        """Words of verbs of two words, each with what the verb says: `throw` of `throw it out`."""

    def commands(self, kit: Kit) -> list[str]:
        """The verbs that command the tool."""
        known = self._commands.get(kit.key)
        if known is None:
            found = clauses_of(self.request, lambda word: fits(word, kit.tool))
            verbs = [one.verb for one in found if one.mood == "command" and one.verb]
            known = [one for one in verbs if fits(one, kit.tool) or is_compound(self.request, one, kit.tool)]
            self._commands[kit.key] = known
        return known

    def says(self, thing: str, kit: Kit) -> bool:
        """Whether some word is this one, or stands for the same; the tool's own verb says nothing of its thing."""
        concepts = listed_concepts(thing)
        # `Clean` is said of more than what a vacuum is for.
        verbs = {*kit.verbs, *(folded(verb) for verb in self.commands(kit) if meanings_of(verb))}
        return bool(self.joint & concepts) or any(
            stem(word) == stem(thing) or (word not in verbs and listed_concepts(word) & concepts)
            for word in self.telling
        )


def _reasons_in(parts: Sequence[Clause], text: str) -> Iterator[tuple[int, int]]:
    """Where a text says why it commands something: that may be said in any words."""
    if any(clause.mood == "command" for clause in parts):
        for clause in parts:
            at = text.find(clause.text) if clause.mood == "reason" else -1
            if at >= 0:
                yield at, at + len(clause.text)


def words_of_value(value: Json) -> Iterable[str]:
    """The words of a value, as they are compared."""
    return (folded(word) for word in _WORD.findall(str(value)))


def own_verbs(kit: Kit) -> frozenset[str]:
    """Verbs by which the tool is called: of its name, and of how its description begins."""
    return kit.verbs | frozenset(folded(word) for word in raw_words(kit.tool.description[:60])[:3])


def _words(kit: Kit) -> frozenset[str]:
    """Stems of all words of a tool."""
    texts = [kit.tool.name, kit.tool.description[:400]]
    for field in kit.fields:
        texts += [field.name, field.description, *(str(option) for option in field.options)]
    return frozenset(stem(folded(word)) for text in texts for word in raw_words(text))
