"""The tools that a model may be shown for a request, best first: named, suggested, found or learned. Pure.

How many of them it is shown is a matter of room: `signatures.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from toolpath.catalog.search import Hit, search
from toolpath.catalog.snapshot import Catalog
from toolpath.planner.decompose import SubQuery
from toolpath.planner.records import Because, Lesson, PlannerOptions, PlanRequest, Rank, Shown
from toolpath.runs.opening import names_in

NO_TOOL: Final = "none"
_LONGEST_TEXT: Final = 2_000
#: Characters of the shortest signatures, and of usual ones in short.
_SHORTEST: Final = 25
_USUAL: Final = 100
_WORD: Final = re.compile(r"[\w.-]+")


def default_rank(catalog: Catalog, text: str, limit: int) -> Sequence[Hit]:
    """The tools that the search finds."""
    return search(catalog, text, limit=limit)


def allowed_tools(request: PlanRequest, catalog: Catalog) -> Catalog:
    """The part of the catalogue that the request may use. Raises `ToolNotFound` or `AmbiguousTool` for wrong names."""
    if not request.tools:
        return catalog
    if request.tools == (NO_TOOL,):
        return Catalog({})
    found = [catalog.find(name) for name in dict.fromkeys(request.tools)]
    return Catalog({tool.key: tool for tool in found}, catalog.stats)


def with_bodies(part: Catalog, whole: Catalog) -> Catalog:
    """The part of a catalogue with all that its composites call: to check plans against, not to choose from."""
    found = dict(part.tools)
    waiting = list(part.tools.values())
    while waiting:
        for name in names_in(waiting.pop()):
            tool = whole.get(name)
            if tool is not None and tool.key not in found:
                found[tool.key] = tool
                waiting.append(tool)
    return part if len(found) == len(part) else Catalog(found, whole.stats)


def shortlist(
    request: PlanRequest,
    catalog: Catalog,
    options: PlannerOptions,
    rank: Rank = default_rank,
    lessons: Sequence[Lesson] = (),
) -> tuple[Shown, ...]:
    """The tools, best first: those that the request names, that were suggested or learned, that fit.

    All the others follow where their signatures may fit the prompt; of very many the best alone are given.

    Each part of a decomposition brings its own best tools, so that none is crowded out by the others. A tool that
    mostly fails or is slow comes last.
    """
    found: dict[str, Shown] = {}
    for key in _named(request.text, catalog):
        found[key] = _shown(catalog, key, "named")
    for key in _known(catalog, (part.suggested_tool for part in _parts(request))):
        found.setdefault(key, _shown(catalog, key, "suggested"))
    texts = [request.text[:_LONGEST_TEXT], *(part.query[:_LONGEST_TEXT] for part in _parts(request))]
    may_fit = len(catalog) <= options.tools_size // _SHORTEST
    # Where all of a usual size fit, the first alone are told in detail; of more, those that fit the request best.
    usual = options.tools_size // _USUAL
    most = options.max_tools if len(catalog) <= usual else max(options.max_tools, usual)
    whole, *parts = [rank(catalog, text, most) for text in texts]
    # The whole request knows what its parts are about, so most of the places are its own.
    own = whole[: most * 3 // 5] if parts else whole
    for hit in (*own, *_interleaved([whole[len(own) :], *parts])):
        found.setdefault(hit.tool.key, _shown(catalog, hit.tool.key, "search", hit.score))
    for key in _known(catalog, (tool for lesson in lessons for tool in lesson.tools)):
        found.setdefault(key, _shown(catalog, key, "learned"))
    for key in catalog:
        # A request in words that no tool has is the model's to judge: there may be something among the others.
        if not may_fit and len(found) >= most:
            break
        if key not in found:
            found[key] = _shown(catalog, key, "all")
    reliable = sorted(found.values(), key=lambda shown: _is_avoided(shown, options))
    return tuple(reliable if may_fit else reliable[:most])


def _is_avoided(shown: Shown, options: PlannerOptions) -> bool:
    # A tool that is named is wanted, however often it failed.
    is_known = shown.calls >= options.min_calls and shown.because != "named"
    is_failing = (shown.failure_rate or 0.0) > max(0.5, options.failing_rate)
    return is_known and (is_failing or (shown.average_duration or 0.0) > options.slow_seconds)


def _parts(request: PlanRequest) -> Sequence[SubQuery]:
    return request.decomposition.sub_queries if request.decomposition else ()


def _named(text: str, catalog: Catalog) -> Iterable[str]:
    """Keys of the tools whose key stands in the text, or whose bare name does where it could be no ordinary word."""
    words = set(_WORD.findall(text[:_LONGEST_TEXT]))
    for key, tool in catalog.tools.items():
        is_plain = tool.name.isalpha() and tool.name.islower()
        if key in words or (tool.name in words and not is_plain):
            yield key


def _known(catalog: Catalog, names: Iterable[str]) -> Iterable[str]:
    for name in names:
        tool = catalog.get(name)
        if tool is not None:
            yield tool.key


def _interleaved(rankings: Sequence[Sequence[Hit]]) -> Iterable[Hit]:
    """The first of each ranking, then the second of each, and so on."""
    for place in range(max(map(len, rankings), default=0)):
        for hits in rankings:
            if place < len(hits):
                yield hits[place]


def _shown(catalog: Catalog, key: str, because: Because, score: float = 0.0) -> Shown:
    stats = catalog.stats.get(key)
    return Shown(
        tool=key,
        score=round(score, 4),
        because=because,
        calls=stats.calls if stats else 0,
        failure_rate=stats.failure_rate if stats else None,
        average_duration=stats.average_duration if stats else None,
    )
