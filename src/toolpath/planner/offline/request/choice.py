"""Choice of the clauses of a request and of the tool that each of them means. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.concepts import concepts_of, listed_concepts
from toolpath.checks.request.only_read import only_reads
from toolpath.checks.request.statements import is_statement
from toolpath.checks.request.tools import acts_of
from toolpath.checks.request.verbs import folded, is_reading
from toolpath.planner.offline.request.fitting import Fitted, fit
from toolpath.planner.offline.request.item_flags import flagged
from toolpath.planner.offline.request.links import (
    PALE,
    calling,
    concepts_of_path,
    feeds,
    gives,
    is_listed,
    is_only_address,
)
from toolpath.planner.offline.request.parts import ClausePart, Word, part_of
from toolpath.planner.offline.request.picks import is_item_of_list, is_of_items, picks_in
from toolpath.planner.offline.request.rows import is_within_range
from toolpath.planner.offline.request.sources import NEAR, with_source
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import Kit, Listed, Toolbox, ToolField, means
from toolpath.values import JsonObject

#: A clause that names less of a tool does not mean it; a further one costs something, so that none is cut without need.
_MEANT: Final = 1.0
_CLAUSE: Final = 0.7
#: What it counts that no other tool comes near.
LEAD: Final = 0.5
_MOST_CUTS: Final = 7
_MOST_KITS: Final = 8
#: One of what was spoken of before.
_ONE_OF: Final = re.compile(r"\bthe\s+[^\W\d_]+\s+(?:one|of\s+(?:them|those|these))\b|\bdavon\b", re.IGNORECASE)
#: What a pronoun says of a tool that is for what it stands for.
_POINTED: Final = 0.8
_POINTS: Final = re.compile(
    r"\b(?:it|them|him|her|ihn|ihm|ihnen|sie|es|lui|leur)\b|-(?:le|la|les|lui|leur)\b|\b[^\W\d_]{3,}(?:l[aeo]s?|rl[aeo]s?)\b",
    re.IGNORECASE,
)
#: Words between a pick and where its thing lies: `the first file in /queue`.
_NOUN: Final = 4
_CUT: Final = re.compile(
    r"\s*[;.?!]\s+|\s*,?\s+(?:and\s+then|and\s+also|then|and|und\s+dann|und|et\s+puis|et|puis"
    r"|y\s+luego|y|but|aber|mais|pero)\s+|\s*,\s+",
    re.IGNORECASE,
)
_QUESTION: Final = re.compile(
    r"^\W*(?:what|which|who|whose|when|where|why|how|is|are|was|were|does|did|do|has|have|will"
    r"|any|was|welche\w*|wie|wo|wann|wer|ist|sind"
    r"|wurde|hat|qui|qu['\u2019]est-ce|quel\w*|où|quand|combien|est-ce|qué|cuál\w*|dónde|cuánt\w*"
    r"|quién)(?:['\u2019]s|['\u2019]re)?\b",
    re.IGNORECASE,
)
#: Asked in the middle: `On a fait combien de tonnes ?`
_HOW_MANY: Final = re.compile(
    r"\b(?:combien|how\s+(?:many|much)|wie\s*viele?|cu[aá]nt[oa]s?)\b[^?]*\?\W*$", re.IGNORECASE
)
_ENDS_ASKING: Final = re.compile(r"\?\W*$")
#: How a command is asked for.
_WISHED: Final = re.compile(
    r"\W*(?:can|could|would|will|may|kann|kannst|könn\w*|würde\w*|peux|pouvez|pourr\w*|puede\w*|podr\w*)\b",
    re.IGNORECASE,
)
EACH: Final = re.compile(
    r"\b(?:every(?:one|body)?|each(?:\s+of(?:\s+the)?)?|all(?:\s+of)?(?:\s+(?:the|my|our))?|everything|alle"
    r"|allen|jede[nrsm]?|chaque|tou(?:s|tes)(?:\s+les)?|cada|tod[oa]s(?:\s+l[oa]s)?)\b",
    re.IGNORECASE,
)
_EVERYONE: Final = frozenset(("everyone", "everybody"))
#: Concepts of those that somebody may be to whoever keeps a list of them.
_PEOPLE_WORDS: Final = "employee customer member guest patient user tenant pupil student candidate contact driver"
_PEOPLE: Final = frozenset().union(*map(listed_concepts, _PEOPLE_WORDS.split()))
FOR_EACH: Final = re.compile(
    r"\W*(?:for|für|pour|para|por)\s+(?:each|every|all|jede[nrms]?|alle|chaque|tou(?:s|tes)|cada|tod[oa]s)\b",
    re.IGNORECASE,
)
_AND: Final = re.compile(r"\s*(?:,|,?\s*(?:and|or|und|oder|et|ou|y|o)\b)\s*", re.IGNORECASE)
#: Before what a list is narrowed to: `each task of Jonas`.
_WHERE: Final = re.compile(
    r"\s+(?:of|from|in|at|by|with|on|under|for|von|aus|vom|im|am|für|bei|de|du|des|del|en|dans|chez|pour|para)\s+"
    r"(?:the\s+|der\s+|dem\s+|den\s+|l[aeo]s?\s+|el\s+)?(?:[^\W\d_]+\s+)?",
    re.I,
)


class ToolChoice:
    """Choice of clauses and tools for one request."""

    def __init__(self, text: str, box: Toolbox, spans: Sequence[Span], hidden: str) -> None:
        self._text, self._box, self._spans, self._hidden = text, box, spans, hidden

    def part(self, start: int, end: int) -> ClausePart:
        """The clause between two places."""
        said, box = self._text[start:end], self._box
        is_question = bool(_QUESTION.match(said) or _HOW_MANY.search(said))
        part = part_of(self._text, start, end, self._spans, box.acts, is_question=is_question, verbs=box.verbs)
        if not is_question and not part.verb and _ENDS_ASKING.search(said) and not _WISHED.match(said):
            # `Läuft die Bewässerung?`
            return msgspec.structs.replace(part, is_question=True)
        return part

    def segments(
        self, start: int, end: int, before: Sequence[tuple[Fitted, ClausePart]] = ()
    ) -> list[tuple[Fitted, ClausePart]] | None:
        """The clauses between two places, each with the tool it means: the cuts that explain most of the text."""
        cuts = [
            one
            for one in _CUT.finditer(self._hidden, start, end)
            if one.start() > start and one.end() < end and not is_within_range(*one.span(), self._spans, self._text)
        ][:_MOST_CUTS]
        starts, ends = [start, *(cut.end() for cut in cuts)], [*(cut.start() for cut in cuts), end]
        count = len(starts)
        best: list[tuple[float, list[tuple[Fitted, ClausePart]]] | None] = [(0.0, []), *([None] * count)]
        for last in range(1, count + 1):
            for first in range(last):
                sofar = best[first]
                if sofar is None:
                    continue
                part = self.part(starts[first], ends[last - 1])
                earlier = [*before, *sofar[1]]
                found = self._best(part, earlier, is_whole=first == 0 and last == count)
                if found is None:
                    continue
                score = sofar[0] + found.score - _CLAUSE
                current = best[last]
                if current is None or score > current[0]:
                    best[last] = (score, [*sofar[1], (found, part)])
        done = best[count]
        return done[1] if done is not None and done[1] else None

    def _best(self, part: ClausePart, earlier: Sequence[tuple[Fitted, ClausePart]], *, is_whole: bool) -> Fitted | None:
        if not part.words and not part.spans:
            return None
        if not part.spans and not is_whole and all(one.is_stop or is_reading(one.text) for one in part.words):
            # `Show me, …`: what is to be shown comes after it.
            return None
        found: list[Fitted] = []
        for kit in self._candidates(part):
            if kit.is_acting and not _may_act(part, kit, is_first=not earlier):
                continue
            fitted = self._fitted(kit, part, earlier)
            if fitted is not None:
                found.append(fitted)
        found.sort(key=lambda one: -one.score)
        is_open = not found or found[0].meant < _MEANT or (not part.verb and found[0].unsaid)
        if earlier and is_open:
            # `… and D-11 to lost`: what was done before is done again.
            again = fit(
                earlier[-1][0].kit, msgspec.structs.replace(part, verb=earlier[-1][1].verb), self._box, self._text
            )
            if not again.missing and not again.unsaid and (again.taken or again.spent):
                # What it leaves unsaid the clause before has said.
                return msgspec.structs.replace(again, score=1.5, meant=max(again.meant, earlier[-1][0].meant))
        if not found:
            return None
        best = found[0]
        rival = found[1].score if len(found) > 1 else -9.0
        # What is the only tool is the nearest for want of another.
        lead = min(1.0, best.score - rival) if len(self._box.kits) > 1 else -1.5
        if best.meant + LEAD * max(0.0, lead) < _MEANT:
            return None
        is_near = len(self._box.kits) > 1 and lead < NEAR
        return msgspec.structs.replace(best, lead=lead, sure=min(best.sure, 0.5) if is_near else best.sure)

    def _fitted(self, kit: Kit, part: ClausePart, earlier: Sequence[tuple[Fitted, ClausePart]]) -> Fitted | None:
        """The tool fitted to a clause, for each item of a list or for one of it where the clause says so."""
        given = self._from_loop(kit, part)
        own = _narrowed(part, kit, given, self._text)
        fitted = fit(kit, own, self._box, self._text, given)
        if fitted.missing and len(own.spans) < len(part.spans):
            # `Comment on each issue in acme/web`: it is where both look.
            own = msgspec.structs.replace(own, spans=part.spans)
            fitted = fit(kit, own, self._box, self._text, given)
        if earlier and fitted.missing:
            is_of_list = is_item_of_list(part.text)
            linkable = sum(self._may_follow(field, earlier, is_of_list=is_of_list) for field in fitted.missing)
            said = _POINTED * bool(linkable and self._is_pointed_to(kit, part, earlier))
            fitted = msgspec.structs.replace(
                fitted, score=fitted.score + 0.7 * linkable + said, meant=fitted.meant + said
            )
        if not given and not earlier:
            given = self._addressed(kit, part, fitted) or self._is_picked(kit, part, fitted)
            own = _narrowed(part, kit, given, self._text)
            fitted = fit(kit, own, self._box, self._text, given) if given else fitted
        if not earlier and not kit.lists and _ONE_OF.search(part.text) is not None:
            # `…, and then the logs of the first one`: of what is listed before.
            fitted = msgspec.structs.replace(fitted, score=fitted.score - 2 * _CLAUSE)
        if not given and kit.lists and not part.verb and FOR_EACH.match(part.text):
            # `For each stale sack, …`: what follows is done with all of them.
            return msgspec.structs.replace(fitted, score=fitted.score + _CLAUSE)
        if not given:
            return with_source(fitted, part, self._box, self._text)
        lister = self.lister(kit, part, fitted, given)
        if lister is None:
            return None
        score = fitted.score + 0.9 * len(fitted.unused) + 0.35 * len(fitted.unsaid)
        # `Delete all snapshots of srv-8` deletes no srv-8: what the list is narrowed to is said as well as an argument.
        score += 0.5 * sum(one not in fitted.taken for one in lister[0].taken)
        fitted = msgspec.structs.replace(fitted, given=given, score=score)
        return _left_by(fitted, lister, own, part, self._text)

    def _candidates(self, part: ClausePart) -> Sequence[Kit]:
        kits = self._box.kits
        if len(kits) <= 2 * _MOST_KITS:
            return kits
        said = frozenset[str]().union(*(word.concepts for word in part.words)) if part.words else frozenset()
        starts = {one.text.casefold() for one in part.spans if one.kind == "id"}

        def rough(kit: Kit) -> float:
            named = sum(self._box.weight(one) for one in kit.named if one & said)
            ids = sum(
                bool(prefix) and any(one.startswith(prefix.casefold()) for one in starts)
                for field in kit.fields
                if (prefix := self._box.prefix_of(field))
            )
            return named + 0.3 * len(kit.described & said) + 0.5 * ids

        return sorted(kits, key=lambda kit: -rough(kit))[:_MOST_KITS]

    def _is_pointed_to(self, kit: Kit, part: ClausePart, earlier: Sequence[tuple[Fitted, ClausePart]]) -> bool:
        """Whether a pronoun stands for what the tool is for: `move P-4 into it`, of the bed just found."""
        if not kit.is_acting or _POINTS.search(part.text) is None:
            return False
        before = earlier[-1][0].kit
        listed = frozenset[str]().union(*map(concepts_of_path, before.lists))
        things = (listed or frozenset[str]().union(*before.named[1:])) - PALE
        said = frozenset[str]().union(*(word.concepts for word in part.words))
        own = {concept for named in kit.named for concept in named} - said
        wanted = frozenset[str]().union(*(one.concepts | one.described for one in kit.required))
        return bool(own & things) or bool(wanted & things - said)

    def _may_follow(
        self, field: ToolField, earlier: Sequence[tuple[Fitted, ClausePart]], *, is_of_list: bool = False
    ) -> bool:
        """Whether something said or given before may be the parameter. `is_of_list`: it has to be an item of a list."""
        for fitted, _ in earlier:
            is_held = is_of_list and bool(fitted.kit.lists) and not fitted.kit.is_acting
            if not is_held and any(field.name in call for call in fitted.calls):
                return True
            if not is_held and any(
                feeds(field, one, fitted.kit) or is_only_address(field, one, fitted.kit) for one in fitted.kit.outputs
            ):
                return True
            if any(feeds(field, one, fitted.kit, of) for of in fitted.kit.lists for one in of.fields):
                return True
            if is_held and any(calling(field, of) is not None for of in fitted.kit.lists):
                return True
        return False

    def _from_loop(self, kit: Kit, part: ClausePart) -> frozenset[str]:
        """The parameter that each item of a list is: `every event` of a tool that takes an event's id."""
        found = EACH.search(part.text)
        if found is None:
            return frozenset()
        after = [word for word in part.words if word.start >= part.start + found.start() and not word.is_stop][:4]
        concepts = frozenset[str]().union(*(word.concepts for word in after)) if after else frozenset()
        if not kit.is_acting and not self._says_more(kit, part, part.start + found.start()):
            return frozenset()
        if found[0].casefold() == "everything":
            if not kit.is_acting:
                return frozenset()
            concepts |= {"product", "event", "device"}
        if found[0].casefold() in _EVERYONE:
            concepts |= _PEOPLE
        wanted = [field for field in kit.required if field.kind in ("id", "path", "text", "number", "place")]
        taken = [field.name for field in wanted if (field.concepts | field.described) & concepts - PALE]
        if not taken and kit.is_acting:
            # `Publish all drafts`, `every no-show`: what a list is of, or may be narrowed to, stands for its items.
            taken = [field.name for field in wanted if any(self._are_called(field, word) for word in after[:2])]
        return frozenset(taken[:1])

    def _are_called(self, field: ToolField, word: Word) -> bool:
        """Whether a word stands for the items of a list that give the parameter: its name, or an option of it."""
        said = word.concepts - PALE
        if field.kind == "text":
            # `all the ingredients of R-40`, `every run` of what lists runs and goes by their slopes
            lists = [(kit, of) for kit in self._box.kits if not kit.is_acting for of in kit.lists]
            return any(
                (calling(field, of) is not None and bool(concepts_of_path(of) & said))
                or (any(one.name == field.name for one in of.fields) and _opens_with(kit, word))
                for kit, of in lists
            )
        if field.kind not in ("id", "number") or (field.kind == "number" and not field.is_name):
            return False
        for kit in self._box.kits:
            if kit.is_acting or not any(gives(field, one, kit, of) for of in kit.lists for one in of.fields):
                continue
            options = [str(option) for one in kit.fields for option in one.options if isinstance(option, str)]
            stems = {stem(folded(one.replace("_", " "))) for one in options}
            if any(concepts_of_path(of) & said for of in kit.lists) or stem(folded(word.text)) in stems:
                return True
        return False

    def _says_more(self, kit: Kit, part: ClausePart, until: int) -> bool:
        """Whether a tool that reads is asked for before the list is named: `the status of each flight`."""
        own = frozenset[str]().union(*kit.named, kit.described)
        words = [word for word in part.words if word.end <= until and not word.is_stop]
        return any(word.concepts & own and not word.concepts & {"show", "list", "find"} for word in words)

    def _addressed(self, kit: Kit, part: ClausePart, fitted: Fitted) -> frozenset[str]:
        """A parameter that each item of a list gives: the address of `every customer`, the owner of `each car`."""
        found = EACH.search(part.text)
        if found is None:
            return frozenset()
        if not fitted.missing and kit.is_acting and len(fitted.calls) == 1:
            # `Mail everyone in the Lisbon office "…"`: Lisbon is no address.
            taken = [one for one in kit.required if one.kind == "email" and "@" not in str(fitted.calls[0][one.name])]
            return frozenset(one.name for one in taken[:1])
        if len(fitted.missing) != 1:
            return frozenset()
        field = fitted.missing[0]
        is_address = kit.is_acting and field.kind in ("email", "phone")
        # `the customer of each invoice`
        is_of_item = field.kind == "id" and self._says_more(kit, part, part.start + found.start())
        return frozenset((field.name,)) if is_address or is_of_item else frozenset()

    def _is_picked(self, kit: Kit, part: ClausePart, fitted: Fitted) -> frozenset[str]:
        """The id of a thing that is picked out of a list: `the cheapest flight from Vienna to Porto`.

        It is missing, or what was taken for it stands behind the pick: `the first file in /queue`.
        """
        pick = next((one for one in picks_in(part.text) if is_of_items(part.text, one)), None)
        if pick is None or len(fitted.missing) > 1:
            return frozenset()
        if fitted.missing:
            is_more = fitted.missing[0].kind in ("id", "number", "path", "email")
            is_more = is_more and bool(fitted.unused or fitted.unsaid or pick.by)
            return frozenset((fitted.missing[0].name,)) if is_more else frozenset()
        if not kit.is_acting or len(fitted.calls) != 1:
            return frozenset()
        behind = part.text[pick.end :]
        listed = [
            field.name
            for field in kit.required
            if str(fitted.calls[0].get(field.name, "")) in part.text[pick.start :]
            and is_listed(field, self._box)
            and _is_behind(str(fitted.calls[0][field.name]), pick.text, behind, field)
        ]
        return frozenset(listed[:1])

    def lister(
        self, kit: Kit, part: ClausePart, fitted: Fitted, given: frozenset[str]
    ) -> tuple[Fitted, Listed, ToolField] | None:
        """The tool that lists what a loop goes over, fitted to the same clause; the list; and what an item gives."""
        wanted = next(field for field in kit.fields if field.name in given)
        # `Discharge every patient` lists none that are discharged.
        own = [one for one in part.words if one in fitted.spent or (one.text == part.verb and kit.is_acting)]
        rest = msgspec.structs.replace(
            part,
            verb="list",
            is_question=True,
            words=tuple(one for one in part.words if one not in own),
        )
        best: tuple[float, Fitted, Listed, ToolField] | None = None
        for other in self._box.kits:
            if other.is_acting:
                continue
            for listed in other.lists:
                item = next((one for one in listed.fields if gives(wanted, one, other, listed)), None)
                if item is None and concepts_of_path(listed) & _concepts_after_each(part):
                    item = calling(wanted, listed)
                if item is None:
                    continue
                # `Copy each file from /a to /b`: what the call took is not where the list is, if something else is.
                free = tuple(one for one in part.spans if one not in fitted.taken)
                read = fit(other, msgspec.structs.replace(rest, spans=free), self._box, self._text)
                read = fit(other, rest, self._box, self._text) if read.missing else read
                if any(_are_joined(one, another, self._text) for one in read.taken for another in fitted.taken):
                    # `every issue in acme/web and acme/api`: of two lists.
                    continue
                is_of_it = bool(wanted.concepts & _concepts_after_each(part) - PALE)
                if read.missing or len(read.calls) > 1 or (not is_of_it and not _is_meant(read, listed, part)):
                    continue
                inputs = _without(read.calls[0], fitted.calls[0], other) | _narrowing(fitted, other)
                score = read.score + read.meant + bool(set(inputs) & {one.name for one in other.required})
                if best is None or score > best[0]:
                    best = (score, msgspec.structs.replace(read, calls=(inputs,)), listed, item)
        return best[1:] if best is not None else None


