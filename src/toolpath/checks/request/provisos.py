"""Provisos of a request: which condition each `when` of its plan carries, and what is to depend on which. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from toolpath.checks.request.blockers import OTHERWISE, PROVISO
from toolpath.checks.request.comparisons import UNLESS
from toolpath.checks.request.condition_tests import says_condition
from toolpath.checks.request.lent_values import borrowed
from toolpath.checks.request.meant_items import tells_which_items, tests_in
from toolpath.checks.request.moods import Clause
from toolpath.checks.request.seen import Seen, short, text_in
from toolpath.checks.request.tools import fits
from toolpath.model.plan import Call


def uncarried(seen: Seen, *, strict: bool) -> Iterator[str]:
    """A question for each condition of the request that no `when` carries whole.

    `strict`: for each `when` that carries none, too.
    """
    bound = [(call, when) for call, _, _ in seen.acting if (when := seen.whens.get(id(call)))]
    asked = [one for one in seen.clauses if one.mood == "condition"]
    # A model says with a `when` what a request says by another word, too: `Cancel all open orders`.
    is_narrowing = not asked and all(tells_which_items(when, seen) for _, when in bound)
    if not bound or is_narrowing or (not strict and not asked):
        return
    others = [one for one in asked if OTHERWISE.match(_opened(one.text))]
    conditions = [one for one in asked if one not in others and PROVISO.match(_opened(one.text))]
    for clause in asked:
        if clause not in conditions and clause not in others:
            yield f"The plan does not wait for anything: what of {short(seen, clause)!r}?"
    if len(conditions) != 1 or len(others) > 1:
        yield "Which condition is meant for what?" if len(conditions) > 1 else "On what does it depend?"
    else:
        yield from _uncarried_one(seen, conditions[0], others, bound)


def _uncarried_one(
    seen: Seen, condition: Clause, others: Sequence[Clause], bound: Sequence[tuple[Call, tuple[str, ...]]]
) -> Iterator[str]:
    """A question where what depends on something depends on another thing than the one condition, or its other case.

    `others`: the clause of the other case, where there is one; `bound`: the calls that depend on something.
    """
    text = _condition_of(text_in(seen, condition))
    turned = UNLESS.match(_opened(condition.text)) is not None
    tests = {when: tests_in(when, seen) for _, when in bound}
    straight = {when: found is not None and says_condition(found, text, seen, turned) for when, found in tests.items()}
    opposite = {
        when: bool(others) and found is not None and says_condition(found, text, seen, not turned)
        for when, found in tests.items()
    }
    for call, when in bound:
        if not (straight[when] or opposite[when]):
            said = " and ".join(when)
            yield f"{call.tool} depends on {said!r}: is that what {short(seen, condition)!r} means?"
            return
    if others:
        if not (any(straight.values()) and any(opposite.values())):
            yield f"What is done in the other case: {short(seen, others[0])!r}?"
        yield from _turned_round(seen, others[0], {id(call): straight[when] for call, when in bound})
        return
    yield from borrowed(seen, text, [call for call, _ in bound])
    yield from _misgoverned(seen, condition, [call for call, _ in bound])


def _turned_round(seen: Seen, other: Clause, holding: Mapping[int, bool]) -> Iterator[str]:
    """A question where a call is made in the case in which the request says the other one.

    `holding`: of each call that depends on it, whether it is made where the condition holds.
    """
    at = seen.clauses.index(other)
    for call, tool, _ in seen.acting:
        said = [at > place for place, one in enumerate(seen.clauses) if tool is not None and fits(one.verb, tool)]
        if said and id(call) in holding and holding[id(call)] not in said:
            yield f"Is {call.tool} what is to be done in the other case, {short(seen, other)!r}?"


def carried(seen: Seen) -> Iterator[Clause]:
    """The conditions of which every word is told by what the plan depends on."""
    whens = dict.fromkeys(when for call, _, _ in seen.acting if (when := seen.whens.get(id(call))))
    tests = [found for when in whens if (found := tests_in(when, seen)) is not None]
    for clause in seen.clauses:
        if clause.mood != "condition" or not PROVISO.match(_opened(clause.text)):
            continue
        text, turned = _condition_of(text_in(seen, clause)), UNLESS.match(_opened(clause.text)) is not None
        if any(says_condition(one, text, seen, turned) or says_condition(one, text, seen, not turned) for one in tests):
            yield clause


def _opened(text: str) -> str:
    """The clause from its first telling word on: `and if …` is `if …`."""
    return _CONNECTING.sub("", text.strip())


_CONNECTING: Final = re.compile(
    r"^(?:(?:and|but|hey|hi|hello|ok(?:ay)?|please|pls|so|then|also|bitte|und|aber|et|mais|y|pero|well|oh)[,:]?\s+)+",
    re.IGNORECASE,
)


def _condition_of(said: str) -> str:
    """The condition without the word that makes it one."""
    plain = _opened(said)
    found = PROVISO.match(plain)
    return plain[found.end() :] if found is not None else plain


def _misgoverned(seen: Seen, condition: Clause, bound: Sequence[Call]) -> Iterator[str]:
    """A question where the condition may not be said of all that depends on it, or of more than that."""
    at = seen.clauses.index(condition)
    # What follows in its sentence depends on it; of what stands before, the nearest.
    is_first = at == 0 or seen.clauses[at - 1].mood != "command" or _is_opened(seen, at)
    governed: list[Clause] = []
    if is_first:
        for clause in seen.clauses[at + 1 :]:
            governed.append(clause)
            if _ends_a_sentence(clause.text):
                break
    else:
        governed = [seen.clauses[at - 1]]
    commands = [one for one in seen.clauses if one.mood == "command" and _acts_by(one, seen)]
    own = [one for one in commands if one in governed]
    free = [one for one in commands if one not in governed]
    if len(free) != len(seen.acting) - len(bound) or (not own and free):
        yield f"What depends on {short(seen, condition)!r}, and what is done in any case?"
        return
    for call, tool, _ in seen.acting:
        mine, theirs = (own, free) if call in bound else (free, own)
        is_mine = tool is not None and any(fits(one.verb, tool) for one in mine)
        is_theirs = tool is not None and any(fits(one.verb, tool) for one in theirs)
        if free and (is_theirs or not is_mine):
            yield f"Does {call.tool} depend on {short(seen, condition)!r}?"


def _is_opened(seen: Seen, at: int) -> bool:
    """Whether the condition begins a sentence, or stands with an `and` before what depends on it."""
    if _ends_a_sentence(seen.clauses[at - 1].text):
        return True
    clause = seen.clauses[at]
    is_joined = re.match(r"(?:and|but|und|et|y)\b", clause.text.strip(), re.IGNORECASE) is not None
    before = seen.plain[: max(0, seen.plain.find(clause.text))].rstrip()
    is_joined = is_joined or re.search(r"(?:,|\b(?:and|but|und|et|y))$", before) is not None
    return is_joined and at + 1 < len(seen.clauses) and not _ends_a_sentence(clause.text)


def _ends_a_sentence(text: str) -> bool:
    return text.rstrip(" \"'”»)").endswith((".", "!", "?", ";", "\n"))


def _acts_by(clause: Clause, seen: Seen) -> bool:
    return any(tool is not None and fits(clause.verb, tool) for _, tool, _ in seen.acting)
