"""A clause of a request fitted to one tool: which values and words fill which parameter, and what is left. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words
from toolpath.checks.request.concepts import STOPS, concepts_of
from toolpath.checks.request.idle import IDLE
from toolpath.checks.request.namings import says_option
from toolpath.checks.request.seen import FOR_BOTH
from toolpath.checks.request.settings import none_of, settings_of
from toolpath.checks.request.verbs import folded, is_reading
from toolpath.planner.offline.request.affinity import (
    affinity,
    cue_of,
    is_called,
    is_titled_elsewhere,
    is_told_short,
    is_unlabelled,
)
from toolpath.planner.offline.request.apposed import apposed, is_own_id
from toolpath.planner.offline.request.assigning import apart, assigned, is_one_of_several
from toolpath.planner.offline.request.clause_for_tool import as_taken, in_range
from toolpath.planner.offline.request.cues import CUES, LABELS, WAYS
from toolpath.planner.offline.request.denied import denied_words, denying, is_denied
from toolpath.planner.offline.request.evidence import OF_ANOTHER, SUPPOSED, ToolEvidence, Used, evidence
from toolpath.planner.offline.request.field_kinds import FieldKind
from toolpath.planner.offline.request.flags import flag_said
from toolpath.planner.offline.request.links import is_listed
from toolpath.planner.offline.request.named import untitled
from toolpath.planner.offline.request.narrowed_by import SEARCHED, about_what, pointed, whose_name
from toolpath.planner.offline.request.options import holds_in, is_meant, is_named, option_of_time, phrase_of
from toolpath.planner.offline.request.ordinals import ordinal_before
from toolpath.planner.offline.request.parts import PARTICLES, ClausePart, Word
from toolpath.planner.offline.request.picks import is_picking
from toolpath.planner.offline.request.plain_words import PlainWords
from toolpath.planner.offline.request.rows import are_in_row, is_mixed, is_of_row
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.told_texts import is_told, names_message
from toolpath.planner.offline.request.toolbox import Kit, Toolbox, ToolField, means
from toolpath.planner.offline.request.values_of_fields import value_of
from toolpath.values import Json, JsonObject

_RESPECTIVELY: Final = re.compile(
    r"\b(?:respectively|in\s+that\s+order|beziehungsweise|respectivement|respectivamente)\b", re.I
)
#: So far before a word stands what says that it is so, or is not.
_BEHIND: Final = 40
_BECOMES: Final = re.compile(r"\b(?:to|auf|zu|à|en|a|as|is)\s+(?:an?\s+)?$", re.IGNORECASE)


class Fitted(msgspec.Struct, frozen=True):
    """A tool's calls for a clause."""

    kit: Kit
    calls: tuple[JsonObject, ...]
    score: float
    meant: float
    """How much of the tool the clause names, 0 and more."""
    missing: tuple[ToolField, ...]
    unused: tuple[Span, ...]
    """Values that no parameter took."""
    unsaid: tuple[Word, ...]
    """Telling words that neither the tool nor a value explains."""
    sure: float
    """How well its weakest argument fits, 0 to 1."""
    lead: float = 0.0
    """Of the score over that of the next tool, at most 1; less than nothing where there is no other tool."""
    taken: tuple[Span, ...] = ()
    """Values that a parameter took."""
    spent: tuple[Word, ...] = ()
    """Words that became an argument."""
    given: frozenset[str] = frozenset()
    """Parameters that an item of a list gives."""
    source: tuple[ToolField, Kit, JsonObject, ToolField] | None = None
    """What is missing, the tool that reads it, what that is called with, and its output: the customer of an order."""


def fit(
    kit: Kit, part: ClausePart, box: Toolbox, text: str, given: frozenset[str] = frozenset(), *, with_words: bool = True
) -> Fitted:
    """The calls that the clause makes of a tool.

    `given`: parameters that come from elsewhere. Not `with_words`: values by their form and options alone.
    """
    own = as_taken(kit, part, text, given, box.today, with_words=with_words)
    filler = _Filler(kit, own, box, text, given)
    filler.fill(with_words=with_words)
    return filler.done()


def _lists_in_order(fields: Sequence[ToolField], used: Mapping[Span, str], inputs: JsonObject) -> JsonObject:
    """The lists of values, in the order in which the request says them."""
    found: JsonObject = {}
    for field in fields:
        held = inputs.get(field.name)
        if field.is_list and isinstance(held, list) and len(held) > 1:
            spans = sorted((one for one, name in used.items() if name == field.name), key=lambda one: one.start)
            if len(spans) == len(held):
                # Options are words, and stand in order already.
                found[field.name] = [value_of(one, field) for one in spans]
    return found