def _may_act(part: ClausePart, kit: Kit, *, is_first: bool) -> bool:
    """Whether a clause may command the tool: it is no question, nor asks to be told; and a further one has a verb."""
    if part.is_question or (not part.verb and (not is_first or _names(part.text))):
        return False
    if part.joint.startswith("to-"):
        return True
    return not only_reads(part.text, part.verb, kit.tool) and (
        not is_reading(part.verb)
        or bool(listed_concepts(part.verb) & acts_of(kit.tool))
        or means(part.verb, kit)
        or any(listed_concepts(part.verb) & named for named in kit.named)
    )


def _opens_with(kit: Kit, word: Word) -> bool:
    """Whether a tool's description begins with what it lists: `Ski runs, by difficulty`."""
    return stem(folded(word.text)) in {stem(folded(one)) for one in raw_words(kit.tool.description)[:_OPENING]}


#: Words of a description that say what a tool lists.
_OPENING: Final = 4
#: `Den Stundenplan der 9c`: what is named with its article is to be seen.
_NAMED: Final = re.compile(
    r"\W*(?:(?:bitte|please|and|und|et|y)\s+)*(?:the|den|die|das|le|la|les|el|los|las|my|our|mein\w*|unser\w*|mes"
    r"|mis)\s+[^\W\d_]",
    re.I,
)


