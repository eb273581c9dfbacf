"""Openings of clauses: what politeness, wishes and greetings put before what is asked for. Pure."""

from __future__ import annotations

import re
from typing import Final

from toolpath.checks.request.blockers import PLEASE, WORD

TOPIC: Final = re.compile(r"^\s*[#\d][#\w./-]{0,60}\s?:\s+(?=\S)")
"""An id and nothing else before a colon: what a request is about."""
#: What may stand before a command's verb.
POLITE: Final = re.compile(
    r"^(?:(?:please|kindly|pl[sz]|plss|s[tv]p|porfa(?:vor)?|xfa"
    r"|after (?:that|this)|afterwards|ok(?:ay)?|hey|hi|hello|now|only|simply|first|firstly"
    r"|second|secondly|third|thirdly|next|then|also|and|"
    r"finally|lastly|additionally|just|quickly|immediately|go ahead and|now then|so|right|great|thanks"
    r"|thank you|dear \w+|"
    r"bitte|jetzt|nur|bloß|erstmal|einfach|stattdessen|instead|zuerst|dann|danach|auch|und|anschließend|"
    r"s['\u2019]il (?:te|vous) pla[iî]t|merci de|veuillez|d['\u2019]abord|juste|seulement|plutôt|ensuite|puis"
    r"|maintenant|et|"
    r"por favor|s[oó]lo|simplemente|primero|luego|después|ahora|también|y|"
    r"\d{1,2}[.)]|[-*•])[,:]?\s+)+",
    re.IGNORECASE,
)
#: What people say instead of a bare command. A question to somebody is one only with a `please` in it.
WISHES: Final = re.compile(
    r"^(?:i(?:\s+would|['\u2019]d)\s+like\s+(?:you\s+)?to|(?:i|we)\s+(?:(?:really|just|only)\s+)?(?:want"
    r"|need)\s+(?:you\s+)?to|"
    r"you\s+(?:must|have\s+to|need\s+to)|let['\u2019]?s|(?:please\s+)?(?:make|be)\s+sure\s+(?:to|you)"
    r"|(?:please\s+)?help\s+me\s+(?:to\s+)?|"
    r"(?:please\s+)?go\s+(?:ahead\s+)?and|(?P<wunsch>(?:ich|wir)\s+(?:möchten?|will|wollen)(?:\s+(?:nur"
    r"|bloß|eigentlich))?)"
    r"|je\s+(?:veux|voudrais|souhaite)(?:\s+juste|\s+seulement)?|j['\u2019]aimerais"
    r"|(?:yo\s+)?(?:s[oó]lo\s+)?(?:quiero|quisiera|necesito|deseo)"
    r"|me\s+gustaría)\s+(?:please\s+|bitte\s+)?",
    re.IGNORECASE,
)
ASKED_POLITELY: Final = re.compile(
    r"^(?:can|could|will|would)\s+you\s+(?P<words>(?:please|kindly)\s+)?"
    r"|^(?:kannst|könntest|würdest)\s+du\s+(?P<wort>bitte\s+)?|^(?:können|könnten"
    r"|würden)\s+sie\s+(?P<worte>bitte\s+)?"
    r"|^(?:peux-tu|pourrais-tu|pouvez-vous|pourriez-vous)\s+|^(?:puedes|podrías|puede|podría)\s+",
    re.IGNORECASE,
)
_GREETING: Final = re.compile(r"^(?:hi|hello|hey|good\s+(?:morning|day|evening|afternoon))\s*[!.,]\s+", re.IGNORECASE)
#: What stands behind a command and says nothing of it.
_TAIL: Final = re.compile(
    # Of many marks in a row the first one alone is tried as its beginning.
    r"(?<![\s,.!])[\s,.!]*\b(?:right\s+away|immediately|at\s+once|asap|now|for\s+(?:me|us)|please|pl[sz]|plss|th(?:x|anx)|t[kn]s|tnx|s[tv]p|porfa|xfa"
    r"|(?:many\s+)?thanks?(?:\s+(?:you|a\s+lot"
    r"|so\s+much|in\s+advance))*|thank\s+you(?:\s+(?:so|very)\s+much)?|cheers)[\s.!]*$",
    re.IGNORECASE,
)


def opening_of(text: str) -> int:
    """How much of a clause politeness and wishes take before what is asked for."""
    start = ((polite := POLITE.match(text)) and polite.end()) or 0
    wished = WISHES.match(text[start:]) or ASKED_POLITELY.match(text[start:])
    if wished is None:
        return start
    start += wished.end()
    return start + (((polite := POLITE.match(text[start:])) and polite.end()) or 0)


def bare(text: str) -> str:
    """The request without what politeness and haste put around it; at least one word stays."""
    said = POLITE.sub("", _GREETING.sub("", text.strip()))
    asked, wished = ASKED_POLITELY.match(said), WISHES.match(said)
    if asked is not None and PLEASE.search(said):
        said = POLITE.sub("", said[asked.end() :]).rstrip("? ")
    elif wished is not None:
        said = POLITE.sub("", said[wished.end() :])
    while (tail := _TAIL.search(said)) is not None and tail.start() > 0:
        said = said[: tail.start()] + ("." if tail.group().lstrip().startswith((".", "!")) else "")
    return said if WORD.search(said) else text