class _Filler:
    """Filling of one tool's parameters from one clause."""

    def __init__(self, kit: Kit, part: ClausePart, box: Toolbox, text: str, given: frozenset[str]) -> None:
        self._kit, self._part, self._box, self._text = kit, part, box, text
        self._given = given
        self._inputs: JsonObject = {}
        self._sure: dict[str, float] = {}
        self._used: dict[Span, str] = {}
        self._many: dict[str, list[Json]] = {}
        self._spent: set[Word] = set()
        self._plain = PlainWords(kit, part, box, text, self._spent)
        self._optioned: list[ToolField] = []
        """Parameters that an option is said of."""
        self._chosen: set[Word] = set()
        """Words that are an option of a parameter: once said, none of another one."""
        self._denied: list[Word] = []
        """Words that would be an option, and are said not to be."""
        self._uncued_names: list[Span] = []
        """Names that fill a parameter though nothing but their form speaks for it."""
        self._uncued: list[FieldKind] = []
        """Kinds of parameters that nothing but their kind chose a value for."""

    def fill(self, *, with_words: bool) -> None:
        """Values by their form first, then options, then plain words."""
        self._from_spans()
        taken = self._given | self._inputs.keys()
        owned = whose_name(self._kit, [one for one in self._part.spans if one not in self._used], taken, self._text)
        if owned is not None:
            field, name = owned
            self._inputs[field.name] = name.value
            self._take(name, field, 1.0)
        self._currencies()
        self._denied_settings()
        self._options()
        self._flags()
        self._joined()
        self._ordinals()
        if with_words:
            self._phrases()

    def done(self) -> Fitted:
        """The calls, and what is left."""
        missing = tuple(
            one for one in self._kit.required if one.name not in self._inputs and one.name not in self._given
        )
        unused = tuple(one for one in self._part.spans if one not in self._used and not self._is_said(one))
        known = frozenset[str]().union(*self._kit.named, self._kit.described, self._kit.extra)
        if self._part.is_question and not self._kit.is_acting:
            # What it gives is what is asked: `What does RN-4 cost?`
            known |= self._kit.given if SUPPOSED.search(self._part.text) else self._box.given(self._kit)
        unsaid = tuple(word for word in self._part.words if word in self._denied or self._is_unsaid(word, known))
        sure = self._sureness()
        meant = self._evidence(missing, unused).meant
        if not (missing or unused or unsaid) and _says_no_more(self._kit, self._part, self._used, sure):
            meant = max(meant, _EXPLAINED)
        score = meant + 0.5 * len(self._used) - 0.9 * len(unused) - 0.8 * len(missing) - 0.35 * len(unsaid)
        return Fitted(
            self._kit,
            self._calls(),
            score + 0.2 * sure,
            meant,
            missing,
            unused,
            unsaid,
            sure,
            taken=tuple(self._used),
            spent=tuple(self._spent),
        )

    def _sureness(self) -> float:
        """How sure it is which value is which parameter's."""
        is_acting = self._kit.is_acting
        # Which value is which only their order says.
        is_by_order = any(self._uncued.count(kind) > 1 for kind in _MIXED) or (
            is_acting and len(self._uncued_names) > 1
        )
        # `A and B to C and D`: the first to the first, or both to both?
        is_mixed_up = is_acting and len(self._many) > 1 and not _RESPECTIVELY.search(self._part.text)
        if is_by_order or is_mixed_up:
            return 0.2
        sure = min(self._sure.values(), default=1.0)
        is_open = not is_acting and sum(kind in _NAMED for kind in self._uncued) > 1
        return min(sure, 0.5) if is_open else sure

    def _is_unsaid(self, word: Word, known: frozenset[str]) -> bool:
        if not self._kit.is_acting and word.text == self._part.verb and is_reading(word.text):
            # What a tool gives may be shown or told.
            return False
        if word in self._spent or word.is_stop or word.concepts & known or self._is_verb(word):
            return False
        parts = word.text.split("-") if "-" in word.text else []
        if parts and all(part in PARTICLES or folded(part) in STOPS or concepts_of(part) & known for part in parts):
            # `the on-call` of `the doctor on call`.
            return False
        return folded(word.text) not in _IDLE and not is_picking(word.start, self._text)

    def _calls(self) -> tuple[JsonObject, ...]:
        self._inputs |= _lists_in_order(self._kit.fields, self._used, self._inputs)
        order = [field.name for field in self._kit.fields]
        self._inputs = {name: self._inputs[name] for name in order if name in self._inputs}
        if not self._many:
            return (self._inputs,)
        rows = zip(*self._many.values(), strict=True)
        return tuple({**self._inputs, **dict(zip(self._many, row, strict=True))} for row in rows)

    def _is_said(self, span: Span) -> bool:
        """Whether a value is only the name of the tool's thing, as `PR`; or the currency of what is no money."""
        return span.kind in ("name", "code") and bool(
            concepts_of(span.text) & frozenset[str]().union(*self._kit.named, self._kit.described)
        )

    def _is_verb(self, word: Word) -> bool:
        return word.text == self._part.verb and means(word.text, self._kit)

    # How much the clause means the tool.

    def _evidence(self, missing: Sequence[ToolField], unused: Sequence[Span]) -> ToolEvidence:
        typed = [one for one in self._used if self._used[one] != "option" and one.kind not in ("name", "quoted")]
        is_sure = min(self._sure.values(), default=0.0) >= _FITTING
        is_asked = bool(self._kit.required) or self._part.is_question
        is_whole = bool(typed) and is_sure and is_asked and not missing and not unused
        return evidence(self._kit, self._part, self._box, Used(tuple(self._used), tuple(self._optioned), is_whole))

    # Values by their form.

    def _ranked(self) -> Iterator[tuple[float, int, int]]:
        """How well each value is for each parameter that may take it, with their places."""
        for at, span in enumerate(self._part.spans):
            nearby = max(0, span.start - _NEAR)
            if span.kind == "name" and OF_ANOTHER.search(self._text, nearby, span.start) is not None:
                continue
            for order, field in enumerate(self._kit.fields):
                likely = 0.0 if field.name in self._given else affinity(span, field, self._kit, self._box)
                if (
                    likely <= 0
                    or value_of(span, field) is None
                    or is_unlabelled(span, field, self._part, self._text)
                    or is_of_row(self._part, at, field, self._kit, self._box, self._text)
                    or is_titled_elsewhere(span, field, self._part)
                ):
                    # `from A and B to C`: what is said of A is said of B.
                    continue
                cue = cue_of(span, field, self._part, self._text)
                cue += in_range(self._part.spans, at, field, self._kit, self._text)
                is_open = cue < 1 and not field.required
                if is_open and (likely < 1.5 or is_one_of_several(span, field, self._kit)):
                    # Of several that may be left out nothing says which one it is.
                    continue
                yield likely + cue - apart(self._part.spans, self._kit.fields, at, order), at, order

    def _from_spans(self) -> None:
        several = {at for at, one in enumerate(self._kit.fields) if one.is_list}
        for score, at, order in assigned(self._ranked(), several):
            span, field = self._part.spans[at], self._kit.fields[order]
            value = value_of(span, field)
            if field.is_list:
                held = _longer(self._inputs.get(field.name), span, field, value)
                if held is not None:
                    self._inputs[field.name] = held
                    self._take(span, field, score)
            elif field.name not in self._inputs:
                self._inputs[field.name] = value
                self._take(span, field, score)
                if field.kind == "money":
                    self._currencies()

    def _take(self, span: Span, field: ToolField, score: float) -> None:
        self._used[span] = field.name
        self._spend_label(span, field)
        self._sure[field.name] = min(1.0, score / 3.0)
        at = self._part.spans.index(span)
        cue = cue_of(span, field, self._part, self._text) + in_range(self._part.spans, at, field, self._kit, self._text)
        is_formed = score - cue >= _FORMED or (span.kind == "quoted" and is_told(field))
        is_known = field.is_name and len(span.text.strip("#")) >= _DIGITS_OF_NAMES
        if cue < 1 and not is_formed and not is_known:
            self._uncued.append(field.kind)
            if span.kind == "name":
                self._uncued_names.append(span)

    def _spend_label(self, span: Span, field: ToolField) -> None:
        """The word before a number or an id that says no more than which parameter it is: `ep 45`, `ending 4431`."""
        word = next((one for one in reversed(self._part.words) if one.end <= span.start), None)
        if word is not None and span.kind == "quoted" and names_message(word, span, field, self._text):
            self._spent.add(word)
        if word is None or span.kind not in ("number", "id", "code") or self._text[word.end : span.start].strip(" #:."):
            return
        plain = folded(word.text)
        nouns = [folded(one) for one in raw_words(field.name)]
        if (
            plain in LABELS
            or is_called(word.text, field)
            or (span.kind == "number" and is_told_short(word.text, field))
            or (len(plain) > 1 and any(one.startswith(plain) for one in nouns))
        ):
            self._spent.add(word)
        elif self._kit.tool.effect != "destructive" and is_own_id(span.text, field, self._box):
            kinds = apposed(self._text, span.start)
            near = [one for one in self._part.words if 0 <= span.start - one.end < _BEHIND]
            self._spent.update(one for one in near if folded(one.text) in kinds and one.text != self._part.verb)

    def _currencies(self) -> None:
        """The currency of an amount that was taken: of two parameters the one that it is given in."""
        for span in self._part.spans:
            free = [one for one in self._kit.fields if one.kind == "currency" and one.name not in self._inputs]
            if span.kind != "money" or span not in self._used or span.value is None or not span.unit:
                continue
            free.sort(key=lambda one: not {"from", "source"} & {*one.name.split("_")})
            if free and (not free[0].options or span.unit in free[0].options):
                self._inputs[free[0].name] = span.unit

    # Options, flags, lists of alike, plain words.

    def _options(self) -> None:
        for field in self._kit.fields:
            if not field.options or field.kind == "bool" or field.name in self._inputs or field.name in self._given:
                continue
            found = self._option(field)
            while found is not None and field.is_list:
                held = self._inputs.setdefault(field.name, [])
                if not isinstance(held, list) or found in held:
                    break
                held.append(found)
                self._optioned = [*(one for one in self._optioned if one != field), field]
                found = self._option(field)
            if found is not None and not field.is_list:
                self._inputs[field.name] = found
                self._optioned.append(field)

    def _denied_settings(self) -> None:
        """Options that say that something is not done, where that is said: `no refund` of one that is `none`."""
        for setting in settings_of(self._kit.tool) if self._kit.is_acting else ():
            said = [] if setting.name in self._inputs else denied_words(setting, self._part.words, self._text)
            if said:
                self._inputs[setting.name] = none_of(setting)
                self._optioned += [one for one in self._kit.fields if one.name == setting.name]
                self._spent.update((*said, *denying(said[0], self._part.words, self._text)))

    def _option(self, field: ToolField) -> Json:
        for span in self._part.spans:
            option = option_of_time(span, field) if span not in self._used else None
            if option is not None:
                self._used[span] = "option"
                return option
        words = [
            *(word for word in self._part.words if word not in self._spent),
            *(_word(one) for one in self._part.spans if one.kind in ("name", "code", "id") and one not in self._used),
            *(_untitled(one) for one in self._part.spans if one.kind == "name" and one not in self._used),
        ]
        is_first = self._kit.is_acting and field.required
        words.sort(key=lambda one: one.start)
        rows = [(row, option) for option in field.options if (row := phrase_of(option, words, self._text))]
        rows = [(row, option) for row, option in rows if not self._is_denied(row[0])]
        if rows:
            row, option = min(rows, key=lambda one: _becomes(one[0][0], self._text, is_first=is_first))
            self._spent.update(row)
            return option
        words.sort(key=lambda one: _becomes(one, self._text, is_first=is_first))
        words = [word for word in words if not _is_of_twin(word, field, self._kit, self._part)]
        names = (*raw_words(field.name), *raw_words(self._kit.tool.name)[1:])
        words = [one for one in words if says_option(self._text, one.start, one.end, names)]
        for exact in (True, False):
            for word in words:
                option = self._option_of(word, field, exact=exact)
                if option is not None:
                    self._spend(word)
                    self._chosen.add(word)
                    return option
        return None

    def _option_of(self, word: Word, field: ToolField, *, exact: bool) -> Json:
        """The option that a word is, or stands for; None where it says so of no option, or of something else."""
        for option in field.options:
            is_same = is_named(word, option)
            if not (is_same if exact else is_meant(word, option, field, self._box.told_of(field), self._text)):
                continue
            if self._is_denied(word):
                self._denied.append(word)
                continue
            if word in self._chosen and not FOR_BOTH.search(self._text):
                continue
            # `Merge PR 7`: the verb names the tool, and no way to do it.
            if word.text == self._part.verb and self._names(word) and not (is_same and field.required):
                continue
            opens = word.concepts & frozenset[str]().union(*self._kit.named[:1])
            if exact or field.required or not opens:
                return option
        return None

    def _names(self, word: Word) -> bool:
        """Whether the word is one of the tool's name."""
        return bool(word.concepts & frozenset[str]().union(*self._kit.named))

    def _is_denied(self, word: Word) -> bool:
        """Whether it is said that the word is not so."""
        return is_denied(word, self._text)

    def _spend(self, word: Word) -> None:
        self._spent.add(word)
        for span in self._part.spans:
            if span.start == word.start:
                self._used[span] = "option"

    def _flags(self) -> None:
        for field in self._kit.fields:
            if field.kind != "bool" or field.name in self._inputs:
                continue
            telling = [word for word in field.name.split("_") if word not in ("only", "is")]
            said = [(word, one, holds_in(word, one, self._text)) for one in telling for word in self._part.words]
            hits = [(word, one, holds) for word, one, holds in said if holds is not None]
            if not telling or {one for _, one, _ in hits} != {*telling}:
                said_otherwise = flag_said(field, self._kit, self._part.words, self._text)
                if said_otherwise is not None:
                    self._inputs[field.name], words = said_otherwise
                    self._optioned.append(field)
                    self._spent.update(words)
                continue
            is_not = any(self._is_denied(word) for word, _, _ in hits)
            holds = all(holds for _, _, holds in hits)
            if is_not and self._kit.is_acting and field.required:
                continue
            self._inputs[field.name] = holds is not is_not
            self._optioned.append(field)
            self._spent.update(word for word, _, _ in hits)
            if is_not:
                first = next(word for word, _, _ in hits if self._is_denied(word))
                self._spent.update(denying(first, self._part.words, self._text))

    def _joined(self) -> None:
        """Values of one kind in a row: the same call for each of them."""
        for span in self._part.spans:
            is_whole = span.kind in ("duration", "quoted", "list") or (span.kind == "money" and span.value is not None)
            if span in self._used or is_whole:
                continue
            for other, name in [*self._used.items()]:
                field = next((one for one in self._kit.fields if one.name == name), None)
                value = _value_beside(other, span, field, self._kit, self._box) if field is not None else None
                if field is None or value is None:
                    continue
                is_in_row = are_in_row(other, span, self._part, self._text, self._used, name)
                if not is_in_row or is_mixed(other, self._part, self._text, self._used, name):
                    continue
                if not field.is_list:
                    self._many.setdefault(name, [self._inputs[name]]).append(value)
                elif isinstance(held := self._inputs[name], list):
                    held.append(value)
                self._used[span] = name
                break
        counts = [len(values) for values in self._many.values()]
        if counts and min(counts) != max(counts):
            # `A, B and C with x and y`: which belongs to which is not said.
            self._many = {name: values for name, values in self._many.items() if len(values) == max(counts)}
            self._used = {
                span: name
                for span, name in self._used.items()
                if name in self._many or span.value in self._inputs.values()
            }

    def _ordinals(self) -> None:
        """Numbers that are said as a place in a row, before the thing that they are of: `third period`."""
        for field in self._kit.fields:
            if field.kind != "number" or field.name in self._inputs or field.name in self._given:
                continue
            found = ordinal_before(self._part.words, partial(_is_of, field=field))
            # `The first berth` of a tool that lists them need not be the one with the number 1.
            if found is not None and not (found[0] == 1 and is_listed(field, self._box)):
                number, words = found
                self._inputs[field.name] = number
                self._spent.update(words)

    def _phrases(self) -> None:
        open_fields = [
            one
            for one in self._kit.fields
            if one.name not in self._inputs
            and one.name not in self._given
            and (not one.is_list or one.required)
            and one.kind in ("text", "place", "person", "company", "id")
            and not (one.kind == "id" and self._box.prefix_of(one))
        ]
        wanted = [one for one in open_fields if one.required and one.kind != "id"]
        optional = [one for one in open_fields if not one.required and one.kind == "text" and one.name in SEARCHED]
        if not wanted and not (self._inputs.keys() - {"unread_only"}):
            wanted = optional[:1]
            self._fill([] if wanted else about_what(self._kit, self._plain, open_fields, self._text))
        self._fill(pointed(self._plain, [one for one in open_fields if _is_free(one) and one not in wanted]))
        for field in wanted:
            phrase = self._plain.phrase(field)
            if phrase is None or (is_told(field) and not self._plain.is_pointed(phrase, field)):
                # What is to be told is quoted, pointed to, or asked for; a season is no word beside its thing.
                continue
            said = self._plain.value_of(phrase, field)
            self._inputs[field.name] = [said] if field.is_list else said
            self._sure[field.name] = 0.75
            self._spent.update(phrase)
            if not self._plain.is_named(phrase, field) and not self._plain.is_pointed(phrase, field):
                self._uncued.append(field.kind)

    def _fill(self, said: Iterable[tuple[ToolField, Sequence[Word]]]) -> None:
        """Parameters that may be left out, with the plain words that are said for them."""
        for field, phrase in said:
            self._inputs[field.name] = self._plain.value_of(phrase, field)
            self._sure[field.name] = 0.7
            self._spent.update(phrase)