def _names(text: str) -> bool:
    return _NAMED.match(text) is not None and not is_statement(text)


def _without(inputs: JsonObject, taken: JsonObject, kit: Kit) -> JsonObject:
    """The inputs without those that the call of the loop takes under another name."""
    required = {one.name for one in kit.required}
    return {name: value for name, value in inputs.items() if name in required or value not in taken.values()}


def _narrowing(fitted: Fitted, lister: Kit) -> JsonObject:
    """Parameters that narrow the call of a loop by a word, and its list with it: `every deployment in staging`."""
    words = {word.text for word in fitted.spent}
    alike = {field.name for field in lister.fields if field.kind in ("text", "place")}
    return {name: value for name, value in fitted.calls[0].items() if name in alike and value in words}


def _are_joined(one: Span, other: Span, text: str) -> bool:
    """Whether two values are said as two of a kind: `acme/web and acme/api`."""
    first, last = sorted((one, other), key=lambda span: span.start)
    return one.kind == other.kind and _AND.fullmatch(text[first.end : last.start]) is not None


def _narrowed(part: ClausePart, kit: Kit, given: frozenset[str], text: str) -> ClausePart:
    """The clause without what narrows the list that its call goes over: `late tasks of Jonas` says `tasks`."""
    found = EACH.search(part.text) if given else None
    if found is None:
        return part
    start = part.start + found.end()
    concepts = frozenset[str]().union(*(one.concepts | one.described for one in kit.fields if one.name in given)) - PALE
    noun = next((one for one in part.words if one.start >= start and one.concepts & concepts), None)
    if noun is None:
        # `all guests of M-3` of a tool that takes their addresses
        after = [one for one in part.words if one.start >= start and not one.is_stop]
        noun = next(
            (one for one in after if any(_WHERE.fullmatch(text[one.end : it.start]) for it in part.spans)), None
        )
    if noun is None:
        return part
    return msgspec.structs.replace(
        part,
        words=tuple(one for one in part.words if not start <= one.start < noun.start),
        spans=tuple(
            one for one in part.spans if one.start < noun.end or not _WHERE.fullmatch(text[noun.end : one.start])
        ),
    )


