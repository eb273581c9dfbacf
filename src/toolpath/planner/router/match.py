"""Match of a name with a tool: exact, by another name, or so alike that no other can be meant. Pure.

A tool that writes is never guessed at.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Final

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from toolpath.catalog.names import mangle
from toolpath.catalog.snapshot import Catalog
from toolpath.planner.router.entries import ALIASES, normalise
from toolpath.planner.router.routing_records import DEFAULTS, Candidate, How, RouterOptions, ToolEntry, ToolMatch

_LONGEST: Final = 200
_SHOWN: Final = 5
_PREFIX: Final = re.compile(r"(?:functions?|default_api|tools?|api|namespace|mcp)(?:::|__|[.:/])(?=\w)", re.I)
#: Letters that a part of a name has to have to mean a tool.
_SHORTEST_PART: Final = 4
#: How alike two words have to be to be one word that is misspelt: `set` is not `get`.
_SAME_WORD: Final = 0.75


def match_name(
    asked: str, entries: Sequence[ToolEntry], catalog: Catalog, options: RouterOptions = DEFAULTS
) -> ToolMatch:
    """The decision for a name that a model or person wrote; its `tools` are empty where no tool is clearly meant."""
    name = asked[:_LONGEST]
    for how, found in (("exact", _exact(name, entries)), ("alias", _by_other_name(name, entries, catalog))):
        if len(found) == 1:
            return ToolMatch(asked=asked, how=_as_how(how), tools=found, candidates=(Candidate(found[0], 1.0),))
        if found:
            return _several(asked, found, catalog, options)
    plain = _without_prefix(name)
    if plain != name:
        found = _exact(plain, entries) or _by_other_name(plain, entries, catalog)
        if len(found) == 1:
            return ToolMatch(asked=asked, how="alias", tools=found, candidates=(Candidate(found[0], 1.0),))
        if found:
            return _several(asked, found, catalog, options)
    bearer = _bearer(plain, entries)
    if bearer is not None and _only_reads(bearer, catalog):
        reason = f"It is a part of a name that only {bearer} has."
        return ToolMatch(
            asked=asked, how="fuzzy", tools=(bearer,), candidates=rank_by_name(plain, entries), reason=reason
        )
    return _alike(asked, plain, entries, catalog, options)


def _without_prefix(name: str) -> str:
    """The name without the space of names that servers and models put before those of all tools."""
    match = _PREFIX.match(name)
    return name[match.end() :] if match else name


def _bearer(name: str, entries: Sequence[ToolEntry]) -> str | None:
    """The one tool of whose names these words are a part, side by side; None: none or several."""
    wanted = _words(name)
    if len("".join(wanted)) < _SHORTEST_PART:
        return None
    joined = f" {' '.join(wanted)} "
    found = [entry.id for entry in entries if any(joined in f" {' '.join(_words(one))} " for one in _names(entry))]
    return found[0] if len(found) == 1 else None


def _as_how(text: str) -> How:
    return "exact" if text == "exact" else "alias"


def _exact(name: str, entries: Iterable[ToolEntry]) -> tuple[str, ...]:
    known = list(entries)
    by_key = tuple(entry.id for entry in known if name in (entry.id, entry.call_name))
    if by_key:
        return by_key
    plain = normalise(name)
    return tuple(entry.id for entry in known if plain in entry.capabilities)


def _by_other_name(name: str, entries: Sequence[ToolEntry], catalog: Catalog) -> tuple[str, ...]:
    ids = {entry.id for entry in entries}
    known = tuple(key for key in catalog.candidates(name) if key in ids)
    if known:
        return known
    plain = normalise(name)
    for wanted in dict.fromkeys((plain, ALIASES.get(plain, plain))):
        found = tuple(entry.id for entry in entries if wanted in _other_names(entry) or wanted in entry.capabilities)
        if found:
            return found
    return tuple(entry.id for entry in entries if mangle(entry.id) == name)


def _other_names(entry: ToolEntry) -> set[str]:
    names = {normalise(entry.name), normalise(entry.provider), normalise(entry.operation), normalise(entry.id)}
    # `web_search.search` and `web_searchSearch` are the same to those who do not write the dot.
    names |= {name.replace(".", "_") for name in names}
    return names - {""}


def _several(asked: str, found: tuple[str, ...], catalog: Catalog, options: RouterOptions) -> ToolMatch:
    """Several tools have the very name that was asked for."""
    candidates = tuple(Candidate(key, 1.0) for key in found)
    writers = [key for key in found if not _only_reads(key, catalog)]
    rule = options.on_multiple or ("error" if writers else "all")
    if rule == "error":
        why = f"{', '.join(writers)} would write." if writers else "Only one may be meant."
        return ToolMatch(asked=asked, how="several", candidates=candidates, reason=f"{len(found)} tools fit. {why}")
    kept = found if rule == "all" else found[:1]
    reason = f"{len(found)} tools fit; {'all of them' if rule == 'all' else 'the first'} is taken."
    return ToolMatch(asked=asked, how="several", tools=kept, candidates=candidates, reason=reason)


def _alike(asked: str, name: str, entries: Sequence[ToolEntry], catalog: Catalog, options: RouterOptions) -> ToolMatch:
    candidates = rank_by_name(name, entries)
    if not candidates or candidates[0].score < options.threshold:
        return ToolMatch(asked=asked, how="none", candidates=candidates, reason="No tool has a name like it.")
    best = candidates[0]
    named = next(entry for entry in entries if entry.id == best.tool)
    if other := _other_word(name, named):
        reason = f"{best.tool} has a name like it, but {other!r:.40} is another word."
        return ToolMatch(asked=asked, how="none", candidates=candidates, reason=reason)
    rivals = [one for one in candidates[1:] if best.score - one.score < options.margin]
    if rivals:
        reason = f"{best.tool} and {rivals[0].tool} are as much alike."
        return ToolMatch(asked=asked, how="none", candidates=candidates, reason=reason)
    if not _only_reads(best.tool, catalog):
        reason = f"{best.tool} may be meant, but it writes, and a write is not guessed at."
        return ToolMatch(asked=asked, how="none", candidates=candidates, reason=reason)
    reason = f"The name is {best.score:.0%} like it, and like no other."
    return ToolMatch(asked=asked, how="fuzzy", tools=(best.tool,), candidates=candidates, reason=reason)


def _other_word(name: str, entry: ToolEntry) -> str:
    """A word of the name that is in none of the tool's, misspelt or joined with others; empty: none."""
    for word in _words(name):
        if not any(_is_said(word, _words(one)) for one in _names(entry)):
            return word
    return ""


