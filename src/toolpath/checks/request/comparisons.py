"""Words that compare with a number, deny, or say that there is nothing, in four languages. Pure."""

from __future__ import annotations

import re
from typing import Final

from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.verbs import folded

#: Words that compare with a number → the sign.
COMPARISONS: Final = tuple(
    (re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE), sign)
    for words, sign in (
        (
            r"(?P<more>[\d.,]+|[a-z]+)\s+(?:or|oder|ou|o)\s+(?:more|higher|above|over|mehr|höher|darüber|plus|más)",
            ">=",
        ),
        (
            r"(?P<less>[\d.,]+|[a-z]+)\s+(?:or|oder|ou|o)\s+(?:less|fewer|lower|below|under|weniger|darunter|moins"
            r"|menos)",
            "<=",
        ),
        (
            r"(?:supérieure?s?|mayor(?:es)?|superior(?:es)?)\s+(?:à|a|que|de)|größer als|höher als|exceed(?:s|ed)?"
            r"|übersteigt|überschreitet|dépassent|(?:a\s+)?dépassée?|dépasse|excède|superan?|excede|(?:ha\s+)?superado"
            r"|au-dessus d[eu]|por encima del?",
            ">",
        ),
        (
            r"(?:inférieure?s?|menor(?:es)?|inferior(?:es)?)\s+(?:à|a|que|de)|kleiner als|niedriger als"
            r"|unterschreitet|en[- ]dessous d[eu]|au-dessous d[eu]|por debajo del?",
            "<",
        ),
        (
            r"at least|mindestens|au moins|al menos|(?:no|not) (?:less|fewer) than|nicht weniger als|reach(?:es|ed)",
            ">=",
        ),
        (r"at most|höchstens|au plus|como mucho|como máximo|(?:no|not) more than|no higher than|nicht mehr als", "<="),
        (
            r"(?:less|fewer|cheaper|colder|cooler|lower|drier|smaller|lighter|shorter|weniger|kälter|billiger|moins|menos)"
            r"\s+(?:than|als|que|del?|du)|below|under|beneath|unter",
            "<",
        ),
        (
            r"(?:more|higher|wetter|warmer|hotter|dearer|greater|larger|bigger|heavier|longer|mehr|wärmer|plus|más)"
            r"\s+(?:than|als|que|del?|du)|above|over|über",
            ">",
        ),
    )
)
#: Any of these.
COMPARES: Final = re.compile(
    "|".join(re.sub(r"\?P<\w+>", "?:", words.pattern) for words, _ in COMPARISONS), re.IGNORECASE
)
NEGATED: Final = re.compile(
    r"n['\u2019]t(?!\w)|\b(?:not|never|nicht|kein\w*|pas|nunca|no)\b|\bn['\u2019](?=[aeéih])", re.IGNORECASE
)
#: That there is nothing.
NOTHING: Final = re.compile(
    r"\b(?:empty|leer|vide|vacía|vacío)\b|\b(?:no|keine|aucune?|ninguna?)\s+(?=\w+s\b|zeilen|entries)|\bnone\b"
    r"|(?<![\w.,])(?:0|zero|null|zéro|cero)(?![\w.,]?\w)",
    re.IGNORECASE,
)
UNLESS: Final = re.compile(r"(?:unless|except|außer|es sei denn|sauf|à moins|a menos)", re.IGNORECASE)


#: Words that hold a condition together, and say nothing of their own in it.
_SMALL: Final = words_of("""
the a an it it's its he he's his she she's her they they're their there there's this these those is are was
be been being has have had does do did in on at of for my our still already yet now currently then please left
with from got came comes gets stands any number
der die das den dem es er sie ihr ihre sein seine ist sind war hat haben wird noch schon jetzt im in am auf von zu bitte
ein eine einen steht
le la les l' l il elle ils elles est sont a ont été encore déjà du de des d' un une au aux en ce cet cette ses son sa
el los las lo es está están ha han ya todavía aún del al un una su sus en sigue hay qu que
only so we you us as
da drin nur sein wir
y soit soient ne n' se s' on seulement
esté estén tiene tienen le les solo sólo a de sea sean
""")
#: Words for how a number came to be what it is compared with: `has dropped under 20`, `is down to fewer than 5`.
_MOVED: Final = words_of("""
up down to just come gone go goes went drop drops dropped dropping fall falls fell fallen rise rises risen rose sink
sinks sunk sank
liegt liegen stehen bei gefallen gesunken gestiegen sinkt fällt steigt
reste restent tombé tombée descendu descendue monté montée passé passée
quedan queda cae caído bajado subido
""")


def is_small(word: str) -> bool:
    """Whether a word of a comparison only holds it together: `we're down to under 3 litres of it`."""
    plain = folded(word)
    if plain in _SMALL:
        return True
    parts = re.split(r"['\u2019]", plain)
    return all(one in _SMALL or one in ("re", "ve", "s", "d", "ll") for one in parts)


def is_moved(word: str) -> bool:
    """Whether a word says how a number came to be what it is compared with: `it has dropped under 20`."""
    return folded(word) in _MOVED
