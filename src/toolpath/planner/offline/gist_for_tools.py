"""What a request asks for of the tools that are offered, without what stands beside it, and why. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from toolpath.checks.request.clauses import narrowed
from toolpath.checks.request.concepts import STOPS, commanded
from toolpath.checks.request.courtesy import without_courtesies
from toolpath.checks.request.gist import gist_of, reasons_in, undenied
from toolpath.checks.request.openings import bare
from toolpath.checks.request.seen import speaks_of, without_contents
from toolpath.checks.request.settings import is_denied_setting
from toolpath.checks.request.tools import acts, acts_of, verbs_of
from toolpath.checks.request.verbs import folded
from toolpath.model.tool import Tool

#: More of a request is not read.
LONGEST_REQUEST: Final = 8_000
_BLANKS: Final = re.compile(r"[ \t]{9,}")


def bare_request(request: str) -> str:
    """The request without what politeness puts around it; no tools need be known."""
    return bare(_read(request))


def gist_for(request: str, offered: Sequence[Tool]) -> str:
    """The part of a request that asks these tools for something: no reason, no courtesy, nothing that is denied."""
    acting = [tool for tool in offered if acts(tool)]
    sets, tells = partial(is_denied_setting, tools=acting), partial(speaks_of, tools=acting)
    return bare(gist_of(_read(request), _verbs(offered), sets, tells))


def undenied_tools(request: str, offered: Sequence[Tool]) -> Sequence[Tool]:
    """The tools without those whose act the request says not to do."""
    return undenied(_read(request), _verbs(offered), offered) or offered


def reasons_for(request: str, offered: Sequence[Tool]) -> list[str]:
    """The reasons that are given for what is commanded."""
    return reasons_in(_read(request), _verbs(offered))


def _read(request: str) -> str:
    said = _BLANKS.sub(" ", narrowed(request)[:LONGEST_REQUEST]).strip()
    bare_of = without_courtesies(said, without_contents(said), for_now=True)
    return said if bare_of == said else re.sub(r"[ \t]+", " ", bare_of).strip(" ,")


def _verbs(offered: Sequence[Tool]) -> Callable[[str], bool]:
    """Whether a word is a verb of one of these tools."""
    verbs = frozenset[str]().union(*(verbs_of(tool) for tool in offered))
    acts = frozenset[str]().union(*(acts_of(tool) for tool in offered))
    return lambda word: folded(word) in verbs or (folded(word) not in STOPS and bool(commanded(word) & acts))


def beyond_length(request: str) -> tuple[str, ...]:
    """A question about what of a request is too long to be read."""
    if len(request) <= LONGEST_REQUEST:
        return ()
    return (f"Only the first {LONGEST_REQUEST:,} characters of the request were read: what of the rest?",)