def _says_no_more(kit: Kit, part: ClausePart, used: Collection[Span], sure: float) -> bool:
    """Whether the tool is meant, by a clause in which nothing but these values is said."""
    if not used or not kit.required:
        return False
    # Its verb commands it, and all else that is said is its values: `scale checkout to 6`.
    is_commanded = kit.is_acting and folded(part.verb) in kit.verbs
    # All that is said is what the tool takes: `table for 4 tonight at eight, name's Okafor`.
    return is_commanded or (len(used) > 1 and sure > _UNSURE_VALUE)


def _value_beside(other: Span, span: Span, field: ToolField, kit: Kit, box: Toolbox) -> Json:
    """A value as the parameter takes it besides another one of its kind; None: it takes none."""
    if other.kind != span.kind or (other.value is None) != (span.value is None):
        return None
    return value_of(span, field) if affinity(span, field, kit, box) > 0 else None


def _is_of_twin(word: Word, field: ToolField, kit: Kit, part: ClausePart) -> bool:
    """Whether the word before says that it is for another parameter of the same options: `from savings`."""
    twins = [one for one in kit.fields if one.options == field.options and one.name != field.name]
    before = [folded(one.text) for one in part.before(word.start, 3)]
    wanted = next((CUES[one] for one in reversed(before) if one in WAYS), frozenset[str]())
    own = bool(wanted & {*raw_words(field.name)})
    return not own and any(wanted & {*raw_words(one.name)} for one in twins)


