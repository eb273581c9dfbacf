"""Corrections, and periods that are not the one which is named: a plan that writes asks about both. Pure.

`Ship SO-5, no SO-6` ships neither unasked, and what was ordered before last week was not ordered in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final

from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.concepts import concepts_of, listed_concepts
from toolpath.checks.request.settings import is_denied_setting
from toolpath.checks.request.tokens import QUOTED
from toolpath.checks.request.verbs import folded
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.request.periods import periods_in
from toolpath.planner.offline.request.toolbox import Kit, Toolbox

#: Behind a value: that it is to be another one. `no rush`, `no later than 5 pm` correct nothing.
_CORRECTED: Final = re.compile(
    r"(?:(?:,|;|(?<!\.)\.{2,}|…|\s[-\u2013\u2014]+|\u2014)\s*|[.!]\s+)(?:(?:oh|ah|uh|um|äh|euh|eh|hm+)[,\s]+)?"
    r"(?:(?:no|nope|nah|nein|nee|nö|non|no)\b(?!\s+(?:rush|hurry|pressure|worries|problem|stress|need|later|earlier|sooner"
    r"|more|less|fewer|higher|lower|further|longer|matter|exceptions?|questions?|reply|prisas?|más|mas|menos|antes|después|hay)\b)"
    r"(?=[,\s]\s*\S|[.\u2013\u2014…-]+\s*\S)"
    r"|(?:wait|warte|moment|attends|attendez|espera|espere)\b[,.!\s\u2013\u2014-]+(?=[\w#])"
    r"|(?:i|ich)\s+(?:mean|meant|meine|meinte)\b|je\s+veux\s+dire\b|(?:quiero|quise)\s+decir\b|(?:or\s+)?rather\b(?!\s+than)"
    r"|make\s+(?:that|it)\b(?=\s+\S)|(?:sorry|pardon|perdón|entschuldigung)[,\s]+(?=(?:the\s+)?[#\w]*\d)"
    r"|(?:plutôt|mejor\s+dicho|besser\s+gesagt|ou\s+plutôt|oder\s+(?:besser|vielmehr))\b)",
    re.IGNORECASE,
)
#: Words before a period that say it is another one: what is before it, or since it, or around it.
_ANOTHER: Final = re.compile(
    r"(?:\b(?:before|after|since|until|till|by|up\s+to|other\s+than|except|not\s+(?:in|of|from)|outside(?:\s+of)?|excluding|besides"
    r"|earlier\s+than|later\s+than|older\s+than|newer\s+than|prior\s+to|preceding|following|around|than|starting"
    r"|vor|nach|seit|bis|ab|außer(?:halb)?|ausgenommen|nicht\s+(?:in|aus|von)|avant|après|depuis|jusqu['\u2019]\w+|dès|sauf|hors|hormis"
    r"|antes|después|desde|hasta|salvo|excepto|menos|fuera|excluyendo)(?:\s+(?:the|of|der|dem|den|die|des|de|du|la|le|les|à|au|el|zur?|zum"
    r"|in|im|end|start|beginning|fin|début|final|principio|del|a|l['\u2019]))*\s*)$",
    re.IGNORECASE,
)
#: Behind a period: it and what comes after, or another one counted from it.
_ONWARD: Final = re.compile(
    r"\s+(?:on(?:wards?)?|and\s+(?:before|after|earlier|later)|or\s+(?:before|after|earlier|later)|und\s+(?:davor|danach|früher|später)"
    r"|oder\s+(?:früher|später)|ou\s+(?:avant|après)|et\s+(?:avant|après)|[oy]\s+(?:antes|después)|but\s+one|minus|plus"
    r"|until|till|through|bis|jusqu['\u2019]\w*|hasta|to\s+(?:this|last|next|now|today|tomorrow))\b",
    re.IGNORECASE,
)
_PERIODS: Final = words_of(
    "day days week weeks weekend month months year years quarter woche wochen wochenende monat monats monate jahr jahre"
    " quartal jour semaine semaines mois année années trimestre día días semana semanas mes meses año años"
)
#: What takes from a word behind it that it is so: `less express`.
_LESS: Final = re.compile(
    r"\b(?:less|minus|without|not|no|weniger|ohne|nicht|kein\w*|moins|sans|pas|menos|sin)\s+"
    r"(?:(?:the|so|too|any|de|d['\u2019]|den|die|das|la|le|el|as|by|per)\s+)*(?P<word>[^\W\d_]+)",
    re.IGNORECASE,
)


def doubts_of_words(plan: Plan, request: str, box: Toolbox, today: date | None) -> Iterator[str]:
    """A question for each value that is corrected or lessened, and for each period that is named for another one."""
    kits = {kit.key: kit for kit in box.kits}
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call) and step.tool in kits]
    if not any(kits[call.tool].is_acting for call in calls):
        return
    plain = QUOTED.sub(lambda found: " " * len(found[0]), request)
    found = _CORRECTED.search(plain)
    tools = [kits[call.tool].tool for call in calls]
    # `Cancel OR-7, no refund` says how, and corrects nothing.
    denied = "" if found is None else re.split(r"[.,;!?]", plain[found.end() :].lstrip(" ,"), maxsplit=1)[0]
    if found is not None and not is_denied_setting(denied, tools):
        yield f"Which one is meant: what stands before {found[0].strip(' ,;.')!r}, or behind it?"
    yield from _lessened(calls, kits, plain)
    yield from _other_periods(calls, kits, plain, today)


def _lessened(calls: Sequence[Call], kits: dict[str, Kit], plain: str) -> Iterator[str]:
    """A question for each switch or option that is taken of a word which is lessened: `less express`."""
    words = [found["word"] for found in _LESS.finditer(plain)]
    for call in calls:
        for field in kits[call.tool].fields if words else ():
            value = call.inputs.get(field.name)
            if value is True:
                own = field.concepts | listed_concepts(field.name)
            elif isinstance(value, str) and value in map(str, field.options):
                own = concepts_of(value)
            else:
                continue
            said = next((word for word in words if folded(word) == folded(str(value)) or concepts_of(word) & own), None)
            if said is not None:
                yield f"Is {field.name!r} to be {value!r}, where less of {said!r} is said?"


def _other_periods(calls: Sequence[Call], kits: dict[str, Kit], plain: str, today: date | None) -> Iterator[str]:
    """A question where a word for a period is somebody's name, and where not the period is meant that is named."""
    for call in calls:
        for field in kits[call.tool].fields:
            value = call.inputs.get(field.name)
            if isinstance(value, str) and folded(value) in _PERIODS and value not in map(str, field.options):
                yield f"Is {value!r} meant as {field.name!r}?"
    for period in periods_in(plain, today) if today is not None else ():
        days = {str(period.first), str(period.last)}
        is_taken = any(str(value)[:10] in days for call in calls for value in call.inputs.values())
        before = _ANOTHER.search(plain[max(0, period.start - 40) : period.start])
        found = before or _ONWARD.match(plain, period.end)
        if is_taken and found is not None:
            yield f"Which days are meant by {f'{found[0]}{plain[period.start : period.end]}'.strip()!r}?"
