"""A request cut into the parts that may each want a tool: sentences, `then`, lists of commands. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

_MARK = re.compile(
    r"(?P<sentence>(?<=[.!?;])(?<!\b[A-Z]\.)(?<!\b(?:Mr|Ms|Dr|St|Mt|vs|Co|ft|sq)\.)(?<!\b(?:Mrs|Inc|Ltd|etc)\.)[\"']?\s+(?=[A-Z\"'(]|\d+[.)]\s)|\n+)"
    r"|(?P<then>,?\s*\b(?:and\s+then|then|after\s+that|afterwards|and\s+also|and\s+finally|finally|lastly|additionally|furthermore|moreover)\b,?\s*"
    r"|(?:(?<=[.!?]\s)|,\s*|\band\s+)next\b(?!\s+(?:\d|\w+\s+(?:days?|weeks?|months?|years?|hours?)\b|(?:day|week|month|year)\b)),?\s*"
    r"|(?:(?<=[.!?,;]\s)|,\s*)also\b,?\s*)"
    r"|(?P<and>(?:,\s*and|,|\band\b|;)\s+(?=(?:what|how|where|when|who|which|find|get|calculate|create|show|give|tell|"
    r"list|search|book|compute|convert|determine|generate|check|send|add|make|set|update|delete|order|play|provide|"
    r"retrieve|fetch|estimate|predict|identify|analy[sz]e|translate|plan|schedule|reserve|write|solve|encrypt|validate|"
    r"assess|compare|display|change|modify|evaluate|measure|simulate|sort|rank|recommend|suggest|explain|describe|"
    r"summari[sz]e|draw|plot|design|cancel|remove|rename|pay|buy|sell|rent|transfer|withdraw|deposit|notify|email|"
    r"post|reply|publish|assign|invite|track|monitor|verify|confirm|download|upload|activate|deactivate|look\s+up|"
    r"turn\s+(?:on|off)|"
    r"i\s+(?:need|want|would|also)|could\s+you|can\s+you|please|let\s+me)\b))",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|(?<!\w)'[^'\n]*'(?!\w)")
_AND = re.compile(r"(?:,\s*and|,|\band\b|;)\s+(?=(?P<word>[A-Za-z]+)\b(?P<on>\s+(?:on|about|upon)\b)?)", re.IGNORECASE)
_NOUNS = frozenset(
    [
        "by",
        "of",
        "the",
        "a",
        "in",
        "to",
        "for",
        "with",
        "and",
        "or",
        "from",
        "on",
        "at",
        "id",
        "name",
        "data",
        "number",
        "info",
    ]
)
_MOST = 24


def tool_parts(text: str, verbs: Collection[str] = (), things: Collection[str] = ()) -> list[str]:
    """The parts in their order; what stands in quotation marks is never cut.

    `verbs` are words of the tools' names: a part may begin with one of them as with any command. So it may with one of
    the `things` that tools make, as in `and comment on it`.
    """
    quoted = [match.span() for match in _QUOTED.finditer(text) if match.end() - match.start() < 0.8 * len(text)]
    parts: list[str] = []
    start = 0
    marks = list(_MARK.finditer(text))
    known = frozenset(verbs) - _NOUNS
    marks += [
        match
        for match in _AND.finditer(text)
        if match["word"].lower() in known or (match["on"] and match["word"].lower() in things)
    ]
    for match in sorted(marks, key=lambda match: match.start()):
        if match.start() < start:
            continue
        if any(begin < match.end() and match.start() < end for begin, end in quoted):
            continue
        if len(parts) >= _MOST:
            break
        parts.append(text[start : match.start()])
        start = match.end()
    parts.append(text[start:])
    return [part.strip() for part in parts if len(part.split()) > 1 or part.strip().isalnum()]