def _is_free(field: ToolField) -> bool:
    """Whether words may fill a parameter that may be left out: it takes no id."""
    return not field.required and field.kind != "id"


_UNSURE_VALUE: Final = 0.5
#: What is counted has seldom so many digits.
_DIGITS_OF_NAMES: Final = 3
#: What a clause means a tool at least for, whose verb it is in and which takes all that it says.
_EXPLAINED: Final = 1.4
#: What the form of a value alone says of a parameter, from where on it is no other's.
_FORMED: Final = 2.6
#: How well a value fits a parameter at least, of whose kind it is by its form.
_FITTING: Final = 0.5
#: Kinds of which several values are easily taken for one another.
#: So far before a value stands what says that it is of another act.
_NEAR: Final = 80
_MIXED: Final[tuple[FieldKind, ...]] = ("text", "person", "place", "id", "path", "day", "number", "language")
#: Kinds that a name may be of.
_NAMED: Final[tuple[FieldKind, ...]] = ("text", "person", "place", "company")
#: Telling words that change nothing of what is to be done.
_IDLE: Final = IDLE | {"stuff", "result", "results", "slot", "slots", "hit"}


def _is_of(word: Word, field: ToolField) -> bool:
    """Whether a word names the thing that a parameter counts."""
    return is_called(word.text, field) or bool(word.concepts & (field.concepts | field.described))


def _becomes(word: Word, text: str, *, is_first: bool) -> tuple[bool, int]:
    """The order of words that may be an option. `is_first`: what a thing is to become, after `to`, comes first."""
    before = text[max(0, word.start - _BEHIND) : word.start]
    return not (is_first and _BECOMES.search(before)), word.start


def _untitled(span: Span) -> Word:
    """The name without the title of somebody: `Dr Osei`."""
    plain = untitled(span.text)
    return Word(plain, span.start, span.end, concepts_of(plain))


def _word(span: Span) -> Word:
    return Word(span.text, span.start, span.end, concepts_of(span.text))


def _longer(held: Json, span: Span, field: ToolField, value: Json) -> list[Json] | None:
    """The list with one more value, or with all of them where they stand in brackets; None where it takes no more."""
    before = held if isinstance(held, list) else []
    if span.kind == "list":
        return value if isinstance(value, list) and not before else None
    return None if before and field.kind != "email" else [*before, value]
