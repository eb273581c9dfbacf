"""Coordinated objects: what a request joins to a value of the plan, as `the price of tea and of milk`. Pure.

What is joined is meant like the value that it is joined to: a plan with one of them alone has left the other out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.checks.request.blockers import takes_back
from toolpath.checks.request.calendar_words import says_when
from toolpath.checks.request.concepts import STOPS
from toolpath.checks.request.occurrences import whole_words
from toolpath.checks.request.remainders import says_nothing
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.verbs import folded, is_reading, meanings_of

_AND: Final = (
    r"(?:,?\s+(?:and|as\s+well\s+as|along\s+with|together\s+with|und|sowie|samt|et|ainsi\s+que|y|e"
    r"|as[ií]\s+como|junto\s+con)(?:\s+(?:also|too|auch|aussi|tambi[eé]n))?)"
)
_ONE: Final = r"(?:(?:that|those|the\s+ones?|celui|celle|den|die|das|el|la)\s+)?"
_OF: Final = _ONE + r"(?:of|for|from|von|vom|für|de|du|des|del|para|pour)"
_THE: Final = r"(?:\s+(?:the|an?|der|die|das|dem|den|le|la|les|el|los|las)(?=\s))?"
_ALSO: Final = r"(?:too|also|as\s+well|auch|aussi|tambi[eé]n)"
_THING: Final = r"(?P<thing>[^\W\d_][\w'-]*(?:\s+[^\W\d_][\w'-]*){0,2}?)"
_END: Final = rf"(?=\s*(?:$|[.,;:!?)](?!\w)|\s{_ALSO}\b|{_AND}\s|\s(?:in|on|at|to|by|{_OF})\s))"
#: Of several things the last alone has a conjunction: `tea, milk and bread`.
_LIST: Final = rf"(?:,(?=\s+[\w'-]+(?:\s+[\w'-]+){{0,2}}?{_AND}\s))"
#: `tea and milk`; `tea and of milk`; `tea, of milk`; `tea, milk too`.
_AFTER: Final = re.compile(
    rf"(?:(?P<of>{_AND}\s+{_OF}|,\s+{_OF})|(?P<also>,(?=\s+(?:\w+\s+){{1,3}}{_ALSO}\b))|{_LIST}"
    rf"|{_AND}){_THE}\s+{_THING}{_END}",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(rf"(?<![\w.@/:-])(?P<thing>[^\W\d_][\w'-]*){_AND}(?:\s+{_OF})?{_THE}\s+$", re.IGNORECASE)
#: What a value was read with and is none of it: `tea along`.
_TAIL: Final = re.compile(r"\s+(?:along|together)$", re.IGNORECASE)
_MOST: Final = 50


def coordinated(seen: Seen) -> Iterator[str]:
    """The things that the request joins to a value of the plan and that no value of it holds."""
    text = seen.plain
    for value in dict.fromkeys(one for one in seen.own_values[:_MOST] if isinstance(one, str)):
        said = _TAIL.sub("", value.strip())
        if not any(map(str.isalpha, said)) or len(said) > 60:
            continue
        for place in whole_words(seen.request, said, ignoring_case=True):
            after = _AFTER.match(text, place.end)
            if after is not None and _is_left_out(after["thing"], seen, is_object=bool(after["of"] or after["also"])):
                yield " ".join(after["thing"].split())
            before = _BEFORE.search(text[max(0, place.start - 80) : place.start])
            if before is not None and _is_left_out(before["thing"], seen, is_object=False):
                yield before["thing"]


def _is_left_out(thing: str, seen: Seen, *, is_object: bool) -> bool:
    """Whether the words are a thing that no value holds. `is_object`: no verb can stand there."""
    said = [word.casefold() for word in re.findall(r"[^\W\d_]+", thing)]
    words = [folded(word) for word in said]
    # Without its accent French and Spanish tea is a little word.
    telling = [word for word, own in zip(words, said, strict=True) if own != word or not _is_little(word)]
    if not telling or telling[0] != words[0] or any(map(takes_back, words)) or all(map(says_when, telling)):
        # Days are looked for elsewhere, as what they are.
        return False
    if not is_object and any(meanings_of(word) or is_reading(word) or seen.is_verb(word) for word in telling):
        return False
    return not any(
        seen.held.names(word) or seen.held.names(word.removesuffix("s")) or _is_known(word, seen) for word in telling
    )


def _is_little(word: str) -> bool:
    return word in STOPS or says_nothing(word)


def _is_known(word: str, seen: Seen) -> bool:
    return not _is_little(word) and (word in seen.held.vocabulary or word.removesuffix("s") in seen.held.vocabulary)
