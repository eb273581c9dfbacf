"""A person's request read into a plan: clauses, the tools they mean, loops, conditions and links. Pure.

What is read fully makes a plan that is sure. What is not becomes a question, or is left to the other rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final

import msgspec

from toolpath.checks.request.blockers import supposes
from toolpath.checks.request.concepts import concepts_of
from toolpath.checks.request.verbs import folded, meanings_of
from toolpath.expressions.names import KEYWORDS, RESERVED
from toolpath.model.plan import Block, Call, Loop, Step
from toolpath.planner.offline.request.affinity import is_called, is_told_short
from toolpath.planner.offline.request.asking import about
from toolpath.planner.offline.request.choice import EACH, FOR_EACH, LEAD, ToolChoice, words_after_each
from toolpath.planner.offline.request.compared import uncompared
from toolpath.planner.offline.request.condition_calls import asked_of, completed, readable
from toolpath.planner.offline.request.conditions import (
    Conditional,
    ConditionReading,
    holds_nothing,
    is_told,
    reading_of,
    speaks_of,
    stretches,
)
from toolpath.planner.offline.request.fitting import Fitted
from toolpath.planner.offline.request.item_flags import flagged
from toolpath.planner.offline.request.links import PALE, calling, concepts_of_path, feeds, gives, is_only_address
from toolpath.planner.offline.request.looped import literals, of_list
from toolpath.planner.offline.request.parts import ClausePart
from toolpath.planner.offline.request.picks import Pick, is_item_of_list, picks_in
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.spans import spans_of
from toolpath.planner.offline.request.toolbox import Kit, Listed, Toolbox, ToolField
from toolpath.values import Json, JsonObject

#: A plan that is read fully, and one whose tool has a near rival.
SURE, UNSURE, ASKING = 0.9, 0.6, 0.3
_BACK: Final = re.compile(
    r"\b(?:it|its|it['\u2019]s|that|this|them|her|him|his|their|there|one|ihn|es|sie|ihm|ihr"
    r"|le|la|lo|los|celui-ci|l['\u2019])\b|-(?:le|la|les|lo)\b|\w+l[oa]s?\b",
    re.IGNORECASE,
)
#: Words for all that a list holds.
_ALL: Final = re.compile(
    r"\b(?:them|these|those|jede[nrms]?\s+davon|alle\s+davon|chacun\w*|cada\s+un[oa])\b", re.IGNORECASE
)
#: Meanings of verbs after which a thing is no more.
_ENDING: Final = meanings_of("cancel") | meanings_of("delete")
#: Kinds of values that are said of a search and of what is done with what it finds: `for 1 to 5 June`.
_OF_ALL: Final = frozenset(("day", "moment", "time", "duration"))
#: Parameters by which one thing is looked for.
_BY_NAME: Final = frozenset(("name", "query", "text", "q", "search", "email", "title", "keyword", "phone"))
#: Where a command has something go that was spoken of before.
_ONTO: Final = re.compile(
    r"\b(?:into|onto|to|on|in)\s+(?:it|that(?:\s+one)?|there)\b(?!\s+\w+ed\b)|\b(?:dorthin|dahin|hinein|darauf|dazu|dedans|dessus|ahí|allí)\b",
    re.IGNORECASE,
)
_PRONOUNS: Final = frozenset(("ihn", "ihm", "ihr", "ihnen", "lui", "leur", "hers", "theirs"))
_RESERVED: Final = RESERVED | KEYWORDS | {"item"}


class RequestReading(msgspec.Struct, frozen=True):
    """What is read of a request."""

    steps: tuple[Step, ...]
    questions: tuple[str, ...]
    confidence: float
    reasons: tuple[str, ...] = ()
    meant: float = 0.0
    """How much of its tool the clause names that names least of it, less what is left unsaid."""
    is_doubted: bool = False
    """Something is asked that other rules would not ask: what a value is that nothing names."""

    @property
    def is_whole(self) -> bool:
        """Nothing is left open."""
        return not self.questions and self.confidence >= UNSURE


def read_request(text: str, box: Toolbox, today: date | None = None) -> RequestReading | None:
    """The plan of a request; None where no tool is meant."""
    if not box.kits or not text.strip():
        return None
    reader = RequestReader(text, box, spans_of(text, today, box.forms))
    return reader.read()


class RequestReader:
    """Reading of one request."""

    def __init__(self, text: str, box: Toolbox, spans: Sequence[Span]) -> None:
        self._text, self._box, self._spans = text, box, spans
        hidden = list(text)
        for span in spans:
            hidden[span.start : span.end] = "#" * (span.end - span.start)
        self._hidden = "".join(hidden)
        self._choice = ToolChoice(text, box, spans, self._hidden)
        self._steps: list[Step] = []
        self._made: list[tuple[str, Kit, JsonObject, tuple[Pick, ...]]] = []
        """Id, tool, inputs of each call outside loops, and how its list is to be picked from."""
        self._questions: list[str] = []
        self._reasons: list[str] = []
        self._is_doubted = False
        self._sure = SURE
        self._meant = 9.0
        self._ids: set[str] = set()
        self._said: list[tuple[Fitted, ClausePart]] = []
        self._when: str | None = None
        """What the steps that are made now depend on."""

    def read(self) -> RequestReading | None:
        """The plan; None where no tool is meant."""
        if not self._stretches():
            return None
        sure = min(self._sure, ASKING) if self._questions else self._sure
        return RequestReading(
            tuple(self._steps),
            tuple(dict.fromkeys(self._questions)),
            sure,
            tuple(self._reasons),
            self._meant,
            self._is_doubted,
        )

    def _stretches(self) -> bool:
        """Read each part of the request; False where no tool is meant."""
        parts = stretches(self._text, self._hidden)
        done = False
        for one in parts:
            if one.condition is not None and self._conditional(one.condition):
                done = True
            elif one.condition is not None:
                # What depends on it is asked about, where it is no command on its own.
                done = self._clauses(one.start, one.end, None) or done
            else:
                done = self._clauses(one.start, one.end, None) or done
        return done

    # Conditions.

    def _conditional(self, found: Conditional) -> bool:
        said = self._text[slice(*found.body)].rstrip()
        body = self._choice.segments(*found.body)
        if said.endswith("?"):
            return False
        # A condition commands nothing, whatever its first word: `if checkout is degraded`.
        asked = msgspec.structs.replace(self._choice.part(*found.condition), verb="", joint="")
        reading = self._known(asked, found) or self._condition(asked, body or (), found)
        before = self._said[-1:] if reading is None or reading.read is None else [(reading.read, asked)]
        if reading is not None and (body is None or any(fitted.missing for fitted, _ in body)):
            # What is done may be told by what it depends on: `If a table is free, book it`.
            body = self._choice.segments(*found.body, before=before) or body
        if body is None:
            return False
        if reading is None:
            self._questions.append(f"How is it known whether {asked.text.strip()!r}?")
            self._emit(body, None)
            return True
        self._reasons.append(f"{reading.step}: {reading.tool} tells whether {asked.text.strip()!r}.")
        body = [(completed(fitted, part, asked, self._box, self._text, reading.read), part) for fitted, part in body]
        if reading.read is not None:
            self._read(reading.read)
        kept = len(self._made)
        self._emit(body, reading.when)
        if found.other is not None:
            # What is only done in the one case gives nothing in the other one.
            self._made[kept:] = [
                (step, _giving_nothing(kit), inputs, pick) for step, kit, inputs, pick in self._made[kept:]
            ]
            rest = self._choice.segments(*found.other, before=[*before, *body]) if reading.other else None
            if rest is None:
                self._questions.append(f"What is meant by {self._text[slice(*found.other)]!r}?")
            else:
                self._emit(rest, reading.other)
        return True

    def _read(self, fitted: Fitted) -> None:
        """Have a step read what a condition speaks of."""
        step = self._name(fitted.kit)
        self._steps.append(Call(id=step, tool=fitted.kit.key, inputs=literals(fitted.calls[0])))
        self._made.append((step, fitted.kit, fitted.calls[0], ()))

    def _condition(
        self, part: ClausePart, body: Sequence[tuple[Fitted, ClausePart]], found: Conditional
    ) -> ConditionReading | None:
        """The condition over a step that reads what it speaks of."""
        best: tuple[float, ConditionReading] | None = None
        inner = tuple(one for fitted, _ in body for one in fitted.taken)
        asked, part = part, uncompared(part)
        own = [one for one in part.spans if one.kind == "id"]
        for offered in self._box.kits:
            kit = readable(offered, asked, body)
            if kit is None:
                continue
            reading = reading_of(kit, asked, self._name(kit, keep=False), is_negated=found.is_negated)
            fitted = None if reading is None else asked_of(kit, part, body, self._box, self._text)
            if reading is None or fitted is None or (own and not any(one in fitted.taken for one in own)):
                continue
            required = {one.name for one in kit.required}
            chosen = {one.name for one in kit.fields if one.options and one.kind != "bool"}
            inputs = {name: value for name, value in fitted.calls[0].items() if name in required | chosen}
            if not is_told(kit, asked, reading, inputs, is_negated=found.is_negated):
                continue
            typed = any(one in fitted.taken for one in (*part.spans, *inner))
            score = fitted.meant + typed + 0.5 * fitted.sure - 0.3 * len(kit.required) + speaks_of(kit, asked, reading)
            if best is None or score > best[0]:
                read = msgspec.structs.replace(fitted, calls=(inputs,))
                best = (score, msgspec.structs.replace(reading, read=read))
        return None if best is None else best[1]

    def _known(self, part: ClausePart, found: Conditional) -> ConditionReading | None:
        """The condition over what was read before: `Look at T-7. If it is closed, …`."""
        if any(one for one in part.spans if one.kind in ("id", "quoted", "email")):
            return None
        for step, kit, inputs, _ in reversed(self._made):
            reading = None if kit.is_acting else reading_of(kit, part, step, is_negated=found.is_negated)
            if reading is not None and is_told(kit, part, reading, inputs, is_negated=found.is_negated):
                return reading
        return None

    # Clauses.

    def _clauses(self, start: int, end: int, when: str | None) -> bool:
        segments = self._choice.segments(start, end)
        if segments is None:
            return False
        self._emit(segments, when)
        return True

    # Loops.

    # Steps.

    def _emit(self, segments: Sequence[tuple[Fitted, ClausePart]], when: str | None) -> None:
        loop: tuple[Loop, tuple[Fitted, Listed, ToolField]] | None = None
        before: tuple[Fitted, ClausePart] | None = None
        self._said += segments
        self._when = when
        for fitted, part in segments:
            given = fitted.given
            earlier, before = before, (fitted, part)
            self._note(fitted, part)
            lister = self._choice.lister(fitted.kit, part, fitted, given) if given else None
            if lister is not None and EACH.search(part.text) is None:
                self._picked_out(fitted, lister, part, when)
                continue
            if lister is not None:
                loop = self._loop(fitted, lister, given, part, when)
                continue
            if loop is not None and _BACK.search(part.text) and fitted.missing:
                loop = self._more_of(loop, fitted)
                continue
            over = _over(fitted, part, earlier) if loop is None and earlier is not None else None
            if over is not None:
                loop = self._loop(fitted, over, frozenset((fitted.missing[0].name,)), part, when)
                continue
            self._calls(fitted, part, when)

    def _note(self, fitted: Fitted, part: ClausePart) -> None:
        said = part.text.strip()
        self._sure = min(self._sure, SURE if fitted.sure >= 0.6 else UNSURE)
        # An id of the tool's own kind says as much as its name.
        is_named = any(one.kind == "id" and self._box.knows_prefix(one.text) for one in fitted.taken)
        left_over = 0.3 * len(fitted.unsaid) + 0.2 * len(fitted.unused)
        self._meant = min(self._meant, fitted.meant + is_named + LEAD * fitted.lead - left_over)
        if fitted.meant < 1.4:
            self._sure = min(self._sure, UNSURE)
        for field, value in _unnamed(fitted, part):
            self._is_doubted = True
            self._questions.append(f"Is {value} meant as {field.name!r} ({_about(field)})?")
        if fitted.sure < 0.3 and fitted.kit.is_acting:
            self._questions.append(f"Which value is which in {said!r}?")
        self._reasons.append(f"{said!r} means {fitted.kit.key}.")
        for span in fitted.unused:
            self._questions.append(f"What is {span.text!r} for? No step takes it.")
        # What a pronoun stands for is linked, or is missing.
        pronouns = _PRONOUNS if self._made else frozenset[str]()
        left = " ".join(word.text for word in fitted.unsaid if folded(word.text) not in pronouns)
        # `Has it been closed yet?` asks for what a tool that only reads tells.
        is_asked = part.is_question and not supposes(part.text)
        is_act = not is_asked and any(word.concepts & self._box.acts for word in fitted.unsaid)
        if left and (fitted.kit.is_acting or is_act):
            self._questions.append(f"What is meant by {left!r}?")
        elif left:
            self._sure = min(self._sure, UNSURE if " " not in left else 0.5)

    def _loop(
        self,
        fitted: Fitted,
        lister: tuple[Fitted, Listed, ToolField],
        given: frozenset[str],
        part: ClausePart,
        when: str | None,
    ) -> tuple[Loop, tuple[Fitted, Listed, ToolField]]:
        read, listed, item = lister
        words = [one for one in words_after_each(part) if one not in fitted.spent]
        test, said = flagged(listed, words, read.calls[0], self._text)
        if test and when is not None:
            self._questions.append(f"What is meant by {' '.join(one.text for one in said)!r}?")
        elif test:
            when = f"{{{{ {test} }}}}"
        step = self._call_of(read.kit, read.calls[0], None)
        inputs: JsonObject = {
            **literals(fitted.calls[0]),
            **{name: "{{ " + ".".join(("item", *item.path)) + " }}" for name in given},
        }
        inputs |= of_list(fitted, inputs, lister)
        self._ask(fitted, inputs, "each")
        call = Call(id=self._name(fitted.kit), tool=fitted.kit.key, inputs=inputs, when=when)
        over = "{{ " + ".".join((step, *listed.path)) + " }}"
        made = Loop(id=self._named("each"), over=over, item="item", body=Block(steps=(call,)))
        self._steps.append(made)
        return made, lister

    def _picked_out(
        self, fitted: Fitted, lister: tuple[Fitted, Listed, ToolField], part: ClausePart, when: str | None
    ) -> None:
        """A list is read, and the call made for the one that the request picks."""
        read, listed, item = lister
        step = self._call_of(read.kit, read.calls[0], None)
        link = self._picked(step, listed, item, picks_in(part.text), read.calls[0])
        inputs = {**literals(fitted.calls[0]), **dict.fromkeys(fitted.given, link)}
        self._ask(fitted, inputs, self._call_of(fitted.kit, fitted.calls[0], when, inputs))

    def _more_of(
        self, loop: tuple[Loop, tuple[Fitted, Listed, ToolField]], fitted: Fitted
    ) -> tuple[Loop, tuple[Fitted, Listed, ToolField]]:
        """A further call for each item: `…, then close it`."""
        made, lister = loop
        inputs = literals(fitted.calls[0])
        inputs |= of_list(fitted, inputs, lister)
        self._ask(fitted, inputs, "each")
        last = made.body.steps[-1].id
        call = Call(id=self._name(fitted.kit), tool=fitted.kit.key, inputs=inputs, depends_on=(last,))
        changed = msgspec.structs.replace(made, body=msgspec.structs.replace(made.body, steps=(*made.body.steps, call)))
        self._steps[self._steps.index(made)] = changed
        return changed, lister

    def _calls(self, fitted: Fitted, part: ClausePart, when: str | None) -> None:
        links = self._links(fitted, part)
        pick = picks_in(part.text)
        for inputs in fitted.calls:
            whole = {**literals(inputs), **links}
            step = self._call_of(fitted.kit, inputs, when, whole)
            self._made[-1] = (*self._made[-1][:3], pick)
            self._ask(fitted, whole, step)

    def _ask(self, fitted: Fitted, inputs: JsonObject, step: str) -> None:
        for field in reversed(fitted.kit.required):
            if field.name not in inputs:
                self._questions.insert(0, f"{step}: what is {field.name!r} ({_about(field)})?")

    def _call_of(self, kit: Kit, inputs: JsonObject, when: str | None, whole: JsonObject | None = None) -> str:
        taken = literals(inputs) if whole is None else whole
        for one in self._steps:
            if isinstance(one, Call) and (one.tool, one.inputs, one.when) == (kit.key, taken, when):
                # Said twice, done once.
                self._made.append((one.id, kit, inputs, ()))
                return one.id
        step = self._name(kit)
        self._steps.append(Call(id=step, tool=kit.key, inputs=taken, when=when))
        self._made.append((step, kit, inputs, ()))
        return step

    def _links(self, fitted: Fitted, part: ClausePart) -> JsonObject:
        """Links for what is missing, from what was said or given before, or from a tool that reads it."""
        found: JsonObject = {}
        for field in (*fitted.missing, *self._pointed(fitted, part)):
            value = self._earlier(field, part) or self._read_first(field, fitted)
            if value is not None:
                found[field.name] = [value] if field.is_list and not isinstance(value, list) else value
        return found

    def _pointed(self, fitted: Fitted, part: ClausePart) -> list[ToolField]:
        """The parameter that may be left out and that a pointer is for: `move R-3 onto it`, of the table just found."""
        if not self._made or fitted.missing or not fitted.kit.is_acting or _ONTO.search(part.text) is None:
            return []
        _, kit, _, _ = self._made[-1]
        things = [(of, concepts_of_path(of)) for of in kit.lists]
        found = [
            field
            for field in fitted.kit.fields
            if not field.required
            and all(field.name not in call for call in fitted.calls)
            and field.concepts & frozenset[str]().union(*(named for _, named in things)) - PALE
            and any(gives(field, one, kit, of) for of, _ in things for one in of.fields)
        ]
        return found if len(found) == 1 else []

    def _earlier(self, field: ToolField, part: ClausePart) -> Json:
        for step, kit, inputs, pick in reversed(self._made):
            if _ends(kit) and not _BACK.search(part.text):
                # `Cancel SH-4 and schedule a pickup`: hardly of what is cancelled.
                self._is_doubted = self._is_doubted or field.name in inputs
                continue
            is_empty = self._when is not None and holds_nothing(self._when, step)
            is_held = bool(kit.lists) and not kit.is_acting and is_item_of_list(part.text)
            for one in () if is_empty else kit.outputs:
                if (
                    (feeds(field, one, kit) or is_only_address(field, one, kit))
                    and field.name not in inputs
                    and not is_held
                ):
                    return "{{ " + ".".join((step, *one.path)) + " }}"
            for listed in () if is_empty else kit.lists:
                given = next((each for each in listed.fields if feeds(field, each, kit, listed)), None)
                if given is not None:
                    return self._picked(step, listed, given, (*pick, *picks_in(part.text)), inputs)
            spoken = [of for of in kit.lists if is_held and (pick or picks_in(part.text)) and not is_empty]
            for listed in spoken:
                if (called := calling(field, listed)) is not None:
                    return self._picked(step, listed, called, (*pick, *picks_in(part.text)), inputs)
            if is_held and field.kind not in _OF_ALL:
                # `Get the snapshots of srv-3 and delete the first one`: not srv-3 itself.
                continue
            if field.name in inputs:
                return literals({"value": inputs[field.name]})["value"]
            same = [
                one
                for one in kit.fields
                if one.kind == field.kind == "id" and one.name in inputs and one.described & field.described - PALE
            ]
            if same:
                return literals({"value": inputs[same[0].name]})["value"]
        return None

    def _picked(self, step: str, listed: Listed, field: ToolField, pick: Sequence[Pick], inputs: JsonObject) -> str:
        at = ".".join((step, *listed.path))
        path = ".".join(field.path)
        if not pick and len([one for one in inputs.values() if isinstance(one, str)]) == 0:
            self._questions.append(f"Which one of {at}?")
        by = next((one for one in pick if one.by), None)
        if by is None or self._sorted_by(step, by):
            return "{{ " + f"{at}[0].{path}" + " }}"
        chosen = by.chosen(at, listed, path)
        if chosen is None:
            self._questions.append(f"Which one of {at} is the {by.text}?")
        return chosen or "{{ " + f"{at}[0].{path}" + " }}"

    def _sorted_by(self, step: str, pick: Pick) -> bool:
        """Have the list in that order where its tool offers it, the least first; False: it does not."""
        for at, one in enumerate(self._steps):
            if isinstance(one, Call) and one.id == step and not pick.is_greatest:
                kit = next(kit for kit in self._box.kits if kit.key == one.tool)
                found = ((field, by) for by in pick.by for field in kit.fields if by in field.options)
                field, by = next(found, (None, ""))
                if field is None or one.inputs.get(field.name, by) != by:
                    return False
                self._steps[at] = msgspec.structs.replace(one, inputs={**one.inputs, field.name: by})
                return True
        return False

    def _read_first(self, field: ToolField, fitted: Fitted) -> Json:
        """A link to what a tool that only reads gives of what the clause names: `the customer of T-70`."""
        if fitted.source is None or fitted.source[0] != field:
            return None
        _, kit, inputs, own = fitted.source
        return "{{ " + ".".join((self._call_of(kit, inputs, None), *own.path)) + " }}"

    def _name(self, kit: Kit, *, keep: bool = True) -> str:
        return self._named(re.sub(r"\W", "_", kit.tool.name)[:60] or "step", keep=keep)

    def _named(self, base: str, *, keep: bool = True) -> str:
        base = base if base[0].isalpha() else f"_{base}"
        name, number = base, 1
        while name in self._ids or name in _RESERVED:
            number += 1
            name = f"{base}_{number}"
        if keep:
            self._ids.add(name)
        return name


def _over(
    fitted: Fitted, part: ClausePart, before: tuple[Fitted, ClausePart]
) -> tuple[Fitted, Listed, ToolField] | None:
    """The list of the clause before that a clause goes over: `list the open orders and ship each of them`."""
    read, said = before
    is_of_all = EACH.search(part.text) or FOR_EACH.match(said.text)
    # `Find Baker & Sons and bill them`: what is looked for by its name is one.
    is_of_all = is_of_all or (None if _is_of_one(read) else _ALL.search(part.text))
    if read.kit.is_acting or len(read.calls) != 1 or not fitted.missing or not is_of_all or picks_in(said.text):
        return None
    for listed in read.kit.lists:
        item = next((one for one in listed.fields if gives(fitted.missing[0], one, read.kit, listed)), None)
        if item is not None:
            return read, listed, item
    return None


def _is_of_one(read: Fitted) -> bool:
    """Whether a list is asked for what goes by a name, an address or a quoted text: one thing, if any."""
    named = [one for one in read.kit.fields if one.name in read.calls[0] and one.name in _BY_NAME]
    return bool(named)


def _giving_nothing(kit: Kit) -> Kit:
    """The tool as one of which nothing is known to come."""
    return msgspec.structs.replace(kit, outputs=(), lists=()) if kit.is_acting else kit


def _ends(kit: Kit) -> bool:
    """Whether nothing is left of what the tool is called with."""
    return kit.is_acting and any(meanings_of(verb) & _ENDING for verb in kit.verbs)


def _unnamed(fitted: Fitted, part: ClausePart) -> Iterator[tuple[ToolField, Json]]:
    """Numbers that a tool would write, of which the clause does not say what they are: `Change EMP-6 to 52000`."""
    kit = fitted.kit
    bare = {one.text: one.value for one in fitted.taken if one.kind == "number" and not _is_counted(one, part, fitted)}
    if not kit.is_acting or not bare or all(one.kind != "id" for one in fitted.taken):
        return
    others = frozenset[str]().union(*(one.concepts for one in kit.fields if one.kind == "id"))
    words = [word for word in part.words if not word.is_stop and word.text != part.verb]
    said = frozenset[str]().union(*(word.concepts for word in words)) if words else frozenset()
    for field in kit.fields:
        value = next((call[field.name] for call in fitted.calls if field.name in call), None)
        known = frozenset[str]().union(*kit.named, kit.described, field.concepts, field.described) - others
        # `D-22 costs 18.50`: what is done says what the number is.
        is_done = bool(part.verb) and bool(concepts_of(part.verb) & field.concepts)
        if field.kind in ("number", "money") and value in bare.values() and not said & known and not is_done:
            yield field, value


#: Behind a number of things: `4 of SKU-1`, `3 each`.
_OF_THEM: Final = re.compile(r"\s+(?:of|each|x|von|je|de|d['\u2019])(?!\w)", re.IGNORECASE)


def _is_counted(span: Span, part: ClausePart, fitted: Fitted) -> bool:
    """Whether a number says by what stands beside it how much of what is meant: `20 kg`, `4 of`, `pulse 80`."""
    is_measured = bool(span.unit) and span.unit != "#"
    after = next((word for word in part.words if word.start >= span.end), None)
    if (
        after is not None
        and after in fitted.spent
        and part.text[span.end - part.start : after.start - part.start] == " "
    ):
        # `6 colas`
        return True
    before = next((word for word in reversed(part.words) if word.end <= span.start), None)
    if before is not None and any(
        is_called(before.text, one) or is_told_short(before.text, one) for one in fitted.kit.fields
    ):
        return True
    return is_measured or _OF_THEM.match(part.text, span.end - part.start) is not None


def _about(field: ToolField) -> str:
    """A parameter as a question tells it, with the values that it may take."""
    return about(field.description or field.kind, field.options)
