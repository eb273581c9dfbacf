"""Plain commands: a request in the very words of the tool that was drafted for it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.tools import verbs_of
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.confidence import Evidence
from toolpath.planner.offline.draft import Draft
from toolpath.planner.offline.match import CUED, is_like, words_of

_SAYING: Final = frozenset(words_of("saying says titled entitled called named number amount following new"))


def is_plain(text: str, drafts: Sequence[Draft], evidence: Evidence) -> bool:
    """Whether the request is a command in a tool's verb, and every word the tool's, a parameter's or a value's."""
    if evidence.missing or evidence.unused or any(draft.is_unasked for draft in drafts):
        return False
    head = next(iter(raw_words(text[:60])), "")
    if not any(folded(head) in verbs_of(draft.candidate.tool) for draft in drafts):
        return False
    tools = [draft.candidate for draft in drafts]
    found = [one for draft in drafts for call in draft.filling.calls for one in call.values()]
    known = {word for one in tools for word in one.name | one.description | one.parameters} | _SAYING
    for one in found:
        mention = one.mention
        known.update(words_of(f"{one.value} {mention.text} {mention.unit}" if mention else str(one.value)))
    left = [word for word in words_of(text) if not word.isdigit()]
    return all(word in known or any(is_like(word, other) for other in known) for word in left)


def is_commanded(text: str, drafts: Sequence[Draft]) -> bool:
    """Whether the request is a command in the very words of one tool's name: what it does not say is then asked.

    So is a command in its verb that names a channel or somebody as chats do, where the tool takes them.
    """
    words = [word for word in raw_words(text[:200]) if word not in ("please", "kindly", "now")]
    if len(drafts) != 1 or words[:1] != [drafts[0].candidate.verb]:
        return False
    taken = [found for call in drafts[0].filling.calls for found in call.values()]
    is_addressed = any(one.mention is not None and one.mention.kind == "handle" and one.sure >= CUED for one in taken)
    return drafts[0].fit.name >= 1.0 or is_addressed