def _concepts_after_each(part: ClausePart) -> frozenset[str]:
    """Concepts of the words after `each`."""
    words = words_after_each(part) if EACH.search(part.text) is not None else part.words
    return frozenset[str]().union(*(one.concepts for one in words))


def words_after_each(part: ClausePart) -> list[Word]:
    """The words behind `each`."""
    found = EACH.search(part.text)
    return [one for one in part.words if found is not None and one.start >= part.start + found.end()]


def _left_by(
    fitted: Fitted, lister: tuple[Fitted, Listed, ToolField], own: ClausePart, part: ClausePart, text: str
) -> Fitted:
    """A call for what a list holds, with what of the clause neither it nor the list explains."""
    read, listed, item = lister
    is_open = {*fitted.unused} | {one for one in part.spans if one not in own.spans}
    heard = {*own.words} - {*fitted.unsaid}
    held = frozenset[str]().union(*read.kit.named, read.kit.described, concepts_of_path(listed))
    others = frozenset[str]().union(*(one.concepts for one in listed.fields if one.kind in ("id", "email", "person")))
    # The manager of each is another one than whose address the item gives.
    behind = [one for one in words_after_each(part) if one not in fitted.spent]
    flags = flagged(listed, behind, read.calls[0], text)[1]
    others -= held | item.concepts | concepts_of_path(item) | PALE
    return msgspec.structs.replace(
        fitted,
        unused=tuple(one for one in part.spans if one in is_open and one not in read.taken),
        unsaid=tuple(
            one
            for one in part.words
            if one not in heard
            and folded(one.text) not in _EVERYONE
            and one not in flags
            and (one in read.unsaid or (item.kind == "email" and one.concepts & others))
        ),
    )


def _is_behind(value: str, pick: str, behind: str, field: ToolField) -> bool:
    """Whether a value is of the noun that the pick stands at: a word right behind it, or where that thing lies."""
    start = behind.find(value)
    if value.casefold().startswith(pick):
        return True
    between = behind[:start].split() if start >= 0 else ["", "", "", ""]
    if not between:
        return True
    return len(between) < _NOUN and bool(concepts_of(between[0]) & (field.concepts | field.described))


def _is_meant(read: Fitted, listed: Listed, part: ClausePart) -> bool:
    """Whether a clause speaks of the list: by its name, or by what it is narrowed to."""
    said = frozenset[str]().union(*(word.concepts for word in part.words))
    return bool(read.calls[0]) or bool(concepts_of_path(listed) & said)
