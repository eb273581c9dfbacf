"""German commands that end in their verb and have no finite one: `RB-2050 bis 20. Mai verlängern`. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from toolpath.checks.request.blockers import WORD, words_of
from toolpath.checks.request.tongues import tongues_of
from toolpath.checks.request.verbs import folded, is_reading, meanings_of

#: Who does it, or a finite verb: then it is told, and not commanded.
_TOLD: Final = words_of("""
ich du er wir ihr man dass ob
bin bist ist sind seid war waren wäre wären habe hast hat haben habt hatte hatten hätte hätten werde wirst wird werden
werdet wurde
wurden würde würden kann kannst können könnt konnte konnten könnte könnten muss musst müssen musste mussten müsste
müssten soll
sollst sollen sollt sollte sollten will willst wollen wollt wollte wollten mag möchte möchten darf dürfen durfte
dürfte lasse lässt
lassen ließ gehe gehen ging kommen komme kam bleiben helfen lernen scheinen pflegen versuchen planen überlegen
vergessen wünschen
""")
#: After these a word that ends so is none: `als ausverkauft`.
_AS: Final = frozenset(("als", "auf", "für", "fur"))
#: Words that end as finite verbs do and are none.
_NO_VERBS: Final = words_of("""
jetzt sofort dort erst zuerst mit seit laut statt fast meist zuletzt heute bitte gut letzte nächste beste erste zweite
dritte vierte
rechte weite breite alte kalte gute rote letzter damit somit direkt komplett gesamt insgesamt dazu hinterm nacht nicht
selbst echt
bereit exakt leicht fest rest sonst längst spätestens mindest
""")
_ARTICLES: Final = words_of(
    "der die das dem den des ein eine einen einem einer eines mein meine meinen sein seine ihre unser unsere alle"
)
_FINITE: Final = re.compile(r"\w+(?:t|te|st|test)")
_AND: Final = re.compile(
    r"(?<![^\W\d_])(?P<verb>[^\W\d_]{2,40}n)(?P<joint>\s*,\s+(?:und\s+)?|\s+und\s+)(?:dann\s+|danach\s+"
    r"|anschließend\s+)?(?=\S)"
)
_END: Final = re.compile(r"[.!?;\n]")
#: Of many marks in a row the first one alone is tried as its beginning.
_COURTESY: Final = re.compile(
    r"(?<![\s,])(?:[\s,]*\b(?:bitte|danke|mal|gleich|sofort|und|dann))+[\s,.!]*$", re.IGNORECASE
)


def is_infinitive(word: str, is_verb: Callable[[str], bool]) -> bool:
    """Whether a word is a German verb in the form that ends a clause; `-ieren` ends nothing else."""
    if not word[:1].islower() or not word.endswith("n") or word == "open":
        return False
    return word.endswith("ieren") or bool(meanings_of(word)) or is_reading(word) or is_verb(word)


def ends_in_infinitive(text: str, is_verb: Callable[[str], bool]) -> str | None:
    """The infinitive that a clause ends in and that commands; None where it has none, or a finite verb or a subject."""
    said = _COURTESY.sub("", text).rstrip(" \t.,!;")
    found = [match.group() for match in WORD.finditer(said)]
    if not found or not said.endswith(found[-1]) or not is_infinitive(found[-1], is_verb):
        return None
    if "de" not in tongues_of(text) or len(said.split()) < 2:
        return None
    before = ""
    for word in found[:-1]:
        plain = folded(word)
        is_finite = word[:1].islower() and plain not in _NO_VERBS and _FINITE.fullmatch(plain) is not None
        if plain in _TOLD or (plain == "zu" and word is found[-2]) or (is_finite and before not in _ARTICLES | _AS):
            return None
        before = plain
    return found[-1]


def infinitive_cuts(text: str, is_verb: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Where a clause that ends in its infinitive is joined to another such: places of what joins them."""
    for found in _AND.finditer(text):
        if not is_infinitive(found["verb"], is_verb):
            continue
        rest = _END.split(text[found.end() :], maxsplit=1)[0]
        last = WORD.findall(_COURTESY.sub("", rest))
        if last and is_infinitive(last[-1], is_verb):
            yield found.start("joint"), found.end()
