"""Words that compare with a number, deny, or say that there is nothing, in four languages. Pure."""

from __future__ import annotations

import re
from typing import Final

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
