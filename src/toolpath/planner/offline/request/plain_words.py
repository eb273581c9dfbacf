"""Plain words of a clause that may be a value: runs that a tool does not explain, and what points to a field. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from toolpath.checks.request.concepts import listed_concepts
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.cues import CUES
from toolpath.planner.offline.request.parts import ClausePart, Word
from toolpath.planner.offline.request.picks import is_picking
from toolpath.planner.offline.request.toolbox import Kit, Toolbox, ToolField

#: Between the words of one name: `lampe du salon`.
_BRIDGES: Final = frozenset(("du", "de", "del", "im"))
#: Letters of the longest of these words, with what stands around it.
_ARTICLE: Final = 16
#: Before a thing of which nothing says which it is.
_ANY: Final = re.compile(r"\b(?:an?|some|any|eine?[nrms]?|irgendein\w*|une?|una?|alg[uú]n\w*)\s+$", re.IGNORECASE)


_NO_NAMES: Final = frozenset(("everything", "something", "anything", "last", "past", "next"))
#: Words that say how much of a thing there is, and are no part of what it is called: `much celadon`.
_HOW_MUCH: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """much many few several enough viel viele vielen wenig wenige einige mehrere genug
        beaucoup combien plusieurs assez quelques mucho mucha muchos muchas poco pocos varios varias
        cuánto cuánta cuántos cuántas bastante""",
    )
)


class PlainWords:
    """Plain words of one clause, as the parameters of one tool may take them. `spent`: words that became a value."""

    def __init__(self, kit: Kit, part: ClausePart, box: Toolbox, text: str, spent: AbstractSet[Word]) -> None:
        self._kit, self._part, self._box, self._text, self._spent = kit, part, box, text, spent

    def is_for(self, run: Sequence[Word], field: ToolField) -> bool:
        """Whether words are said to be for the parameter, or are its very example."""
        is_shown = len(run) == 1 and run[0].text in field.examples
        return is_shown or self.is_pointed(run, field) or self.is_named(run, field)

    def value_of(self, phrase: Sequence[Word], field: ToolField) -> str:
        """The words as they stand; without the parameter's name where its examples have none: `the batch namespace`."""
        named = [word for word in phrase if folded(word.text) not in _HOW_MUCH]
        phrase = phrase[phrase.index(named[0]) :] if named else phrase
        is_named = bool(field.examples) and len(phrase) > 1 and folded(phrase[-1].text) == field.name
        return self._text[phrase[0].start : phrase[-2 if is_named else -1].end]

    def is_pointed(self, phrase: Sequence[Word], field: ToolField) -> bool:
        """Whether a word before points to the parameter: `from github`."""
        before = self._part.before(phrase[0].start, 2)
        return any(CUES.get(folded(word.text), frozenset()) & {field.name, *field.name.split("_")} for word in before)

    def phrase(self, field: ToolField) -> list[Word] | None:
        """The longest run of words that the tool does not explain, or the one that is named as the parameter."""
        return max(self.runs(field), key=lambda one: (self.is_named(one, field), len(one)), default=None)

    def runs(self, field: ToolField) -> list[list[Word]]:
        """Runs of words that the tool does not explain; its own thing ends one, as `door` in `back door`."""
        known = frozenset[str]().union(*self._kit.named, self._kit.extra) | (
            self._kit.described if field.kind != "text" else frozenset()
        )
        runs: list[list[Word]] = []
        run: list[Word] = []
        bridge: list[Word] = []
        for word in self._part.words:
            if run and folded(word.text) in _BRIDGES and field.required:
                bridge.append(word)
                continue
            is_apart = bool(run) and bool(_between(self._text, run[-1].end, word.start, bridge).strip())
            is_own = bool(word.concepts & field.concepts) and bool(run)
            is_free = (
                not word.is_stop
                and not word.concepts & known
                and word.text != self._part.verb
                and (not listed_concepts(word.text) & self._box.acts or self._is_object(word, field))
                and word not in self._spent
                and not self._is_any(word)
            )
            is_free = is_free and not is_picking(word.start, self._text) and folded(word.text) not in _NO_NAMES
            if is_apart or not (is_free or is_own):
                runs.append(run)
                run = []
            if is_free or (is_own and not is_apart):
                run.append(word)
        runs.append(run)
        return [one for one in runs if one]

    def _is_any(self, word: Word) -> bool:
        """Whether a word says the tool's own thing and not which: `reserve a book`."""
        return (
            bool(word.concepts & self._kit.described)
            and _ANY.search(self._text[max(0, word.start - _ARTICLE) : word.start]) is not None
        )

    def _is_object(self, word: Word, field: ToolField) -> bool:
        """Whether a word stands right behind the verb, as a name that has to be said does: `resize logs to 500`."""
        verb = self._part.verb
        before = self._text[max(0, word.start - len(verb) - _ARTICLE) : word.start].rstrip()
        return (
            field.required and bool(verb) and folded(before[-len(verb) :]) == folded(verb) and verb in self._part.text
        )

    def is_named(self, run: Sequence[Word], field: ToolField) -> bool:
        """Whether the word before says what it is: `the table leads`; or its own last one: `the baking list`."""
        if len(run) > 1 and run[-1].concepts & field.concepts:
            return True
        return any(word.concepts & field.concepts for word in self._part.before(run[0].start, 1))


def _between(text: str, start: int, end: int, words: Sequence[Word]) -> str:
    """The text between two words, besides those given."""
    text = text[start:end]
    for word in words:
        text = text.replace(word.text, "", 1)
    return text