def _is_said(word: str, words: Sequence[str]) -> bool:
    known = [*words, *(first + second for first, second in itertools.pairwise(words))]
    return any(word in one or OSA.normalized_similarity(word, one) >= _SAME_WORD for one in known)


def rank_by_name(name: str, entries: Iterable[ToolEntry]) -> tuple[Candidate, ...]:
    """The entries whose names are most like it, best first, scored from 0 to 1 by letters and by words."""
    wanted = _words(name)
    if not wanted:
        return ()
    scored = [
        Candidate(entry.id, round(max(_likeness(wanted, _words(one)) for one in _names(entry)), 4)) for entry in entries
    ]
    return tuple(sorted(scored, key=lambda one: (-one.score, one.tool))[:_SHOWN])


def _names(entry: ToolEntry) -> Iterable[str]:
    return dict.fromkeys([entry.id, entry.name, entry.provider, entry.operation or entry.provider, *entry.capabilities])


def _words(name: str) -> list[str]:
    return [word for word in normalise(name).replace(".", "_").split("_") if word]


def _likeness(left: list[str], right: list[str]) -> float:
    # `web_search.search` says a word twice that others say once.
    pairs = {(" ".join(left), " ".join(right)), (" ".join(dict.fromkeys(left)), " ".join(dict.fromkeys(right)))}
    return max(
        max(OSA.normalized_similarity(one, other), fuzz.token_sort_ratio(one, other) / 100) for one, other in pairs
    )


def _only_reads(key: str, catalog: Catalog) -> bool:
    tool = catalog.tools.get(key)
    return tool is not None and tool.is_read
