"""Flags of a list's items, by which a request says which are meant: `each server that needs a reboot`. Pure.

A list that cannot be asked for those alone is gone over whole, and the call is made for those of which it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.denied import denying, is_denied
from toolpath.planner.offline.request.options import is_flagged, positives_of
from toolpath.planner.offline.request.parts import Word
from toolpath.planner.offline.request.toolbox import Listed, ToolField
from toolpath.values import JsonObject

#: Words of the names of flags that say nothing of what holds.
_PALE: Final = frozenset(("is", "has", "been", "was", "only", "are", "have"))
#: What something is to become stands behind these words: `mark every invoice as paid`.
_BECOMES: Final = re.compile(r"\b(?:as|to|als|auf|zu|comme|como|à)\s+(?:an?\s+)?$", re.IGNORECASE)
#: What would be so, was so once or is so in part only is no flag.
_HARDLY: Final = re.compile(
    r"\b(?:will|would|should|shall|may|might|could|must|used\s+to|half|nearly|almost|hardly|partly|soon|wird|werden"
    r"|fast|halb|bald|presque|bientôt|casi|medio)\s+(?:(?:be|have\s+been|have)\s+)?$",
    re.IGNORECASE,
)
#: Letters that such a word has at most, with what follows it.
_BEFORE: Final = 24
#: A comma that ends what `each` is said of; a German clause that says which things are meant follows one.
_ENDS: Final = re.compile(r"[;:]|,(?!\s*(?:der|die|das|den|dem|deren|dessen|which|that|who|qui|que)\b)", re.IGNORECASE)


def flagged(listed: Listed, words: Sequence[Word], asked: JsonObject, text: str) -> tuple[str, tuple[Word, ...]]:
    """The condition that an item has to meet, and the words that say it; empty: they say none.

    `words`: those behind `each`; `asked`: what the list is asked for with.
    """
    tests: list[str] = []
    said: list[Word] = []
    end = next((found.start() for found in _ENDS.finditer(text, words[0].start)), len(text)) if words else 0
    free = [
        one
        for one in words
        if one.start < end
        and all(how.search(text[max(0, one.start - _BEFORE) : one.start]) is None for how in (_BECOMES, _HARDLY))
    ]
    narrowed = {*positives_of(word for name in asked for word in raw_words(name))}
    for field in listed.fields:
        for test, hits in _tests(field, free, narrowed, {str(value) for value in asked.values()}, text):
            tests.append(test)
            said += hits
    return " and ".join(tests), tuple(said)


def _tests(
    field: ToolField, words: Sequence[Word], narrowed: set[str], values: set[str], text: str
) -> Iterator[tuple[str, list[Word]]]:
    """The tests of one value of an item: that a flag holds or does not, that it is what a word says."""
    at = ".".join(("item", *field.path))
    if field.kind == "bool":
        telling = [one for one in raw_words(field.name) if one not in _PALE]
        hits = [(word, one, holds) for one in telling for word in words if (holds := is_flagged(word, one)) is not None]
        if not telling or {one for _, one, _ in hits} != {*telling} or narrowed & {*telling}:
            return
        holds = all(holds for _, _, holds in hits) is not any(is_denied(word, text) for word, _, _ in hits)
        deny = [one for word, _, _ in hits if is_denied(word, text) for one in denying(word, words, text)]
        yield at if holds else f"not {at}", [*(word for word, _, _ in hits), *deny]
    elif field.kind == "enum" and field.name not in narrowed:
        options = {folded(str(one).replace("_", " ")): str(one) for one in field.options if isinstance(one, str)}
        for word in words:
            option = options.get(folded(word.text))
            if option is not None and option not in values and "'" not in option:
                yield f"{at} {'!=' if is_denied(word, text) else '=='} '{option}'", [word]
                return
