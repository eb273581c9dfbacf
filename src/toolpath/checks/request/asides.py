"""Asides in a request that make its command none or another: `/s`, `jk`, a slip put right, `and so on`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.checks.request.courtesy import says_for_now
from toolpath.checks.request.seen import Seen

_JOKES: Final = re.compile(
    r"<!--|(?<!\S)(?:/s|/j|/jk|j/k)(?![\w/])|(?<![\w-])(?:jk|kidding|lol\s+no|not\s+really|(?:ha|he|hi|ja){2,}|ha(?:\s+ha)+|lol|rofl)(?![\w-])",
    re.IGNORECASE,
)
_PUT_RIGHT: Final = re.compile(r"(?:^|[\n.;!,])\s*\*(?P<right>\w[\w-]*)(?![\w*])(?!\s*\w[^*\n]*\*)")
#: A word that begins what stands in place of what was said before: `Sell 10, actually 12`.
_CORRECTION: Final = re.compile(
    r"(?:[,;.:!?\u2013\u2014\u2026(]|(?<=\s)-)\s*(?:(?:and|but|oh|ah|no|nein|non|ach|ay|y|et|und"
    r"|aber)[\s,]+){0,2}"
    r"(?P<words>actually|sorry|pardon|oops|whoops|my\s+bad|well|better|rather|wait|hang\s+on|hold\s+on|correction"
    r"|make\s+(?:that|it)"
    r"|or\s+rather|i\s+mean|i\s+meant|nope?|besser|lieber|vielmehr|eigentlich|quatsch|moment|warte|korrektur"
    r"|ich\s+meine"
    r"|beziehungsweise|bzw|huch|plutôt|enfin|attends|mieux|je\s+veux\s+dire|mejor|más\s+bien|perdón|perdona|digo|espera"
    r"|(?:no|nein|non|nee)(?=\s*[,:]\s*[€$£#]?\d)|quiero\s+decir|quise\s+decir"
    r"|corrección)\b[\s,:.!\u2013-]*(?=[\w#\"'€$£])",
    re.IGNORECASE,
)
#: A sound between two values of which the second may stand in place of the first: `E-1, er, E-2`.
_FILLER: Final = re.compile(
    r"[,;\s\u2013-](?P<words>er+m?|u+m+|u+h+|h+m+|ä+h+m?|euh+|e+h+|ehm)(?=[,.;\s\u2026])", re.IGNORECASE
)
#: Boxes, ticks, crosses and signs of doing and not doing; what only smiles or thanks says nothing.
_MARKS: Final = re.compile(
    r"\[\s?[xX\u2713\u2714]?\s?\](?!\()|[!=]=|(?<!\S)=(?!\S)|[\u2600-\u2639\u2640-\u2763\u2765-\u27bf\u2b00-\u2bff\u00ac\u2260]"
    r"|[\U0001f440-\U0001f44d\U0001f44e\U0001f500-\U0001f5ff\U0001f610-\U0001f641\U0001f643-\U0001f64e\U0001f680-\U0001f6ff\U0001f900-\U0001f909]"
)
#: A day that nobody names, where no day is counted.
_SOME_DAY: Final = re.compile(
    r"(?<!\bby )(?<!\bfor )(?<!\bin )(?<!\bper )\b(?:(?:one|some)\s+day|someday|some\s*time|eines\s+tages|irgendwann"
    r"|(?:another|some\s+other)\s+(?:day|time)|ein\s?ander(?:mal|n\s?mal)|un\s+autre\s+jour|une\s+autre\s+fois|otro\s+día"
    r"|en\s+otro\s+momento|un\s+jour|algún\s+día)\b"
    r"(?=\W*$|\W*[.!?;,])",
    re.IGNORECASE,
)
#: By itself at the end, whatever tool stops something: `…. STOP`.
_STOP: Final = re.compile(
    r"(?:[.!?;,:(\u2026]|\s[-\u2013\u2014])\s*(?P<words>(?:stopp?|halt|abort|abbruch|abbrechen|arr[êe]te[zr]?|alto|detente|para"
    r"|(?:all\s+)?sorted|luego|well|na\s?ja|bof|bueno|n/a|change\s+of\s+plans?)"
    r"(?:\W+(?:stopp?|halt))*)\W*$",
    re.IGNORECASE,
)
#: Whether it is to be done at all, asked behind it: `…, right`, `… y/n`.
_ASKED: Final = re.compile(
    r",\s*(?:right|correct|stimmt['\u2019]?s?|gell|n['\u2019]est-ce\s+pas|verdad|no\s+es\s+así)\W*$|(?<![\w/])[yjos]/n(?![\w/])",
    re.IGNORECASE,
)
#: Behind what is handed on whole: `…: no`.
_NO: Final = re.compile(r"(?<=#)[^\w#\s]{0,3}\s(?:no|nope|not|nein|nicht|non|pas)\W*$", re.IGNORECASE)
_TO_BE: Final = re.compile(r"\bas\s+(?:yet\s+)?to\s+be\s+[a-z]+", re.IGNORECASE)
#: One that is only like what is named.
_LIKE: Final = re.compile(r"\b(?:an?|another|some|any)\s+[^\W\d_]+\s+like\s+(?=[#\w])", re.IGNORECASE)
#: More of the same, which nobody has named.
_AND_SO_ON: Final = re.compile(
    r"(?<![\w-])(?:and\s+(?:so\s+(?:on|forth)|the\s+like|all\s+that|such|others|similar|friends|family)|et\s+cetera|etc|usw"
    # `Brandt & Co` is a company.
    r"|and\s+(?-i:co(?:mpany)?)(?=\W*$)|et\s+al|und\s+(?-i:co)|et\s+(?-i:cie|compagnie)|y\s+(?-i:cía|compañía)"
    r"|und\s+(?:so\s+weiter|dergleichen)"
    r"|et\s+ainsi\s+de\s+suite|y\s+así(?:\s+sucesivamente)?|y\s+demás)(?![\w-])",
    re.IGNORECASE,
)


def asides(seen: Seen) -> Iterator[str]:
    """A question for each aside that takes back or puts right what the request commands."""
    now = says_for_now(seen.plain)
    for key in {call.tool for call, tool, _ in seen.acting if tool is None or tool.effect == "destructive"}:
        if now is not None:
            yield f"{key} cannot be taken back, and the request says {now!r}: what is meant?"
    for found in _JOKES.finditer(seen.request):
        start, end = found.span()
        if "/" not in found.group() and seen.plain[start:end] != seen.request[start:end]:
            continue
        yield f"The request says {found.group()!r}: is it meant in earnest?"
    for found in (
        *_CORRECTION.finditer(seen.request),
        *_AND_SO_ON.finditer(seen.request),
        *_STOP.finditer(seen.request),
    ):
        start, end = found.span("words") if "words" in found.groupdict() else found.span()
        if seen.plain[start:end] == seen.request[start:end] and not seen.held.has(found.group().strip()):
            yield f"The request goes on with {seen.request[start:end]!r}: what is meant?"
    for found in (
        *_MARKS.finditer(seen.plain),
        *_SOME_DAY.finditer(seen.plain),
        *_TO_BE.finditer(seen.plain),
        *_NO.finditer(seen.plain),
        *_ASKED.finditer(seen.plain),
        *_LIKE.finditer(seen.plain),
    ):
        is_counted = found.re is _SOME_DAY and any(1 in call.inputs.values() for call, _, _ in seen.acting)
        if not is_counted and not seen.held.has_text(found.group()):
            yield f"The request says {found.group()!r}: what is meant by it?"
    for found in _FILLER.finditer(seen.request):
        start, end = found.span("words")
        # `er` and `um` are German words as well.
        is_word = found["words"].casefold() in ("er", "um")
        is_sound = not is_word or "," in (seen.request[start - 2 : start] + seen.request[end : end + 1])
        if is_sound and seen.plain[start:end] == seen.request[start:end]:
            yield f"The request says {found['words']!r} in between: what is meant?"
    for one in _PUT_RIGHT.finditer(seen.request):
        yield f"'*{one['right']}' puts something right: what is meant?"
