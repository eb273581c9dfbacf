"""Items of a list that a request means: what says which they are, held against the conditions of each. Pure.

`Cancel every order that is not paid` means some orders, and a plan has to leave the others out: by a condition of each
item, or by what its list is asked for with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.calendar_words import says_when
from toolpath.checks.request.concepts import STOPS, listed_concepts
from toolpath.checks.request.seen import Seen, text_in
from toolpath.checks.request.verbs import folded
from toolpath.checks.request.whens import Test, tests_of
from toolpath.values import JsonObject

#: Words of the names of flags that say nothing of what holds.
_PALE: Final = frozenset(("is", "has", "been", "was", "only", "are", "have"))
_OPPOSITE_OF: Final = re.compile(r"^(?:un|in|non-?|im)(?=\w{3})")
#: So many words before what is denied says so.
_NEAR: Final = 3
_DENYING: Final = words_of("n not no never without nicht kein keine nie ohne pas non sans jamais no sin nunca")


def tells_which_items(whens: Sequence[str], seen: Seen) -> bool:
    """Whether conditions say no more than which items of a list are meant: `each loan that is insured`."""
    tests = tests_in(whens, seen)
    is_of_items = all(any(re.search(rf"\b{re.escape(one)}\.", when) for one in seen.items) for when in whens)
    return tests is not None and is_of_items and all(_says_test(test, seen) for test in tests)


def _says_test(test: Test, seen: Seen) -> bool:
    """Whether the words of the request say the test of a flag, or of what something is, and not its opposite."""
    if test.sign in ("==", "!="):
        wanted, is_so = [stem(folded(test.value))], test.sign == "=="
    elif test.sign in ("is", "is not"):
        wanted = [stem(word) for word in raw_words(test.path[-1]) if word not in _PALE]
        is_so = test.sign == "is"
    else:
        return False
    words = [
        folded(word) for word in re.findall(r"n(?=['\u2019]t\b)|[^\W\d_]+?(?=n['\u2019]t\b)|[^\W\d_]+", seen.plain)
    ]
    held = [_holds(one, words) for one in wanted]
    return bool(held) and None not in held and all(held) == is_so


def _holds(wanted: str, words: Sequence[str]) -> bool | None:
    """Whether the words say the one that is wanted, or its opposite; None: neither."""
    for at, word in reversed([*enumerate(words)]):
        bare = _OPPOSITE_OF.sub("", word)
        is_same = stem(word) == wanted or bool(listed_concepts(word) & listed_concepts(wanted))
        if is_same or stem(bare) == wanted:
            return is_same is not any(one in _DENYING for one in words[max(0, at - _NEAR) : at])
    return None


def undenied_items(seen: Seen) -> Iterator[str]:
    """A question where a request says by a denial which of a list are meant, and the plan asks for others, too."""
    whens = [seen.whens[id(call)] for call, _, _ in seen.acting if id(call) in seen.whens]
    tests = [test for when in whens for test in tests_in(when, seen) or ()]
    for clause in seen.clauses:
        if any(one[:1].isdigit() or one == "#" or says_when(one) for one in re.findall(r"\w+|#", clause.which)):
            # `that was not delivered on Monday`: it may have been on Tuesday.
            yield f"What is denied in {text_in(seen, clause)!r}: that it is so at all, or when?"
            return
    if any(test.sign in ("!=", "is not") and _says_test(test, seen) for test in tests):
        return
    for clause in seen.clauses:
        words = [folded(word) for word in re.findall(r"[^\W\d_]+", clause.which)]
        if words and not any(_is_denied_by(call.inputs, words) for call, _, _ in seen.calls):
            yield f"Which are meant by {text_in(seen, clause)!r}: the plan leaves none of them out."


def told_of_items(seen: Seen, which: str) -> Iterator[str]:
    """The words of what says which are meant that a condition of each item carries, and those that deny them."""
    whens = [seen.whens[id(call)] for call, _, _ in seen.acting if id(call) in seen.whens]
    tests = [test for when in whens for test in tests_in(when, seen) or () if _says_test(test, seen)]
    known = frozenset[str]().union(*(listed_concepts(word) for test in tests for word in raw_words(test.path[-1])))
    for word in re.findall(r"[^\W\d_]+(?:['\u2019]t\b)?", which):
        is_denial = bool(tests) and (folded(word) in _DENYING | STOPS or word[-2:] in ("'t", "\u2019t"))
        if is_denial or listed_concepts(word) & known:
            yield word


def _is_denied_by(inputs: JsonObject, words: Sequence[str]) -> bool:
    """Whether what a list is asked for with says the opposite of one of the words: `unpaid_only` of `paid`."""
    said = {stem(word) for word in words}
    for name, value in inputs.items():
        if value is False and said & {stem(folded(word)) for word in raw_words(name)}:
            return True
        told = raw_words(name if value is True else str(value))
        if any(_OPPOSITE_OF.match(word) and stem(_OPPOSITE_OF.sub("", folded(word))) in said for word in told):
            return True
    return False


def tests_in(whens: Sequence[str], seen: Seen) -> tuple[Test, ...] | None:
    """The comparisons that these make together; None where one of them says something else."""
    steps = [call.id for call, _, _ in seen.calls]
    found = [tests_of(when, steps, seen.items) for when in whens]
    tests = dict.fromkeys(test for one in found if one is not None for test in one)
    return tuple(tests) if None not in found else None
