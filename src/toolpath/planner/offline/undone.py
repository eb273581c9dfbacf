"""Undone acts: what a request wants taken back, where no tool takes it back. Pure.

`Undo the refund` and `stop sharing the album` name the act of a tool, and want the contrary of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.tools import fits
from toolpath.planner.offline.request.toolbox import Kit, Toolbox

_UNDOING: Final = re.compile(
    r"(?:^|[.,;!:]|\band|\bplease)\W*(?:undo|reverse)\s+(?:the|that|this|my|our|his|her|their|what|it)\b"
    r"|\b(?:mach\w*|nimm|nehm\w*)\b[^.;!?]{1,60}\b(?:rückgängig|zurück)\W*$"
    r"|(?:^|[.,;!:]|\bet|\by)\W*(?:défais|défaites|annule[zr]?\s+l['\u2019]annulation|deshaz|deshaga|revierte|revierta)\b",
    re.IGNORECASE,
)
_STOPPING: Final = re.compile(
    r"(?:^|[.,;!:]|\band|\bplease)\W*(?:stop|quit)\s+(?P<en>[a-z]{2,}?)(?P<twice>(?P<last>[bdgmnprt])(?P=last))?ing\b"
    r"|\barr[eê]te[zr]?\s+d(?:e\s+|['\u2019])(?P<fr>[^\W\d_]+)|\bdeja[rd]?\s+de\s+(?P<es>[^\W\d_]+)",
    re.IGNORECASE,
)
#: Verbs of tools that take back what was done.
_BACK: Final = words_of("""
undo revert reverse restore rollback roll cancel void withdraw revoke recall retract reinstate reopen unarchive
""")


def is_undoing(request: str, kit: Kit, box: Toolbox) -> bool:
    """Whether the request wants the contrary of what the tool does, and no other tool does that."""
    if not kit.is_acting or kit.verbs & _BACK:
        return False
    others = [one for one in box.kits if one is not kit and one.is_acting]
    if _UNDOING.search(request):
        return not any(one.verbs & _BACK for one in others)
    found = _STOPPING.search(request)
    if found is None:
        return False
    verb = next((form for form in _forms(found) if fits(form, kit.tool)), None)
    if verb is None or any(fits("stop", one.tool) for one in (kit, *others)):
        return False
    return not any(stem(verb) in map(stem, raw_words(one.tool.name)) for one in others)


def _forms(found: re.Match[str]) -> Iterable[str]:
    if found["en"] is None:
        return (found["fr"] or found["es"],)
    root = found["en"] + (found["last"] or "")
    return (root, f"{root}e", found["en"] + (found["twice"] or ""))
