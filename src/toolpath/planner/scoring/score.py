"""Scores plans against gold: tools, arguments, links, whole plans, refusals, how true the confidence is. Pure.

An argument is right when it equals one of its accepted values; text is compared without case, blanks and punctuation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import msgspec

from toolpath.values import Json, JsonObject

_Item = TypeVar("_Item", bound=Hashable)
_PUNCTUATION = re.compile(r"[\s,./\-_*^'\"()]+")
_REFERENCE = re.compile(r"\{\{\s*([^}]*?)\s*\}\}")
_WHOLE = re.compile(r"\s*\{\{(.*)\}\}\s*", re.DOTALL)
#: A text in quotes, a key behind its dot, a name, a number, anything else.
_TOKENS = re.compile(r"'[^']*'|\"[^\"]*\"|\.\s*[A-Za-z_][\w-]*|[A-Za-z_][\w-]*|\d+(?:\.\d+)?|[=!<>]=|\s+|.", re.DOTALL)
#: Above so many calls of one tool, they are paired in their order instead of by the best match.
_MOST_PAIRED = 8


class GoldCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call that a right plan makes."""

    tool: str
    step: str = ""
    arguments: JsonObject = {}
    accepted: Mapping[str, Sequence[Json]] | None = None
    """Parameter → every value that is right; `""` among them: it may be left out. None: `arguments` alone are right."""
    contains: Mapping[str, Sequence[str]] = {}
    """Parameter → words that its text has to hold, where no one wording of it is right."""
    over: str = ""
    """Template of the list for whose items it is made, each of which is called `item`; empty: it is made once."""
    when: tuple[str, ...] = ()
    """Conditions, any of which is right; none: it is made in any case."""
    depends_on: tuple[str, ...] = ()


class MadeCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call of the plan to be scored."""

    tool: str
    step: str = ""
    arguments: JsonObject = {}
    over: str = ""
    when: str = ""
    depends_on: tuple[str, ...] = ()


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """Score of a plan against gold."""

    tool_f1: float
    edge_f1: float
    arguments: float
    """Share of the gold arguments that are right."""
    is_whole: bool
    """Every call is there, none besides, every argument, loop and condition right."""
    are_tools_right: bool
    """The same tools, each as often."""
    wrong: tuple[str, ...] = ()
    """Ids of the steps that no right plan has, or has otherwise."""


def score_plan(made: Sequence[MadeCall], gold: Sequence[GoldCall], *, with_arguments: bool = True) -> Score:
    """Compare a plan with a gold plan. Both empty: right; `with_arguments` false: only tools and links count."""
    tools, wanted = Counter(call.tool for call in made), Counter(call.tool for call in gold)
    pairs = _pairs(made, gold)
    steps = {one.step: other.step for one, other in pairs if one.step}
    edges = Counter(
        (steps.get(source, source), steps.get(call.step, call.step)) for call in made for source in call.depends_on
    )
    gold_edges = Counter((source, call.step) for call in gold for source in call.depends_on)
    total = right = 0
    fitting: set[int] = set()
    for one, other in pairs:
        good, all_of_them = _arguments(one, other, steps)
        right, total = right + good, total + all_of_them
        if _is_made_alike(one, other, steps) and (good == all_of_them or not with_arguments):
            fitting.add(id(one))
    paired = {id(other) for _, other in pairs}
    total += sum(len(call.accepted or call.arguments) for call in gold if id(call) not in paired)
    whole = tools == wanted and len(fitting) == len(gold)
    return Score(
        tool_f1=_f1(tools, wanted),
        edge_f1=_f1(edges, gold_edges),
        arguments=right / total if total else float(tools == wanted),
        is_whole=whole,
        are_tools_right=tools == wanted,
        wrong=tuple(one.step for one in made if id(one) not in fitting),
    )


def _is_made_alike(one: MadeCall, other: GoldCall, steps: Mapping[str, str]) -> bool:
    """Whether a call is made for the same items, and on the same condition."""
    if _form(one.over, steps) != _form(other.over, {}):
        return False
    if not other.when:
        return not one.when
    return _form(one.when, steps) in {_form(each, {}) for each in other.when}


def _f1(made: Counter[_Item], gold: Counter[_Item]) -> float:
    total = made.total() + gold.total()
    return 2 * (made & gold).total() / total if total else 1.0


def _pairs(made: Sequence[MadeCall], gold: Sequence[GoldCall]) -> list[tuple[MadeCall, GoldCall]]:
    """Each gold call with the call of the same tool that meets it best, the best pairs first."""
    pairs: list[tuple[MadeCall, GoldCall]] = []
    for tool in dict.fromkeys(call.tool for call in gold):
        ours = [call for call in made if call.tool == tool]
        theirs = [call for call in gold if call.tool == tool]
        if max(len(ours), len(theirs)) > _MOST_PAIRED:
            pairs += zip(ours, theirs, strict=False)
            continue
        scored = sorted(
            (
                (-_likeness(one, other), left, right)
                for left, one in enumerate(ours)
                for right, other in enumerate(theirs)
            )
        )
        lefts: set[int] = set()
        rights: set[int] = set()
        for _, left, right in scored:
            if left not in lefts and right not in rights:
                lefts.add(left)
                rights.add(right)
                pairs.append((ours[left], theirs[right]))
    return pairs


def _likeness(one: MadeCall, other: GoldCall) -> float:
    good, total = _arguments(one, other, None)
    return good / total if total else 1.0


def _arguments(one: MadeCall, other: GoldCall, steps: Mapping[str, str] | None) -> tuple[int, int]:
    """Right arguments, and how many there are to get right: those of gold, and each of ours that gold lacks."""
    accepted = (
        other.accepted if other.accepted is not None else {name: [value] for name, value in other.arguments.items()}
    )
    good = total = 0
    for name, values in accepted.items():
        total += 1
        good += is_accepted(one.arguments[name], values, steps) if name in one.arguments else may_be_left_out(values)
    for name, words in other.contains.items():
        if name not in accepted or name in one.arguments:
            total += name not in accepted
            good -= name in accepted and is_accepted(one.arguments[name], accepted[name], steps)
            good += _has_words(one.arguments.get(name), words)
    surplus = [name for name in one.arguments if name not in accepted and name not in other.contains]
    return good, total + len(surplus)


def _has_words(value: Json, words: Sequence[str]) -> bool:
    return isinstance(value, str) and all(word.casefold() in value.casefold() for word in words)


def may_be_left_out(values: Sequence[Json]) -> bool:
    """Whether a gold argument with these accepted values is optional."""
    return any(value == "" for value in values)


def is_accepted(value: Json, values: Sequence[Json], steps: Mapping[str, str] | None = None) -> bool:
    """Whether the value is one of the accepted ones."""
    return any(is_equal(value, one, steps) for one in values)


def is_equal(value: Json, gold: Json, steps: Mapping[str, str] | None = None) -> bool:
    """Whether two arguments are the same: numbers by value, text folded, objects field by field."""
    if isinstance(value, str) and isinstance(gold, str):
        if "{{" in gold or "{{" in value:
            return _reference(value, steps) == _reference(gold, None)
        return _fold(value) == _fold(gold)
    if isinstance(value, bool) or isinstance(gold, bool):
        return value is gold
    if isinstance(value, int | float) and isinstance(gold, int | float):
        return abs(value - gold) <= 1e-9 * max(1.0, abs(gold))
    if isinstance(value, list) and isinstance(gold, list):
        return len(value) == len(gold) and all(is_equal(a, b, steps) for a, b in zip(value, gold, strict=True))
    if isinstance(value, dict) and isinstance(gold, dict):
        return _is_equal_object(value, gold, steps)
    return bool(value == gold)


def _is_equal_object(value: JsonObject, gold: JsonObject, steps: Mapping[str, str] | None) -> bool:
    # Inside an object, accepted values may be lists of alternatives again.
    if not set(value) <= set(gold):
        return False
    for name, wanted in gold.items():
        alternatives = wanted if isinstance(wanted, list) else [wanted]
        if name not in value:
            if not may_be_left_out(alternatives):
                return False
        elif not (is_equal(value[name], wanted, steps) or is_accepted(value[name], alternatives, steps)):
            return False
    return True


def _reference(text: str, steps: Mapping[str, str] | None) -> str:
    return _REFERENCE.sub(lambda found: "{{" + _form(found[1], steps or {}) + "}}", text)


def _form(expression: str, steps: Mapping[str, str]) -> str:
    """An expression without what makes no difference, its steps by the names they have in gold."""

    def one(found: re.Match[str]) -> str:
        word = found[0]
        return f"'{word[1:-1]}'" if word[0] in "'\"" else steps.get(word, word)

    whole = _WHOLE.match(expression)
    tokens = (one(found) for found in _TOKENS.finditer(whole[1] if whole else expression))
    return " ".join(token for token in tokens if not token.isspace())


def _fold(text: str) -> str:
    return _PUNCTUATION.sub("", text).casefold()


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """Calibration of a planner: how true its confidence is."""

    error: float
    """Expected calibration error: how far confidence and success lie apart, on average."""
    confident: int
    """Plans at or above the threshold."""
    right_of_confident: float
    """Share of those that are right."""


def calibration(pairs: Sequence[tuple[float, bool]], *, bins: int = 10, threshold: float = 0.7) -> Calibration:
    """Of pairs of confidence and whether the plan was right."""
    grouped: dict[int, list[tuple[float, bool]]] = {}
    for sure, right in pairs:
        grouped.setdefault(min(bins - 1, int(sure * bins)), []).append((sure, right))
    error = sum(
        abs(sum(sure for sure, _ in group) - sum(right for _, right in group)) for group in grouped.values()
    ) / max(1, len(pairs))
    confident = [right for sure, right in pairs if sure >= threshold]
    return Calibration(
        error=error, confident=len(confident), right_of_confident=sum(confident) / len(confident) if confident else 1.0
    )
