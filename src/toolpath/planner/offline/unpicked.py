"""Questions for a plan that writes and looks for nothing, of a request that picks one thing out of several. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolpath.checks.request.concepts import concepts_of
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.request.links import PALE, concepts_of_path
from toolpath.planner.offline.request.picks import is_of_items, picks_in
from toolpath.planner.offline.request.spans import spans_of
from toolpath.planner.offline.request.toolbox import Toolbox

_WORD = re.compile(r"[^\W\d_]+")
#: Words behind a pick that may be what it picks.
_NOUN = 2


def unpicked(plan: Plan, request: str, box: Toolbox) -> Iterator[str]:
    """A question for each pick that no step of the plan makes: `Delete the largest file in /queue` is not `/queue`."""
    kits = {kit.key: kit for kit in box.kits}
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call) and step.tool in kits]
    if not any(kits[call.tool].is_acting for call in calls):
        return
    is_bound = any("{{" in str(value) for call in calls for value in call.inputs.values())
    hidden = list(request)
    for span in spans_of(request):
        if span.kind == "quoted":
            hidden[span.start : span.end] = " " * (span.end - span.start)
    text = "".join(hidden)
    listed = frozenset[str]().union(*(concepts_of_path(one) for kit in box.kits for one in kit.lists)) - PALE
    picks = [one for one in picks_in(text) if is_of_items(text, one)]
    for pick in picks:
        nouns = _WORD.findall(text[pick.end :])[:_NOUN]
        is_listed = any(concepts_of(noun) & listed for noun in nouns)
        # `the largest files` are several, and no step picks those.
        is_several = len(picks) > 1 or any(noun.endswith("s") and concepts_of(noun) & listed for noun in nouns)
        if (not is_bound or is_several) and (pick.by or is_listed):
            yield f"Which one is the {pick.text}?"
