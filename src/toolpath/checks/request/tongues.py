"""Tongues that a request is written in, of the four that are read, by the little words that hold it together. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

from toolpath.checks.request.verbs import folded

Tongue = Literal["en", "de", "fr", "es"]

#: Little words of one tongue that are words of none of the others.
_OWN: Final[dict[Tongue, frozenset[str]]] = {
    "en": frozenset(
        re.findall(
            r"\S+",
            """the of to is are my your and for from with what which who how please this that it its by at as into
        give show add set put make list find get send new all every each their his her our don't not be been
        if then when she he they we has had was were does did can could would should just there""",
        )
    ),
    "de": frozenset(
        folded(word)
        for word in re.findall(
            r"\S+",
            """der die das den dem des ein eine einen einem einer und oder ist sind bitte mit von zu zum zur auf im
        am fur um bis wie was wer wo wann mir mich ich du wir mein meine meinen nicht kein keine alle als
        beim vom nach uber ab zeig such wenn falls dann sowie noch welche welcher welches""",
        )
    ),
    "fr": frozenset(
        folded(word)
        for word in re.findall(
            r"\S+",
            """le la les du des un une et est sont au aux dans sur avec pour par que qui quel quelle quels quelles
        mon ma mes je tu nous vous ne pas moi chaque tous toutes puis svp où combien ce cette""",
        )
    ),
    "es": frozenset(
        folded(word)
        for word in re.findall(
            r"\S+",
            """el los las del al un una y es son con para por que cuál cuáles quién dónde cuánto cuándo cómo mi mis
        su sus lo esta este estas hay cada todos todas luego favor qué la en""",
        )
    ),
}
_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")


@lru_cache(maxsize=256)
def tongues_of(text: str) -> frozenset[Tongue]:
    """The tongues that most of the little words of a text are of; all of them where it has none."""
    words = [folded(word) for word in _WORD.findall(text[:2_000])]
    counts: dict[Tongue, int] = {tongue: sum(word in own for word in words) for tongue, own in _OWN.items()}
    if re.search(r"\b(?:l|d|qu|n|s|j|c)['\u2019](?=[^\W\d_]{2})", text, re.IGNORECASE):
        counts["fr"] += 1
    if re.search("[¿¡ñ]", text):
        counts["es"] += 2
    if "ß" in text:
        counts["de"] += 2
    most = max(counts.values())
    if not most:
        return frozenset(_OWN)
    return frozenset(tongue for tongue, count in counts.items() if count == most)
