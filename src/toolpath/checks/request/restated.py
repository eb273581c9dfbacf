"""Restating of conditions: what is said by a question, by `see whether` or by a rare word is said by `if`. Pure.

`Is T-7 closed? Then reopen it` and `See whether T-7 is closed; if so, reopen it` say what `If T-7 is closed, reopen it`
says. Whoever reads a request reads that one form. What is quoted stays as it is, and so does what follows a colon.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Final

from toolpath.checks.request.blockers import PROVISO
from toolpath.checks.request.tokens import QUOTED

_COLON: Final = re.compile(r"\s?:(?=\s|$)")
#: More of a request is not looked at.
_LONGEST: Final = 8_000
#: Where a sentence begins, with what may open it.
_OPENS: Final = (
    r"(?P<lead>(?:^\s*|(?<=[.!?;]\s)\s*|(?<=\n)[^\S\n]*)\u00bf?"
    r"(?:(?:hey|hi|hello|ok(?:ay)?|and|so|also|please|bitte|und|et|y)[,!]?\s+){0,6})"
)
#: What a question begins with that is answered by yes or no, and asks nobody to do something.
_ASKS: Final = (
    r"(?:is|are|has|have|does|do(?!\s+(?:you|not|n['\u2019]?t)\b)|did|ist|sind|hat|haben|gibt|liegt|steht|est|sont|est-ce\s+que|y\s+a-t-il"
    r"|está|están|hay|tiene|sigue|not(?=\s+(?:\w+\s+){0,2}\w+\s+yet\b)|pas\s+encore|todavía\s+no|aún\s+no|still|already|any|noch|schon|immer\s+noch|encore|toujours|déjà|todavía|aún|ya)"
)
#: A question for something else than yes or no.
_TELLING: Final = (
    r"(?!.*\b(?:what|which|who|whom|whose|where|when|how|why|was|welche\w*|wie|wer|wen|wem|wo|wann|warum|quel\w*|qui"
    r"|où|quand|comment|combien|pourquoi|qué|cuál\w*|quién\w*|dónde|cuándo|cuánt\w*|cómo)\b)"
)
_SO: Final = (
    r"(?:(?:if|falls|wenn)\s+(?:so|yes|ja)|if\s+(?:it|they|he|she)\s+(?:is|are|does|do|has|have)(?=\s*,)"
    r"|in\s+that\s+case|in\s+(?:diesem|dem)\s+fall|si\s+oui|dans\s+ce\s+cas"
    r"|en\s+ese\s+caso|si\s+(?:es\s+así|sí))"
)
_AFTER_QUESTION: Final = r"(?:then|dann|alors|entonces)"
_NOT_SO: Final = (
    r"(?:if\s+(?:not|no)\b(?!\s+\w+\s+(?:is|are|has))|if\s+(?:it|they)\s+(?:isn|aren|doesn|don|hasn|haven)['\u2019]?t(?=\s*,)"
    r"|(?:wenn|falls)\s+(?:nicht|nein)|si\s+non|sinon|si\s+no)"
)
_COMMAND: Final = r"\b,?\s+(?=[\w#])(?=[^.!?\n]+(?:[.!\n]|$))"
_AND: Final = r"(?:(?:and|und|et|y)\s+)?"
#: A question for yes or no, and what is to be done then.
_QUESTION: Final = re.compile(
    rf"{_OPENS}{_TELLING}(?P<said>{_ASKS}\b[^.!?;\n]{{1,200}}?|[\w-]*\d[\w-]*\s[^.!?;\n]{{1,80}}?)\s*\?\s+"
    rf"{_AND}(?:(?P<so>{_SO}|{_AFTER_QUESTION})|(?P<not>{_NOT_SO})){_COMMAND}",
    re.IGNORECASE,
)
#: `See whether … , and if so …`.
_LOOK: Final = re.compile(
    rf"{_OPENS}(?:(?:can|could)\s+you\s+)?(?:please\s+)?"
    r"(?:check|see|look|find\s+out|verify|(?:have|take)\s+a\s+look|schau\w*|sieh\w*|guck\w*|prüf\w*|überprüf\w*"
    r"|kontrollier\w*|regarde\w*|vérifie\w*|voi[rs]|mira|comprueba|verifica)"
    r"(?:\s+(?:up|mal|bitte|nach|kurz|please))*,?\s+(?:(?:if|whether|ob|si)\s+|s(?=['\u2019]))"
    rf"(?P<said>[^.!?;\n]{{1,200}}?)\s*(?:[,;.?\u2013\u2014]|\s-|(?=\s(?:and|und|et|y)\s))\s*"
    rf"{_AND}(?:(?P<so>{_SO})|(?P<not>{_NOT_SO})){_COMMAND}",
    re.IGNORECASE,
)
#: `Should it be closed, …`, and German conditions that begin with their verb.
_INVERTED: Final = re.compile(
    rf"{_OPENS}(?:(?P<word>should\s+(?!(?:i|we|you)\b)|sollten?\s+(?!(?:ich|wir|man|du)\b))"
    r"|(?=(?:ist|sind|hat|haben|liegt|steht|gibt\s+es)\s))"
    r"(?P<said>[^.!?;,\n]{2,160}),\s+(?:(?:then|dann|so)\s+)?(?=[^.!?;\n]+(?:[.!;\n]|$))",
    re.IGNORECASE,
)
#: `…, reject it otherwise`.
_AT_THE_END: Final = re.compile(
    r"(?:[,;]\s*(?:(?:and|or|und|oder|et|ou|y|o)\s+)?|(?<!\s)\s+(?:and|or|und|oder|et|ou|y|o)\s+)(?P<said>[^,;.!?\n]{3,120}?)"
    r"\s+(?:otherwise|if\s+not|sonst|ansonsten|andernfalls|sinon|si\s+no)(?=\s*(?:[.!\n]|$))",
    re.IGNORECASE,
)
#: `If court 2 is free, book it. Otherwise book court 6.`
_IN_A_SENTENCE: Final = re.compile(
    r"(?<=\w)[.;]\s+(?P<word>otherwise|if\s+not|or\s+else|else|sonst|ansonsten|andernfalls|sinon|si\s+no),?\s+(?=\w[^.!?\n]+(?:[.!\n]|$))",
    re.IGNORECASE,
)
#: Words for `if` and `unless` that say the same as others do.
_WORDS: Final = tuple(
    (re.compile(rf"(?<![\w'\u2019-])(?:{words})(?:(?<=['\u2019])|(?!\w))", re.IGNORECASE), plain)
    for words, plain in (
        (
            r"(?:es\s+sei\s+denn|außer),?\s+dass|es\s+sei\s+denn,?|außer\s+falls|(?:aber\s+)?nicht,?\s+(?:wenn|falls)",
            "außer wenn",
        ),
        (r"im\s+falle?,?\s+dass|vorausgesetzt,?(?:\s+dass)?|unter\s+der\s+bedingung,?\s+dass", "sofern"),
        (r"(?:(?:sauf|excepté|hormis)\s+s['\u2019](?=[ie])|à\s+moins\s+qu['\u2019](?=\w))", "sauf si "),
        (r"à\s+moins\s+que|excepté\s+si|hormis\s+si|mais\s+pas\s+si", "sauf si"),
        (r"(?:à\s+condition|pourvu)\s+qu['\u2019](?=\w)", "si "),
        (r"à\s+condition\s+que|pourvu\s+que|dans\s+le\s+cas\s+où", "si"),
        (r"salvo\s+que|a\s+no\s+ser\s+que|excepto\s+si|salvo\s+si|pero\s+no\s+si", "a menos que"),
        (r"con\s+tal\s+de\s+que|en\s+(?:el\s+)?caso\s+de\s+que|siempre\s+y\s+cuando", "si"),
        (r"ansonsten|andernfalls|im\s+anderen\s+fall", "sonst"),
        # `Have …` opens a question.
        (r"(?:have|take)\s+a\s+(?:quick\s+|close\s+)?look(?=\s+(?:at|in|into|on)\b)", "look"),
        (r"in\s+the\s+event\s+that", "if"),
        (r"except\s+(?:if|when)|but\s+not\s+(?:if|when)", "unless"),
    )
)
_SAID: Final[dict[bool, tuple[str, str, str]]] = {
    False: ("if", "falls", "si"),
    True: ("unless", "außer wenn", "sauf si"),
}
_GERMAN: Final = re.compile(r"falls|wenn|dann|in\s+(?:diesem|dem)|sollt", re.IGNORECASE)
_ENGLISH: Final = re.compile(r"if|then|in\s+that|should", re.IGNORECASE)


@lru_cache(maxsize=16)
def restated(text: str) -> str:
    """The request with its conditions said by `if`, `falls` or `si`; the very text where none is said otherwise."""
    if len(text) > _LONGEST:
        return text
    text = _with(text, _QUESTION, _asked)
    text = _with(text, _LOOK, _if_so)
    text = _with(text, _INVERTED, _uninverted)
    for words, plain in _WORDS:
        text = _with(text, words, partial(_plainly, plain=plain))
    text = _with(text, _IN_A_SENTENCE, _joined)
    return _with(text, _AT_THE_END, _otherwise)


def _with(text: str, pattern: re.Pattern[str], said_as: Callable[[re.Match[str], str], str]) -> str:
    """The text with what the pattern finds outside of quotations said otherwise."""
    plain = QUOTED.sub(lambda found: '"' * len(found.group()), text)
    colon = _COLON.search(plain)
    parts: list[str] = []
    start = 0
    for found in pattern.finditer(plain, 0, len(text) if colon is None else colon.start()):
        parts += [text[start : found.start()], said_as(found, text)]
        start = found.end()
    return "".join((*parts, text[start:])) if parts else text


def _word(said: str, *, is_denied: bool) -> str:
    english, german, other = _SAID[is_denied]
    return german if _GERMAN.match(said) else english if _ENGLISH.match(said) else other


#: A question that is denied expects a yes or a no, and which of them is not said: `Isn't it overdue? Then cancel it`.
_DENIED: Final = re.compile(
    r"\w*n['\u2019]t\b|(?<!\bstill\s)(?<!\bnoch\s)(?<!\baún\s)(?<!\btodavía\s)\b(?:not(?!\s+(?:\w+\s+){0,3}yet\b)|nicht(?!\s+mehr\b)"
    r"|kein\w*(?!\s+\w+\s+mehr\b)|pas(?!\s+encore\b)|no(?!\s+longer\b))\b",
    re.IGNORECASE,
)


def _asked(found: re.Match[str], text: str) -> str:
    """The question for yes or no said by `if`; as it stands where it is denied."""
    return text[slice(*found.span())] if _DENIED.search(found["said"]) else _if_so(found, text)


def _if_so(found: re.Match[str], text: str) -> str:
    return _by_if(found, text, _word(found["so"] or found["not"], is_denied=found["so"] is None))


def _uninverted(found: re.Match[str], text: str) -> str:
    return _by_if(found, text, _word(found["word"] or "falls", is_denied=False))


def _by_if(found: re.Match[str], text: str, word: str) -> str:
    """The opening of the sentence, the word for `if` and the condition, with a comma before what is to be done."""
    lead, said = found["lead"].replace("\u00bf", ""), text[slice(*found.span("said"))]
    said = said[:1].lower() + said[1:] if _FIRST.match(said) else said
    # `if not …` says what is to be done otherwise.
    said = f"it is {said}" if said.startswith("not ") else said
    return f"{lead}{word if lead.strip() else word.capitalize()} {said}, "


_FIRST: Final = re.compile(rf"{_ASKS}\b", re.IGNORECASE)


def _plainly(_: re.Match[str], __: str, plain: str) -> str:
    return plain


def _otherwise(found: re.Match[str], text: str) -> str:
    """The command of the other case with `otherwise` before it; as it stands where no condition is said before."""
    if PROVISO.search(text, 0, found.start()) is None:
        return text[slice(*found.span())]
    return f", otherwise {text[slice(*found.span('said'))]}"


def _joined(found: re.Match[str], text: str) -> str:
    """The other case in one sentence with its condition; as it stands where the sentence before has none."""
    start = max(text.rfind(mark, 0, found.start()) for mark in ".!?;\n") + 1
    is_case = PROVISO.search(text, start, found.start()) is not None
    return ", otherwise " if is_case else text[slice(*found.span())]
