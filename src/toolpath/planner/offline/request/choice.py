"""Choice of the clauses of a request and of the tool that each of them means. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from toolpath.checks.request.concepts import listed_concepts
from toolpath.checks.request.tools import acts_of
from toolpath.checks.request.verbs import is_reading
from toolpath.planner.offline.request.fitting import Fitted, fit
from toolpath.planner.offline.request.links import PALE, feeds
from toolpath.planner.offline.request.parts import ClausePart, part_of
from toolpath.planner.offline.request.spans import Span
from toolpath.planner.offline.request.toolbox import Kit, Listed, Toolbox, ToolField, means
from toolpath.values import JsonObject

#: A clause that names less of a tool does not mean it; a further one costs something, so that none is cut without need.
_MEANT: Final = 1.0
_CLAUSE: Final = 0.7
_NEAR: Final = 0.25
_MOST_CUTS: Final = 7
_MOST_KITS: Final = 8
_CUT: Final = re.compile(
    r"\s*[;.]\s+|\s*,?\s+(?:and\s+then|and\s+also|then|and|und\s+dann|und|et\s+puis|et|puis"
    r"|y\s+luego|y|but|aber|mais|pero)\s+|\s*,\s+",
    re.IGNORECASE,
)
_QUESTION: Final = re.compile(
    r"^\W*(?:what|which|who|whose|when|where|why|how|is|are|was|were|does|did|do|has|have|will"
    r"|any|was|welche\w*|wie|wo|wann|wer|ist|sind"
    r"|wurde|hat|qui|qu['\u2019]est-ce|quel\w*|où|quand|combien|est-ce|qué|cuál\w*|dónde|cuánt\w*|quién)(?:['\u2019]s|['\u2019]re)?\b",
    re.IGNORECASE,
)
EACH: Final = re.compile(
    r"\b(?:every|each(?:\s+of(?:\s+the)?)?|all(?:\s+of)?(?:\s+(?:the|my|our))?|everything|alle"
    r"|allen|jede[nrsm]?|chaque|tou(?:s|tes)(?:\s+les)?|cada|tod[oa]s(?:\s+l[oa]s)?)\b",
    re.IGNORECASE,
)
PICKED: Final = re.compile(
    r"\b(?P<sort>cheapest|nearest|closest|billigste\w*|günstigste\w*|nächste\w*)\b|\b(?:first"
    r"|latest|newest|top|erste\w*|neueste\w*|premier\w*|première|primer\w*)\b",
    re.IGNORECASE,
)


class ToolChoice:
    """Choice of clauses and tools for one request."""

    def __init__(self, text: str, box: Toolbox, spans: Sequence[Span], hidden: str) -> None:
        self._text, self._box, self._spans, self._hidden = text, box, spans, hidden

    def part(self, start: int, end: int) -> ClausePart:
        """The clause between two places."""
        is_question = bool(_QUESTION.match(self._text[start:end]))
        return part_of(self._text, start, end, self._spans, self._box.acts, is_question=is_question)

    def segments(
        self, start: int, end: int, before: Sequence[tuple[Fitted, ClausePart]] = ()
    ) -> list[tuple[Fitted, ClausePart]] | None:
        """The clauses between two places, each with the tool it means: the cuts that explain most of the text."""
        cuts = [one for one in _CUT.finditer(self._hidden, start, end) if one.start() > start and one.end() < end][
            :_MOST_CUTS
        ]
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
        found: list[Fitted] = []
        for kit in self._candidates(part):
            if kit.is_acting and not _may_act(part, kit, is_first=not earlier):
                continue
            given = self._from_loop(kit, part)
            fitted = fit(kit, part, self._box, self._text, given)
            if earlier and fitted.missing:
                linkable = sum(self._may_follow(field, earlier) for field in fitted.missing)
                fitted = msgspec.structs.replace(fitted, score=fitted.score + 0.7 * linkable)
            given = given or (self._is_picked(kit, part, fitted) if not earlier else frozenset())
            if given:
                lister = self.lister(kit, part, fitted, given)
                if lister is None:
                    continue
                fitted = msgspec.structs.replace(
                    fitted,
                    unused=tuple(one for one in fitted.unused if one not in lister[0].taken),
                    unsaid=tuple(one for one in fitted.unsaid if one in lister[0].unsaid),
                    given=given,
                    score=fitted.score + 0.9 * len(fitted.unused) + 0.35 * len(fitted.unsaid),
                )
            found.append(fitted)
        found.sort(key=lambda one: -one.score)
        if earlier and (not found or found[0].meant < _MEANT):
            # `… and D-11 to lost`: what was done before is done again.
            again = fit(
                earlier[-1][0].kit, msgspec.structs.replace(part, verb=earlier[-1][1].verb), self._box, self._text
            )
            if not again.missing and not again.unsaid and again.taken:
                return msgspec.structs.replace(again, score=1.5)
        if not found or found[0].meant < _MEANT:
            return None
        best = found[0]
        rival = found[1].score if len(found) > 1 else -9.0
        if best.score - rival < _NEAR:
            best = msgspec.structs.replace(best, sure=min(best.sure, 0.5))
        return best

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

    def _may_follow(self, field: ToolField, earlier: Sequence[tuple[Fitted, ClausePart]]) -> bool:
        """Whether something said or given before may be the parameter."""
        for fitted, _ in earlier:
            if any(field.name in call for call in fitted.calls):
                return True
            if any(feeds(field, one, fitted.kit) for one in fitted.kit.outputs):
                return True
            if any(feeds(field, one, fitted.kit, of) for of in fitted.kit.lists for one in of.fields):
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
        taken = [
            field.name
            for field in kit.required
            if field.kind in ("id", "path", "text", "number", "place")
            and (field.concepts | field.described) & concepts - PALE
        ]
        return frozenset(taken[:1])

    def _says_more(self, kit: Kit, part: ClausePart, until: int) -> bool:
        """Whether a tool that reads is asked for before the list is named: `the status of each flight`."""
        own = frozenset[str]().union(*kit.named, kit.described)
        words = [word for word in part.words if word.end <= until and not word.is_stop]
        return any(word.concepts & own and not word.concepts & {"show", "list", "find"} for word in words)

    def _is_picked(self, kit: Kit, part: ClausePart, fitted: Fitted) -> frozenset[str]:
        """The missing id of a thing that is picked out of a list: `the cheapest flight from Vienna to Porto`."""
        if PICKED.search(part.text) is None or len(fitted.missing) != 1 or fitted.missing[0].kind != "id":
            return frozenset()
        return frozenset((fitted.missing[0].name,)) if fitted.unused or fitted.unsaid else frozenset()

    def lister(
        self, kit: Kit, part: ClausePart, fitted: Fitted, given: frozenset[str]
    ) -> tuple[Fitted, Listed, ToolField] | None:
        """The tool that lists what a loop goes over, fitted to the same clause; the list; and what an item gives."""
        wanted = next(field for field in kit.fields if field.name in given)
        own = {id(one) for one in fitted.spent}
        rest = msgspec.structs.replace(
            part,
            verb="list",
            is_question=True,
            words=tuple(one for one in part.words if id(one) not in own and one not in fitted.spent),
        )
        best: tuple[float, Fitted, Listed, ToolField] | None = None
        for other in self._box.kits:
            if other.is_acting:
                continue
            for listed in other.lists:
                item = next((one for one in listed.fields if feeds(wanted, one, other, listed)), None)
                if item is None:
                    continue
                read = fit(other, rest, self._box, self._text)
                if read.missing:
                    continue
                inputs = _without(read.calls[0], fitted.calls[0], other)
                score = read.score + read.meant + bool(set(inputs) & {one.name for one in other.required})
                if best is None or score > best[0]:
                    best = (score, msgspec.structs.replace(read, calls=(inputs,)), listed, item)
        return best[1:] if best is not None else None


def _may_act(part: ClausePart, kit: Kit, *, is_first: bool) -> bool:
    """Whether a clause may command the tool: it is no question, nor asks to be told; and a further one has a verb."""
    if part.is_question or (not part.verb and not is_first):
        return False
    return (
        not is_reading(part.verb)
        or bool(listed_concepts(part.verb) & acts_of(kit.tool))
        or means(part.verb, kit)
        or any(listed_concepts(part.verb) & named for named in kit.named)
    )


def _without(inputs: JsonObject, taken: JsonObject, kit: Kit) -> JsonObject:
    """The inputs without those that the call of the loop takes under another name."""
    required = {one.name for one in kit.required}
    return {name: value for name, value in inputs.items() if name in required or value not in taken.values()}
